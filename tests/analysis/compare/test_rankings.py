"""Whether benchmarks rank alike: orders of pairs, what is equal or unknown, and what is sure."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from reviewgauge.analysis.compare.compare import rank_alike
from reviewgauge.cli.main import group
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SystemSummary


def board(name: str, **values: float | None) -> Leaderboard:
    """Systems with these figures, each with an interval of .1 on either side."""
    rows = tuple(
        SystemSummary(
            system=system,
            cases=9,
            scored=9,
            estimates=(
                Estimate(
                    measure="f1",
                    value=value,
                    low=None if value is None else value - 0.1,
                    high=None if value is None else value + 0.1,
                    n=9,
                    clusters=9,
                ),
            ),
        )
        for system, value in values.items()
    )
    settings = {"clustered_by": "change", "clusters": 9, "resamples": 100, "seed": 0, "common": 9}
    return Leaderboard(metric="hits", headline="f1", benchmark=name * 8, dataset=name, systems=rows, **settings)


def test_pairs_are_alike_opposite_or_equal() -> None:
    found = rank_alike([board("a", x=0.9, y=0.5, z=0.1, only=0.3), board("b", z=0.9, y=0.5, x=0.45, none=None)])
    one = found.agreements[0]
    assert found.systems == ("x", "y", "z")
    assert (one.pairs, one.alike, one.opposite, one.surely) == (3, 0, 3, 2)  # x and y are too near on b
    assert one.tau == pytest.approx(-1)
    same = rank_alike([board("a", x=0.9, y=0.5), board("b", x=0.4, y=0.4)]).agreements[0]
    assert (same.pairs, same.alike, same.opposite, same.tau) == (1, 0, 0, None)


def test_every_two_benchmarks_are_compared() -> None:
    found = rank_alike([board(name, x=0.9, y=0.5) for name in "abc"])
    assert [(one.first, one.second, one.alike) for one in found.agreements] == [(0, 1, 1), (0, 2, 1), (1, 2, 1)]


def test_systems_without_a_figure_in_all_runs_are_left_out() -> None:
    with pytest.raises(UserError, match="fewer than two systems"):
        rank_alike([board("a", x=0.9, y=0.5), board("b", x=0.9, y=None)])


def test_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    for name, stage in (("one", "first(cases=6)"), ("other", "first(cases=9)")):
        made = run(
            group, ["review", "sample", "parrot", "silent", "recorded", "--stage", stage, "-o", str(tmp_path / name)]
        )
        assert made.exit_code == 0, made.output
        assert run(group, ["score", str(tmp_path / name), "hits"]).exit_code == 0
    both = [str(tmp_path / "one"), str(tmp_path / "other")]
    shown = run(group, ["compare", *both, "--rankings"])
    assert shown.exit_code == 0, shown.output
    assert "pairs of systems in the same order" in shown.output
    assert isinstance(run(group, ["compare", *both]).exception, UserError)
    assert isinstance(run(group, ["compare", both[0], "--rankings"]).exception, UserError)
