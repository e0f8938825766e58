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
from rich.console import Console

from reviewgauge.core.base import unescape_cell
from reviewgauge.core.document import Column, Document, Table, Text, Value
from reviewgauge.views.csv import to_csv
from reviewgauge.views.latex import escape, table_latex
from reviewgauge.views.tables import result_tables
from reviewgauge.views.terminal.documents import document_view

HOSTILE = r"\input{/etc/passwd} 50% of $x_1 & #2 ~ ^ {a} <b> | \"c"


def board(name: str = "quiet") -> Table:
    """Two ranked systems and a baseline, with a value, a difference, a range and a count."""
    columns = (
        Column(key="system", kind="name", priority=0),
        Column(key="f1", title="F1", priority=0, help="of precision and recall"),
        Column(key="gap", kind="difference"),
        Column(key="ends", kind="range", priority=2),
        Column(key="scored", kind="figure", priority=3),
    )
    rows = tuple(
        (
            Value(text=one),
            Value(value=f1, low=f1 - 0.1, high=f1 + 0.1, n=30),
            Value(value=-f1, low=-0.9, high=0.1, fake=one == "fast"),
            Value(low=0.25, high=0.5),
            Value(value=30.0, unit="count"),
        )
        for one, f1 in (("fast", 2 / 3), (name, 0.5), ("silent", 0.0))
    )
    return Table(
        name="board", title=f"Board of {name}", columns=columns, rows=rows, sections={2: "baselines:"},
        strong=((0, 2),), provenance="30 changes", notes=("! small",),
    )  # fmt: skip


def lines(width: int) -> list[str]:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(document_view(Document(headline="Best", blocks=(board(), Text(text="fast leads", kind="strong")))))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_a_narrow_terminal_shows_the_most_important_columns_whole() -> None:
    wide, narrow, tiny = lines(100), lines(44), lines(24)
    assert any("fast (fake)" in line and ".67 [.57,.77]" in line and "-.67 [-.90,.10]*" in line for line in wide)
    assert wide.index("baselines:") == next(at for at, line in enumerate(wide) if line.startswith("silent")) - 1
    assert any(".67 [.57,.77]" in line for line in narrow) and "scored" not in narrow[3]
    assert "--json has: intervals; scored" in " ".join(narrow)
    assert any(".67" in line for line in tiny) and max(map(len, tiny[:8])) <= 24
    assert wide[0] == "Best" and wide[-1] == "fast leads"


def test_a_table_goes_to_every_medium_unrounded_or_escaped() -> None:
    found = result_tables([board(HOSTILE)])["board"]
    (first, *_) = csv.DictReader(io.StringIO(found.to_csv()))
    assert float(first["f1"]) == 2 / 3 and first["f1: n"] == "30" and first["ends: to"] == "0.5"
    assert first["fake"] == "yes"
    page = found._repr_html_()
    assert "<b>" not in page and page.index("baselines:") < page.index("silent")
    assert "−.67" in page and ".25 to .50" in page and "of precision and recall" in page
    assert r"\<b\>" in found.to_markdown() and ".67 [.57, .77]" in found.to_latex().replace("{[}", "[")


def test_frames_have_the_columns_of_the_csv_and_no_text_among_numbers() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = result_tables(
        [board().model_copy(update={"rows": (*board().rows, (Value(text="gone"), *[Value(text="–")] * 4))})]
    )
    frame, arrow = found["board"].to_pandas(), found["board"].to_arrow()
    assert list(frame.columns) == arrow.column_names and frame["f1"].dtype == float
    assert frame["f1"].isna().tolist() == [False, False, False, True] and arrow["fake"].to_pylist()[0] is True


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
    tables = table_latex(board(HOSTILE))
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + tables + "\\end{document}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
