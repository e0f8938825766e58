"""Split a change into its hunks: one case for each that people commented on, for the three small tasks.

Source: ContextCRBench (arXiv:2511.07017), whose entries are commented hunks for three tasks. Of the first task, with
merged and unmerged entries, the paper says neither where the merged ones come from nor in which state a hunk is taken.
Our reading: a hunk that was commented on could not be merged as it stood then, unless it was merged without a change;
a hunk of the merged state that nobody commented on could. The other two tasks take the unmerged ones alone, as in
section 3.3. Table 2 (67,910 entries for the first task, 13,512 for the other two) agrees with it; its filter of
outdated hunks does not: what stopped a merge was mostly changed afterwards.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.pull_requests import Revision, Thread
from reviewgauge.core.records import Change, ChangedFile, Comment, Side, Span, Task
from reviewgauge.core.results import Drop
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.stages.pull_requests.candidates import (
    candidate_at,
    current_span,
    final_references,
    is_review,
    references_at,
    stands,
    thread_comment,
    thread_of,
    thread_span,
)
from reviewgauge.stages.sampling.draws import change_facts, draw

UNCHANGED = "commented on, and merged unchanged"
NOT_COMPARED = "commented on, and not known whether it was merged unchanged"
_READING = (
    "Where the paper's merged entries come from, and in which state a commented hunk is taken, it does not say. Our "
    "reading: a hunk that people commented on, in the state that they looked at, could not be merged as it stood, "
    "unless it was merged unchanged: then it is left out. A hunk of the merged state that nobody commented on could. "
    "Nobody says that it was looked at."
)


@dataclass(frozen=True)
class SplitHunks(Stage):
    """`task`: `assess` (may this hunk be merged?), `locate` (which line deserves a comment?), `comment` (say it).

    `focus` is the hunk, for `comment` the commented lines, one case for each place. The change keeps this one hunk,
    so the other tasks' reviewers see the same. The fact `pull` names what a hunk is a part of: hunks of one pull
    request are not independent, and intervals resample them together. A commented hunk is taken as it stood when it
    was commented on, with the change's base and head of then, and left out if it was merged like that. What was said
    on lines that were changed later is left out too, as in the paper, but for `assess` unless `outdated=False`. For
    `assess`, beside them stand up to `mergeable` hunks, by the seed, of each change that was merged as it stands (in a
    bare history: that is clean): those without a comment, and none of a file where one has lost its place.
    """

    task: Literal["assess", "locate", "comment"] = "assess"
    mergeable: int = 5
    outdated: bool = True
    seed: int = 0

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        counts: Counter[str] = Counter()
        for item in items:
            for result in self.each(item, context):
                if isinstance(result, Candidate):
                    counts["can be merged" if result.case.verdict else "could not be merged"] += 1
                elif isinstance(result, Drop):
                    counts[result.reason] += 1
                yield result
        if self.task == "assess":
            figures = {name: counts[name] for name in ("could not be merged", "can be merged", UNCHANGED)}
            title = "Which hunks can be merged"
            context.report(CardSection(by="split_hunks", title=title, text=_READING, figures=figures))

    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        """One candidate for each hunk (each commented place for `comment`), and a drop for what stands on none."""
        if not item.case.change.has_diff:
            yield self.drop(item.id, "no diff at hand")
            return
        has_part = False
        for part in self._parts(item):
            has_part |= isinstance(part, Candidate)
            yield part
        if not has_part:
            yield self.drop(
                item.id, "no hunk to assess" if self.task == "assess" else "no hunk that people commented on"
            )

    def _parts(self, item: Candidate) -> Iterator[Candidate | Drop]:
        """Commented hunks in their commented state; for `assess` also hunks that were merged without a comment."""
        seen, lost = seen_hunks(item, outdated=self.outdated and self.task == "assess")
        for comment, reason, detail in lost:
            yield self.drop(f"{item.id}/{comment}", reason, detail)
        for one in seen:
            part = self._part(item, one.change, one.file, one.hunk, _hunk_id(item, one.file, one.hunk))
            unchanged = merged_unchanged(item, one)
            if unchanged is not False:
                yield self.drop(part.id, UNCHANGED if unchanged else NOT_COMPARED)
            elif self.task == "comment":
                yield from self._by_place(part, one.comments)
            else:
                yield part.with_case(references=_self_contained(one.comments), verdict=False)
        free = untouched(item, seen) if self.task == "assess" and _as_merged(item) else []
        names = [(_hunk_id(item, file, hunk), at) for at, (file, hunk) in enumerate(free)]
        for at in sorted(draw(self.seed, item.id, names, self.mergeable)):
            part = self._part(item, item.case.change, *free[at], names[at][0])
            yield part.with_case(references=(), verdict=True)

    def _by_place(self, part: Candidate, comments: list[Comment]) -> Iterator[Candidate]:
        """One case for each commented place of a hunk, which is its focus."""
        places = dict.fromkeys(comment.span for comment in comments)
        for number, span in enumerate(places, 1):
            ident = part.id if len(places) == 1 else f"{part.id}/{number}"
            references = _self_contained([c for c in comments if c.span == span])
            yield part.with_change(focus=span).with_case(id=ident, references=references, verdict=False)

    def _part(self, item: Candidate, change: Change, file: ChangedFile, hunk: Hunk, name: str) -> Candidate:
        """The candidate narrowed to one hunk of `change`, which is one of its states."""
        only = file.model_copy(update={"patch": _text(hunk)})
        narrowed = change.model_copy(
            update={"files": (only,), "task": Task(self.task), "focus": hunk.span(file.path), "snippets": ()}
        )
        kept = {fact: value for fact, value in item.case.facts.items() if fact != "language"}  # a hunk has its own
        facts = {**kept, **change_facts(narrowed), "pull": item.pull.slug if item.pull is not None else item.id}
        return item.with_case(id=name, change=narrowed, neutral=(), rejected=(), facts=facts)


def _as_merged(item: Candidate) -> bool:
    """Whether the change is the state that was merged; without a pull request, whether it is known to be clean."""
    if item.pull is None:
        return item.case.clean
    return item.pull.merged and item.case.change.head == item.pull.head


def _hunk_id(item: Candidate, file: ChangedFile, hunk: Hunk) -> str:
    """An id for a hunk that does not reveal its state, nor whether it was commented on."""
    content = f"{file.path}\0{_text(hunk)}".encode("utf-8", "surrogatepass")
    return f"{item.id}/hunk/{hashlib.sha256(content).hexdigest()[:12]}"


def _self_contained(comments: list[Comment]) -> tuple[Comment, ...]:
    """The comments of one case; `same_as` stays where it refers to one of them."""
    names = {comment.id for comment in comments}
    return tuple(c if c.same_as in names else c.model_copy(update={"same_as": None}) for c in comments)


def _text(hunk: Hunk) -> str:
    head = f"{hunk.header} {hunk.heading}" if hunk.heading else hunk.header
    return "\n".join([head, *(f"{line.kind}{line.text}" for line in hunk.lines)])


ON_NO_HUNK = "a comment on no hunk of the diff"
NOT_AT_HAND = "the state that was commented on is not at hand"
OUTDATED = "a comment that is outdated"
NOT_KNOWN = "not known whether the comment is outdated"
Placed = tuple[ChangedFile, Hunk]
Lost = tuple[str, str, str]  # (id of a comment, why there is no hunk for it, a detail)


class SeenHunk(NamedTuple):
    """A hunk in one state of its change, with the comments on it."""

    change: Change
    file: ChangedFile
    hunk: Hunk
    comments: list[Comment]


def hunks_of(change: Change) -> list[Placed]:
    """All hunks of a change, in its order."""
    return [(file, hunk) for file in change.files if file.patch for hunk in parse_patch(file.patch)]


def hunk_at(hunks: Sequence[Placed], span: Span | None) -> int | None:
    """Which hunk holds a line of `span`; None where none does."""
    if span is None:
        return None
    places = enumerate(hunks)
    return next(
        (at for at, (file, hunk) in places if span.path in (file.path, file.old_path) and hunk.covers(span)), None
    )


def seen_hunks(item: Candidate, *, outdated: bool) -> tuple[list[SeenHunk], list[Lost]]:
    """The commented hunks in their commented state, in the order of the comments; and the comments without a hunk.

    A hunk that several states share counts once, as in the first. Without a pull request, a change has one state.
    `outdated`: include comments whose lines were changed later.
    """
    comments, lost = _comments_by_commit(item, outdated)
    states: dict[str | None, tuple[Change, list[Placed]] | str] = {}
    found: dict[tuple[str, str], SeenHunk] = {}
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
        seen = found.setdefault((file.path, written(hunk)), SeenHunk(change, file, hunk, []))
        seen.comments.append(_shifted(comment, hunk, seen.hunk))
    return list(found.values()), lost


def _comments_by_commit(item: Candidate, outdated: bool) -> tuple[list[tuple[str | None, Comment]], list[Lost]]:
    """(commented commit, comment) of each, and lost comments; None stands for the current change.

    Comments on earlier states count even if they are not references now; comments that a stage removed do not.
    """
    pull, references = item.pull, item.case.references
    if pull is None:
        return [(None, comment) for comment in references], []
    own: dict[str | None, list[Comment]] = defaultdict(list)
    for comment in references:
        own[thread_of(comment)].append(comment)
    found: list[tuple[str | None, Comment]] = [(None, comment) for comment in own.pop(None, [])]
    head = item.case.change.head
    began_with = final_references(pull) if head == pull.head else references_at(pull, head or "")
    taken_out = {thread_of(comment) for comment in began_with} - own.keys()
    lost: list[Lost] = []
    for thread in pull.threads:
        of_thread = own.get(thread.id, [])
        if not of_thread and thread.id not in taken_out and is_review(pull, thread):
            of_thread = [thread_comment(thread, None)]
        why = "" if outdated else _outdated(thread)
        for comment in of_thread:
            if why:
                lost.append((comment.id, why, ""))
            elif thread.commit is None:
                lost.append((comment.id, NOT_AT_HAND, "its commit is not known"))
            else:
                found.append((thread.commit, comment.model_copy(update={"span": thread_span(thread)})))
    return found, lost


def _outdated(thread: Thread) -> str:
    stand = stands(thread) if not thread.whole_file else thread.outdated is not True
    return "" if stand else NOT_KNOWN if stand is None else OUTDATED


def _state(item: Candidate, commit: str | None) -> tuple[Change, list[Placed]] | str:
    """The change at `commit`, or the reason why there is none."""
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
    """A comment moved from a hunk to the same hunk in another state."""
    span = comment.span
    if span is None or span.start is None or span.end is None:
        return comment
    by = there.new_start - here.new_start if span.side is Side.NEW else there.old_start - here.old_start
    moved = span.model_copy(update={"start": span.start + by, "end": span.end + by})
    return comment.model_copy(update={"span": moved})


# --- what was merged -----------------------------------------------------------------------------------------------


def merged_unchanged(item: Candidate, seen: SeenHunk) -> bool | None:
    """Whether a commented hunk was merged unchanged; None where that is unknown.

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


