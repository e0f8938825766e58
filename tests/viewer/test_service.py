"""The viewer over HTTP: who is let in, what is not there, runs that change while they are looked at, and labels."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import pytest

from annotation_client import Answered, Client
from reviewgauge.api.agree import agree
from reviewgauge.api.validation_data import JudgedData, read_judged
from reviewgauge.core.labels import Label, RaterKind
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.score import score
from reviewgauge.metrics.hits import Hits
from reviewgauge.viewer.app import LARGEST_FORM
from viewed_runs import comment, finds, misses, nothing, slug_of, twin_run, viewed, write_run
from waiting import until


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one benchmark and one of another; tests change copies."""
    folder: Path = tmp_path_factory.mktemp("viewed")
    write_run(folder / "one", {"finder": finds, "half": misses, "silent": nothing})
    write_run(folder / "two", {"half": finds, "odd+name: a/b c": misses})
    twin_run(folder / "twins")
    return folder


@pytest.fixture(scope="module")
def visitor(made: Path) -> Iterator[Client]:
    """Somebody who came by the link, and changes nothing."""
    with viewed(made) as (client, link):
        assert enter(client, link).status == 200
        yield client


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


@pytest.fixture
def reader(runs: Path) -> Iterator[Client]:
    """Somebody who came by the link."""
    with viewed(runs) as (client, link):
        assert enter(client, link).status == 200
        yield client


def enter(client: Client, link: str) -> Answered:
    return client.send(link.removeprefix(client.origin))


def labels(run: Path) -> list[Label]:
    return list(RunFolder.open(run).labels())


def about(answer: Answered, said: str) -> str:
    """The message of a page, which is one line."""
    assert answer.status == 404, answer.text
    message = unescape(answer.text.partition('role="alert">')[2].partition("</p>")[0])
    assert said in message and "\n" not in message
    assert "Traceback" not in answer.text
    return message


# --- who is let in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [None, "wrong", ""])
def test_nobody_comes_in_without_the_link(visitor: Client, word: str | None) -> None:
    stranger = Client(visitor.origin)
    stranger.cookies = {} if word is None else dict.fromkeys(visitor.cookies, word)
    for path in ("/", "/index.html", "/stamp", "/compare?run=x", "/r/x/index.html", "/r/x/lines-1", "/enter/wrong"):
        answer = stranger.send(path)
        assert answer.status == 403 and "set-cookie" not in answer.headers


def test_two_viewers_in_one_browser_do_not_throw_each_other_out(runs: Path) -> None:
    with viewed(runs) as (one, first), viewed(runs) as (two, second):
        one.send(first.removeprefix(one.origin))
        two.cookies = one.cookies  # a browser sends them to every port
        two.send(second.removeprefix(two.origin))
        assert one.send("/index.html").status == two.send("/index.html").status == 200


def test_the_cookie_is_no_scripts_and_no_other_sites(runs: Path) -> None:
    with viewed(runs) as (client, link):
        answer = client.send(link.removeprefix(client.origin), follow=False)
        said = answer.headers["set-cookie"].lower()
        assert answer.status == 303 and "httponly" in said and "samesite=strict" in said
        assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(("header", "value", "status"), [
    ("Host", "evil.example", 421), ("Host", "127.0.0.1", 421),
    ("Origin", "http://evil.example", 403),
    ("Origin", "null", 403), ("Origin", "", 403),
    ("Sec-Fetch-Site", "cross-site", 403),
])  # fmt: skip
def test_other_sites_are_refused(visitor: Client, made: Path, header: str, value: str, status: int) -> None:
    form = {"change": 1, "system": "half", "attempt": 1, "comment": "n5", "says": "yes"}
    answer = visitor.send(f"/r/{slug_of(made / 'one')}/label", form, follow=False, **{header: value})
    assert answer.status == status
    assert labels(made / "one") == []


def test_browsers_keep_the_style_and_the_script_but_no_page(visitor: Client, made: Path) -> None:
    page = visitor.send(f"/r/{slug_of(made / 'one')}/index.html")
    kept = re.findall(r'(?:href|src)="\.\./\.\.(/static/viewer\.(?:css|js)\?[0-9a-f]+)"', page.text)
    assert len(kept) == 2 and page.headers["cache-control"] == "no-store"
    for path in kept:
        assert "max-age" in visitor.send(path).headers["cache-control"]


