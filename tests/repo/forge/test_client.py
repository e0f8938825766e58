"""The client against a real server: limits, tokens, retries, redirects, pages, ETags, and what is kept."""

from __future__ import annotations

import email.utils
import gzip
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from fake_clock import LeapingClock
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed
from reviewgauge.forges.github import Github
from reviewgauge.repo.forge import client, replies
from reviewgauge.repo.forge.answers import Answers
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.replies import Unavailable
from scripted_endpoint import Asked, Say, Scripted
from scripted_forge import OTHER, TOKEN, bearer, say

Opened = Callable[..., Forge]


def limits(clock: LeapingClock, remaining: int, after: float = 1800) -> dict[str, str]:
    return {
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(int(clock.now() + after)),
        "Date": email.utils.formatdate(clock.now(), usegmt=True),
    }


# --- what is asked, and kept ---------------------------------------------------------------------------------------


def test_an_answer_is_asked_for_with_the_token_and_kept_for_its_version(forge: Forge, server: Scripted) -> None:
    server.script = [say({"id": 1}), say({"id": 2})]
    assert forge.get("repos/o/n", version="a") == {"id": 1}
    assert forge.get("repos/o/n", version="a") == {"id": 1}, "from disk"
    assert forge.get("repos/o/n", version="b") == {"id": 2}, "another state is asked about again"
    assert [asked.path for asked in server.asked] == ["/repos/o/n", "/repos/o/n"]
    assert bearer(server.asked[0]) == TOKEN


def test_without_a_version_an_unchanged_answer_costs_nothing_of_the_limit(forge: Forge, server: Scripted) -> None:
    server.script = [say([1, 2], headers={"ETag": '"e1"'}), Say(b"", 304), say([3], headers={"ETag": '"e2"'})]
    assert [list(forge.pages("repos/o/n/pulls")) for _ in range(3)] == [[1, 2], [1, 2], [3]]
    assert [asked.headers.get("if-none-match") for asked in server.asked] == [None, '"e1"', '"e1"']


def test_what_was_answered_survives_a_kill_at_any_request(opened: Opened, server: Scripted) -> None:
    def pages(asked: Asked) -> Say:
        page = int(asked.path.rpartition("page=")[2]) if "&page=" in asked.path else 1
        link = f'<{server.url}/repos/o/n/pulls?per_page=100&page={page + 1}>; rel="next"' if page < 4 else ""
        return say([page], headers={"Link": link})

    server.always = pages
    first = opened()
    began = first.pages("repos/o/n/pulls", version="round 1")
    assert [next(began), next(began)] == [1, 2]
    first.close()  # the process is gone here
    assert list(opened().pages("repos/o/n/pulls", version="round 1")) == [1, 2, 3, 4]
    assert len(server.asked) == 4, "each page was asked for once"


def test_mail_addresses_and_tokens_are_nowhere_on_disk(forge: Forge, server: Scripted, tmp_path: Path) -> None:
    commit = {"message": "Mend it\n\nSigned-off-by: Ann <ann@example.org>", "author": {"email": "ann@example.org"}}
    server.script = [say([{"commit": commit, "verification": {"payload": "committer Ann <ann@example.org>"}}])]
    (found,) = forge.pages("repos/o/n/pulls/1/commits", version="v")
    assert found == {"commit": {"message": "Mend it\n\nSigned-off-by: Ann", "author": {}}}
    forge.close()
    written = b"".join(file.read_bytes() for file in (tmp_path / "forge").iterdir())
    assert TOKEN.encode() not in written
    answers = Answers(tmp_path / "forge")
    kept = answers.get(f"GET {server.url}/repos/o/n/pulls/1/commits?per_page=100")
    answers.close()
    assert kept is not None and "example.org" not in json.dumps(kept.body)


def test_pages_follow_links_inside_the_api_only(forge: Forge, server: Scripted) -> None:
    server.script = [say([1], headers={"Link": '<http://169.254.169.254/latest?page=2>; rel="next"'})]
    with pytest.raises(Failed, match=r"points to http://169\.254\.169\.254, which is not its API"):
        list(forge.pages("repos/o/n/pulls"))
    server.script = [say([1], headers={"Link": f'<{server.url}/repos/o/n/other?per_page=100>; rel="next"'})]
    server.always = lambda _: say([2], headers={"Link": f'<{server.url}/repos/o/n/other?per_page=100>; rel="next"'})
    with pytest.raises(Failed, match="the pages do not end"):
        list(forge.pages("repos/o/n/endless"))