def untouched(item: Candidate, seen: Collection[SeenHunk]) -> list[Placed]:
    """The uncommented hunks of a merged change, without files where a comment has lost its place."""
    hunks = hunks_of(item.case.change)
    placed = [(path, hunk_at(hunks, span)) for path, span in _places(item)]
    touched, lost = {at for _, at in placed}, {path for path, at in placed if at is None}
    commented = {changes(one.hunk) for one in seen}
    return [
        (file, hunk)
        for at, (file, hunk) in enumerate(hunks)
        if at not in touched and not _names(file) & lost and changes(hunk) not in commented
    ]


def _places(item: Candidate) -> list[tuple[str, Span | None]]:
    """(path, span in the current change) of all line comments; the span is None where it is lost."""
    threads = item.pull.threads if item.pull is not None else ()
    head = item.case.change.head
    found = [(one.path, thread_span(one) if one.commit == head else current_span(one)) for one in threads]
    loose = (one for one in item.case.references if item.pull is None or thread_of(one) is None)
    return found + [(one.span.path, one.span) for one in loose if one.span is not None]


def written(hunk: Hunk) -> str:
    """The marked lines of a hunk, each between newlines, without the header."""
    return "\n" + "".join(f"{line.kind}{line.text}\n" for line in hunk.lines)


def changes(hunk: Hunk) -> tuple[str, ...]:
    """The deleted and added lines of a hunk, with their marks."""
    return tuple(f"{line.kind}{line.text}" for line in hunk.lines if line.kind != " ")


def _names(file: ChangedFile) -> set[str | None]:
    return {file.path, file.old_path} - {None}
