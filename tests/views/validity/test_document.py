from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

import validity_toys as toys
from html_pages import Page
from reviewgauge.core.document import Chart, Document, Section
from reviewgauge.core.reports.validity import MetricValidity, Ranking, ValidityReport
from reviewgauge.views.html import MOST_TEXT
from reviewgauge.views.pages import document_page
from reviewgauge.views.record_tables import record_tables
from reviewgauge.views.terminal.documents import document_view
from reviewgauge.views.validity import words
from reviewgauge.views.validity.document import validity_document, validity_summary
from reviewgauge.views.values import shown

NAMES = ("plain", "awkward", "hostile")


@pytest.fixture(scope="module")
def plain() -> ValidityReport:
    return toys.report(toys.KINDS[3:], rows=400)


@pytest.fixture(scope="module")
def document(plain: ValidityReport) -> Document:
    return validity_document(plain)


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=600)


@pytest.fixture(scope="module")
def awkward() -> ValidityReport:
    return toys.awkward()


def charts(document: Document) -> dict[str, Chart]:
    """The charts by their titles, the first of each; those of sections too."""
    found: dict[str, Chart] = {}
    for block in document.blocks:
        inner = charts(Document(blocks=block.blocks)) if isinstance(block, Section) else {}
        for title, chart in ({block.title: block} if isinstance(block, Chart) else inner).items():
            found.setdefault(title, chart)
    return found


# --- the page ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_well_formed_and_every_link_leads_somewhere(
    validity_pages: Callable[[str], Path], name: str
) -> None:
    page = Page(validity_pages(name).read_text(encoding="utf-8"))
    assert page.open == []
    assert [i for i, n in Counter(page.ids).items() if n > 1] == []
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links), "nothing leads outside"


def test_the_answer_stands_first_and_the_warnings_above_the_figures(
    plain: ValidityReport, validity_pages: Callable[[str], Path]
) -> None:
    html = validity_pages("plain").read_text(encoding="utf-8")
    top = html[: html.index("<main")]
    assert words.trust(plain, "grade").replace("'", "&#39;") in top
    assert all(caution in top for caution in words.cautions(plain))


@pytest.mark.slow
def test_undefined_figures_are_dashes_with_reasons_and_long_texts_are_cut(
    validity_pages: Callable[[str], Path], awkward: ValidityReport
) -> None:
    said = "".join(Page(validity_pages("awkward").read_text(encoding="utf-8")).text)
    assert "exact_match: Spearman, Kendall, Pearson undefined: all 400 scores are equal" in said
    assert "bleu: Spearman, Kendall, Pearson undefined: no row was scored" in said
    assert "nan" not in said.lower() and "None]" not in said
    assert "400 not applicable" in said and said.count("All metrics on ") == 4, "in the contents, too"
    assert "offline estimate (lexical judge)" in said and "(fake)" in said
    assert "exact_match" not in [one.name for one in charts(validity_document(awkward))[SENSITIVITY].series]
    page = validity_pages("hostile")
    assert page.stat().st_size < 1_000_000
    assert f"{105_000 - MOST_TEXT:,} more characters" in page.read_text(encoding="utf-8")


SENSITIVITY = "Mean score by human grade"


def test_each_metric_is_drawn_on_its_own_range_and_each_system_by_both_ranks(
    plain: ValidityReport, document: Document
) -> None:
    found = charts(document)
    best = words.best_first(plain, "grade")[0]
    low, high = min(row.minimum for row in best.grades), max(row.maximum for row in best.grades)
    line = found[SENSITIVITY].series[0]
    assert line.name == best.label and [at for at, _ in line.points] == [row.grade for row in best.grades]
    first = best.grades[0].mean
    assert line.points[0][1].value == pytest.approx(((first.value or 0.0) - low) / (high - low))
    assert line.points[-1][1].value == 1
    ranks = found["Systems ranked by people and by each metric"]
    assert ranks.named == ("people", *(one.label for one in words.best_first(plain, "grade")))
    assert [one.name for one in ranks.series] == list(toys.SYSTEMS)
    assert best.ranking is not None
    own = {point.system: (point.human_rank, point.metric_rank) for point in best.ranking.systems}
    assert all(tuple(one.value for _, one in line.points[:2]) == own[line.name] for line in ranks.series)
    spread = found["Distribution of the scores by human grade"].series
    assert {one.name: [(at, value.value) for at, value in one.points] for one in spread} == {
        words.grade(row.grade): list(row.density) for row in best.grades if row.density
    }
    swept = found["Separating 2 and above from the rest"]
    main = words.main_sweep(best)
    assert main is not None and main.best is not None and swept.upright == (main.best.threshold,)