@pytest.mark.parametrize("path", ["https://evil.example/x", "repos/../x", "repos/o/n?x=1", "repos/o/n\r\nX: y"])
def test_a_path_is_a_path(path: str, forge: Forge, server: Scripted) -> None:
    with pytest.raises(UserError, match="is not a path of the REST API"):
        forge.get(path)
    assert not server.asked


# --- only what is whole is kept --------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [None, {}, "x", 0, {"message": "later"}])
def test_no_list_is_not_an_empty_one_and_is_not_kept(answer: JsonValue, forge: Forge, server: Scripted) -> None:
    server.script = [say(answer), say([1])]
    assert list(forge.pages("repos/o/n/pulls/1/comments", version="v")) == [1]
    assert list(forge.pages("repos/o/n/pulls/1/comments", version="v")) == [1], "from disk"
    server.script = [say([]), say({"number": 1})]
    assert forge.get("repos/o/n/pulls/1", version="v") == {"number": 1}


def test_graphql_that_left_something_out_is_asked_again_the_next_time(forge: Forge, server: Scripted) -> None:
    part = {"data": {"repository": {"a": None}}, "errors": [{"message": "not now"}]}
    server.script = [say(part), say({"data": {"repository": {"a": 1}}})]
    assert forge.graphql("query", {}, version="v") == {"repository": {"a": None}}
    assert [forge.graphql("query", {}, version="v") for _ in range(2)] == [{"repository": {"a": 1}}] * 2
    assert forge.spent.requests == 2


def test_nothing_changed_is_no_answer_to_who_has_none(forge: Forge, server: Scripted) -> None:
    server.script = [Say(b"", 304), say({"number": 1})]
    assert forge.get("repos/o/n/pulls/1", version="v") == {"number": 1}


# --- limits --------------------------------------------------------------------------------------------------------


def test_a_spent_limit_is_waited_out_by_the_forges_own_clock(
    forge: Forge, server: Scripted, clock: LeapingClock
) -> None:
    skewed = clock.now() - 7200  # this machine is two hours ahead of the forge
    spent = {
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(skewed + 600)),
        "Date": email.utils.formatdate(skewed, usegmt=True),
    }
    server.script = [say({"message": "API rate limit exceeded for user ID 1."}, 403, headers=spent), say({"id": 1})]
    assert forge.get("repos/o/n") == {"id": 1}
    assert sum(clock.slept) == 601.0
    assert forge.spent.waited == 601.0


def test_the_last_request_of_a_window_is_followed_by_a_wait_not_by_a_refusal(
    forge: Forge, server: Scripted, clock: LeapingClock
) -> None:
    server.script = [say({"n": 1}, headers=limits(clock, 0, 60)), say({"n": 2})]
    assert [forge.get("a"), forge.get("b")] == [{"n": 1}, {"n": 2}]
    assert sum(clock.slept) == 61.0 and len(server.asked) == 2


