"""A small pull request with review threads, for the tests of the stages that ask a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from reviewgauge.core.base import content_id
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import Account, AccountType, PullCommit, PullRequest, Remark, Thread
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import ChatSettings

FAKE = "fake:rules"
PATCH = "@@ -1,2 +1,3 @@\n one\n+two\n three\n@@ -40,2 +41,3 @@ def far():\n-forty\n+forty one\n+forty two\n end"
FIRST, SECOND = (
    "@@ -1,2 +1,3 @@\n one\n+two\n three",
    "@@ -40,2 +41,3 @@ def far():\n-forty\n+forty one\n+forty two\n end",
)
START = datetime(2024, 3, 1, 10, 0, tzinfo=UTC)
AUTHOR, REVIEWER, OTHER = Account(login="ann"), Account(login="bob"), Account(login="cora")
BOT = Account(login="lint[bot]", standing=AccountType.BOT)


def said(body: str, by: Account = REVIEWER, hours: int = 1) -> Remark:
    name = content_id(body, by.login, hours)
    return Remark(id=name, author=by, body=body, created=START + timedelta(hours=hours))


def thread(name: str, *remarks: Remark | str, path: str = "a.py", line: int = 2, commit: str | None = None) -> Thread:
    spoken = tuple(said(one) if isinstance(one, str) else one for one in remarks)
    return Thread(id=name, path=path, line=line, commit=commit, remarks=spoken)


def commit(name: str, message: str, path: str = "a.py", patch: str = PATCH, hours: int = 0) -> PullCommit:
    when = START + timedelta(hours=hours)
    files = (ChangedFile(path=path, patch=patch),)
    return PullCommit(id=name, message=message, author=AUTHOR, authored=when, committed=when, files=files)


def pull(*threads: Thread, **more: object) -> PullRequest:
    given = {"repo": "acme/shop", "number": 12, "author": AUTHOR, "title": "Add a cache", "threads": threads, **more}
    return PullRequest.model_validate(given)


def reference(name: str, body: str, line: int | None = 2, path: str = "a.py", **more: object) -> Comment:
    span = None if line is None else Span(path=path, start=line, side=Side.NEW)
    return Comment.model_validate({"id": name, "body": body, "span": span, **more})


def from_thread(one: Thread) -> Comment:
    return reference(f"thread-{one.id}", one.remarks[0].body, one.line, one.path, extra={"thread": one.id})


def candidate(*references: Comment, of: PullRequest | None = None, **more: object) -> Candidate:
    change = Change(
        repo="acme/shop",
        title="Add a cache",
        description="It is faster.",
        files=(ChangedFile(path="a.py", patch=PATCH),),
    )
    given = {"id": "acme/shop/pull/12", "change": change, "references": references, **more}
    return Candidate(case=Case.model_validate(given), pull=of)


def of_threads(*threads: Thread, **more: object) -> Candidate:
    return candidate(*map(from_thread, threads), of=pull(*threads, **more))


def made(stage: Stage, item: Candidate) -> tuple[list[Candidate], list[Drop], list[Decision]]:
    """What a stage makes of one candidate."""
    kept, drops, decisions = [], [], []
    for one in stage.each(item, WithoutBuild()):
        if isinstance(one, Candidate):
            kept.append(one)
        elif isinstance(one, Drop):
            drops.append(one)
        else:
            decisions.append(one)
    return kept, drops, decisions


def the_one(stage: Stage, item: Candidate) -> Candidate:
    """The only candidate that comes out."""
    kept, drops, _ = made(stage, item)
    assert not drops
    return kept[0]


@contextmanager
def listening() -> Iterator[list[Call]]:
    """A door of the test's own, and the calls that go through it."""
    calls: list[Call] = []
    with ChatClient(ChatSettings(cache=False), record=calls.append):
        yield calls
