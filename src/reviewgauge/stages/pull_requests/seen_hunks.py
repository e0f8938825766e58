"""Hunks as people saw them: each in the state that it was commented on, and whether it was merged like that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.history import PullRequest, Revision, Thread
from reviewgauge.core.records import Change, ChangedFile, Comment, Side, Span
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.stages.pull_requests.candidates import (
    candidate_at,
    current_span,
    final_references,
    is_review,
    references_at,
    thread_comment,
    thread_span,
)
from reviewgauge.stages.pull_requests.threads import stands, thread_of

ON_NO_HUNK = "a comment on no hunk of the diff"
NOT_AT_HAND = "the state that was commented on is not at hand"
OUTDATED = "a comment that is outdated"
NOT_KNOWN = "not known whether the comment is outdated"
Placed = tuple[ChangedFile, Hunk]
Lost = tuple[str, str, str]  # (id of a comment, why there is no hunk for it, a detail)


class Seen(NamedTuple):
    """A hunk in one state of its change, with what people said on it there."""

    change: Change
    file: ChangedFile
    hunk: Hunk
    comments: list[Comment]


def hunks_of(change: Change) -> list[Placed]:
    """All hunks of a change, in its order."""
    return [(file, hunk) for file in change.files if file.patch for hunk in parse_patch(file.patch)]


def hunk_at(hunks: Sequence[Placed], span: Span | None) -> int | None:
    """Which hunk holds a line of `span`; None where none does."""
    if span is None or span.start is None or span.end is None:
        return None
    for at, (file, hunk) in enumerate(hunks):
        if span.path in (file.path, file.old_path):
            numbers = (line.new if span.side is Side.NEW else line.old for line in hunk.lines)
            if any(number is not None and span.start <= number <= span.end for number in numbers):
                return at
    return None


def seen_hunks(item: Candidate, *, outdated: bool) -> tuple[list[Seen], list[Lost]]:
    """Each hunk that people commented on, as it stood then, in the order of the comments; and comments without one.

    A hunk that several states have in common is one, as the first of them has it. Without a pull request behind it, a
    change has one state. `outdated`: also comments whose lines were changed later.
    """
    comments, lost = _comments_by_commit(item, outdated)
    states: dict[str | None, tuple[Change, list[Placed]] | str] = {}
    found: dict[tuple[str, str], Seen] = {}
    for commit, comment in comments:
        if commit not in states:
            states[commit] = _state(item, commit)
        state = states[commit]
        if isinstance(state, str):
            lost.append((comment.id, NOT_AT_HAND, state))
            continue
        change, hunks = state
        at = hunk_at(hunks, comment.span)
        if at is None:
            lost.append((comment.id, ON_NO_HUNK, ""))
            continue
        file, hunk = hunks[at]
        seen = found.setdefault((file.path, written(hunk)), Seen(change, file, hunk, []))
        seen.comments.append(_shifted(comment, hunk, seen.hunk))
    return list(found.values()), lost


def _comments_by_commit(item: Candidate, outdated: bool) -> tuple[list[tuple[str | None, Comment]], list[Lost]]:
    """(the commit that was looked at, the comment) of each; no commit stands for the change as it is.

    What was said of an earlier state, and is not a reference of this one, counts too; what a stage took out does not.
    """
    pull, references = item.pull, item.case.references
    if pull is None:
        return [(None, comment) for comment in references], []
    own: dict[str, list[Comment]] = defaultdict(list)
    found: list[tuple[str | None, Comment]] = []
    for comment in references:
        name = thread_of(comment)
        if name is None:
            found.append((None, comment))
        else:
            own[name].append(comment)
    head = item.case.change.head
    began_with = final_references(pull) if head == pull.head else references_at(pull, head or "")
    taken_out = {thread_of(comment) for comment in began_with} - own.keys()
    lost: list[Lost] = []
    for thread in pull.threads:
        of_thread = own.get(thread.id, [])
        if not of_thread and thread.id not in taken_out and is_review(pull, thread):
            of_thread = [thread_comment(thread, None)]
        why = "" if outdated else _outdated(thread)
        if why:
            lost += [(comment.id, why, "") for comment in of_thread]
        elif thread.commit is None:
            lost += [(comment.id, NOT_AT_HAND, "its commit is not known") for comment in of_thread]
        else:
            found += [
                (thread.commit, comment.model_copy(update={"span": thread_span(thread)})) for comment in of_thread
            ]
    return found, lost


def _outdated(thread: Thread) -> str:
    stand = stands(thread) if not thread.whole_file else thread.outdated is not True
    return "" if stand else NOT_KNOWN if stand is None else OUTDATED


def _state(item: Candidate, commit: str | None) -> tuple[Change, list[Placed]] | str:
    """The change as it was at `commit`, or why that cannot be told."""
    change = item.case.change
    if commit is not None and commit != change.head:
        revisions = item.pull.revisions if item.pull is not None else ()
        revision = next((one for one in revisions if one.head == commit), Revision(head=commit))
        try:
            found = candidate_at(item, revision)
        except UserError as error:
            return str(error)
        if isinstance(found, str):
            return found
        change = found.case.change
    return change, hunks_of(change)


def _shifted(comment: Comment, here: Hunk, there: Hunk) -> Comment:
    """A comment on a hunk, placed on the same hunk as another state has it."""
    span = comment.span
    if span is None or span.start is None or span.end is None:
        return comment
    by = there.new_start - here.new_start if span.side is Side.NEW else there.old_start - here.old_start
    moved = span.model_copy(update={"start": span.start + by, "end": span.end + by})
    return comment.model_copy(update={"span": moved})


# --- what was merged -----------------------------------------------------------------------------------------------


def merged_unchanged(item: Candidate, seen: Seen) -> bool | None:
    """Whether a commented hunk is part of what was merged, as it stood; None where that cannot be told.

    It is when its lines are those of the final diff, context included, also as a part of a larger hunk; or when its
    file has a hunk with the same changed lines among other context.
    """
    pull = item.pull
    if pull is None or not pull.merged:
        return False
    final = item.case.change.files if item.case.change.head == pull.head else pull.files
    names = _names(seen.file)
    same = [file for file in final if _names(file) & names]
    if not final or any(file.patch is None for file in same):
        return None
    lines, changed = written(seen.hunk), changes(seen.hunk)
    if any(lines in written(hunk) for file in final for hunk in parse_patch(file.patch or "")):
        return True
    return any(changes(hunk) == changed for file in same for hunk in parse_patch(file.patch or ""))


def untouched(item: Candidate, seen: Collection[Seen]) -> list[Placed]:
    """The hunks of a merged change that nobody commented on; none of a file where a comment has lost its place."""
    hunks = hunks_of(item.case.change)
    touched: set[int] = set()
    lost: set[str | None] = set()
    for path, span in _places(item):
        at = hunk_at(hunks, span)
        if at is None:
            lost.add(path)
        else:
            touched.add(at)
    commented = {changes(one.hunk) for one in seen}
    return [
        (file, hunk)
        for at, (file, hunk) in enumerate(hunks)
        if at not in touched and not _names(file) & lost and changes(hunk) not in commented
    ]


def _places(item: Candidate) -> list[tuple[str, Span | None]]:
    """(path, place in the change as it is) of all that was said on lines, by whomever; None where it has lost it."""
    pull: PullRequest | None = item.pull
    threads = pull.threads if pull is not None else ()
    head = item.case.change.head
    found = [(one.path, thread_span(one) if one.commit == head else current_span(one)) for one in threads]
    loose = (one for one in item.case.references if pull is None or thread_of(one) is None)
    return found + [(one.span.path, one.span) for one in loose if one.span is not None]


def written(hunk: Hunk) -> str:
    """The lines of a hunk with their marks, each between newlines; without its place."""
    return "\n" + "".join(f"{line.kind}{line.text}\n" for line in hunk.lines)


def changes(hunk: Hunk) -> tuple[str, ...]:
    """The deleted and added lines of a hunk, with their marks."""
    return tuple(f"{line.kind}{line.text}" for line in hunk.lines if line.kind != " ")


def _names(file: ChangedFile) -> set[str | None]:
    return {file.path, file.old_path} - {None}