@pytest.mark.parametrize(("answer", "waits"), [
    (say({"message": "You have exceeded a secondary rate limit."}, 403, headers={"Retry-After": "30"}), [30.0]),
    (say({"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}, 403), [60.0]),
    (say({"message": "You have triggered an abuse detection mechanism."}, 403, headers={"X-RateLimit-Remaining": "70"}),
        [60.0]),
    (say({}, 429, headers={"Retry-After": "5"}), [5.0]),
    (say({}, 429), [60.0]),
])  # fmt: skip
def test_a_secondary_limit_stops_everybody_for_as_long_as_it_says(
    answer: Say, waits: list[float], forge: Forge, server: Scripted, clock: LeapingClock
) -> None:
    server.script = [answer, say({"id": 1})]
    assert forge.get("repos/o/n") == {"id": 1}
    assert sum(clock.slept) == sum(waits)


def test_secondary_limits_again_and_again_wait_longer_and_end_in_a_state_that_resumes(
    forge: Forge, server: Scripted, clock: LeapingClock
) -> None:
    server.always = lambda _: say({"message": "You have exceeded a secondary rate limit"}, 403)
    with pytest.raises(Failed, match="asks to wait until") as error:
        forge.get("repos/o/n")
    assert error.value.stops and "the answers so far are stored" in error.value.remedy
    assert sum(clock.slept) == 60.0 * (2**7 - 1), "the eighth would be over two hours"
    assert len(server.asked) <= client.PAUSES + 1


# --- tokens --------------------------------------------------------------------------------------------------------


def test_a_revoked_token_ends_the_crawl_which_goes_on_with_another(
    opened: Opened, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {TOKEN}
    server.always = lambda a: say({"id": 1}) if bearer(a) in good else say({"message": "Bad credentials"}, 401)
    forge = opened()
    forge.get("repos/o/a")
    good.clear()
    with pytest.raises(Failed, match="refuses the token in GITHUB_TOKEN") as error:
        forge.get("repos/o/b")
    assert error.value.stops and TOKEN not in str(error.value)
    monkeypatch.setenv("GITHUB_TOKEN", OTHER)
    good.add(OTHER)
    again = opened()
    assert [again.get(f"repos/o/{name}") for name in "ab"] == [{"id": 1}] * 2


def test_what_is_not_open_to_the_token_is_left_out(forge: Forge, server: Scripted) -> None:
    server.always = lambda _: say({"message": "Resource not accessible by personal access token"}, 403)
    with pytest.raises(Unavailable, match="not open to this token") as error:
        forge.get("repos/o/m")
    assert (error.value.status, error.value.stops) == (403, False)


def test_a_token_does_not_show_in_what_a_forge_says_back(forge: Forge, server: Scripted) -> None:
    server.script = [say({"message": f"what is {TOKEN}?"}, 422)]
    with pytest.raises(Unavailable) as error:
        forge.get("repos/o/n")
    assert TOKEN not in str(error.value) and "***" in str(error.value)


def test_no_token_goes_over_plain_http_to_another_machine(tmp_path: Path) -> None:
    assert not Github().address("http://ghe.example.com/api/v3").private
    assert Github().address("https://ghe.example.com").private and Github().address("http://127.0.0.1:9").private


def test_without_a_token_the_forge_is_asked_anonymously(
    opened: Opened, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    forge = opened()
    forge.get("repos/o/n")
    assert not forge.authenticated and "authorization" not in server.asked[0].headers


# --- what breaks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", [
    Say(b"oops", 502),
    say({"message": "Server Error"}, 500),
    Say(b"<html>", 200), Say(b"[" * 50_000 + b"]" * 50_000),
    Say(b'{"a":' * 700 + b"1" + b"}" * 700),
    Say(b"[1, 2", cut=3), Say(b"", status=0),
], ids=["502", "500", "html", "deep", "deep enough to parse", "cut off", "dropped"])  # fmt: skip
def test_what_breaks_is_asked_again(broken: Say, forge: Forge, server: Scripted, clock: LeapingClock) -> None:
    server.script = [broken, broken, say({"id": 1})]
    assert forge.get("repos/o/n") == {"id": 1}
    assert len(clock.slept) == 2


def test_one_thing_that_stays_broken_is_given_up_and_a_forge_that_is_down_ends_the_crawl(
    forge: Forge, server: Scripted
) -> None:
    server.always = lambda a: Say(b"", 502) if "bad" in a.path else say({"id": 1})
    with pytest.raises(Failed, match="gave up after 6 tries: 502") as error:
        forge.get("repos/o/bad")
    assert not error.value.stops
    forge.get("repos/o/good")
    for number in range(3):
        with pytest.raises(Failed) as error:
            forge.get(f"repos/o/bad{number}")
    assert error.value.stops


def test_a_forge_that_cannot_be_reached_ends_the_crawl_at_once(opened: Opened) -> None:
    with pytest.raises(Failed, match="cannot reach it") as error:
        opened(api="http://127.0.0.1:1").get("repos/o/n")
    assert error.value.stops


def test_silence_is_a_broken_try(server: Scripted, clock: LeapingClock, tmp_path: Path) -> None:
    server.script = [Say(b"{}", delay=1.0)]
    server.always = lambda _: say({"id": 1})
    sender = replies.Transport(server.url, silence=0.1)
    forge = Forge(tmp_path, Github(), api=server.url, clock=clock, transport=sender)
    assert forge.get("repos/o/n") == {"id": 1}
    assert forge.spent.requests == 2
    forge.close()


def test_an_answer_over_the_limit_is_not_read(server: Scripted, clock: LeapingClock, tmp_path: Path) -> None:
    bomb = gzip.compress(b'"' + b"a" * 3_000_000 + b'"')
    assert len(bomb) < 10_000
    server.always = lambda _: Say(bomb, headers={"Content-Encoding": "gzip"})
    sender = replies.Transport(server.url, largest=1_000_000)
    forge = Forge(tmp_path, Github(), api=server.url, clock=clock, transport=sender)
    with pytest.raises(Failed, match="over 1,000,000 bytes") as error:
        forge.get("repos/o/n")
    assert not error.value.stops and len(server.asked) == 1
    forge.close()


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, "deleted, or not open to this token"), (410, "deleted"), (451, "blocked for legal reasons")],
)
def test_what_is_gone_says_why(status: int, reason: str, forge: Forge, server: Scripted) -> None:
    server.always = lambda _: say({"message": "Not Found"}, status)
    with pytest.raises(Unavailable) as error:
        forge.get("repos/o/n/pulls/7")
    assert (error.value.reason, error.value.stops) == (reason, False)
    assert len(server.asked) == 1


