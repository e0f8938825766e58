import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace

import pytest

from html_pages import Page
from reviewgauge.core.reports.leaderboard import Estimate, SliceSummary, SystemSummary
from reviewgauge.views.report.report import ReportData, render


@pytest.fixture(scope="module")
def html(small: ReportData) -> str:
    return "".join(render(small))


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.mark.slow
def test_the_page_is_well_formed_and_ids_are_unique(page: Page) -> None:
    assert page.open == []
    assert [i for i, n in Counter(page.ids).items() if n > 1] == []


def test_every_inner_link_leads_somewhere(page: Page) -> None:
    inner = {link[1:] for link in page.links if link.startswith("#")}
    assert inner <= set(page.ids)
    assert all(link.startswith(("#", "https://example.org/")) for link in page.links)


def test_the_policy_lets_only_these_two_elements_run(html: str, page: Page) -> None:
    policy = next(v for k, v in page.attributes if k == "content" and v and v.startswith("default-src"))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not any(k == "style" or k.startswith("on") for k, _ in page.attributes), "the policy would block these"


def test_every_comment_and_reference_is_there_once(small: ReportData, html: str, page: Page) -> None:
    comments = [c.id for o in small.outcomes if o.review for c in o.review.comments]
    shown = Counter(re.findall(r'class="cid" href="#[^"]+">([^<]+)</a>', html))
    assert shown == Counter(comments)
    references = Counter(r.id for case in small.cases for r in case.references)
    assert (
        Counter(
            re.findall(
                r'<div class="ref" id="[^"]+">(?:<p class="quiet">[^<]*</p>)?<p class="meta">(?:finding )?'
                r"<b>([^<]+)</b>",
                html,
            )
        )
        == references
    )
    text = "".join(page.text)
    for case in small.cases:
        for reference in case.references:
            assert reference.body in text


def test_undefined_is_a_dash(html: str) -> None:
    row = next(r for r in re.findall(r"<tr>.*?</tr>", html, re.S) if "<bdi>silent</bdi>" in r)
    cell = re.search(r'data-label="precision"[^>]*><span class="num">(.*?)</span></td>', row)
    assert cell is not None
    assert "–" in cell[1]
    assert "0" not in cell[1]


def test_failures_coverage_fake_and_estimate_stand_beside_the_score(html: str) -> None:
    for words in (
        'data-label="failed"',
        "4/6",
        "no answer within 600 s",
        ">fake<",
        "offline estimate (lexical judge)",
        "timeout",
    ):
        assert words in html


def test_figures_carry_n_level_metric_and_benchmark(small: ReportData, html: str) -> None:
    board = small.leaderboards[0]
    sources = re.findall(r'<p class="from">n = .*?</p>', html)
    assert len(sources) >= 5
    for source in sources:
        for words in ("95%", board.benchmark[:12], "hits(judge=", "seed 0"):
            assert words in source


@pytest.mark.slow
def test_twelve_systems_on_thirty_changes_stay_under_ten_megabytes(big: ReportData) -> None:
    text = "".join(render(big))
    said = sum(len(o.review.comments) for o in big.outcomes if o.review)
    assert said > 11_000
    assert len(text.encode()) < 10_000_000


@pytest.mark.slow
def test_a_report_of_nothing_is_a_page(small: ReportData) -> None:
    text = "".join(render(ReportData(title="nothing", created="now", leaderboards=[])))
    assert Page(text).open == []
    assert "No metric was scored." in text
    empty = small.leaderboards[0].model_copy(update={"systems": (), "slices": ()})
    assert Page("".join(render(replace(small, leaderboards=[empty], comparisons=[])))).open == []


@pytest.mark.slow
def test_two_leaderboards_do_not_clash(small: ReportData) -> None:
    other = small.leaderboards[0].model_copy(update={"metric": "hits(policy='any')", "label": "lenient"})
    text = "".join(render(replace(small, leaderboards=[small.leaderboards[0], other])))
    assert [i for i, n in Counter(Page(text).ids).items() if n > 1] == []
    first, second = re.findall(r'<p class="answer">(.*?)</p>', text)
    assert "leads" in first and second.startswith("<code>lenient</code>: <bdi>"), "each metric has its sentence"


