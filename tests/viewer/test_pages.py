"""The pages: what each holds, where its figures lead, and what the list is narrowed to."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest

from html_pages import Page
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Span
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.pages import Pages, Query, narrowed, wrong
from reviewgauge.viewer.selection import Selection
from viewed_runs import finds, misses, nothing, plain_cases, selected, twin_run, write_run


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    folder: Path = tmp_path_factory.mktemp("pages")
    systems = {"finder": finds, "half": misses, "silent": nothing, "odd+ &\"'<b>:/ x": finds}
    return selected(write_run(folder / "run", systems, broken=[("shop-2", "half")]))


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        (Query(), [1, 2, 3, 4]),
        (Query(state="missed"), [1, 2]),
        (Query(state="missed", system="half"), [1]),
        (Query(state="missed", system="finder"), []),
        (Query(state="false"), [1, 3]),
        (Query(state="failed"), [2]),
        (Query(state="failed", system="half"), [2]),
        (Query(state="failed", system="finder"), []),
        (Query(state="nonsense"), []),
        (Query(system="finder"), [1, 2, 3, 4]),
        (Query(fact="language=Go"), [2, 3]),
        (Query(fact="language=Go", state="missed"), [2]),
        (Query(fact="size=4"), [1, 2, 3]),
        (Query(fact="nothing=x"), []),
        (Query(text="LOAD orders"), [1, 2, 3]),
        (Query(text="tools"), [4]),
        (Query(text="orders bare"), []),
        (Query(text="docstring"), [1, 3, 4]),
        (Query(text="docstring", system="finder"), []),
        (Query(text="DOCSTRING orders injection"), [1]),
        (Query(state="different"), [1]),
        (Query(state="different", fact="language=Go"), []),
    ],
    ids=str,
)
def test_what_the_list_is_narrowed_to(chosen: Selection, query: Query, numbers: list[int]) -> None:
    assert [row.number for row in narrowed(chosen, query)] == numbers
    page = Pages(chosen).changes(query)
    assert f"{len(numbers)} change" in page and ("No change fits." in page) is not bool(numbers)


def test_what_is_known_to_be_wrong_matches_no_finding_either(tmp_path: Path) -> None:
    chosen = selected(twin_run(tmp_path / "twins"))
    assert "twin" in [row.facts["arm"] for row in narrowed(chosen, Query(state="false", system="blind"))]


def test_a_system_that_is_not_there_narrows_nothing(chosen: Selection) -> None:
    with pytest.raises(UserError, match="there is no system nobody"):
        Pages(chosen).changes(Query(system="nobody"))


def test_the_words_of_a_search_are_marked_on_the_change() -> None:
    assert Query(text="a-b  c,&").fragment == "#:~:text=a%2Db&text=c%2C%26" and Query().fragment == ""


def test_a_state_is_one_click_and_a_second_click_undoes_it(chosen: Selection) -> None:
    page = Pages(chosen).changes(Query(text="orders"))
    links = [unescape(link) for link in Page(page).links]
    assert "changes.html?state=missed&text=orders" in links
    assert any(re.fullmatch(r"change-1\.html#:~:text=orders", link) for link in links)
    narrowed_page = Pages(chosen).changes(Query(state="missed", text="orders"))
    assert re.search(r'class="s-missed" href="changes.html\?text=orders" aria-current="true"', narrowed_page)


def test_facts_that_are_numbers_sort_as_numbers(tmp_path: Path) -> None:
    values = (40, 10, 3, "10-20", "b", "a2")
    cases = [Case(id=f"c{at}", change=Change(repo="r"), facts={"size": value}) for at, value in enumerate(values)]
    chosen = selected(write_run(tmp_path / "run", {"silent": nothing}, cases, metrics=()))
    assert chosen.facts["size"] == ["3", "10", "10-20", "40", "a2", "b"]


def test_a_link_says_what_the_list_is_narrowed_to() -> None:
    assert Query().link() == "changes.html"
    link = Query("a+b & c", state="missed").link(page=2)
    assert parse_qs(urlsplit(link).query) == {"system": ["a+b & c"], "state": ["missed"], "page": ["2"]}


def test_every_figure_of_the_board_is_a_door(chosen: Selection) -> None:
    """It leads to changes of its own system, whatever the name holds."""
    page = Pages(chosen).board()
    doors = [unescape(link) for link in Page(page).links if link.startswith("changes.html?")]
    asked = [parse_qs(urlsplit(door).query) for door in doors]
    assert {query["system"][0] for query in asked} == set(chosen.systems)
    for query in asked:
        Pages(chosen).changes(Query(query["system"][0], query.get("state", [""])[0]))
    assert {"missed", "false"} <= {query.get("state", [""])[0] for query in asked}


def test_the_worst_changes_of_a_system_come_first_over_all_pages(chosen: Selection) -> None:
    with patch("reviewgauge.viewer.pages.PAGE", 2), patch.dict(chosen.pages, clear=True):
        at = chosen.systems.index("half")
        assert [wrong(row, at) for row in chosen.rows] == [2, None, 1, None], "what failed is neither good nor bad"
        for asked, held in ((1, [1, 3]), (2, [2, 4])):
            page = Pages(chosen).changes(Query(order="half", page=asked))
            assert [n for n in range(1, 5) if f'"change-{n}.html"' in page] == held
            assert "order=half" in page and 'name="order" value="half"' in page
        assert '"change-1.html"' in Pages(chosen).changes(Query(order="findings"))


def test_the_list_comes_in_parts_where_it_is_served(chosen: Selection) -> None:
    with patch("reviewgauge.viewer.pages.PAGE", 2), patch.dict(chosen.pages, clear=True):
        for asked, held in ((1, [1, 2]), (2, [3, 4]), (0, [1, 2]), (99, [3, 4])):
            page = Pages(chosen).changes(Query(page=asked))
            assert [n for n in range(1, 5) if f'"change-{n}.html"' in page] == held
            assert ('rel="next"' in page, 'rel="prev"' in page) == (held[0] == 1, held[0] == 3)
        whole = Pages(chosen, live=False).changes(Query())
        assert all(f'"change-{n}.html"' in whole for n in range(1, 5)) and '<a rel="next"' not in whole


@pytest.mark.parametrize("live", [True, False])
def test_every_page_is_whole(chosen: Selection, live: bool) -> None:
    """Every tag is closed, every id is there once, and every link within a page leads somewhere."""
    pages = Pages(chosen, live=live)
    made = [pages.board(), pages.slices(), pages.changes(Query()), pages.against(1, 2), pages.against(4, 3)]
    made += [pages.change(n, split=split) for n in range(1, 5) for split in (False, True)]
    for text in made:
        page = Page(text)
        assert page.open == [] and len(page.ids) == len(set(page.ids))
        assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
        assert ("Content-Security-Policy" in text) is not live
        assert ("static/viewer.js" in text) is live


def test_a_change_has_its_neighbours_and_says_what_failed(chosen: Selection) -> None:
    first, second, last = (Pages(chosen).change(n) for n in (1, 2, 4))
    assert 'rel="prev"' not in first and 'rel="next" href="change-2.html"' in first
    assert "no answer within 600 s" in second
    assert 'rel="next"' not in last and "No diff." in last and "<bdi>bare</bdi>" in last
    assert 'href="change-1-split.html"' in Pages(chosen).change(2, split=True)
    for words in ("Side by side", "<kbd>v</kbd>"):
        assert words in first and words not in last, "without a diff there is nothing to turn"


def test_twins_lead_to_each_other(tmp_path: Path) -> None:
    pages = Pages(selected(twin_run(tmp_path / "twins")))
    first = pages.change(1)
    assert "beside-1-3.html" in first and "twin without it" in first
    assert "· with a defect" in first and "needs the " in first and "arm:" not in first
    both = pages.beside(1, 3)
    assert "with a defect" in both and "twin without it" in both


def test_any_two_changes_stand_beside_each_other(chosen: Selection) -> None:
    assert "shop-1" in Pages(chosen).beside(1, 4)


def test_changes_of_an_unknown_arm_are_shown(tmp_path: Path) -> None:
    cases = [Case(id=f"c{n}", change=Change(repo="r"), facts={"pair": "p", "arm": f"odd{n}"}) for n in range(2)]
    pages = Pages(selected(write_run(tmp_path / "run", {"silent": nothing}, cases, metrics=())))
    assert "beside-1-2.html" in pages.change(1)
    assert "c0" in pages.beside(1, 2)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (1, 5), (99, 1)])
def test_no_other_numbers_name_a_system(chosen: Selection, first: int, second: int) -> None:
    with pytest.raises(UserError, match="there is no such system"):
        Pages(chosen).against(first, second)


def test_one_against_the_other_in_words(chosen: Selection) -> None:
    finder, half = (chosen.systems.index(name) + 1 for name in ("finder", "half"))
    page = Pages(chosen).against(finder, half)
    assert "1 finding only <bdi>finder</bdi> hit (none surely), 0 only <bdi>half</bdi> hit" in page
    assert 'data-later="difference-' in page and "against" in Pages(chosen).difference(finder, half)
    assert Pages(chosen).difference(finder, half) == Pages(chosen).difference(half, finder)
    assert "not tested" not in Pages(chosen).difference(half, finder)
    assert "They found the same." in Pages(chosen).against(1, 1)
    silent = chosen.systems.index("silent") + 1
    assert "Neither found anything." in Pages(chosen).against(silent, silent)


def test_a_long_finding_is_cut_between_words(tmp_path: Path) -> None:
    known = Comment(id="r", body="unbounded " * 90, span=Span(path="src/load.py", start=2))
    cases = [case.model_copy(update={"references": (known,)}) for case in plain_cases()[:1]]
    page = Pages(selected(write_run(tmp_path / "run", {"finder": finds, "silent": nothing}, cases))).against(1, 2)
    assert "unbounded …" in page


def test_the_board_explains_its_headline_and_what_is_least(chosen: Selection, tmp_path: Path) -> None:
    board = Pages(selected(twin_run(tmp_path / "twins"))).board()
    assert re.search('title="[^"]+the same code without them[^"]*">d′<', board)
    assert re.search(
        r"title=\"n = \d+: all changes give the same, and[^>]*>(<a [^>]*>)?<span class=.num.>.00<",
        Pages(chosen).board(),
    )
    assert "F1 least" in (plain := Pages(chosen).board()) and "least and most: if all that is unsure" in plain


def test_the_board_says_what_a_review_costs(chosen: Selection) -> None:
    page = Pages(chosen).board()
    assert "$/review" in page and page.count("$0.25") >= 3


def test_a_page_is_made_once_until_somebody_says_something_of_a_comment(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": finds, "b": misses})
    chosen = selected(run)
    first, other = Pages(chosen).against(1, 2), Pages(chosen).against(2, 1)
    with patch("reviewgauge.viewer.pages.render", side_effect=AssertionError("made again")):
        assert (Pages(chosen).against(1, 2), Pages(chosen).against(2, 1)) == (first, other)
    about = Subject(kind=SubjectKind.COMMENT, case="shop-1", system="b", comment="n5")
    with RunFolder.open(run, write=True) as folder:
        folder.add_labels([Label(subject=about, rater="ann", dimension="false_positive", value=True)])
    chosen.read_people()
    assert "People judged comments" in Pages(chosen).against(1, 2) and "People judged" not in first


def test_slices_begin_with_what_is_found_and_say_which_category_is_not_stated(tmp_path: Path) -> None:
    def cases(*categories: str | None) -> list[Case]:
        first = plain_cases()[0]
        return [
            first.model_copy(
                update={
                    "id": f"{at}",
                    "references": (first.references[0].model_copy(update={"category": category}),),
                    "facts": {"language": ("Go", "C")[at % 2]},
                }
            )
            for at, category in enumerate(categories * 6)
        ]

    systems = {"finder": finds, "half": misses, "silent": nothing}
    text = Pages(selected(write_run(tmp_path / "stated", systems, cases("security", "defect")))).slices()
    page = Page(text)
    assert text.index("<h3>recall by category") < text.index("<h3>F1 by language")
    places = [link[1:] for link in page.links if link.startswith("#b")]
    assert len(places) == 2 and set(places) <= set(page.ids)
    assert text.count("most missed by half and silent<") == 2
    plain = Pages(selected(write_run(tmp_path / "plain", systems, cases(None, None)))).slices()
    assert ("No category" in plain, "No category" in text) == (True, False)
    alike = Pages(selected(write_run(tmp_path / "alike", systems, cases("defect", "defect")))).slices()
    assert "The only category of findings that is stated is defect, so" in alike


def test_a_board_of_a_fact_is_measured_on_its_changes_alone(chosen: Selection) -> None:
    (board,) = chosen.part("language=Go")
    assert {(row.system, row.cases, row.failed) for row in board.systems} >= {("finder", 2, 0), ("half", 2, 1)}
    page = Pages(chosen).board("language=Go")
    assert "changes where language is Go" in page and "fact=language%3DGo" in page
    with pytest.raises(UserError, match="no change has language=Rust"):
        Pages(chosen).board("language=Rust")
