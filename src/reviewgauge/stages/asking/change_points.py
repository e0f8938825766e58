"""What a model is shown of a pull request to find its change-points, and how its list of them is read.

The commits and the discussion stand under labels, which the answer names. Reading is strict, and the lists of several
requests can be held against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from reviewgauge.core.errors import UserError
from reviewgauge.core.pull_requests import PullCommit, PullRequest, Remark, Thread
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.judges.classes.classes import GROUPS, TYPES, change_type, listing
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Line, Text, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.asking.stage import Roles, own_prompt, span_in_words
from reviewgauge.stages.pull_requests.candidates import is_other, thread_span

NO_COMMITS, NO_DIFF = "its commits are not at hand", "the diff of one of its commits is not at hand"
NO_REVIEWER = "no review comment by a person other than its author"


class Mention(NamedTuple):
    """A place of the discussion. `counts`: a reviewer said something there, so that it can be a change-point's."""

    label: str
    remarks: Sequence[Remark]
    counts: bool
    thread: Thread | None = None

    @property
    def name(self) -> str:
        """What it is, for the record."""
        return f"thread {self.thread.id}" if self.thread is not None else f"remark {self.remarks[0].id}"


class LabelledDiscussion(NamedTuple):
    """The commits by label, the oldest first, with their diffs as text, and the discussion by label."""

    pull: PullRequest
    commits: dict[str, PullCommit]
    diffs: dict[str, str]
    mentions: dict[str, Mention]

    @property
    def open_mentions(self) -> list[str]:
        """The labels that a change-point can name."""
        return [label for label, mention in self.mentions.items() if mention.counts]


def gather(pull: PullRequest) -> LabelledDiscussion | str:
    """The material, or why there is none. Diffs of commits that came without are read from its git directory."""
    mentions = {mention.label: mention for mention in _mentions(pull)}
    if not any(mention.counts for mention in mentions.values()):
        return NO_REVIEWER
    if not pull.commits:
        return NO_COMMITS
    commits = {f"C{at}": commit for at, commit in enumerate(pull.commits, 1)}
    diffs: dict[str, str] = {}
    for label, commit in commits.items():
        files = _files(commit, pull.git)
        if files is None:
            return NO_DIFF
        diffs[label] = "\n".join(map(_file_text, files)) or "(no file changes)"
    return LabelledDiscussion(pull, commits, diffs, mentions)


def _mentions(pull: PullRequest) -> Iterator[Mention]:
    """The discussion in the order of time; what has no time comes last."""
    listed: list[tuple[str, Sequence[Remark], Thread | None]] = [
        *(("T", thread.remarks, thread) for thread in pull.threads),
        *(("R", [remark], None) for remark in pull.reviews),
        *(("M", [remark], None) for remark in pull.conversation),
    ]
    worded = [(kind, [one for one in remarks if one.body.strip()], of) for kind, remarks, of in listed]
    found = [entry for entry in worded if entry[1]]
    found.sort(key=lambda entry: _utc(entry[1][0].created) or datetime.max.replace(tzinfo=UTC))
    numbers: Counter[str] = Counter()
    for kind, remarks, of in found:
        numbers[kind] += 1
        counts = any(is_other(pull, remark.author) for remark in remarks)
        yield Mention(f"{kind}{numbers[kind]}", remarks, counts, of)


def _files(commit: PullCommit, git: str | None) -> Sequence[ChangedFile] | None:
    """What a commit changed, from git where the forge left out a patch; None where nobody can say.

    A merge changes nothing of its own.
    """
    if len(commit.parents) > 1:
        return ()
    if commit.files is not None and not any(map(_lacks_patch, commit.files)):
        return commit.files
    if git is None or not commit.parents:
        return commit.files
    try:
        return Repository(Path(git)).changed_files(commit.parents[0], commit.id)
    except UserError:
        return commit.files


def _lacks_patch(file: ChangedFile) -> bool:
    """Whether a file has no patch and may have one: forges leave out large ones, and empty files have none."""
    return file.patch is None and not file.binary and file.status not in (FileStatus.RENAMED, FileStatus.COPIED)


def _file_text(file: ChangedFile) -> str:
    """One file: a line that names it, then its patch. No line of a patch begins as that line does."""
    moved = f", before: {file.old_path}" if file.old_path and file.status is FileStatus.RENAMED else ""
    head = f"=== {file.path} ({file.status.value.replace('_', ' ')}{moved})"
    if file.binary:
        return f"{head}\n(a binary file)"
    if file.patch:
        return f"{head}\n{file.patch.strip(chr(10))}"
    if _lacks_patch(file):
        return f"{head}\n(no patch is at hand: an empty file, or a change too large to be shown)"
    return head


# --- as messages ---------------------------------------------------------------------------------------------------


def messages_of(material: LabelledDiscussion) -> tuple[Message, ...]:
    """The question. Labels, roles and times stand outside of the fences; what people wrote stands inside."""
    roles = Roles(material.pull)
    commits = [_commit(label, commit, material.diffs[label]) for label, commit in material.commits.items()]
    discussion = [_mention(mention, material, roles) for mention in material.mentions.values()]
    return own_prompt("change_points").messages(
        {
            "fence_note": FENCE_NOTE,
            "types": listing(groups=False),
            "title": fence(material.pull.title),
            "description": fence(material.pull.body),
            "commits": "\n\n".join(commits),
            "discussion": "\n\n".join(discussion),
        }
    )