def test_a_label_cannot_be_got_and_a_page_not_posted(visitor: Client, made: Path) -> None:
    here = f"/r/{slug_of(made / 'one')}"
    assert visitor.send(f"{here}/index.html", {"a": 1}).status == 405
    assert visitor.send(f"{here}/label").status == 404


def test_a_form_too_large_is_refused(visitor: Client, made: Path) -> None:
    answer = visitor.send(f"/r/{slug_of(made / 'one')}/label", {"comment": "x" * LARGEST_FORM})
    assert (answer.status, answer.text) == (413, "This form is too large.")


# --- what is not there -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "said"), [
    ("nothing.html", "there is no such page"),
    ("change-.html", "there is no such page"),
    ("change-1-2.html", "there is no such page"),
    ("change-9999999999.html", "there is no such page"),
    ("change--1.html", "there is no such page"),
    ("change-٩.html", "there is no such page"),  # a digit of another script
    ("beside-1.html", "there is no such page"),
    ("against-1-2-split.html", "there is no such page"),
    ("change-0.html", "there is no such change"),
    ("change-999999999.html", "there is no such change"),
    ("change-5-split.html", "there is no such change"),
    ("beside-1-9.html", "there is no such change"),
    ("against-0-1.html", "there is no such system"),
    ("against-1-4.html", "there is no such system"),
    ("difference-0-1", "there is no such system"),
    ("changes.html?system=nobody", "there is no system nobody"),
    ("lines-0?file=1&old=1&new=1&count=1", "there is no such change"),
    ("lines-1?file=9&old=1&new=1&count=1", "there are no such lines"),
    ("lines-1?file=0&old=x&new=1&count=1", "there are no such lines"),
    ("lines-4", "there are no such lines"),
    ("..%00", "there is no such page"),
])  # fmt: skip
def test_what_is_not_there_is_said_in_one_line(visitor: Client, made: Path, name: str, said: str) -> None:
    about(visitor.send(f"/r/{slug_of(made / 'one')}/{quote(name, safe='/?&=%')}"), said)


def test_runs_that_are_not_there(visitor: Client, made: Path) -> None:
    for path in ("/r/gone/index.html", f"/r/{slug_of(made / 'one')}+gone/index.html", "/compare?run=gone"):
        about(visitor.send(path), "run gone is gone")
    about(visitor.send("/compare"), "no run was chosen")
    about(visitor.send("/compare?run="), "no run was chosen")
    assert visitor.send("/nothing").status == visitor.send("/r/x").status == 404


# --- what is there ---------------------------------------------------------------------------------------------------


def test_every_page_of_every_run_is_served(visitor: Client, made: Path) -> None:
    for run in ("one", "two", "twins"):
        for name in (
            "index",
            "slices",
            "changes",
            "against-1-2",
            *(f"change-{n}{s}" for n in range(1, 5) for s in ("", "-split")),
        ):
            answer = visitor.send(f"/r/{slug_of(made / run)}/{name}.html")
            assert answer.status == 200, (run, name)
            assert answer.text.startswith("<!doctype html>")
    assert "beside-1-3.html" in visitor.send(f"/r/{slug_of(made / 'twins')}/change-1.html").text
    assert visitor.send(f"/r/{slug_of(made / 'twins')}/beside-1-3.html").status == 200
    listed = visitor.send("/").text
    assert all(f"r/{slug_of(made / run)}/index.html" in listed for run in ("one", "two", "twins"))


def test_one_run_is_shown_at_once(runs: Path) -> None:
    with viewed(runs / "one") as (client, link):
        assert enter(client, link).path == f"/r/{slug_of(runs / 'one')}/index.html"
        assert 'id="compare"' in client.send("/index.html").text


def test_two_runs_are_compared(visitor: Client, made: Path) -> None:
    one, two, twins = (slug_of(made / run) for run in ("one", "two", "twins"))
    shown = visitor.send(f"/compare?run={one}&run={two}&run={one}")
    assert (shown.status, shown.path) == (200, f"/r/{one}+{two}/index.html")
    assert "one:half" in shown.text and "two:half" in shown.text and "one and two" in shown.text
    assert visitor.send(f"/r/{one}+{two}/change-1.html").status == 200
    message = about(visitor.send(f"/compare?run={one}&run={twins}"), "runs of different benchmarks")
    assert "only runs on the same cases can be compared" in message


# --- runs that change ------------------------------------------------------------------------------------------------