def test_a_renamed_repository_is_followed_on_the_same_host_only(forge: Forge, server: Scripted) -> None:
    server.script = [say({}, 301, headers={"Location": f"{server.url}/repositories/7/pulls?per_page=100"}), say([1])]
    assert list(forge.pages("repos/old/name/pulls")) == [1]
    assert server.asked[1].path == "/repositories/7/pulls?per_page=100"
    for elsewhere in ("http://127.0.0.1:1/x", "https://evil.example/x", "//evil.example/x", ""):
        server.script = [say({}, 301, headers={"Location": elsewhere})]
        with pytest.raises(Failed):
            forge.get("repos/old/name")
    assert len(server.asked) == 6, "and the token went nowhere else"
    server.always = lambda _: say({}, 302, headers={"Location": f"{server.url}/repos/round"})
    with pytest.raises(Failed, match="leads nowhere"):
        forge.get("repos/round")


# --- GraphQL -------------------------------------------------------------------------------------------------------


def test_graphql_gives_its_data_and_keeps_it(forge: Forge, server: Scripted) -> None:
    server.script = [say({"data": {"repository": {"id": 1}}})]
    query, variables = "query($n: Int!) { x }", {"n": 1}
    assert forge.graphql(query, variables, version="v") == {"repository": {"id": 1}}
    assert forge.graphql(query, variables, version="v") == {"repository": {"id": 1}}
    assert server.asked[0].path == "/graphql" and server.asked[0].body == {"query": query, "variables": variables}
    assert len(server.asked) == 1


@pytest.mark.parametrize(("errors", "status"), [
    ([{"type": "NOT_FOUND", "message": "Could not resolve to a Repository"}], 404),
    ([{"type": "FORBIDDEN", "message": "Resource not accessible"}], 403),
    ([{"message": "Field 'resolvedBy' doesn't exist on type 'PullRequestReviewThread'"}], 422),
])  # fmt: skip
def test_graphql_without_data_says_what_is_missing(
    errors: list[JsonValue], status: int, forge: Forge, server: Scripted
) -> None:
    server.always = lambda _: say({"data": {"repository": None}, "errors": errors})
    with pytest.raises(Unavailable) as error:
        forge.graphql("q", {})
    assert error.value.status == status


def test_graphql_limits_and_timeouts_come_with_status_200(forge: Forge, server: Scripted, clock: LeapingClock) -> None:
    limited = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1"}]}
    late = {"data": None, "errors": [{"message": "Something went wrong while executing your query."}]}
    server.script = [say(limited, headers=limits(clock, 0, 90)), say(late), say({"data": {"x": 1}})]
    assert forge.graphql("q", {}) == {"x": 1}
    assert 91.0 <= sum(clock.slept) <= 92.0


def test_several_threads_take_turns(forge: Forge, server: Scripted) -> None:
    server.always = lambda a: Say(json.dumps({"path": a.path}).encode(), delay=0.01)
    found: dict[int, JsonValue] = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: forge.get(f"repos/o/n{n}")})) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: {"path": f"/repos/o/n{n}"} for n in range(8)}
    assert server.most_at_once == 1
