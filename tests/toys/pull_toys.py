"""Small pull requests made by hand, for the tests of stages that read the history behind a case."""

from __future__ import annotations

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import Account, AccountType, PullRequest, Remark, Thread
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Side, Span

PATCH = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d"  # two lines added, one deleted
ANN = Account(login="ann")
BOB = Account(login="bob")
BOT = Account(login="helper[bot]", standing=AccountType.BOT)
GHOST = Account(standing=AccountType.GHOST)


def remark(name: str, author: Account = BOB, body: str = "Why?") -> Remark:
    return Remark(id=name, author=author, body=body)


def thread(
    name: str, *remarks: Remark, path: str = "a.py", line: int | None = 2, position: int | None = 3, **more: object
) -> Thread:
    said = remarks or (remark(f"r{name}"),)
    return Thread.model_validate(
        {"id": name, "path": path, "line": line, "position": position, "remarks": said, **more}
    )


def reference(one: Thread, **more: object) -> Comment:
    span = Span(path=one.path, start=one.line, end=one.line, side=Side.NEW)
    fields = {"id": f"thread-{one.id}", "body": one.remarks[0].body, "span": span, "extra": {"thread": one.id}, **more}
    return Comment.model_validate(fields)


def pull(*threads: Thread, **more: object) -> PullRequest:
    fields: dict[str, object] = {
        "repo": "acme/shop", "number": 1, "author": ANN, "state": "closed", "merged": True,
        "repo_languages": {"Python": 900, "Shell": 100}, "threads": threads,
    }  # fmt: skip
    return PullRequest.model_validate({**fields, **more})


def candidate(
    behind: PullRequest | None, name: str = "acme/shop/pull/1", patch: str | None = PATCH, **more: object
) -> Candidate:
    """A candidate whose case has one reference for each thread that a person opened."""
    threads = behind.threads if behind is not None else ()
    said = [one for one in threads if one.opened_by.standing is not AccountType.BOT]
    files = (ChangedFile(path="a.py", patch=patch),)
    change = {"repo": "acme/shop", "title": "Fix the parser", "files": files, **more}
    case = Case(
        id=name,
        change=Change.model_validate(change),
        references=tuple(reference(one) for one in said),
        verdict=False if said else None,
    )
    return Candidate(case=case, pull=behind)
