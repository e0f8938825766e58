"""What a model is shown of a pull request to find its change-points: commits and discussion under labels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.history import PullCommit, PullRequest, Remark, Thread
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.judges.classes.change_types import listing
from reviewgauge.models.request.messages import Message
from reviewgauge.models.request.prompts import FENCE_NOTE, fence
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.asking.stage import Roles, own_prompt

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


class Material(NamedTuple):
    """The commits by label, the oldest first, with their diffs as text, and the discussion by label."""

    pull: PullRequest
    commits: dict[str, PullCommit]
    diffs: dict[str, str]
    mentions: dict[str, Mention]

    @property
    def open_mentions(self) -> list[str]:
        """The labels that a change-point can name."""
        return [label for label, mention in self.mentions.items() if mention.counts]

    def label_of(self, commit: str | None) -> str | None:
        """The label of a commit by its id; None of one that is not among them."""
        return next((label for label, one in self.commits.items() if one.id == commit), None)


def gather(pull: PullRequest) -> Material | str:
    """The material, or why there is none. Diffs of commits that came without are read from its git directory."""
    mentions = _mentions(pull)
    if not any(mention.counts for mention in mentions):
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
    return Material(pull, commits, diffs, {mention.label: mention for mention in mentions})


def _mentions(pull: PullRequest) -> list[Mention]:
    """The discussion in the order of time; what has no time comes last."""
    roles = Roles(pull)
    found: list[tuple[str, Sequence[Remark], Thread | None]] = []
    for thread in pull.threads:
        if with_text := [remark for remark in thread.remarks if remark.body.strip()]:
            found.append(("T", with_text, thread))
    found += [("R", [remark], None) for remark in pull.reviews if remark.body.strip()]
    found += [("M", [remark], None) for remark in pull.conversation if remark.body.strip()]
    found.sort(key=lambda one: (one[1][0].created is None, _utc(one[1][0].created) or datetime.min.replace(tzinfo=UTC)))
    numbers = dict.fromkeys("TRM", 0)
    mentions = []
    for kind, remarks, of in found:
        numbers[kind] += 1
        counts = any(roles.of(remark.author).startswith("reviewer") for remark in remarks)
        mentions.append(Mention(f"{kind}{numbers[kind]}", remarks, counts, of))
    return mentions


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
    return (
        f"{head}\n(no patch is at hand: an empty file, or a change too large to be shown)"
        if _lacks_patch(file)
        else head
    )


# --- as messages ---------------------------------------------------------------------------------------------------


def messages_of(material: Material) -> tuple[Message, ...]:
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


def _mention(mention: Mention, material: Material, roles: Roles) -> str:
    thread = mention.thread
    if thread is None:
        (remark,) = mention.remarks
        return f"{mention.label} {roles.of(remark.author)}{_when(remark.created)}{_state(remark)}\n{fence(remark.body)}"
    said_on = material.label_of(thread.commit)
    head = f"{mention.label}, a thread{f' said on {said_on}' if said_on else ''}\n{fence(_place(thread))}"
    turns = [
        f"{mention.label}.{at} {roles.of(remark.author)}{_when(remark.created)}\n{fence(remark.body)}"
        for at, remark in enumerate(mention.remarks, 1)
    ]
    return "\n".join([head, *turns])


def _place(thread: Thread) -> str:
    lines = "" if thread.line is None or thread.whole_file else f", line {thread.line}"
    if lines and thread.start is not None and thread.line is not None and thread.start < thread.line:
        lines = f", lines {thread.start} to {thread.line}"
    side = " before the change" if lines and thread.side == "old" else ""
    return f"{thread.path}{lines}{side}" + (f"\n{thread.hunk.strip(chr(10))}" if thread.hunk.strip() else "")


def _state(remark: Remark) -> str:
    approvals = {"APPROVED": ", approves", "CHANGES_REQUESTED": ", asks for changes"}
    return approvals.get(remark.state, "")


def _when(moment: datetime | None) -> str:
    found = _utc(moment)
    return "" if found is None else f", {found:%Y-%m-%d %H:%M}"


def _utc(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
