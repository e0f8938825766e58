from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.reports.leaderboard import (
    Comparison,
    ComparisonTable,
    Estimate,
    Leaderboard,
    SliceSummary,
    SystemSummary,
)
from reviewgauge.views.files.csv_files import comparisons_csv, from_csv, leaderboard_csv, slices_csv, to_csv


def board(name: str = "mine", value: float | None = 1 / 3) -> Leaderboard:
    estimate = Estimate(reading="f1", value=value, low=0.1, high=0.9, n=12, clusters=12)
    other = Estimate(reading="precision", value=None, n=12, clusters=12)
    system = SystemSummary(system=name, estimates=(estimate, other), cases=12, scored=11, failed=1, fake=True)
    return Leaderboard(
        metric="hits()",
        headline="f1",
        benchmark="b" * 64,
        dataset="made",
        clustered_by="change",
        clusters=12,
        resamples=100,
        seed=0,
        systems=(system,),
        common=11,
        slices=(SliceSummary(fact="size", value="small", facet=False, n=5, systems=(system,)),),
    )


def test_a_figure_is_written_with_every_digit() -> None:
    rows = from_csv(leaderboard_csv(board()))
    assert [row["reading"] for row in rows] == ["f1", "precision"]
    assert float(rows[0]["value"]) == 1 / 3
    assert (rows[0]["headline"], rows[1]["headline"], rows[0]["fake"]) == ("yes", "no", "yes")
    assert rows[1]["value"] == "", "what is undefined is empty, not 0"
    assert (rows[0]["cases"], rows[0]["scored"], rows[0]["failed"]) == ("12", "11", "1")


def test_slices_say_which() -> None:
    row = from_csv(slices_csv(board()))[0]
    assert (row["fact"], row["fact value"], row["changes"], row["system"]) == ("size", "small", "5", "mine")


def test_comparisons_have_a_row_each() -> None:
    comparison = Comparison(
        reading="f1", first="a", second="b", first_value=0.5, second_value=0.25, difference=0.25, low=0.1, high=0.4,
        p=0.01, p_holm=0.02, test="flips", detectable=None, n=12, clusters=12,
    )  # fmt: skip
    table = ComparisonTable(
        metric="hits()", benchmark="b", dataset="made", clustered_by="change", resamples=1, seed=0,
        comparisons=(comparison,),
    )  # fmt: skip
    row = from_csv(comparisons_csv(table))[0]
    assert (row["first"], row["difference"], row["p Holm"], row["detectable"]) == ("a", "0.25", "0.02", "")


@given(st.text(max_size=30).filter(lambda text: "\r" not in text and "\x00" not in text))
def test_text_comes_back_and_starts_no_formula(text: str) -> None:
    written = to_csv(("name", "n"), [(text, 1)])
    cell = list(csv.reader(io.StringIO(written)))[1][0]
    assert not cell.startswith(("=", "+", "-", "@", "\t"))
    assert from_csv(written) == [{"name": text, "n": "1"}]


def test_a_negative_number_is_no_formula() -> None:
    assert to_csv(("n",), [(-0.5,), (None,), (True,)]).splitlines() == ["n", "-0.5", '""', "yes"]
