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

from reviewgauge.core.base import unescape_cell
from reviewgauge.views.csv_tables import escape, latex_table, to_csv

HOSTILE = r"\input{/etc/passwd} 50% of $x_1 & #2 ~ ^ {a} <b> | \"c"


@given(st.text(max_size=30).filter(lambda text: "\r" not in text and "\x00" not in text))
def test_text_comes_back_and_starts_no_formula(text: str) -> None:
    written = to_csv(("name", "n"), [(text, 1)])
    row = list(csv.reader(io.StringIO(written)))[1]
    assert not row[0].startswith(("=", "+", "-", "@", "\t"))
    assert [unescape_cell(row[0]), row[1]] == [text, "1"]


def test_a_negative_number_is_no_formula() -> None:
    assert to_csv(("n",), [(-0.5,), (None,), (True,)]).splitlines() == ["n", "-0.5", '""', "yes"]


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
    assert escape("[2cm] * tool") == "{[}2cm] {*} tool"


def test_latex_takes_it(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    tables = latex_table("lr", [HOSTILE, "F1"], [[escape(HOSTILE), ".5"]], HOSTILE, "a")
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + tables + "\\end{document}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
