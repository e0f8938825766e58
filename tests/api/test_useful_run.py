"""A run whose suggestions were tested: scored, reported, and checked in a bundle without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

import reviewgauge
from fixed_shop import FIX, PYTEST, ROOTS, build_case
from reviewgauge.core.records import Comment, Review, Span
from reviewgauge.views.terminal.documents import estimate_lines

pytestmark = pytest.mark.drill


def test_from_a_review_to_the_report_and_a_bundle(tmp_path: Path, own_cache: Path) -> None:
    case = build_case(tmp_path)
    data = tmp_path / "bench"
    said = Comment(id="c", body=FIX, span=Span(path="shop/total.py", start=3))
    (data / "reviews.jsonl").write_bytes(Review(case=case.id, system="ours", comments=(said,)).to_line())
    reviewgauge.review(str(data), "recorded", run=tmp_path / "run")
    spec = f"useful_suggestions(test={PYTEST!r}, visible={ROOTS!r})"
    dry = reviewgauge.score(tmp_path / "run", spec, models=reviewgauge.ModelOptions(dry_run=True))
    assert dry.totals[0].would_run == "at most 8 runs of tests; none was timed here yet"
    (tmp_path / "study.toml").write_text(
        f'title = "t"\nmetrics = ["""{spec}"""]\n[[benchmark]]\ndata = "{data}"\n'
        '[[reviewer]]\nspec = "recorded"\n[[table]]\nkind = "leaderboard"\n'
    )
    options = reviewgauge.ModelOptions(dry_run=True)
    planned = reviewgauge.study(tmp_path / "study.toml", out=tmp_path / "study", models=options, trust=True).estimate
    assert "at most 8 runs of tests; none was timed here yet" in "\n".join(estimate_lines(planned))
    board = reviewgauge.score(tmp_path / "run", spec).leaderboards[0]
    estimate = board.systems[0].estimate("net")
    assert estimate is not None and estimate.value == 1

    (report,) = reviewgauge.validate(str(tmp_path / "run"), "hits", labels="useful_suggestions").judges
    assert {row.rater: (row.rows, row.base_rate and row.base_rate.value) for row in report.agreement} == {
        "useful_suggestions: findings": (1, 1.0),
        "useful_suggestions: comments": (1, 1.0),
    }

    reviewgauge.report(tmp_path / "run", out=tmp_path / "report.html", metric=spec)
    assert "tests/test_total.py::test_it passes now; it breaks nothing" in (tmp_path / "report.html").read_text()

    reviewgauge.bundle(tmp_path / "run", out=tmp_path / "bundle")
    checked = reviewgauge.check(tmp_path / "bundle")
    assert checked.ok and any("it runs a program" in note for note in checked.notes)