def test_slices_with_few_changes_are_named_and_not_drawn(small: ReportData) -> None:
    board = small.leaderboards[0]
    rare = board.slices[0].model_copy(update={"value": "a rare one", "n": 4})
    boards = [board.model_copy(update={"slices": pieces}) for pieces in (board.slices, (rare, *board.slices), (rare,))]
    pages = ["".join(render(replace(small, leaderboards=[one]))) for one in boards]
    assert ["Left out: <bdi>a rare one</bdi> (n = 4)" in page for page in pages] == [False, True, True]
    assert ["<figcaption><bdi>a rare one" in page for page in pages] == [False] * 3
    assert [page.count('<th scope="col">a rare one') for page in pages] == [0] * 3


@pytest.mark.parametrize(
    ("recalls", "said"),
    [
        ([(0.6, 0.5, 0.7), (0.2, 0.1, 0.3)], "most missed by S1<"),
        ([(0.6, 0.25, 0.7), (0.2, 0.1, 0.3)], "most missed by S1, not surely<"),
        ([(0.6, 0.5, 0.7), (0.2, None, None)], "most missed by S1, not surely<"),
        ([(0.6, 0.5, 0.7), (0.2, 0.1, 0.3), (0.2, 0.1, 0.4)], "most missed by S1 and S2<"),
        ([(0.6, 0.5, 0.7), (0.0, 0.0, 0.0)], "most missed by S1, not surely<"),
        ([(0.6, 0.5, 0.7), (None, None, None)], ""),
        ([(1.0, 0.7, 1.0), (1.0, 0.7, 1.0)], ""),
    ],
)
def test_who_misses_a_kind_most_is_said_with_its_doubt(
    small: ReportData, recalls: list[tuple[float | None, ...]], said: str
) -> None:
    board = small.leaderboards[0]
    rows = [
        SystemSummary(
            system=f"S{at}",
            estimates=(Estimate(measure="recall", value=value, low=low, high=high, n=9, clusters=9),),
            cases=9,
            scored=9,
            failed=0,
        )
        for at, (value, low, high) in enumerate(recalls)
    ]
    silent = rows[0].model_copy(update={"system": "silent", "baseline": True})
    piece = SliceSummary(fact="category", value="security", facet=True, n=9, systems=(*rows, silent))
    page = "".join(render(replace(small, leaderboards=[board.model_copy(update={"slices": (piece,)})])))
    assert said in page if said else "most missed" not in page


@pytest.mark.slow
def test_the_same_data_gives_the_same_page(small: ReportData, html: str) -> None:
    assert "".join(render(small)) == html


@pytest.mark.slow
def test_the_coverage_gives_bounds_only_where_something_failed(small: ReportData) -> None:
    board = small.leaderboards[0]
    row = next(row for row in board.systems if any(e.worst is not None for e in row.estimates))
    rows = (
        row.model_copy(update={"system": "some-missing", "failed": 0, "missing": 5, "failures": {}}),
        row.model_copy(update={"system": "some-failed", "failed": 2, "missing": 0, "failures": {"timeout": 2}}),
    )
    shown = "".join(render(replace(small, leaderboards=[board.model_copy(update={"systems": rows})], comparisons=[])))
    ends = dict(re.findall(r"<bdi>(some-\w+)</bdi>.*?worst to best\"[^>]*><span class=\"num\">([^<]*)</span>", shown))
    assert ends["some-missing"] == "–"
    assert re.fullmatch(r"\S+ to \S+", ends["some-failed"])


def test_the_trace_of_a_review_is_shown_as_text_and_a_long_one_is_cut(small: ReportData) -> None:
    at, first = next((at, one) for at, one in enumerate(small.outcomes) if one.review is not None)
    assert first.review is not None
    traced = first.review.model_copy(update={"trace": "> read <script>x</script>\n" + "y" * 30_000})
    outcomes = list(small.outcomes)
    outcomes[at] = first.model_copy(update={"review": traced})
    html = "".join(render(replace(small, outcomes=outcomes)))
    assert "&gt; read &lt;script&gt;x&lt;/script&gt;\nyyyy" in html
    assert "(10,026 more characters are in the run)" in html


def test_a_part_of_the_changes_is_shown_and_said(small: ReportData) -> None:
    text = "".join(render(replace(small, shown=[1, 4])))
    wanted = [f"case-{small.cases[at].id.replace('/', '-')}" for at in (1, 4)]
    assert re.findall(r'<details class="change" id="([^"]+)"', text) == wanted
    assert "2 of 6 changes are shown" in text
    assert "these 6 changes" in text
    page = Page(text)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
