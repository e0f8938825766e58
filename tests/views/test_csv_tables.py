from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
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
from reviewgauge.views.csv_tables import (
    COMPARISONS,
    ESTIMATES,
    comparisons_csv,
    comparisons_table,
    escape,
    from_csv,
    leaderboard_csv,
    leaderboard_table,
    slices_csv,
    to_csv,
)


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


HOSTILE = r"\input{/etc/passwd} 50% of $x_1 & #2 ~ ^ {a} <b> | \"c"


def leaderboard(system: str = "mine", reading: str = "f1", value: float | None = 0.4837, unit: str = "share") -> str:
    row = (system, reading, True, value, 0.375, 0.58, 0.95, unit, 30, 30, value, value, 31, 30, 1, 0, 0, 1, False)
    side = (system, "recall", False, None, None, None, 0.95, "share", 30, 30, None, None, 31, 30, 1, 0, 0, 1, False)
    return to_csv(ESTIMATES, [row, side])


def comparisons(difference: float = -0.0874, p: float = 0.0004) -> str:
    row = (
        "a",
        "b",
        "f1",
        0.4,
        0.5,
        difference,
        -0.2,
        0.01,
        0.95,
        p,
        0.0123,
        None,
        30,
        30,
        None,
        None,
        "share",
        "flips",
    )
    return to_csv(COMPARISONS, [row])


def test_a_row_a_system_with_its_intervals() -> None:
    text = leaderboard_table(leaderboard(), caption="F1 on 100% of it", label="hits")
    assert "    System & F1 & recall & Scored \\\\" in text
    assert "    mine & 0.484 [0.375, 0.580] & -- & 30/31 \\\\" in text
    assert r"\caption{F1 on 100\% of it}" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:hits}"))


def test_a_row_a_comparison_with_real_minus_signs() -> None:
    text = comparisons_table(comparisons(), caption="c", label="l")
    assert r"    a & b & F1 & $-$0.087 [$-$0.200, 0.010] & $<$.001 & .012 & -- & 30 \\" in text
    zero = comparisons_table(comparisons(difference=-0.00001), caption="c", label="l")
    assert "& 0.000 [" in zero, "nothing is not minus nothing"


def test_other_units_have_digits_that_fit() -> None:
    assert "& 1234.6 [" in leaderboard_table(leaderboard(value=1234.5678, unit="characters"), caption="c", label="l")
    assert "& 12.346 [" in leaderboard_table(leaderboard(value=12.3456, unit="characters"), caption="c", label="l")


@given(st.text(max_size=40))
def test_no_text_from_data_is_a_command(text: str) -> None:
    shown = escape(text)
    known = (
        r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|ldots)\{\}|\\[&%$#_{}]|\{[\[*]\}"
    )
    rest = re.sub(known, "", shown)
    assert not set(rest) & set("\\&%$#_{}~^")
    assert "\n" not in shown


def test_a_name_cannot_be_an_argument_of_the_line_break_before_it() -> None:
    text = leaderboard_table(leaderboard("[2cm] tool"), caption="c", label="l")
    assert "    {[}2cm] tool & " in text
    assert "    {*} tool & " in leaderboard_table(leaderboard("* tool"), caption="c", label="l")


def test_an_empty_table_is_a_table() -> None:
    assert r"\begin{tabular}" in leaderboard_table(to_csv(ESTIMATES, []), caption="c", label="l")


def test_latex_takes_it(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    tables = leaderboard_table(leaderboard(HOSTILE), caption=HOSTILE, label="a") + comparisons_table(
        comparisons(), caption="c", label="b"
    )
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + tables + "\\end{document}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
