from __future__ import annotations

import csv
import io

import pytest

import validity_toys as toys
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.views.validity.csv_files import csv_tables


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=400)


@pytest.fixture(scope="module")
def tables(report: ValidityReport) -> dict[str, list[dict[str, str]]]:
    return {name: rows(text) for name, text in csv_tables(report).items()}


@pytest.mark.slow
def test_every_table_is_tidy(report: ValidityReport) -> None:
    for name, text in csv_tables(report).items():
        head, *body = list(csv.reader(io.StringIO(text, newline="")))
        assert len(set(head)) == len(head), f"{name} has a column twice"
        assert body
        assert {len(line) for line in body} == {len(head)}, name
        if name not in ("about.csv", "human_labels.csv", "published.csv"):
            assert head[:6] == ["metric", "label", "measure", "unit", "note", "dimension"]
            assert {line[0] for line in body} == {metric.metric for metric in report.metrics}


def test_the_numbers_are_those_of_the_report_unrounded(
    report: ValidityReport, tables: dict[str, list[dict[str, str]]]
) -> None:
    for metric in report.metrics:
        for part in metric.correlations:
            (row,) = [
                r for r in tables["correlations.csv"]
                if (r["metric"], r["row set"], r["coefficient"]) == (metric.metric, part.rows.name, "spearman")
            ]  # fmt: skip
            found = part.spearman
            assert [float(row[key]) for key in ("value", "low", "high")] == [found.value, found.low, found.high]
            assert int(row["n"]) == found.n
    assert len(tables["ks.csv"]) == sum(len(m.ks) for m in report.metrics)
    assert len(tables["thresholds.csv"]) == sum(len(s.points) for m in report.metrics for s in m.sweeps)
    assert len(tables["density.csv"]) == sum(len(g.density) for m in report.metrics for g in m.grades)
    cells = [int(r["count"]) for r in tables["heat_map.csv"]]
    assert sum(cells) == 400 * len(report.metrics)


@pytest.mark.slow
def test_an_undefined_figure_is_an_empty_cell_with_its_reason() -> None:
    found = rows(csv_tables(toys.awkward(systems=2))["correlations.csv"])
    constant = [r for r in found if r["label"] == "exact_match"]
    assert constant
    assert all((r["value"], r["low"]) == ("", "") and "scores are equal" in r["reason"] for r in constant)


@pytest.mark.slow
def test_fake_and_estimate_go_with_every_row() -> None:
    for name, text in csv_tables(toys.awkward(systems=2)).items():
        if name in ("about.csv", "human_labels.csv", "published.csv"):
            continue
        found = {(r["label"], r["dimension"]): r["note"] for r in rows(text)}
        assert found[toys.LONG, "conciseness"] == "fake", name
        assert found["length", "conciseness"] == "offline estimate (lexical judge)", name


def test_texts_run_in_no_spreadsheet_and_no_terminal_and_stay_whole() -> None:
    tables = csv_tables(toys.hostile())
    for text in tables.values():
        for bad in ("\x1b", "\x07", "\u202e", "\u2066", "\x00"):
            assert bad not in text
        for line in csv.reader(io.StringIO(text, newline="")):
            for cell in line:
                if cell[:1] in "=+-@" and cell:
                    float(cell)  # a number may begin with a minus, a text with none of these
    reviews = [r["review"] for r in rows(tables["misjudged.csv"])]
    assert max(map(len, reviews)) == 7000 * len("a long comment ")
    assert "'=HYPERLINK(\"http://evil.example\", 'x')" in reviews


def test_distances_classes_thresholds_and_traits_have_their_intervals(
    report: ValidityReport, tables: dict[str, list[dict[str, str]]]
) -> None:
    metric = report.metrics[0]
    cell, distance = metric.ks[0], tables["ks.csv"][0]
    assert [float(distance[key]) for key in ("low", "high")] == [cell.low, cell.high]
    rates, row = metric.classifiers[0].rows[0], tables["classifiers.csv"][0]
    assert [float(row[key]) for key in ("lowest f1", "highest f1", "lowest recall")] == [
        rates.f1_low, rates.f1_high, rates.recall_low
    ]  # fmt: skip
    best, swept = metric.sweeps[0].best_f1, tables["auc.csv"][0]
    assert best is not None
    assert [float(swept[key]) for key in ("its f1", "its f1 low", "its f1 high")] == [best.value, best.low, best.high]
    trait, shared = metric.traits[0].over_less_all, tables["traits.csv"][0]
    assert trait is not None
    assert [float(shared[f"over less all{of}"]) for of in ("", " low", " high")] == [trait.value, trait.low, trait.high]
    assert tables["traits.csv"][1]["over less all"] == "", "nothing was resampled"


def test_published_figures_have_a_table_of_their_own(report: ValidityReport) -> None:
    found = rows(csv_tables(report)["published.csv"])
    assert found[0] == {
        "dimension": "grade",
        "metric": "Judge",
        "rows": "",
        "name": "spearman",
        "value": "0.47",
        "source": "arXiv:0000.00000, Table 1",
    }
    assert "published.csv" not in csv_tables(report.model_copy(update={"published": ()}))


def test_both_rank_correlations_of_a_slice_and_the_ends_are_there(
    report: ValidityReport, tables: dict[str, list[dict[str, str]]]
) -> None:
    first = report.metrics[0]
    own = [r for r in tables["slices.csv"] if r["metric"] == first.metric and r["fact value"] == first.slices[0].value]
    assert [float(r["value"]) for r in own] == [first.slices[0].spearman.value, first.slices[0].kendall.value]
    ends = tables["opposite_ends.csv"][0]
    assert first.ends is not None
    assert (ends["n over"], ends["n under"], float(ends["spearman without"])) == (
        "12",
        "2",
        first.ends.spearman.value,
    )
