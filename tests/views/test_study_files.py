"""The writers of a study's tables: every format, every plot, and nothing of the data that is active."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.reports.study import BenchmarkFacts, CellCost, Estimate, StudyReport, Trouble
from reviewgauge.views.study_files import study_page, written
from reviewgauge.views.table_plots import drawing
from reviewgauge.views.terminal.documents import estimate_lines, study_view
from reviewgauge.views.values import number, shown

EVIL = "=cmd|'/c calc' <script>alert(1)</script> \\input{x} & 50% | `x` \x1b[31m"


def share(value: float, **more: Any) -> Value:
    return Value(value=value, low=value - 0.1, high=value + 0.1, n=12, **more)


def table(kind: str = "forest", *, name: str = "t", **more: Any) -> Table:
    plots = {
        "forest": Plot(kind="forest", columns=(1,)),
        "radar": Plot(kind="radar", columns=(1, 2, 3)),
        "stacked": Plot(kind="stacked", columns=(1, 2, 3)),
        "upset": Plot(kind="upset", columns=(1,)),
        "scatter": Plot(kind="scatter", columns=(1, 2, 4)),
    }
    first = "one & two" if kind == "upset" else "one"
    rows = (
        (Value(text=first), share(0.5, published=0.4), share(0.3), share(0.2, fake=True), Value(text="yes")),
        (Value(text=EVIL), share(0.25), share(0.31), share(0.6), Value(text="no")),
        (Value(text="gone"), *(Value(text="failed: network") for _ in range(3)), Value(text="–")),
        (Value(text="GPT (published)"), Value(published=0.7), Value(), Value(), Value()),
    )
    made = Table(
        name=name, kind="leaderboard", title=f"Title {EVIL}", rows=rows,
        columns=name_columns(["reviewer", *"abc", "flag"]),
        plot=plots[kind], provenance="hits on data, benchmark 0123", notes=("a note",),
    )  # fmt: skip
    return made.model_copy(update=more)


def report(*tables: Table) -> StudyReport:
    facts = BenchmarkFacts(name="small", dataset="data", benchmark="ab" * 32, cases=3, systems=2, metrics=("hits",))
    troubles = (Trouble(benchmark="small", what="gone", why="network"),)
    return StudyReport(title="Study", attempts=2, benchmarks=(facts,), tables=tables, troubles=troubles, notes=("n",))


def test_every_table_in_every_format_and_the_same_each_time() -> None:
    found = report(table(), table("radar", name="u"))
    files = written(found)
    suffixes = ("csv", "md", "tex")
    expected = {f"tables/{name}.{end}" for name in "tu" for end in suffixes} | {"report.html", "study.json"}
    assert set(files) == expected
    assert written(found) == files
    assert StudyReport.model_validate_json(files["study.json"]) == found


def test_csv_rounds_nothing_runs_nothing_and_keeps_interval_n_unit_and_published() -> None:
    exact = table(rows=((Value(text="x"), share(1 / 3, published=0.4), Value(text="–"), share(0.2), Value(text="")),))
    (row,) = csv.DictReader(io.StringIO(written(report(exact))["tables/t.csv"]))
    assert float(row["a"]) == 1 / 3 and float(row["a: low"]) == 1 / 3 - 0.1
    assert (row["a: n"], row["a: unit"], row["a: published"], row["b"], row["fake"]) == (
        "12", "share", "0.4", "–", "no",
    )  # fmt: skip
    evil = written(report(table()))["tables/t.csv"]
    assert "\n\"'=cmd" in evil or "\n'=cmd" in evil


def test_markdown_and_latex_escape_what_comes_from_data() -> None:
    files = written(report(table()))
    assert "<script>" not in files["tables/t.md"] and r"\|" in files["tables/t.md"]
    assert r"\input" not in files["tables/t.tex"] and r"50\%" in files["tables/t.tex"]
    assert r".50 \[.40, .60\]" in files["tables/t.md"] and r"\{.40\}" in files["tables/t.tex"]
    small = files["tables/t.tex"].partition(r"\footnotesize")[2]
    assert r"  hits on data, benchmark 0123\par" in small and "  a note" in small and "(fake): a figure" in small
    assert "failed: network" in files["tables/t.md"] and "one (fake)" in files["tables/t.md"]


@pytest.mark.parametrize("kind", ["forest", "radar", "stacked", "upset", "scatter"])
def test_every_plot_is_well_formed_and_says_what_it_shows(kind: str) -> None:
    svg = drawing(table(kind), "p")
    root = ElementTree.fromstring(svg)
    described = "".join(root.find("{http://www.w3.org/2000/svg}desc").itertext())  # type: ignore[union-attr]
    assert "a .50 [.40, .60]" in described
    assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {
        "svg", "title", "desc", "line", "circle", "text", "path", "rect",
    }  # fmt: skip
    width = float(root.attrib["width"])
    assert all(-1 <= float(node.attrib["cx"]) <= width + 1 for node in root.iter() if "cx" in node.attrib)


def test_a_table_without_figures_has_no_drawing() -> None:
    assert drawing(table(rows=((Value(text="gone"), *(Value(text="failed") for _ in range(4))),)), "p") == ""
    assert drawing(table(plot=None), "p") == ""


def test_the_page_is_inert_and_names_what_has_no_result() -> None:
    page = study_page(report(table(), table("upset", name="u")))
    assert "<script>alert" not in page and page.count("<script>") == 1
    assert "small, gone: network" in page and "failed: network" in page
    assert re.search(r"paper .40", page) and 'title="n = 12"' in page
    assert "3 changes, 2 systems, 2 attempts each" in page


def test_the_terminal_keeps_to_its_width_and_shows_a_papers_rows_in_the_files_alone() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(study_view(report(table())))
    said = console.export_text()
    assert max(map(len, said.splitlines())) <= 80
    assert "GPT" not in said and "1 row that is published alone" in said
    assert "\x1b" not in said and "! small, gone: network" in said
    cells = [share(0.5, published=0.4)] * 4
    wide = table(
        columns=name_columns("abcdef", 2), rows=((Value(text="1"), Value(text="a metric"), *cells),), plot=None
    )
    console.print(study_view(report(wide)))
    assert ".50 {.40}" in (said := console.export_text()) and "t.csv: intervals" in said


def test_figures_in_their_units() -> None:
    assert number(0.123, "gain") == "+12.3%" and number(-0.0001, "gain") == "0.0%"
    assert number(1234.0, "count") == "1,234" and number(0.0042, "dollars") == "$0.0042"
    assert number(12.5, "dollars") == "$12.50" and number(0.5, "share") == ".50"
    assert shown(Value(published=0.5)) == "{.50}" and shown(Value(text="–")) == "–"


def test_the_estimate_in_one_line() -> None:
    found = Estimate(
        reviewers=2, benchmarks=1, cells=2, reviews=40, calls=1000, reused=3, tokens_in=5, tokens_out=6, dollars=1.5,
        worst=9.0, parts=(CellCost(benchmark="b", what="r"),),
        troubles=(Trouble(benchmark="b", what="r", why="no code"),),
    )  # fmt: skip
    first, second = estimate_lines(found)
    assert first.startswith(
        "Estimate: 2 cells of 2 reviewers on 1 benchmark; 40 reviews to make; 1,000 calls to pay for"
    )
    assert first.endswith("$1.50, at most $9.00")
    assert second == "will fail: b, r: no code"
    unknown = estimate_lines(found.model_copy(update={"dollars": None, "unpriced": ("m",)}))[0]
    assert "an unknown sum (no price is known for m)" in unknown
