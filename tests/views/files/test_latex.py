from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.views.files.csv_files import COMPARISONS, ESTIMATES, to_csv
from reviewgauge.views.files.latex import comparisons_table, escape, leaderboard_table

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