def _commit(label: str, commit: PullCommit, diff: str) -> str:
    when = _when(commit.committed or commit.authored)
    if len(commit.parents) > 1:
        return f"{label}{when}, merges another branch\n{fence(commit.message)}"
    return f"{label}{when}\n{fence(commit.message)}\n{fence(diff)}"


def _mention(mention: Mention, material: LabelledDiscussion, roles: Roles) -> str:
    label, thread = mention.label, mention.thread
    if thread is None:
        (remark,) = mention.remarks
        approval = {"APPROVED": ", approves", "CHANGES_REQUESTED": ", asks for changes"}.get(remark.state, "")
        return f"{label} {roles.of(remark.author)}{_when(remark.created)}{approval}\n{fence(remark.body)}"
    commit = next((label for label, one in material.commits.items() if one.id == thread.commit), None)
    place = span_in_words(thread_span(thread)) + (f"\n{thread.hunk.strip(chr(10))}" if thread.hunk.strip() else "")
    head = f"{label}, a thread{f' said on {commit}' if commit else ''}\n{fence(place)}"
    turns = [
        f"{label}.{at} {roles.of(remark.author)}{_when(remark.created)}\n{fence(remark.body)}"
        for at, remark in enumerate(mention.remarks, 1)
    ]
    return "\n".join([head, *turns])


def _when(moment: datetime | None) -> str:
    utc = _utc(moment)
    return "" if utc is None else f", {utc:%Y-%m-%d %H:%M}"


def _utc(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


# --- the answer ----------------------------------------------------------------------------------------------------

LEAVES = tuple(code for code in TYPES if code not in GROUPS)


def _leaf(value: object) -> str:
    code = change_type(value) if isinstance(value, str) else None
    if code not in LEAVES:
        raise ValueError(f"must be one of {', '.join(LEAVES)}")
    return code


Label = Annotated[Text, AfterValidator(str.upper)]


class ChangePoint(AnswerRecord):
    """One change-point as a model lists it; commits and mention are labels."""

    point: Line
    type: Annotated[str, BeforeValidator(_leaf), WithJsonSchema({"type": "string", "enum": [*LEAVES]})]
    mention: Label
    introduced: Label
    resolved: Label
    code: Annotated[str | None, AfterValidator(lambda code: (code or "").strip() or None)] = None
    explanation: Text


class ChangePoints(AnswerRecord):
    """What a model answers about a pull request."""

    points: list[ChangePoint]


def read_change_points(text: str, mentions: Sequence[str], commits: Sequence[str]) -> list[ChangePoint]:
    """The change-points of an answer; an empty list is one. `commits` are the labels, the oldest first.

    Raises Unreadable: a label that there is none of, a group of types for a type, a commit that answers what came with
    it or after it, the same entry twice.
    """
    found = read_record(text, ChangePoints, own_prompt("change_points")).points
    for at, one in enumerate(found, 1):
        for name, label, known in (
            ("mention", one.mention, mentions), ("introduced", one.introduced, commits),
            ("resolved", one.resolved, commits),
        ):  # fmt: skip
            if label not in known:
                shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
                raise Unreadable(f'"{name}" of point {at} is {label[:60]!r}, and there are {shown}')
        if commits.index(one.resolved) <= commits.index(one.introduced):
            raise Unreadable(
                f"point {at} came with {one.introduced} and is resolved by {one.resolved}, which is not a later commit"
            )
    if len({(one.point, one.type, one.mention, one.introduced, one.resolved) for one in found}) < len(found):
        raise Unreadable("it lists the same point twice")
    return found


# --- several answers -----------------------------------------------------------------------------------------------

COUNTS, KINDS = (
    "the requests disagree on how many change-points there are",
    "the requests disagree on the types or commits of the change-points",
)


class Agreed(NamedTuple):
    """The points of the first request that the others agree with; for each the words of those others."""

    points: Sequence[ChangePoint]
    others: Sequence[Sequence[str]]


class Disagreed(NamedTuple):
    """Why there is nothing to keep: a reason that can be counted, and what each request lists."""

    reason: str
    detail: str


def agreement(answers: Sequence[Sequence[ChangePoint]]) -> Agreed | Disagreed:
    """What the answers, one a request, agree on: as many points, matched by their type and the commit that resolves."""
    kinds = [sorted(map(_kind, points)) for points in answers]
    if any(one != kinds[0] for one in kinds):
        reason = COUNTS if len(set(map(len, answers))) > 1 else KINDS
        listed = (", ".join(f"{kind} resolved by {commit}" for kind, commit in one) or "none" for one in kinds)
        return Disagreed(reason, "; ".join(f"request {at}: {one}" for at, one in enumerate(listed, 1)))
    first, *others = answers
    matches = [_matched(first, other) for other in others]
    return Agreed(first, [[texts[at] for texts in matches] for at in range(len(first))])


def _kind(point: ChangePoint) -> tuple[str, str]:
    return point.type, point.resolved


def _matched(first: Sequence[ChangePoint], other: Sequence[ChangePoint]) -> list[str]:
    """For each point of the first answer its match in the other one: the first that is left of its kind."""
    left = list(other)
    return [left.pop([*map(_kind, left)].index(_kind(point))).point for point in first]
