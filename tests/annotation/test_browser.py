"""A judge's walk in a real browser, by keys."""

from __future__ import annotations

from typing import Any

import pytest

from annotation_client import PASSWORD, served
from annotation_toys import add_rater, desk_of, judge_all, small_project
from html_pages import arrive
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.pages.visits import COOKIE
from reviewgauge.annotation.schemas.schema import load_schema
from reviewgauge.annotation.store.accounts import Account, Role, all_accounts, begin_session, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import create_project, status
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.datasets.sample import Sample


def join(page: Any, store: Database, origin: str, name: str) -> None:
    page.goto(f"{origin}/invitation/{invite(store, Role.RATER)}")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_selector("text=Your work")


def begin(page: Any, url: str) -> None:
    """Pass the page before a discussion, which no key that answers passes."""
    page.goto(url)
    page.wait_for_selector("text=Begin the discussion")
    for key in ("2", "Enter", "y", "c", "o", "u"):
        page.keyboard.press(key)
    key = page.get_attribute("#begin", "data-key")
    page.wait_for_timeout(100)
    assert page.locator("#begin").is_visible()
    page.keyboard.press(key)
    arrive(page, "#judgement")


def people(store: Database) -> list[Account]:
    with store.reading() as connection:
        return all_accounts(connection)


