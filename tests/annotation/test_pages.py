"""The pages over real HTTP: a walk through them, and what they refuse."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from annotation_client import PASSWORD, Client, joined, saved, served
from annotation_toys import PATCH, small_cases, small_project
from reviewgauge.annotation.items import Exhibit, Item, ProjectData, make_items, shown_change
from reviewgauge.annotation.pages.app import open_service
from reviewgauge.annotation.schemas.schema import load_schema
from reviewgauge.annotation.store.accounts import Role, digest, find_account, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import create_project, find_project, status
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind
from reviewgauge.core.records import Change, ChangedFile, Comment, Review, Span


@pytest.fixture
def service(store: Database) -> Iterator[tuple[str, str]]:
    with served(store, small_project(store)) as found:
        yield found


def judged_all(client: Client, grade: int) -> int:
    count = 0
    while (page := client.send("/next")).path.startswith("/judge/"):
        assert saved(client, page, grade).status == 200
        count += 1
    return count


def test_the_diff_is_shown_in_both_ways_with_the_comment_at_its_line(store: Database, service: tuple[str, str]) -> None:
    ann = joined(store, service[0], "Ann")
    page = ann.send("/next")
    for view in ("unified", "split"):
        page = ann.send(f"/judge/{page.slot}?view={view}")
        assert '<span class="k' in page.text
        assert 'class="trail"' in page.text
        assert page.text.index('class="notes"') < page.text.index("What if the cart is empty?")
    assert "gpt" not in page.text


def test_what_is_not_complete_comes_back_as_it_was(store: Database, service: tuple[str, str]) -> None:
    ann = joined(store, service[0], "Ann")
    page = ann.send("/next")
    again = saved(ann, page, 0, reason="half of it")
    assert (again.status, "half of it" in again.text, again.field("key")) == (400, True, page.field("key"))
    done = saved(ann, again._replace(path=page.path), 4)
    assert done.path != page.path
    assert saved(ann, page, 4).status == 200  # sent twice
    assert status(store, find_project(store)).batches[0].judgements == 1
    assert 'value="4" data-key="4" required checked' in ann.send(page.path).text


def test_forged_forms_and_strange_hosts_are_refused(store: Database, service: tuple[str, str]) -> None:
    ann = joined(store, service[0], "Ann")
    page = ann.send("/next")
    form = {"csrf": page.field("csrf"), "key": page.field("key"), "replaces": "0", "q:-1:grade": "3"}
    assert ann.send(page.path, form, Origin="https://evil.example").status == 403
    assert ann.send(page.path, form, Origin="null").status == 403
    assert ann.send(page.path, form, Origin="").status == 403
    assert ann.send(page.path, form, Sec_Fetch_Site="cross-site").status == 403
    assert ann.send(page.path, {**form, "csrf": "no"}).status == 403
    assert ann.send("/", Host="evil.example").status == 421
    assert status(store, find_project(store)).batches[0].judgements == 0
    host = urlsplit(service[0]).netloc
    with socket.create_connection(tuple(host.split(":"))) as raw:  # type: ignore[arg-type]
        raw.sendall(f"GET /login HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
        assert raw.recv(100).split()[1] in (b"400", b"421")


def test_every_answer_carries_the_protection(service: tuple[str, str]) -> None:
    for path in ("/login", "/static/style.css", "/nothing", "/enter/wrong"):
        headers = {name.lower(): value for name, value in Client(service[0]).send(path).headers.items()}
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.drill
def test_a_session_is_known_by_its_cookie_alone(store: Database, service: tuple[str, str]) -> None:
    ann = joined(store, service[0], "Ann")
    token = ann.cookies["reviewgauge_session"]
    csrf = ann.send("/").field("csrf")
    ann.send("/logout", {"csrf": csrf})
    ann.cookies["reviewgauge_session"] = token
    assert ann.send("/").path == "/login"
    assert ann.send("/login", {"name": "ann", "password": PASSWORD}).path == "/"
    assert Client(service[0]).send("/login", {"name": "Ann", "password": "wrong"}).status == 403


def test_an_invitation_works_once(store: Database, service: tuple[str, str]) -> None:
    token = invite(store, Role.RATER)
    for name, status_code in (("Ann", 200), ("Bob", 400)):
        client = Client(service[0])
        asked = client.send(f"/invitation/{token}")  # says so before anybody chooses a password
        assert (asked.status, "<form" in asked.text) == (status_code, status_code == 200)
        assert client.send(f"/invitation/{token}", {"name": name, "password": PASSWORD}).status == status_code


def test_an_owner_withdraws_an_invitation(store: Database, service: tuple[str, str]) -> None:
    token, stays = invite(store, Role.RATER, ["Go"]), invite(store, Role.EXPERT)
    owner = Client(service[0])
    page = owner.send(urlsplit(service[1]).path)
    csrf = page.field("csrf")
    told = owner.send("/project")
    assert told.text.count("invited, until") == 2 and token not in told.text
    form = {"csrf": csrf, "action": "withdraw", "invitation": digest(token)}
    assert joined(store, service[0], "Eve").send("/project", form).status in (403, 404)
    assert owner.send("/project", form).text.count("invited, until") == 1
    for one, status_code in ((token, 400), (stays, 200)):
        client = Client(service[0])
        assert client.send(f"/invitation/{one}", {"name": "Ann", "password": PASSWORD}).status == status_code


def test_an_owner_reopens_a_closed_account(store: Database, service: tuple[str, str]) -> None:
    ann, owner = joined(store, service[0], "Ann"), Client(service[0])
    csrf = owner.send(urlsplit(service[1]).path).field("csrf")
    with store.reading() as connection:
        account = find_account(connection, "Ann")
    assert account is not None
    for action, path in (("close", "/login"), ("reopen", "/")):
        page = owner.send("/project", {"csrf": csrf, "action": action, "account": account.id})
        assert ('value="reopen"' in page.text) == (action == "close")
        ann.send("/login", {"name": "Ann", "password": PASSWORD})
        assert ann.send("/").path == path


def test_what_reorders_text_is_marked_in_all_that_others_wrote(store: Database) -> None:
    odd = "a\u202eb\u2066c\u200fd"
    case = small_cases(1)[0]
    files = (ChangedFile(path=f"{odd}.py", patch=PATCH.replace("def pay", odd)),)
    case = case.model_copy(update={"change": Change(repo="acme/shop", title=odd, description=odd, files=files)})
    placed, loose = (Comment(id=name, body=odd, quote=odd, span=span) for name, span in (
        ("1", Span(path=f"{odd}.py", start=2)), ("2", None),
    ))  # fmt: skip
    review = Review(case=case.id, system="gpt", comments=(placed, loose))
    schema = load_schema("grade").model_copy(update={"guidelines": odd, "batch": 1})
    project = create_project(store, "odd", schema, make_items(schema, [case], [review]), raters=2)
    with served(store, project) as (origin, link):
        ann, bob, owner = joined(store, origin, "Ann"), joined(store, origin, "Bob"), Client(origin)
        page = ann.send("/next")
        ann.send(page.path, {"csrf": page.field("csrf"), "action": "flag", "reason": odd})
        saved(ann, page, 1, reason=odd)
        corrected = ann.send(page.path).text
        assert f">{odd}</textarea>" in corrected  # where one edits one's own words they stay as they are
        talk = saved(bob, bob.send("/next"), 5)
        owner.send(urlsplit(link).path)
        shown = [corrected, talk.text, bob.send("/conflicts").text, ann.send("/").text, owner.send("/project").text]
    for text in shown:
        assert "U+202E</span>" in text
        assert not re.search("[\u200f\u202e\u2066]", re.sub(r"(?s)<textarea.*?</textarea>", "", text))


def test_what_is_asked_of_an_audit_stands_beside_the_question(store: Database) -> None:
    cases, schema = small_cases(1), load_schema("audit")
    subject = Subject(kind=SubjectKind.CHANGE, case=cases[0].id)
    item = Item(subject=subject, exhibits=(Exhibit(title="Is it clean?"), Exhibit(title="The fix", text="Mend it")))
    data = ProjectData(changes={cases[0].id: shown_change(cases[0].change)}, items=(item,))
    with served(store, create_project(store, "audit", schema, data)) as (origin, _):
        page = joined(store, origin, "Ann").send("/next").text
    beside = page.partition('id="panel"')[2]
    assert "Is it clean?" in beside
    assert 'href="#exhibit-2">The fix' in beside
    assert '<h2 id="exhibit-2">The fix' in page


def test_other_machines_need_an_address_and_an_owner(store: Database) -> None:
    project = small_project(store)
    with pytest.raises(UserError, match="other machines"):
        open_service(store, project, host="0.0.0.0")
    with pytest.raises(UserError, match="no owner could log in"):
        open_service(store, project, host="0.0.0.0", url="https://annotate.example.org")


@pytest.mark.drill
def test_the_queue_of_conflicts_names_what_differs_and_nobody(store: Database, service: tuple[str, str]) -> None:
    origin = service[0]
    ann, bob, eve = (joined(store, origin, name) for name in ("Ann", "Bob", "Cid"))
    expert = joined(store, origin, "Eve", Role.EXPERT)
    judged_all(ann, 1)
    while (page := bob.send("/next")).path.startswith("/judge/") and "discussion" not in page.text.partition("<h1>")[0]:
        saved(bob, page, 5)
    mine = bob.send("/conflicts").text
    assert (mine.count("How good is this review?"), mine.count("Go on"), mine.count("Discuss<")) == (2, 1, 1)
    assert not re.search(r">\s*(Ann|Cid|Eve)", mine)
    assert ann.send("/conflicts").text.count("How good is this review?") == 1
    for other in (eve, expert):
        assert "There is none for you now" in other.send("/conflicts").text
    slot = int(re.findall(r'name="slot" value="(\d+)"', ann.send("/conflicts").text)[0])
    taken = ann.send("/conflicts", {"csrf": page_csrf(ann), "slot": slot})
    assert (taken.path, "Rater 1 (you)" in taken.text, "Rater 2</th>" in taken.text) == (f"/judge/{slot}", True, True)
    assert re.search(r'<tbody class="differs">.*?<td>1</td><td>5</td>', taken.text, re.DOTALL)


def page_csrf(client: Client) -> str:
    return client.send("/").field("csrf")


def test_the_next_page_says_what_became_of_the_last_one(store: Database, service: tuple[str, str]) -> None:
    ann = joined(store, service[0], "Ann")
    page = ann.send("/next")
    after = saved(ann, page, 3)
    assert f'href="/judge/{page.slot}" id="undo"' in after.text
    after = ann.send(after.path, {"csrf": after.field("csrf"), "action": "skip", "reason": "I wrote it"})
    assert "Skipped." in after.text and 'id="undo"' not in after.text
    flagged = ann.send(after.path, {"csrf": after.field("csrf"), "action": "flag", "reason": "It is broken"})
    assert "The owner is told" in flagged.text