def test_every_figure_stands_in_a_table_with_its_interval(plain: ValidityReport, document: Document) -> None:
    tables, best = document.tables, words.best_first(plain, "grade")[0]
    cell = best.ks[0]
    assert shown(tables["ks"].column("distance")[0]) == f"{words.coefficient(cell.statistic)} {words.bounds(cell)}"
    assert tables["distances"].column("2")[0].value == cell.statistic == tables["distances"].column("1")[1].value
    assert tables["distances"].column("1")[0].text == "–" and tables["distances"].shaded
    assert best.heat_map is not None
    assert tuple(one.value for one in tables["predicted"].rows[0][1:]) == best.heat_map.counts[0]
    f1 = best.sweeps[0].best_f1
    assert f1 is not None and (tables["auc"].column("best F1")[0].low, f1.value) == (f1.low, f1.value)
    rates = best.classifiers[0].rows[0]
    assert shown(tables["decision tree"].column("F1")[0]) == ".62 [.17, 1.00]" and rates.f1_high == 1
    assert len(tables["majority class"].rows) == len(best.classifiers[1].rows) + 1
    assert "quadratic weighted kappa – one class only" in tables["majority class"].notes[0]
    assert tables["ranks"].column("combined: mean")[-2].value == best.ranking.spearman.value  # type: ignore[union-attr]
    assert [one.value for one in tables["ranks"].column("Judge, published: rank")[:4]] == [4, 3, 2, 1]
    assert {one.text for one in tables["means"].column("rises")} == {"always"}
    assert [one.text for one in tables["misjudged"].rows[0][6:]] == [
        best.over[0].hypothesis,
        best.over[0].reference,
        best.over[0].claims[0],
    ]
    said = [shown(one, column) for one, column in zip(tables["traits"].rows[0], tables["traits"].columns, strict=True)]
    assert said[1:6] == ["212.4", "116.3 [85.1, 147.6]", "28.0", "-68.1 [-148.6, 12.4]", "96.1"]


@pytest.mark.drill
def test_whatever_a_metric_lacks_is_left_out(plain: ValidityReport) -> None:
    whole = plain.metrics[0]
    nothing = toys.figure(None, 0, reason="nobody looked")
    optional = {name: one.default for name, one in MetricValidity.model_fields.items() if one.default in ((), None)}
    lacking = [whole.model_copy(update={name: default}) for name, default in optional.items()]
    lacking.append(whole.model_copy(update={"correlations": ()}))
    lacking.append(whole.model_copy(update={"ranking": Ranking(systems=(), spearman=nothing, kendall=nothing)}))
    lacking.append(whole.model_copy(update={"classifiers": whole.classifiers[:1], "grades": whole.grades[:1]}))
    bare = tuple(s.model_copy(update={"best": None, "auc": nothing, "points": ()}) for s in whole.sweeps)
    lacking.append(whole.model_copy(update={"sweeps": bare}))
    blank = tuple(row.model_copy(update={"mean": nothing, "median": nothing}) for row in whole.grades)
    lacking.append(whole.model_copy(update={"grades": blank}))
    assert len(lacking) > 13
    named = tuple(m.model_copy(update={"metric": f"m{at}()", "label": f"m{at}"}) for at, m in enumerate(lacking))
    page = Page(document_page(validity_document(plain.model_copy(update={"metrics": named}))))
    assert page.open == []
    assert "nobody looked" in "".join(page.text)
    for metric in named:
        alone = plain.model_copy(update={"metrics": (metric,)})
        assert Page(document_page(validity_document(alone))).open == []
        assert validity_summary(alone)
        assert list(record_tables(alone))


