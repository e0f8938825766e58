from __future__ import annotations

import csv
import io

import pytest

import validity_toys as toys
from reviewgauge.api.tables import tables
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.views.csv import table_csv
from reviewgauge.views.record_tables import record_tables


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=400)


@pytest.fixture(scope="module")
def found(report: ValidityReport) -> dict[str, list[dict[str, str]]]:
    return {one.name: rows(table_csv(one)) for one in record_tables(report)}


def test_every_record_of_a_result_is_a_row_and_no_column_comes_twice(
    report: ValidityReport, found: dict[str, list[dict[str, str]]]
) -> None:
    for one in record_tables(report):
        head = table_csv(one).splitlines()[0].split(",")
        assert len(set(head)) == len(head) and one.rows, one.name
        if one.name.startswith("metrics"):
            assert head[:4] == ["metric", "label", "measure", "unit"]
            assert {row["metric"] for row in found[one.name]} == {metric.metric for metric in report.metrics}
    assert len(found["metrics_ks"]) == sum(len(m.ks) for m in report.metrics)
    assert len(found["metrics_sweeps_points"]) == sum(len(s.points) for m in report.metrics for s in m.sweeps)
    assert len(found["metrics_grades_density"]) == sum(len(g.density) for m in report.metrics for g in m.grades)
    cells = [int(r[f"heat_map_counts {at}"]) for r in found["metrics_heat_map_counts"] for at in range(1, 6)]
    assert sum(cells) == 400 * len(report.metrics)


def test_the_numbers_are_those_of_the_report_unrounded(
    report: ValidityReport, found: dict[str, list[dict[str, str]]]
) -> None:
    parts = [part for metric in report.metrics for part in metric.correlations]
    for row, part in zip(found["metrics_correlations"], parts, strict=True):
        figure = part.spearman
        keys = ("spearman", "spearman: low", "spearman: high")
        assert [float(row[key]) for key in keys] == [figure.value, figure.low, figure.high]
        assert (int(row["spearman: n"]), row["rows name"]) == (figure.n, part.rows.name)
    trait, shared = report.metrics[0].traits[0].over_less_all, found["metrics_traits"]
    assert trait is not None and float(shared[0]["over less all: low"]) == trait.low
    assert shared[1]["over less all"] == "", "nothing was resampled"


@pytest.mark.slow
def test_what_is_undefined_or_fake_says_so_in_its_row() -> None:
    correlations, *_ = [one for one in record_tables(toys.awkward(systems=2)) if one.name == "metrics_correlations"]
    table = rows(table_csv(correlations))
    constant = [r for r in table if r["label"] == "exact_match"]
    assert constant
    assert all((r["spearman"], r["spearman: low"]) == ("", "") for r in constant)
    assert all("scores are equal" in r["spearman: reason"] for r in constant)
    assert {r["fake"] for r in table if r["label"] == toys.LONG and r["dimension"] == "conciseness"} == {"yes"}
    length = [r for r in table if r["label"] == "length" and r["dimension"] == "conciseness"]
    assert {r["estimate note"] for r in length} == {"offline estimate (lexical judge)"}


def test_texts_run_in_no_spreadsheet_and_no_terminal_and_stay_whole() -> None:
    found = {one.name: table_csv(one) for one in record_tables(toys.hostile())}
    for text in found.values():
        for bad in ("\x1b", "\x07", "\u202e", "\u2066", "\x00"):
            assert bad not in text
        for line in csv.reader(io.StringIO(text, newline="")):
            for cell in line:
                if cell[:1] in "=+-@" and cell:
                    float(cell)  # a number may begin with a minus, a text with none of these
    reviews = [r["hypothesis"] for name in ("over", "under") for r in rows(found.get(f"metrics_{name}", ""))]
    assert max(map(len, reviews)) == 7000 * len("a long comment ")
    assert "'=HYPERLINK(\"http://evil.example\", 'x')" in reviews


def test_several_results_share_their_tables(report: ValidityReport) -> None:
    both = tables([report, report])
    assert len(both["result"].rows) == 2
    assert both["published"].to_csv().splitlines()[1].startswith('"arXiv:0000.00000, Table 1",grade,Judge')
    assert "rouge" in both["metrics"].to_latex()


def test_nothing_has_no_tables() -> None:
    assert tables([]) == {}
