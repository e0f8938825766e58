"""In a real browser: hostile text in every field is shown and runs nothing; answers survive a session that ends."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sql

from annotation_client import served
from annotation_toys import add_rater, answers_for, next_of, small_cases, small_project, small_reviews
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.pages.visits import COOKIE
from reviewgauge.annotation.schemas.schema import Answer, Option, Parts, Question, QuestionKind, Schema
from reviewgauge.annotation.store.accounts import Account, Role, begin_session, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import Project, create_project, edit_guidelines, status
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.annotation.store.tables import sessions
from reviewgauge.core.labels import SubjectKind
from reviewgauge.core.records import Case, ChangedFile, Review, Span

PAYLOADS = (
    "<script>window.hacked=1</script>",
    "</textarea></script></style></title><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg onload=window.hacked=1>",
    '" autofocus onfocus=window.hacked=1 x="',
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe><base href=//evil.example>",
    "<form action=//evil.example><button formaction=javascript:hacked=1 name=csrf>x",
    "<details open ontoggle=window.hacked=1><meta http-equiv=refresh content='0;url=//evil.example'>",
    "{{7*7}}{% raw %}{{ self }}${window.hacked=1}<!--",
    "&lt;script&gt;window.hacked=1&lt;/script&gt; javascript:window.hacked=1 %0d%0aSet-Cookie:%20x=1",
    "\u202e\u2066abc\x1b[31m\u2028window.hacked=1",
)
ALL = " ".join(PAYLOADS)
RUNS = "main img, main svg, main script, main iframe, main base, main meta, [onerror], [onload], [ontoggle], [onfocus]"


def texts(**more: Any) -> dict[str, Any]:
    return {"text": ALL, "help": ALL, **more}


def hostile_schema() -> Schema:
    options = tuple(Option(value=payload.replace(",", ";")[:60], text=ALL) for payload in PAYLOADS[:4])
    return Schema(
        name="hostile",
        title=ALL,
        unit=SubjectKind.REVIEW,
        parts=Parts.CLAIMS,
        shows_references=True,
        guidelines=ALL,
        raters=2,
        batch=1,
        questions=(
            Question(dimension="choice", options=options, **texts()),
            Question(dimension="many", kind=QuestionKind.MANY, options=options, required=False, **texts()),
            Question(dimension="words", kind=QuestionKind.TEXT, required=False, **texts()),
            Question(dimension="lines", kind=QuestionKind.LIST, required=False, **texts()),
            Question(dimension="part", each=True, options=options, **texts()),
        ),
    )


def hostile_project(store: Database) -> Project:
    case, schema = small_cases(1)[0], hostile_schema()
    patch = "@@ -1,2 +1,12 @@ " + ALL + "\n-a\n-b\n" + "".join(f"+{payload}\n" for payload in (*PAYLOADS, "c"))
    names = [f"{n}{payload.replace('/', '_')}" for n, payload in enumerate(PAYLOADS[:-1])]
    files = [ChangedFile(path=f"{name}.html", old_path=f"{name}.old", patch=patch) for name in names]
    update = {"title": ALL, "description": ALL, "files": tuple(files), "repo": PAYLOADS[2]}
    change = case.change.model_copy(update=update)
    spoil = {"body": ALL, "quote": ALL}
    references = tuple(one.model_copy(update=spoil) for one in case.references)
    claims = tuple(one.model_copy(update={"body": ALL}) for one in case.claims)
    hostile = Case(**{**dict(case), "change": change, "references": references, "claims": claims})
    comments = [one.model_copy(update=spoil) for one in small_reviews([case])[0].comments]
    placed = comments[0].model_copy(update={"id": "2", "span": Span(path=files[0].path, start=3)})
    data = make_items(schema, [hostile], [Review(case=case.id, system="s", comments=(*comments, placed))])
    return create_project(store, ALL[:100], schema, data)


def judged(store: Database, project: Project, account: Account, choice: int) -> None:
    desk = RaterSession(store, project, account)
    slot = next_of(desk)
    work = desk.work(slot)
    words = [Answer(dimension=name, value=ALL) for name in ("words", "lines")]
    given = [*answers_for(project.schema_, len(work.item.parts), choice), *words]
    desk.submit(slot, f"judged-{account.id}", given, reason=ALL)


def page_of(browser: Any, store: Database, origin: str, account: Account) -> Any:
    page = browser.new_context().new_page()
    token = begin_session(store, account)
    page.context.add_cookies([{"name": COOKIE, "value": token, "url": origin}])
    return page


@pytest.mark.drill
def test_hostile_text_is_shown_and_runs_nothing(browser: Any, store: Database) -> None:
    project = hostile_project(store)
    names = [PAYLOADS[0], PAYLOADS[2], PAYLOADS[3]]
    ann, bob, owner = (add_rater(store, f"{n}{name}"[:60]) for n, name in enumerate(names))
    owner = add_rater(store, f"9{PAYLOADS[4]}"[:60], Role.OWNER, languages=(PAYLOADS[2], "python"))
    edit_guidelines(store, project.id, ALL + "\nversion 2", owner.id)
    invite(store, Role.RATER, [ALL])
    with served(store, project) as (origin, _):
        pages, complaints, asked_for = [], list[str](), set[str]()
        for account in (ann, bob, owner):
            page = page_of(browser, store, origin, account)
            page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
            page.on("pageerror", lambda one: complaints.append(str(one)))
            page.on("request", lambda one: asked_for.add(one.url.split("/")[2]))
            pages.append(page)

        def harmless(page: Any, path: str) -> None:
            page.goto(origin + path)
            assert page.locator(RUNS).count() == 0, path
            assert page.evaluate("window.hacked") is None, path
            forms = page.evaluate("[...document.forms].map((one) => one.getAttribute('action') || '/')")
            assert all(one.startswith("/") for one in forms)

        harmless(pages[0], "/next?view=split")
        for view in ("unified", "split"):
            harmless(pages[0], f"{pages[0].url.removeprefix(origin).partition('?')[0]}?view={view}")
            assert "U+202E" in pages[0].inner_text("table.code >> nth=0")
        RaterSession(store, project, ann).flag(int(pages[0].url.partition("/judge/")[2].partition("?")[0]), ALL)
        judged(store, project, ann, 0)
        judged(store, project, bob, 1)
        for page in pages[:2]:
            for path in ("/", "/account", "/conflicts", "/next"):
                harmless(page, path)
        pages[0].click("#begin")
        pages[0].wait_for_selector("table.votes")
        assert pages[0].locator("table.votes").count() == 1
        for path in ("/", "/project", "/account", "/conflicts"):
            harmless(pages[2], path)
        assert "<iframe srcdoc" in pages[2].inner_text("body")
        harmless(pages[2], "/login")
        pages[2].fill("input[name=name]", ALL[:60])
        pages[2].fill("input[name=password]", ALL[:60])
        pages[2].click("main button")
        pages[2].wait_for_selector("text=is wrong")
        assert pages[2].evaluate("window.hacked") is None
        assert [one for one in complaints if "403" not in one] == []
        assert asked_for == {origin.removeprefix("http://")}
        for page in pages:
            page.context.close()


def test_answers_survive_a_session_that_ends(browser: Any, store: Database) -> None:
    project = small_project(store, count=1, raters=1)
    ann = add_rater(store, "Ann")
    with served(store, project) as (origin, _):
        page = page_of(browser, store, origin, ann)
        page.goto(f"{origin}/next")
        page.wait_for_selector(".question.now")
        page.keyboard.press("4")
        page.fill("form textarea[name=reason]", "half a thought")
        with store.writing() as connection:
            connection.execute(sql.delete(sessions))
        page.click("button.main")
        page.wait_for_selector("text=Your session is over")
        page.context.add_cookies([{"name": COOKIE, "value": begin_session(store, ann), "url": origin}])
        page.goto(f"{origin}/next")
        page.wait_for_selector(".question.now")
        assert page.locator("input:checked").get_attribute("value") == "4"
        assert page.input_value("form textarea[name=reason]") == "half a thought"
        page.click("button.main")
        page.wait_for_selector("text=There is nothing else")
        assert status(store, project).done == 1
        page.context.close()
