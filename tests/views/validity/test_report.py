from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import validity_toys as toys
from html_pages import Page
from reviewgauge.analysis.stats.classification import MAJORITY, TREE
from reviewgauge.core.reports.validity import HeatMap, MetricValidity, Ranking, ValidityReport
from reviewgauge.views import figures
from reviewgauge.views.record_tables import record_tables
from reviewgauge.views.validity import words
from reviewgauge.views.validity.report import MOST_TEXT, excerpt, heat, render
from reviewgauge.views.validity.tables import validity

pytestmark = pytest.mark.slow

NAMES = ("plain", "awkward", "hostile")


@pytest.fixture(scope="module")
def plain() -> ValidityReport:
    return toys.report(toys.KINDS[3:], rows=400)


@pytest.fixture(scope="module")
def html(validity_pages: Callable[[str], Path]) -> str:
    return validity_pages("plain").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_well_formed_and_every_link_leads_somewhere(
    validity_pages: Callable[[str], Path], name: str
) -> None:
    page = Page(validity_pages(name).read_text(encoding="utf-8"))
    assert page.open == []
    assert [i for i, n in Counter(page.ids).items() if n > 1] == []
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links), "nothing leads outside"


@pytest.mark.parametrize("name", NAMES)
def test_only_the_pages_own_script_and_style_may_run(validity_pages: Callable[[str], Path], name: str) -> None:
    text = validity_pages(name).read_text(encoding="utf-8")
    page = Page(text)
    policy = next(v for k, v in page.attributes if k == "content" and v and v.startswith("default-src"))
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        assert f"{directive} 'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'" in policy
    assert not any(k == "style" or k.startswith("on") or k == "src" for k, _ in page.attributes)


def test_the_answer_stands_first_and_the_warnings_above_the_figures(plain: ValidityReport, html: str) -> None:
    top = html[: html.index("<main")]
    assert words.trust(plain, "grade").replace("'", "&#39;") in top
    for caution in words.cautions(plain):
        assert caution in top
    for metric in plain.metrics:
        assert f"<bdi>{metric.label}</bdi></a>" in top, "navigation by metric"


def test_every_figure_has_its_n_and_signature(plain: ValidityReport, html: str) -> None:
    for view in html.split('<details class="change metric"')[1:]:
        block = view[: view.index("\n</details>\n</section>")] if "\n</details>\n</section>" in view else view
        label = re.search(r"<h3><bdi>(.*?)</bdi>", block)
        assert label is not None
        signature = next(m.metric for m in plain.metrics if m.label == label[1]).replace("'", "&#39;")
        figures = re.findall(r"<figure>.*?</figure>", block, re.S)
        assert len(figures) == 4, "scores, distances, heat map, thresholds"
        for figure in figures:
            assert re.search(r'<p class="from">n = [\d,]+ (of [\d,]+ )?rows', figure)
            assert signature in figure
    overview = html[html.index('<section id="d1"') : html.index('<section id="d1-each"')]
    for figure in re.findall(r"<figure>.*?</figure>", overview, re.S)[:2]:
        assert "n = 400 rows (all rows) · 95% intervals" in figure


def test_the_figures_people_look_for_are_drawn(plain: ValidityReport, html: str) -> None:
    titles = Counter(re.findall(r"<title id=[^>]*>([^<]*)</title>", html))
    each = len(plain.metrics)
    assert titles["Scores by human grade"] == each
    assert titles["Precision, recall and F1 of separating 2 and above from the rest"] == each
    for overview in (
        "Spearman with intervals",
        "Mean score by human grade, each metric on its own range",
        "Ranks of the systems by people and by each metric",
    ):
        assert titles[overview] == 2, "wide and narrow"
    assert html.count("Kolmogorov-Smirnov distance of two grades") == each
    assert html.count("Predicted against human grade") >= each
    assert f"Grade 5 is a line: all {plain.metrics[0].grades[-1].n} scores are" in html


def test_table_4_stands_beside_the_majority_class(plain: ValidityReport, html: str) -> None:
    table = html[html.index("Grades predicted from the scores") :]
    table = table[: table.index("</table>")]
    assert table.index("decision tree") < table.index("majority class")
    best = words.best_first(plain, "grade")[0]
    for name in (TREE, MAJORITY):
        found = words.classifier(best, name)
        assert found is not None
        assert words.with_bounds(found.accuracy).split()[0] in table
        for row in found.rows:
            assert re.search(re.escape(figures.number(row.f1)) + r"( <span class=.ci.>[^<]*</span>)?</td>", table)


