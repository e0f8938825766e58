"""Split a change into its hunks: one case for each that people commented on, for the three small tasks.

Source: ContextCRBench (arXiv:2511.07017), whose entries are commented hunks for three tasks. Of the first task, with
merged and unmerged entries, the paper says neither where the merged ones come from nor in which state a hunk is taken.
Our reading: a hunk that was commented on could not be merged as it stood then, unless it was merged without a change;
a hunk of the merged state that nobody commented on could. Table 2 (67,910 entries for the first task, 13,512 for the
other two, which use unmerged ones only) agrees with it; its filter of outdated hunks does not: what stopped a merge was
mostly changed afterwards.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reviewgauge.core.building import BuildContext, Candidate, CardSection, Decision
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Change, ChangedFile, Comment, Side, Span, Task
from reviewgauge.core.results import Drop
from reviewgauge.repo.diff.diffs import Hunk
from reviewgauge.stages.pull_requests.seen_hunks import (
    ON_NO_HUNK,
    hunk_at,
    hunks_of,
    merged_unchanged,
    seen_hunks,
    untouched,
)
from reviewgauge.stages.sampling.draws import draw
from reviewgauge.stages.sampling.facts import change_facts

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
    request are not independent, and intervals resample them together. For `assess` a commented hunk is taken as it
    stood when it was commented on, with the change's base and head of then; `outdated=False` leaves out what was
    said on lines that were changed later, as the paper does. Beside them stand up to `mergeable` hunks, by the
    seed, of each change that was merged as it stands (in a bare history: that is clean): those without a comment,
    and none of a file where one has lost its place.
    """

    task: Literal["assess", "locate", "comment"] = "assess"
    mergeable: int = 5
    outdated: bool = True
    seed: int = 0

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        """The hunks of each candidate; what can be merged and what cannot is told on the card."""
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
            context.report(
                CardSection(by="split_hunks", title="Which hunks can be merged", text=_READING, figures=figures)
            )

    def each(self, item: Candidate, context: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        """One candidate for each hunk (each commented place for `comment`), and a drop for what stands on none."""
        if not item.case.change.has_diff:
            yield self.drop(item.id, "no diff at hand")
            return
        count = 0
        for part in self._assessed(item) if self.task == "assess" else self._commented_now(item):
            count += isinstance(part, Candidate)
            yield part
        if not count:
            yield self.drop(
                item.id, "no hunk to assess" if self.task == "assess" else "no hunk that people commented on"
            )

    def _assessed(self, item: Candidate) -> Iterator[Candidate | Drop]:
        """Commented hunks as they were seen, and hunks that were merged without a word."""
        seen, lost = seen_hunks(item, outdated=self.outdated)
        for comment, reason, detail in lost:
            yield self.drop(f"{item.id}/{comment}", reason, detail)
        for one in seen:
            part = self._part(item, one.change, one.file, one.hunk, _named(item, one.file, one.hunk))
            unchanged = merged_unchanged(item, one)
            if unchanged is False:
                yield part.with_case(references=_alone(one.comments), verdict=False)
            else:
                yield self.drop(part.id, UNCHANGED if unchanged else NOT_COMPARED)
        free = untouched(item, seen) if _as_merged(item) else []
        names = [(_named(item, file, hunk), at) for at, (file, hunk) in enumerate(free)]
        for at in sorted(draw(self.seed, item.id, names, self.mergeable)):
            part = self._part(item, item.case.change, *free[at], names[at][0])
            yield part.with_case(references=(), verdict=True)

    def _commented_now(self, item: Candidate) -> Iterator[Candidate | Drop]:
        """The hunks of the change as it is that people commented on."""
        hunks = hunks_of(item.case.change)
        on: dict[int, list[Comment]] = {}
        for comment in item.case.references:
            at = hunk_at(hunks, comment.span)
            if at is None:
                yield self.drop(f"{item.id}/{comment.id}", ON_NO_HUNK)
            else:
                on.setdefault(at, []).append(comment)
        for at, (file, hunk) in enumerate(hunks):
            if at in on:
                yield from self._commented(item, file, hunk, on[at], f"{item.id}/hunk/{at + 1}")

    def _commented(
        self, item: Candidate, file: ChangedFile, hunk: Hunk, comments: list[Comment], name: str
    ) -> Iterator[Candidate]:
        part = self._part(item, item.case.change, file, hunk, name)
        if self.task != "comment":
            yield part.with_case(references=_alone(comments), verdict=None)
            return
        places = dict.fromkeys(comment.span for comment in comments)
        for number, span in enumerate(places, 1):
            here = part.with_change(focus=span)
            ident = name if len(places) == 1 else f"{name}/{number}"
            yield here.with_case(id=ident, references=_alone([c for c in comments if c.span == span]), verdict=None)

    def _part(self, item: Candidate, change: Change, file: ChangedFile, hunk: Hunk, name: str) -> Candidate:
        """The candidate narrowed to one hunk of `change`, which is one of its states."""
        only = file.model_copy(update={"patch": _text(hunk)})
        narrowed = change.model_copy(
            update={"files": (only,), "task": Task(self.task), "focus": _span(file.path, hunk), "snippets": ()}
        )
        kept = {fact: value for fact, value in item.case.facts.items() if fact != "language"}  # a hunk has its own
        facts = {**kept, **change_facts(narrowed), "pull": item.pull.slug if item.pull is not None else item.id}
        return item.with_case(id=name, change=narrowed, neutral=(), rejected=(), facts=facts)


def _as_merged(item: Candidate) -> bool:
    """Whether the change is the state that was merged; without a pull request, whether it is known to be clean."""
    if item.pull is None:
        return item.case.clean
    return item.pull.merged and item.case.change.head == item.pull.head


def _named(item: Candidate, file: ChangedFile, hunk: Hunk) -> str:
    """A name for a hunk that tells a reviewer nothing: neither its state nor whether anybody spoke of it."""
    content = f"{file.path}\0{_text(hunk)}".encode("utf-8", "surrogatepass")
    return f"{item.id}/hunk/{hashlib.sha256(content).hexdigest()[:12]}"


def _alone(comments: list[Comment]) -> tuple[Comment, ...]:
    """The comments of one case; joined phrasings stay joined where both are here."""
    names = {comment.id for comment in comments}
    return tuple(c if c.same_as in names else c.model_copy(update={"same_as": None}) for c in comments)


def _span(path: str, hunk: Hunk) -> Span:
    new = [line.new for line in hunk.lines if line.new is not None]
    old = [line.old for line in hunk.lines if line.old is not None]
    return Span(path=path, start=min(new or old), end=max(new or old), side=Side.NEW if new else Side.OLD)


def _text(hunk: Hunk) -> str:
    heading = f" {hunk.heading}" if hunk.heading else ""
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@{heading}"
    return "\n".join([head, *(f"{line.kind}{line.text}" for line in hunk.lines)])