def test_a_run_that_grows(reader: Client, runs: Path) -> None:
    here = f"/r/{slug_of(runs / 'one')}"
    stamp, words = reader.send(f"{here}/stamp").text, "Cache stampede: two callers fill the entry at once."
    assert reader.send(f"{here}/stamp").text == stamp
    assert "fourth" not in reader.send(f"{here}/index.html").text
    write_run(runs / "one", {"fourth": lambda case: [comment(3, words)]})
    assert reader.send(f"{here}/stamp").text != stamp
    assert "fourth" in reader.send(f"{here}/index.html").text
    assert words in reader.send(f"{here}/change-1.html").text
    until(lambda: "fourth" in reader.send("/").text)


def test_a_run_that_is_not_scored_yet_shows_what_there_is(runs: Path) -> None:
    write_run(runs / "fresh", {"finder": finds}, metrics=())
    with viewed(runs / "fresh") as (client, link):
        board = enter(client, link)
        assert "was not scored yet" in board.text and "4 changes, 4 reviews" in board.text
        assert "Off by one" in client.send(f"/r/{slug_of(runs / 'fresh')}/change-1.html").text
        with RunFolder.open(runs / "fresh", write=True) as folder:
            score(folder, Hits())
            assert '"running":true' in client.send("/stamp").text
            assert "running" in client.send("/index.html").text
        assert '"running":false' in client.send("/stamp").text
        assert "was not scored yet" not in client.send(f"/r/{slug_of(runs / 'fresh')}/index.html").text


@pytest.mark.parametrize("file", ["manifest.json", "cases.jsonl", "reviews.jsonl", "scores.jsonl"])
def test_a_run_that_breaks(reader: Client, runs: Path, file: str) -> None:
    """Whatever happens to a file: a page or a message, never a crash, and the other runs are there."""
    here, path = f"/r/{slug_of(runs / 'one')}", runs / "one" / file
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b'{"x": [\xff\n' + whole, b"", None):
        assert reader.send(f"{here}/index.html").status == 200
        if damaged is None:
            path.unlink()
        else:
            path.write_bytes(damaged)
        for name in (
            "index.html",
            "slices.html",
            "misses",
            "changes.html",
            "change-1.html",
            "against-1-2.html",
            "stamp",
        ):
            answer = reader.send(f"{here}/{name}")
            assert answer.status in (200, 404), (name, answer.text)
        listed = reader.send("/")
        assert listed.status == 200 and f"r/{slug_of(runs / 'two')}/index.html" in listed.text
        path.write_bytes(whole)


def test_a_run_that_vanishes(reader: Client, runs: Path) -> None:
    here = f"/r/{slug_of(runs / 'one')}"
    assert reader.send(f"{here}/change-1.html").status == 200
    shutil.rmtree(runs / "one")
    for name in ("index.html", "change-1.html", "stamp", "lines-1"):
        about(reader.send(f"{here}/{name}"), "is gone")
    shutil.rmtree(runs)
    assert "There are no runs here" in reader.send("/").text


# --- labels ----------------------------------------------------------------------------------------------------------


def posted(client: Client, key: str, **changed: object) -> Answered:
    """What a reader says of the false comment of `half` on the first change."""
    form: dict[str, object] = {
        "change": 1, "system": "half", "attempt": 1, "comment": "n5", "finding": "", "says": "yes",
    }  # fmt: skip
    return client.send(f"/r/{key}/label", form | changed)


def test_a_label_lands_in_the_run_and_is_read(reader: Client, runs: Path) -> None:
    key = slug_of(runs / "one")
    assert "It is kept in one." in posted(reader, key).text
    assert posted(reader, key, comment="c2", finding="r0", says="no").status == 200
    right, differs = labels(runs / "one")
    subject = right.subject
    assert (subject.kind, subject.case, subject.system, subject.attempt) == ("comment", "shop-1", "half", 1)
    assert (subject.comment, right.dimension, right.value) == ("n5", "false_positive", False)
    assert right.rater_kind is RaterKind.HUMAN and right.rater and right.at
    assert (differs.subject.reference, differs.dimension, differs.value) == ("r0", "same_issue", False)
    shown = reader.send(f"/r/{key}/change-1.html").text
    assert f"<b>{right.rater}</b>: it is right" in shown and "does not raise r0" in shown
    report = agree(runs / "one")
    assert {one.dimension for one in report.dimensions} == {"false_positive", "same_issue"}
    read = read_judged(JudgedData(str(runs / "one")))
    assert [label.dimension for label in read.labels] == ["false_positive", "same_issue"]