def watched(page: Any) -> list[str]:
    """What the page complained of: script errors, and what the policy blocked."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.mark.drill
def test_a_judge_works_by_keys_alone(browser: Any, store: Database) -> None:
    project = small_project(store, "quality", count=2)
    with served(store, project) as (origin, link):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        complaints = watched(page)
        join(page, store, origin, "Ann")
        page.click("text=Judge the next item")
        page.wait_for_selector(".question.now")
        for key in "yynn":  # two claims: necessary, addressed
            page.keyboard.press(key)
        for key in "235":  # relevance is not between the other two
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        arrive(page, "text=Relevance is usually between")
        page.keyboard.press("v")
        page.wait_for_selector("table.code.two")
        page.wait_for_selector(".question.now")
        assert page.locator("input[name='q:-1:rel'][value='5']").is_checked()  # the draft came along
        page.keyboard.press("w")
        for key in "jjjjjj3":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        arrive(page, "text=Item 2")
        assert status(store, project).batches[0].judgements == 1
        assert not page.locator("input:checked").count()  # the draft of the first item is gone
        owner = browser.new_page()
        complaints += watched(owner)
        owner.goto(link)
        owner.click("text=Project")
        owner.wait_for_selector("text=Agreement")
        owner.goto(f"{origin}/login")
        assert complaints == []
        page.close()
        owner.close()


@pytest.mark.drill
def test_a_change_is_read_with_the_code_around_it_and_found_again_where_one_was(browser: Any, store: Database) -> None:
    cases = [case for case in Sample().cases() if case.change.title.startswith("Lockers can be edited")]
    project = create_project(store, "sample", load_schema("points"), make_items(load_schema("points"), cases), raters=1)
    with served(store, project) as (origin, _):
        page = browser.new_context(viewport={"width": 820, "height": 1180}, has_touch=True).new_page()
        complaints = watched(page)
        join(page, store, origin, "Ann")
        page.click("text=Judge the next item")
        page.wait_for_selector(".question.now")
        first = page.locator(".file").first
        rows = first.locator("td.line").count()
        first.locator(".more button").first.tap()
        first.locator(f"td.line >> nth={rows + 5}").wait_for()
        assert first.locator("td.number >> nth=1").inner_text() == "1"
        page.keyboard.press("v")
        page.wait_for_selector("table.code.two")
        page.wait_for_selector(".question.now")
        page.keyboard.press(".")
        page.wait_for_selector(".note.found")
        page.keyboard.press("y")
        page.fill("textarea[name=reason]", "Half of a thought")
        seen = page.evaluate("changeView.place()")
        page.goto(origin)
        page.goto(f"{origin}/next")
        page.wait_for_selector(".question.now")
        again = page.evaluate("changeView.place()")
        assert again["file"] == seen["file"]
        assert abs(int(again["line"][1]) - int(seen["line"][1])) <= 1  # half a pixel may hide a line
        assert page.input_value("textarea[name=reason]") == "Half of a thought"
        assert page.locator("input:checked").count() == 1
        page.tap("#fold")
        page.wait_for_selector(".panel.folded")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        page.keyboard.press("f")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector("#files:not([open])", state="attached")
        assert page.locator("#file-2").bounding_box()["y"] < 200
        assert complaints == []
        page.context.close()


@pytest.mark.drill
def test_what_was_judged_can_be_corrected_until_the_round_ends(browser: Any, store: Database) -> None:
    project = small_project(store, "grade", count=1, raters=2)
    with served(store, project) as (origin, _):
        page = browser.new_context().new_page()
        join(page, store, origin, "Ann")
        for answer in ("2", "5"):
            page.goto(f"{origin}/")
            page.click("text=Judge the next item" if answer == "2" else "td a")
            page.wait_for_selector(".question.now")
            page.keyboard.press(answer)
            page.keyboard.press("Enter")
            page.wait_for_selector("text=Saved.")
            assert "can be corrected" in page.inner_text(".state")
        assert "5" in page.inner_text("td .answer")
        judge_all(desk_of(store, project, "Bob"), choice=4)
        page.reload()
        page.click("td a")
        page.wait_for_selector("text=This round is over")
        assert not page.locator("#judgement button").count()
        assert page.locator("input:checked").is_disabled()
        page.context.close()


@pytest.mark.drill
def test_what_cannot_be_undone_is_asked_first(browser: Any, store: Database) -> None:
    project = small_project(store, "grade", count=2)
    with served(store, project) as (_, link):
        page = browser.new_context().new_page()
        asked: list[str] = []
        answers = iter([False, True])

        def answer(dialog: Any) -> None:
            asked.append(dialog.message)
            dialog.accept() if next(answers) else dialog.dismiss()

        page.on("dialog", answer)
        page.goto(link)
        page.click("nav >> text=Project")
        page.click("button[value=end_batch]")
        assert (len(asked), status(store, project).batches[0].over) == (1, False)
        page.click("button[value=end_batch]")
        page.wait_for_selector("button[value=end_batch]", state="detached")
        assert (asked[0][:12], status(store, project).batches[0].over) == ("End batch 1 ", True)
        page.context.close()


@pytest.mark.drill
def test_digits_go_to_the_first_question_of_a_page_that_has_answers(browser: Any, store: Database) -> None:
    with served(store, small_project(store, "grade", count=1, raters=1)) as (origin, _):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        join(page, store, origin, "Ann")
        page.goto(f"{origin}/next")
        keys = page.locator(".question[data-dimension=criteria] kbd").first
        assert keys.is_hidden()
        page.keyboard.press("2")
        assert keys.is_visible()
        page.goto(origin)
        page.goto(f"{origin}/next")  # the draft is there
        page.wait_for_selector(".question.now[data-dimension=grade]")
        page.keyboard.press("5")
        assert [one.input_value() for one in page.locator("input:checked").all()] == ["5"]
        page.keyboard.press("v")  # another view is no other page
        page.wait_for_selector("table.code.two")
        page.wait_for_selector(".question.now[data-dimension=criteria]")
        page.context.close()


@pytest.mark.drill
def test_no_page_is_wider_than_a_phone(browser: Any, store: Database) -> None:
    project = small_project(store, "claims")
    ann, bob = desk_of(store, project, "Ann"), desk_of(store, project, "Bobby Tables-Longername")
    judge_all(ann)
    judge_all(bob, choice=1, most=2)
    owner = add_rater(store, "Olga Ivanovna Longername", Role.OWNER)
    with served(store, project) as (origin, _):
        for account, paths in (
            (owner, ("/", "/next", "/project", "/agreement", "/conflicts", "/account")),
            (ann.account, ("/", "/next", "/conflicts")),
            (None, ("/login", "/enter/x", f"/invitation/{invite(store, Role.RATER)}")),
        ):
            page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
            token = begin_session(store, account) if account else "x"
            page.context.add_cookies([{"name": COOKIE, "value": token, "url": origin}])
            for path in paths:
                page.goto(origin + path)
                assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, path
                words = page.locator("nav a:not(.name), nav button").all()
                assert all(one.evaluate("one => one.getClientRects().length === 1") for one in words), path
            page.context.close()


@pytest.mark.drill
@pytest.mark.parametrize(("schema", "confirm"), [("grade", "c"), ("claims", "C")])  # "c" answers a question there
def test_a_proposal_is_confirmed_by_no_key_that_is_pressed_anyway(
    browser: Any, store: Database, schema: str, confirm: str
) -> None:
    project = small_project(store, schema, count=2, batch=2)
    desks = [desk_of(store, project, name) for name in ("Bob", "Cid")]
    with served(store, project) as (origin, _):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        join(page, store, origin, "Ann")
        ann = RaterSession(store, project, next(one for one in people(store) if one.name == "Ann"))
        judge_all(ann)
        judge_all(desks[0], choice=1)  # and proposes
        begin(page, f"{origin}/next")
        page.wait_for_selector("text=Discussion: Rater 2 proposes a consensus")
        order = page.locator("#panel").inner_text()
        assert order.index("Proposed consensus") < order.index("What the raters said")
        here = page.url
        for key in ("1", "Enter", *("c" if confirm == "C" else "")):
            page.keyboard.press(key)
        page.keyboard.press("r")
        page.keyboard.press("Control+Enter")
        page.keyboard.press("Escape")
        page.wait_for_timeout(300)
        assert (page.url, status(store, project).done) == (here, 0)
        page.keyboard.press(confirm)
        page.wait_for_url(lambda url: url != here)
        assert status(store, project).done == 1
        begin(page, page.url)
        here = page.url
        page.keyboard.press(confirm.replace("c", "o").replace("C", "o"))
        page.keyboard.type("It is neither.")  # the key asks for the reason first
        page.keyboard.press("Escape")
        page.keyboard.press("o")
        page.wait_for_url(lambda url: url != here)
        assert status(store, project).batches[0].waiting == 1
        page.context.close()


@pytest.mark.drill
def test_the_judgement_that_ends_a_batch_says_so_and_save_stays_in_sight(browser: Any, store: Database) -> None:
    with served(store, small_project(store, "grade", count=3, raters=1, batch=2)) as (origin, _):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        join(page, store, origin, "Ann")
        page.goto(f"{origin}/next")
        for says in ("Correct it", "The batch is over"):
            page.wait_for_selector(".question.now")
            before = page.url
            page.keyboard.press("3")
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url, before=before: url != before)
            assert says in page.inner_text(".toast")
            save = page.locator("button[value=judge]").bounding_box()
            assert save["y"] + save["height"] <= 800
        assert not page.locator("#undo").count()
        page.context.close()
