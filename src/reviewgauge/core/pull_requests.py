"""Pull requests with their revisions, threads and events, from which benchmarks are made. Reviewers never see them.

Names follow GitHub's API where it has one. E-mail addresses are never kept. Times are aware (UTC when not stated).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from reviewgauge.core.base import Id, Line, Prose, Record, RelPath, Text
from reviewgauge.core.records import ChangedFile, Issue, Side


class AccountType(StrEnum):
    """What kind of account it is."""

    PERSON = "person"
    BOT = "bot"  # a hosted bot or app, by the account's type or its name
    GHOST = "ghost"  # an account that is gone


class Account(Record):
    """An account. `login` is empty for a ghost; `association` is GitHub's `author_association`."""

    login: str = ""
    standing: AccountType = AccountType.PERSON
    association: str = ""


class Remark(Record):
    """One message: the first of a thread, a reply, a line of the conversation, or the body of a submitted review.

    `reactions` are counts by GitHub's names (`+1`, `-1`, `heart` ...). `state` is that of a submitted review
    (`APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`), empty for others; `commit` the revision that was looked at.
    """

    id: Id
    author: Account = Account()
    body: Prose = ""
    created: datetime | None = None
    commit: str | None = None
    state: str = ""
    url: str = ""
    reactions: Mapping[str, int] = Field(default_factory=dict)


class Thread(Record):
    """A review thread on lines of the diff: its place, and its resolution.

    `commit`, `start` and `line` are where it was *said* (GitHub's `original_commit_id`, `original_start_line`,
    `original_line`); `now_line` and `position` are its place in the final diff, None once it is outdated.
    `hunk` is the diff hunk it was shown with. `resolved` is None where the forge was not asked or does not say.
    """

    id: Id
    path: RelPath
    side: Side = Side.NEW
    start: Line | None = None
    line: Line | None = None
    commit: str | None = None
    hunk: Text = ""
    position: int | None = None
    original_position: int | None = None
    now_line: int | None = None
    whole_file: bool = False
    outdated: bool | None = None
    resolved: bool | None = None
    resolved_by: Account | None = None
    remarks: tuple[Remark, ...] = Field(min_length=1)

    @property
    def opened_by(self) -> Account:
        """Who opened it."""
        return self.remarks[0].author


class PullCommit(Record):
    """One commit of a pull request. `files` are its own changes, where they were asked for."""

    id: str
    message: Text = ""
    author: Account = Account()
    authored: datetime | None = None
    committed: datetime | None = None
    parents: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] | None = None


class Revision(Record):
    """One state of a pull request that people could see: its head, and the base that it is compared with.

    `commits` are all commits from base to head, oldest first. `forced`: it was reached by a force push.
    """

    head: str
    base: str | None = None
    pushed: datetime | None = None
    commits: tuple[str, ...] = ()
    forced: bool = False


class Event(Record):
    """One entry of the timeline. `source` names what is behind a cross-reference (`owner/name#12`).

    `before` is the title before a renaming.
    """

    kind: str
    created: datetime | None = None
    actor: Account | None = None
    commit: str | None = None
    source: str = ""
    source_is_pull: bool = False
    before: Text = ""


class IssueHistory(Record):
    """An issue with its comments. `references` are the pull requests that refer to it, as `owner/name#12`."""

    repo: Id
    issue: Issue
    state: str = ""
    is_pull: bool = False
    author: Account = Account()
    created: datetime | None = None
    closed: datetime | None = None
    comments: tuple[Remark, ...] = ()
    references: tuple[str, ...] = ()


class PullRequest(Record):
    """The whole history of one pull request.

    `repo_languages` are bytes of code by language, as the forge counts them. `extra` keeps what a forge says beyond
    this. `git` is the git directory on this machine that holds its commits, if one does.
    """

    repo: Id
    number: int
    title: Prose = ""
    body: Prose = ""
    url: str = ""
    author: Account = Account()
    state: str = ""
    draft: bool = False
    merged: bool = False
    created: datetime | None = None
    closed: datetime | None = None
    merged_at: datetime | None = None
    base_ref: str = ""
    base: str | None = None
    head: str | None = None
    merge_commit: str | None = None
    fork_gone: bool = False
    labels: tuple[str, ...] = ()
    commits: tuple[PullCommit, ...] = ()
    revisions: tuple[Revision, ...] = ()
    threads: tuple[Thread, ...] = ()
    reviews: tuple[Remark, ...] = ()
    conversation: tuple[Remark, ...] = ()
    events: tuple[Event, ...] = ()
    issues: tuple[IssueHistory, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    repo_languages: Mapping[str, int] = Field(default_factory=dict)
    git: str | None = None
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def slug(self) -> str:
        """`owner/name#12`."""
        return f"{self.repo}#{self.number}"
