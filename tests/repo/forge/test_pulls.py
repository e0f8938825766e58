"""Raw answers to records: accounts, threads, events, revisions, files, and whatever else a forge may say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput
from reviewgauge.core.pull_requests import Account, AccountType
from reviewgauge.core.records import FileStatus, Side
from reviewgauge.repo.forge.accounts import account, is_bot_name, same_login
from reviewgauge.repo.forge.pulls import place, read_files, read_issue_history, read_pull, read_threads
from reviewgauge.repo.forge.timeline import read_events

HUNK = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d"
ANN, BOB = {"login": "ann", "type": "User"}, {"login": "bob", "type": "User"}


def comment(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": number, "path": "a.py", "side": "RIGHT", "original_line": 3, "line": 3, "position": 4,
        "original_position": 4, "original_commit_id": "c1", "commit_id": "c2", "diff_hunk": HUNK, "body": "Why?",
        "user": BOB, "author_association": "MEMBER", "created_at": f"2024-05-01T10:{number:02}:00Z",
        "subject_type": "line", **more,
    }  # fmt: skip


def raw(**more: Any) -> dict[str, Any]:
    pull = {
        "number": 7, "title": "Add", "user": ANN, "created_at": "2024-05-01T10:00:00Z",
        "base": {"ref": "main", "sha": "b0"}, "head": {"sha": "c2", "repo": {"full_name": "ann/n"}},
    }  # fmt: skip
    return {"repo": "o/n", "pull": pull, **more}


def committed(sha: str, day: int) -> dict[str, Any]:
    date = f"2024-05-{day:02}T09:00:00Z"
    said = {"name": "A", "email": "a@example.org", "date": date}
    message = f"{sha}\n\nCo-authored-by: B <b@example.org>"
    return {"sha": sha, "commit": {"message": message, "author": said, "committer": said}, "author": ANN, "parents": []}


# --- accounts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("user", "login", "standing"), [
    (ANN, "ann", AccountType.PERSON), (None, "", AccountType.GHOST),
    ({"login": "ghost", "type": "User"}, "", AccountType.GHOST),
    ({"login": "helper[bot]", "type": "Bot"}, "helper[bot]", AccountType.BOT),
    ({"login": "Copilot", "type": "Bot"}, "Copilot", AccountType.BOT),
    ({"login": "coderabbitai", "__typename": "Bot"}, "coderabbitai[bot]", AccountType.BOT),
    ({"login": "codecov-io", "type": "User"}, "codecov-io", AccountType.BOT),
    ({"login": "acme-ci-bot", "type": "User"}, "acme-ci-bot", AccountType.BOT),
    ({"login": "abbot", "type": "User"}, "abbot", AccountType.PERSON),
    ({"login": "robotto", "type": "User"}, "robotto", AccountType.PERSON),
    ("nonsense", "", AccountType.GHOST),
])  # fmt: skip
def test_who_spoke(user: Any, login: str, standing: AccountType) -> None:
    assert account(user) == Account(login=login, standing=standing)


def test_one_account_goes_by_several_names() -> None:
    assert same_login("coderabbitai[bot]", "CodeRabbitAI") and same_login("@ann", "ann")
    assert same_login("Copilot", "copilot-pull-request-reviewer[bot]")
    assert not same_login("", "") and not same_login("ann", "anna")
    assert is_bot_name("renovate") and not is_bot_name("claude")


# --- threads -------------------------------------------------------------------------------------------------------


def test_answers_join_their_thread_in_order() -> None:
    comments = [comment(3, in_reply_to_id=1, user=ANN, body="Because."), comment(1), comment(2)]
    (one, two), lost = read_threads(comments, [])
    assert ([remark.body for remark in one.remarks], one.id, two.id, lost) == (["Why?", "Because."], "1", "2", 0)
    assert (one.commit, one.line, one.now_line, one.position, one.side) == ("c1", 3, 3, 4, Side.NEW)
    assert one.opened_by == Account(login="bob", association="MEMBER")
    assert one.resolved is None and one.outdated is False


def test_graphql_tells_what_was_resolved_and_by_whom() -> None:
    told: dict[str, Any] = {
        "isResolved": True,
        "isOutdated": True,
        "resolvedBy": {"__typename": "User", "login": "ann"},
        "comments": {"nodes": [{"databaseId": 1}]},
    }
    (one, two), _ = read_threads([comment(1), comment(2)], [told, {"comments": None}])
    assert (one.resolved, one.outdated, one.resolved_by) == (True, True, Account(login="ann"))
    assert (two.resolved, two.outdated, two.resolved_by) == (None, False, None)


def test_a_thread_whose_lines_were_changed_is_outdated() -> None:
    (one,), _ = read_threads([comment(1, line=None, position=None)], [])
    assert (one.outdated, one.now_line, one.line) == (True, None, 3)


def test_answers_to_a_deleted_comment_are_a_thread_of_their_own() -> None:
    (one,), _ = read_threads([comment(5, in_reply_to_id=1), comment(6, in_reply_to_id=1, user=None)], [])
    assert (one.id, len(one.remarks), one.remarks[1].author.standing) == ("1", 2, AccountType.GHOST)


@pytest.mark.parametrize(("more", "found"), [
    ({}, (3, 3, Side.NEW)),
    ({"original_start_line": 1}, (1, 3, Side.NEW)),
    ({"original_start_line": 9}, (3, 3, Side.NEW)),
    ({"side": "LEFT", "original_line": 2}, (2, 2, Side.OLD)),
    ({"original_start_line": 1, "start_side": "LEFT"}, (3, 3, Side.NEW)),
    ({"original_line": None}, (3, 3, Side.NEW)),
    ({"original_line": None, "diff_hunk": "@@ -1,2 +1 @@\n a\n-b", "side": None}, (2, 2, Side.OLD)),
    ({"original_line": None, "diff_hunk": ""}, (None, None, Side.NEW)),
    ({"original_line": 0, "diff_hunk": ""}, (None, None, Side.NEW)),
    ({"subject_type": "file", "original_line": 1}, (None, None, Side.NEW)),
])  # fmt: skip
def test_where_a_comment_was_made(more: dict[str, Any], found: tuple[int | None, int | None, Side]) -> None:
    assert place(comment(1, **more)) == found


def test_a_comment_that_no_record_can_hold_is_counted() -> None:
    pull = read_pull(raw(comments=[comment(1), comment(2, path="")]))
    assert len(pull.threads) == 1 and pull.extra["unreadable"] == 1
    odd = read_pull(raw(comments=[comment(1, path="../../etc/passwd", body="a\x00b\ud800")]))
    assert ".." not in odd.threads[0].path.split("/") and "\x00" not in odd.threads[0].remarks[0].body


# --- events and revisions ------------------------------------------------------------------------------------------


def test_events_read_the_same_from_rest_and_graphql() -> None:
    issue: dict[str, Any] = {
        "number": 3,
        "repository": {"full_name": "o/n"},
        "repository_url": "https://api.github.com/repos/o/n",
    }
    rest: list[Any] = [
        {"event": "commented", "created_at": "2024-05-01T10:00:00Z"},
        {"event": "cross-referenced", "created_at": "2024-05-02T10:00:00Z", "actor": BOB, "source": {"type": "issue",
            "issue": {**issue, "pull_request": {"url": "x"}}}},
        {"event": "head_ref_force_pushed", "created_at": "2024-05-03T10:00:00Z", "actor": ANN, "commit_id": "c2"},
    ]  # fmt: skip
    graphql: list[Any] = [
        {"__typename": "HeadRefForcePushedEvent", "createdAt": "2024-05-03T10:00:00Z", "actor": {"__typename": "User",
            "login": "ann"}, "beforeCommit": {"oid": "c1"}, "afterCommit": {"oid": "c2"}},
        {"__typename": "CrossReferencedEvent", "createdAt": "2024-05-02T10:00:00Z", "actor": {"__typename": "User",
            "login": "bob"}, "source": {"__typename": "PullRequest", "number": 3,
            "repository": {"nameWithOwner": "o/n"}}},
    ]  # fmt: skip
    assert read_events(rest, []) == read_events([], graphql)
    first, second = read_events(rest, [])
    assert (first.kind, first.source, first.source_is_pull) == ("cross-referenced", "o/n#3", True)
    assert (second.kind, second.commit) == ("head_ref_force_pushed", "c2")
    address: dict[str, Any] = {
        "event": "cross-referenced",
        "source": {"issue": {"number": 4, "repository_url": issue["repository_url"]}},
    }
    assert read_events([address], [])[0].source == "o/n#4"


def test_states_are_those_that_somebody_saw() -> None:
    commits = [committed("c1", 1), committed("mid", 3), committed("c2", 5)]
    review = {"id": 9, "state": "APPROVED", "commit_id": "c2", "submitted_at": "2024-05-06T10:00:00Z", "user": BOB}
    pull = read_pull(raw(commits=commits, comments=[comment(1)], reviews=[review]))
    assert [(one.head, one.commits) for one in pull.revisions] == [("c1", ("c1",)), ("c2", ("c1", "mid", "c2"))]
    assert pull.revisions[0].pushed == datetime(2024, 5, 1, 10, tzinfo=UTC), "not before it was opened"
    assert pull.revisions[1].pushed == datetime(2024, 5, 5, 9, tzinfo=UTC)


def test_a_forced_push_has_two_ends_and_a_commit_from_the_future_is_held_by_what_was_said() -> None:
    push = {
        "__typename": "HeadRefForcePushedEvent",
        "createdAt": "2024-05-04T10:00:00Z",
        "beforeCommit": {"oid": "c0"},
        "afterCommit": {"oid": "c1"},
    }
    review = {"id": 9, "state": "COMMENTED", "commit_id": "c2", "submitted_at": "2024-05-06T10:00:00Z", "user": BOB}
    pull = read_pull(raw(commits=[committed("c1", 4), committed("c2", 30)], reviews=[review], events=[push]))
    assert [(one.head, one.forced) for one in pull.revisions] == [("c0", False), ("c1", True), ("c2", False)]
    assert [one.pushed for one in pull.revisions] == [
        None,  # nobody says when
        datetime(2024, 5, 4, 10, tzinfo=UTC),
        datetime(2024, 5, 6, 10, tzinfo=UTC),
    ]


# --- the whole -----------------------------------------------------------------------------------------------------


def test_commits_lose_their_addresses() -> None:
    (one,) = read_pull(raw(commits=[committed("c1", 1)])).commits
    assert one.message == "c1\n\nCo-authored-by: B" and "example.org" not in one.model_dump_json()
    assert (one.author.login, one.committed) == ("ann", datetime(2024, 5, 1, 9, tzinfo=UTC))


def test_a_fork_that_is_gone_and_a_pending_review() -> None:
    made = raw(reviews=[{"id": 1, "state": "PENDING", "user": BOB}])
    made["pull"]["head"] = {"sha": "c2", "repo": None}
    made["pull"]["user"] = None
    pull = read_pull(made)
    assert (pull.fork_gone, pull.reviews, pull.author.standing) == (True, (), AccountType.GHOST)
    assert not read_pull(raw()).fork_gone


def test_files_as_the_forge_lists_them() -> None:
    files = read_files(
        [
            {"filename": "a.py", "status": "modified", "patch": HUNK, "changes": 3},
            {"filename": "b.py", "previous_filename": "old.py", "status": "renamed", "changes": 0},
            {"filename": "c.png", "status": "added", "changes": 0, "sha": "12"},
            {"filename": "d.txt", "status": "added", "changes": 0, "sha": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
            {"filename": "e.py", "status": "removed", "changes": 90_000},
            {"filename": "f.py", "status": "unchanged"},
            {"status": "modified"},
        ]
    )
    assert [(f.path, f.status, f.patch, f.binary) for f in files] == [
        ("a.py", FileStatus.MODIFIED, HUNK, False),
        ("b.py", FileStatus.RENAMED, "", False),
        ("c.png", FileStatus.ADDED, None, True),
        ("d.txt", FileStatus.ADDED, "", False),
        ("e.py", FileStatus.DELETED, None, False),  # too large for the forge to show
    ]
    assert files[1].old_path == "old.py"


def test_an_issue_knows_the_pull_requests_that_refer_to_it() -> None:
    by = {"number": 7, "repository": {"full_name": "o/n"}, "pull_request": {}}
    crossed: dict[str, Any] = {"event": "cross-referenced", "source": {"issue": by}}
    issue: dict[str, Any] = {"number": 3, "title": "It breaks", "body": None, "state": "closed", "user": None}
    found = read_issue_history({"repo": "o/n", "issue": issue, "comments": [], "timeline": [crossed, crossed]})
    assert (found.issue.title, found.issue.body, found.references, found.is_pull) == (
        "It breaks", "", ("o/n#7",), False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "problem"),
    [({}, "does not name its repository and number"), ({"pull": {"number": 1}}, "does not name its repository")],
)
def test_what_is_no_pull_request_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_pull(value, "dump, line 3")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    *("id", "path", "side", "line", "original_line", "diff_hunk", "user", "login", "type", "created_at", "state"),
    *("body", "commit_id", "sha", "commit", "author", "event", "source", "issue", "number", "repository", "filename"),
]
objects = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6)
PARTS = ("comments", "reviews", "commits", "timeline", "events", "threads", "files", "conversation", "issues")


@given(st.dictionaries(st.sampled_from(PARTS), st.lists(objects | json_values, max_size=3)), objects)
def test_nothing_that_a_forge_says_ends_in_a_traceback(parts: dict[str, Any], extra: dict[str, Any]) -> None:
    made = raw(**parts)
    made["pull"] |= {name: value for name, value in extra.items() if name != "number"}
    try:
        pull = read_pull(made)
    except BadInput:
        return
    assert pull.slug == "o/n#7"