def test_who_changes_their_mind_is_shown_once(reader: Client, runs: Path) -> None:
    key = slug_of(runs / "one")
    for says in ("yes", "no"):
        assert posted(reader, key, says=says).status == 200
    shown = reader.send(f"/r/{key}/change-1.html").text
    assert "it is false" in shown and "it is right" not in shown
    assert [label.value for label in labels(runs / "one")] == [False, True]


def test_of_two_runs_the_label_lands_in_the_right_one(reader: Client, runs: Path) -> None:
    one, two = slug_of(runs / "one"), slug_of(runs / "two")
    for key in (f"{one}+{two}", f"{two}+{one}"):
        shown = reader.send(f"/r/{key}/change-2.html")
        assert 'name="system" value="two:half"' in shown.text
    assert posted(reader, key, change=2, system="two:half", comment="c4", finding="r2").status == 200
    assert posted(reader, key, system="odd+name: a/b c").status == 200
    assert [label.subject.system for label in labels(runs / "two")] == ["half", "odd+name: a/b c"]
    assert labels(runs / "one") == []
    for key, change, said in ((f"{one}+{two}", 2, "it raises r2"), (f"{two}+{one}", 1, "it is right")):
        assert said in reader.send(f"/r/{key}/change-{change}.html").text
    assert "it raises r2" in reader.send(f"/r/{two}/change-2.html").text


@pytest.mark.parametrize("changed", [
    {"change": 0}, {"change": 99}, {"change": ""}, {"system": "nobody"}, {"system": ""}, {"attempt": 7},
    {"attempt": "x"}, {"comment": "nothing"}, {"comment": ""},
    {"system": "finder"},  # whose comment it is not
    {"finding": "r9"}, {"says": "maybe"}, {"says": ""},
], ids=str)  # fmt: skip
def test_a_form_that_does_not_fit_keeps_nothing(visitor: Client, made: Path, changed: dict[str, object]) -> None:
    answer = posted(visitor, slug_of(made / "one"), **changed)
    assert answer.status == 400 and "\n" not in answer.text
    assert labels(made / "one") == []


def test_a_run_that_is_being_written_takes_no_label_and_says_so(reader: Client, runs: Path) -> None:
    key = slug_of(runs / "one")
    with RunFolder.open(runs / "one", write=True):
        answer = posted(reader, key)
        assert answer.status == 400 and "one is being written by this process (wait until it ends" in answer.text
    assert labels(runs / "one") == []
    assert posted(reader, key).status == 200
    assert len(labels(runs / "one")) == 1


def test_labels_at_once_are_all_kept(reader: Client, runs: Path) -> None:
    key = slug_of(runs / "one")
    forms = [
        {"system": s, "comment": c, "says": w} for w in ("yes", "no") for s, c in (("half", "n5"), ("finder", "c2"))
    ]
    with ThreadPoolExecutor(4) as pool:
        assert [one.status for one in pool.map(lambda form: posted(reader, key, **form), forms)] == [200] * 4
    assert len(labels(runs / "one")) == 4


def test_what_takes_long_is_read_on(runs: Path) -> None:
    here = f"/r/{slug_of(runs / 'one')}"
    with viewed(runs) as (client, link):
        enter(client, link)
        with patch("reviewgauge.viewer.app.PATIENCE", 0):
            waits = client.send(f"{here}/change-1.html")
            assert waits.status == 202 and 'http-equiv="refresh"' in waits.text
            assert posted(client, slug_of(runs / "one")).status == 200  # which waits
            until(lambda: client.send(f"{here}/change-1.html").status == 200)


def test_two_viewers_on_one_run(reader: Client, runs: Path) -> None:
    key = slug_of(runs / "one")
    with viewed(runs) as (other, link):
        assert other.origin != reader.origin
        assert other.send("/").status == 403
        enter(other, link)
        before = reader.send(f"/r/{key}/stamp").text
        assert posted(other, key).status == 200
        assert reader.send(f"/r/{key}/stamp").text != before
        assert "it is right" in reader.send(f"/r/{key}/change-1.html").text
        assert reader.send("/").status == 200


def test_many_readers_at_once_see_whole_pages(visitor: Client, made: Path) -> None:
    pages = [
        f"/r/{slug_of(made / run)}/{name}.html" for run in ("one", "two", "twins") for name in ("index", "change-1")
    ]
    with ThreadPoolExecutor(8) as pool:
        assert {one.status for one in pool.map(visitor.send, pages * 4)} == {200}