def test_a_report_of_nothing_is_a_page() -> None:
    empty = toys.report(kinds=(), rows=40).model_copy(update={"labels": ()})
    text = document_page(validity_document(empty))
    assert Page(text).open == []
    assert "No metric was validated." in text
    assert "no metric was validated" in printed(empty)


# --- the terminal --------------------------------------------------------------------------------------------------


def printed(report: ValidityReport, width: int = 100, colour: bool = False) -> str:
    console = Console(
        width=width, force_terminal=colour, color_system="standard" if colour else None, legacy_windows=False
    )
    with console.capture() as capture:
        console.print(document_view(validity_summary(report)))
    return capture.get()


@pytest.mark.parametrize("width", [100, 80, 60, 40])
@pytest.mark.slow
def test_nothing_is_wider_than_the_terminal(report: ValidityReport, awkward: ValidityReport, width: int) -> None:
    for one in (report, awkward):
        assert max(cell_len(line.rstrip()) for line in printed(one, width).splitlines()) <= width


def test_the_overview_has_every_metric_best_first_with_n_and_interval(report: ValidityReport) -> None:
    lines = printed(report).splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("metric"))
    assert lines[head].split() == ["metric", "n", "Spearman", "Kendall", "Pearson", "AUC", "QWK", "floor"]
    best = words.best_first(report, "grade")
    for at, metric in enumerate(best):
        cells = lines[head + 1 + 2 * at].split()
        spearman, sweep = words.spearman(metric), words.main_sweep(metric)
        assert sweep is not None
        assert cells[:4] == [metric.label, "600", words.coefficient(spearman.value), words.bounds(spearman, gap="")]
        assert cells[6] == words.coefficient(sweep.auc.value)
        part = metric.correlations[1]
        row = lines[head + 2 + 2 * at].split()
        assert row[:6] == ["-", "grade", "<", "5", f"{part.rows.rows:,}", words.coefficient(part.spearman.value)]


def test_the_three_highest_published_figures_stand_below_with_their_source(report: ValidityReport) -> None:
    text = printed(report)
    below = text[text.index("published:") :].splitlines()
    assert [line.split() for line in below[1:4]] == [
        ["Judge", "–", ".470", ".470", *["–"] * 4],
        ["Metric", "3", "–", ".300", *["–"] * 5],
        ["Metric", "2", "–", ".200", *["–"] * 5],
    ]
    assert below[4] == "arXiv:0000.00000, perhaps not on the same rows; 2 lower ones are in the report"
    assert "published" not in printed(report.model_copy(update={"published": ()}))


def test_it_says_what_the_figures_rest_on(report: ValidityReport) -> None:
    text = " ".join(printed(report).split())
    for said in (
        "n = 600 rows, 150 clusters by reference; left out: 3 no reference text",
        "95% intervals from 10,000 resamples, seed 0",
        report.benchmark[:12],
        toys.USED_LABELS,
        *(metric.metric for metric in report.metrics),
        words.trust(report, "grade"),
    ):
        assert said in text


def test_undefined_is_a_dash_with_its_reason_and_never_nan(awkward: ValidityReport) -> None:
    text = " ".join(printed(awkward).split())
    assert "exact_match: Spearman, Kendall, Pearson undefined: all 400 scores are equal" in text
    assert "bleu: Spearman, Kendall, Pearson undefined: no row was scored" in text
    assert "nan" not in text.lower().replace("finance", "")


def test_fake_and_estimate_stand_beside_every_name(awkward: ValidityReport) -> None:
    first = printed(awkward).split("relevance: how the scores")[0]
    assert first.count("(fake)") == 1 and first.count("length (estimate)") == 1
    assert "offline estimate (lexical judge)" in printed(awkward)


def test_hostile_text_is_neither_markup_nor_escape() -> None:
    text = printed(toys.hostile(), colour=True)
    for bad in ("\x07", "\u202e", "\x1b]", "\x1b[31mred"):
        assert bad not in text
    assert "[red]" in text, "markup stays text"