def test_undefined_figures_are_dashes_with_reasons(validity_pages: Callable[[str], Path]) -> None:
    text = validity_pages("awkward").read_text(encoding="utf-8")
    assert "exact_match: Spearman, Kendall, Pearson undefined: all 400 scores are equal" in text
    assert "bleu: Spearman, Kendall, Pearson undefined: no row was scored" in text
    shown = "".join(Page(text).text)
    assert "nan" not in shown.lower()
    assert "None]" not in shown
    assert "400 not applicable" in shown


def test_dimensions_have_an_overview_each_and_one_of_all(validity_pages: Callable[[str], Path]) -> None:
    text = validity_pages("awkward").read_text(encoding="utf-8")
    assert text.count("All metrics on <bdi>") == 2
    assert "At a glance" in text
    assert text.count(">fake</span>") > 5
    assert "offline estimate (lexical judge)" in text


def test_a_long_comment_is_cut_and_that_is_said(validity_pages: Callable[[str], Path]) -> None:
    path = validity_pages("hostile")
    assert path.stat().st_size < 1_000_000
    assert f"{105_000 - MOST_TEXT:,} more characters" in path.read_text(encoding="utf-8")
    assert excerpt("short") == ("short", 0)


def test_a_heat_map_is_shaded_by_the_logarithm() -> None:
    nothing = toys.figure(None, 0, reason="-")
    found = HeatMap(
        predicted_by="x", grades=(1, 2), counts=((4690, 60), (0, 3)), exact=nothing, kappa_quadratic=nothing
    )
    assert [heat(found, n) for n in (4690, 60, 3, 0)] == [10, 5, 2, 0]
    empty = found.model_copy(update={"counts": ((0, 0), (0, 0))})
    assert heat(empty, 0) == 0


@pytest.mark.drill
def test_whatever_a_metric_lacks_is_left_out(plain: ValidityReport, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = plain.metrics[0]
    nothing = toys.figure(None, 0, reason="nobody looked")
    optional = [name for name, field in MetricValidity.model_fields.items() if field.default in ((), None)]
    lacking = [whole.model_copy(update={name: None if name in ("heat_map", "ranking") else ()}) for name in optional]
    lacking.append(whole.model_copy(update={"correlations": ()}))
    lacking.append(whole.model_copy(update={"ranking": Ranking(systems=(), spearman=nothing, kendall=nothing)}))
    lacking.append(whole.model_copy(update={"classifiers": whole.classifiers[:1], "grades": whole.grades[:1]}))
    lacking.append(
        whole.model_copy(
            update={
                "sweeps": tuple(s.model_copy(update={"best": None, "auc": nothing, "points": ()}) for s in whole.sweeps)
            }
        )
    )
    assert len(lacking) > 12
    named = tuple(m.model_copy(update={"metric": f"m{at}()", "label": f"m{at}"}) for at, m in enumerate(lacking))
    page = Page(render(plain.model_copy(update={"metrics": named})))
    assert page.open == []
    assert "nobody looked" in "".join(page.text)
    for metric in named:
        alone = plain.model_copy(update={"metrics": (metric,)})
        assert Page(render(alone)).open == []
        assert validity(alone)
        assert list(record_tables(alone))


def test_a_report_of_nothing_is_a_page() -> None:
    empty = toys.report(kinds=(), rows=40).model_copy(update={"labels": ()})
    text = render(empty)
    assert Page(text).open == []
    assert "No metric was validated." in text


def test_the_same_report_gives_the_same_page(html: str, plain: ValidityReport) -> None:
    assert render(plain) == html


def test_distances_f1_thresholds_and_traits_stand_with_their_intervals(plain: ValidityReport, html: str) -> None:
    for metric in plain.metrics:
        cell, best = metric.ks[0], metric.sweeps[0].best_f1
        assert f'title="{words.bounds(cell)}"' in html, "in the matrix, when pointed at"
        assert f'<span class="ci">{words.bounds(cell)}</span>' in html, "and in the table"
        assert best is not None
        assert f'{words.coefficient(best.value)}</span> <span class="ci">{words.bounds(best)}' in html
        rates = metric.classifiers[0].rows[0]
        found = figures.interval(rates.f1_low, rates.f1_high)
        assert f'{figures.number(rates.f1)} <span class="ci">{found}</span>' in html
    page = " ".join(" ".join(Page(html).text).split())
    assert "212.4 116.3 [85.1, 147.6] 28.0 -68.1 [-148.6, 12.4] 96.1 characters" in page
