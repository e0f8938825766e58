"""The records: a change, what is known about it, and its reviews.

Records are frozen, refuse unknown fields, and are the lines of the JSON lines files. Lines are 1-based, ranges
include both ends, paths are relative with forward slashes, and "new" is the side after the change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from reviewgauge.core.base import Fact, Id, Line, Prose, Record, RelPath, Share, Text
from reviewgauge.core.labels import Label


class Task(StrEnum):
    """The four tasks of the field."""

    REVIEW = "review"
    ASSESS = "assess"
    LOCATE = "locate"
    COMMENT = "comment"


class Side(StrEnum):
    """Which version of a file a line number counts in."""

    OLD = "old"
    NEW = "new"


class Severity(StrEnum):
    """How much a finding matters. Formats map their own words to these and keep the original in `extra`."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class RequiredContext(StrEnum):
    """How far one must look to see a finding."""

    DIFF = "diff"
    FILE = "file"
    REPO = "repo"


class Anchoring(StrEnum):
    """How a comment got its span, or why it has none."""

    AS_GIVEN = "as_given"  # the claimed place lies in the change
    UNCHECKED = "unchecked"  # taken as claimed: there was no diff to check it against
    QUOTE = "quote"  # found through the quoted code, which beats a number
    DIFF_LINE = "diff_line"  # the number counted lines of the diff text, not of the file
    RENAMED = "renamed"  # the path was the file's other name
    OUTSIDE = "outside"  # a real line, but not near any hunk, or of a file that the change does not touch
    FILE_ONLY = "file_only"  # the file is part of the change, no line was claimed
    INVALID = "invalid"  # a place was claimed and does not exist in the change
    NONE = "none"  # no place was claimed


class Span(Record):
    """A place in one version of one file. Without lines it is the whole file."""

    path: RelPath
    start: Line | None = None
    end: Line | None = None
    side: Side = Side.NEW

    @model_validator(mode="before")
    @classmethod
    def _one_line_span(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("end") is None and data.get("start") is not None:
            return {**data, "end": data["start"]}
        return data

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("has an end line but no start line")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise ValueError(f"ends at line {self.end}, before its start at line {self.start}")
        return self


class Location(Record):
    """The place that a tool claims for its comment, not yet checked against any change.

    `position` is GitHub's diff position (1-based line below the first hunk header of the file). Columns are
    1-based characters. `path` may be absolute or invented.
    """

    path: Text | None = None
    start: int | None = None
    end: int | None = None
    start_column: int | None = None
    end_column: int | None = None
    side: Side | None = None
    position: int | None = None
    hunk: Text | None = None


class Origin(StrEnum):
    """What the text of a reference is."""

    REVIEW = "review"  # what a reviewer wrote about the change
    POINT = "point"  # a change-point: what the change had to become, told from its later commits
    GOLDEN = "golden"  # a finding written for a benchmark
    FIX = "fix"  # the message of a later fix, which tells what was mended and perhaps not what was wrong
    INJECTED = "injected"  # a defect that a build put in, told as a reviewer would


class Arm(StrEnum):
    """Which of its host's cases this one is, in a benchmark of injected defects and their twins."""

    DEFECT = "defect"  # the host with a defect put in
    TWIN = "twin"  # the host as it is
    SAFE = "safe"  # the host with an edit of the same kind that does no harm


ARM, PAIR = "arm", "pair"  # facts of such a benchmark: which case of its host one is, and the host


class Tier(StrEnum):
    """How well a reference is founded, the best first."""

    VERIFIED = "verified"  # the tests of its fix fail on the change, and pass after the fix
    CONFIRMED = "confirmed"  # a person looked at it and said that it holds
    TRACED = "traced"  # a fix changed these lines later
    BESIDE = "beside"  # a fix only added lines beside these


class Resolution(Record):
    """How a comment was dealt with: the commit that answered it, the code that it left, and its hunks as a diff.

    `explanation` is what was written about it elsewhere, such as the issue that a fix closes.
    """

    commit: str | None = None
    snippet: Text | None = None
    explanation: Text | None = None
    diff: Text | None = None


FAILING = "failing_tests"  # in `Comment.extra` of a verified finding: the tests that show it; empty: the command alone
GOLDEN_INDEX = "golden_index"  # in `Comment.extra`: the place among right and wrong findings in the data's own order


class Comment(Record):
    """A comment on a change: by a person, a model or a golden set; change-points are Comments too."""

    id: Id
    body: Prose
    span: Span | None = None
    quote: Text | None = None
    category: str | None = None
    severity: Severity | None = None
    needs: RequiredContext | None = None
    origin: Origin | None = None
    tier: Tier | None = None
    suggestion: Text | None = None
    confidence: Share | None = None
    author: str | None = None
    commit: str | None = None
    created: datetime | None = None
    reply_to: Id | None = None
    resolution: Resolution | None = None
    same_as: Id | None = None
    claimed: Location | None = None
    anchoring: Anchoring | None = None
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)


class Claim(Record):
    """Something true or arguable about a change that a review could address."""

    id: Id
    body: Prose
    kind: str = "claim"
    source: str = ""
    line: Line | None = None
    status: str | None = None


class Issue(Record):
    """An issue that a change is linked to."""

    number: int
    title: Prose = ""
    body: Prose = ""


class FileStatus(StrEnum):
    """What a change did to a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"


class ChangedFile(Record):
    """One file of a change. `patch` is its unified diff from the first `@@` on; None when it is not available."""

    path: RelPath
    old_path: RelPath | None = None
    status: FileStatus = FileStatus.MODIFIED
    patch: Text | None = None
    binary: bool = False


class Snippet(Record):
    """A piece of code that goes with a change: the smallest function, method or class around a hunk, or some lines.

    `kind` is function, method, class, file or window (a fixed number of lines, where no syntax is known).
    """

    path: RelPath
    side: Side = Side.NEW
    start: Line
    end: Line
    text: Text
    kind: str = "function"
    name: str = ""


class Change(Record):
    """What is reviewed. This, and nothing of what is known about it, is what a reviewer receives.

    `git` is the git directory on this machine that holds base and head, if one does; it is not part of the
    benchmark's hash. `focus` narrows the small tasks to one place. `id` is the case's id, a name without knowledge,
    which the engine sets when it hands a change out; a data set leaves it unset.
    """

    id: Id | None = None
    repo: Id
    base: str | None = None
    head: str | None = None
    title: Prose = ""
    description: Prose = ""
    url: str | None = None
    files: tuple[ChangedFile, ...] = ()
    issues: tuple[Issue, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    task: Task = Task.REVIEW
    focus: Span | None = None
    git: str | None = None

    @property
    def has_diff(self) -> bool:
        """Whether the patches of the changed files are available."""
        return any(file.patch is not None or file.binary for file in self.files)


class Case(Record):
    """One item of a benchmark: a Change and what is known about it.

    `references` are findings that a good review makes, `neutral` ones are neither right nor wrong, `rejected` ones
    are known to be wrong. References joined by `same_as` are one finding in several phrasings. `verdict` says
    whether the change can be merged as it is: True with no references is a *clean* change, None is not known.
    """

    id: Id
    change: Change
    references: tuple[Comment, ...] = ()
    neutral: tuple[Comment, ...] = ()
    rejected: tuple[Comment, ...] = ()
    claims: tuple[Claim, ...] = ()
    labels: tuple[Label, ...] = ()
    verdict: bool | None = None
    facts: Mapping[str, Fact] = Field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Known to deserve no comment."""
        return self.verdict is True and not self.references

    @model_validator(mode="after")
    def _unique_ids(self) -> Self:
        seen: set[str] = set()
        for comment in (*self.references, *self.neutral, *self.rejected):
            if comment.id in seen:
                raise ValueError(f"comment id {comment.id!r} occurs twice")
            seen.add(comment.id)
        known = {comment.id for comment in self.references}
        for comment in self.references:
            if comment.same_as is not None and comment.same_as not in known:
                raise ValueError(
                    f"reference {comment.id!r} is same_as {comment.same_as!r}, which is not a reference here"
                )
        if len({claim.id for claim in self.claims}) < len(self.claims):
            twice = Counter(claim.id for claim in self.claims).most_common(1)[0][0]
            raise ValueError(f"claim id {twice!r} occurs twice")
        return self


class Usage(Record):
    """Cost. `dollars` is None when the price is not known."""

    calls: Annotated[int, Field(ge=0)] = 0
    tokens_in: Annotated[int, Field(ge=0)] = 0
    tokens_out: Annotated[int, Field(ge=0)] = 0
    dollars: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    seconds: float = 0.0


class Review(Record):
    """The review of one case by one reviewer in one attempt (counted from 1)."""

    case: Id
    system: Id
    attempt: Annotated[int, Field(ge=1)] = 1
    comments: tuple[Comment, ...] = ()
    verdict: bool | None = None
    ranked_lines: tuple[Span, ...] = ()
    usage: Usage = Usage()
    fake: bool = False
    trace: Text | None = None

    @model_validator(mode="after")
    def _unique_ids(self) -> Self:
        seen: set[str] = set()
        for comment in self.comments:
            if comment.id in seen:
                raise ValueError(f"comment id {comment.id!r} occurs twice")
            seen.add(comment.id)
        return self


def groups_of(references: Sequence[Comment]) -> list[list[int]]:
    """Indices of the references, one list a finding, in order of first appearance.

    `same_as` may name any other phrasing, in chains or circles; ids outside `references` are ignored.
    """
    index = {reference.id: i for i, reference in enumerate(references)}
    root = list(range(len(references)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, reference in enumerate(references):
        if reference.same_as in index:
            a, b = find(i), find(index[reference.same_as])
            root[max(a, b)] = min(a, b)
    members: dict[int, list[int]] = {}
    for i in range(len(references)):
        members.setdefault(find(i), []).append(i)
    return list(members.values())


def findings(references: Sequence[Comment]) -> list[tuple[Comment, ...]]:
    """The references themselves, one tuple a finding, in order of first appearance."""
    return [tuple(references[i] for i in indices) for indices in groups_of(references)]
