"""Split a change into its hunks: one case for each that people commented on, for the three small tasks.

Source: ContextCRBench (arXiv:2511.07017), whose entries are commented hunks for three tasks. Where its *merged* entries
of the first task come from the paper does not say. Our reading: a commented hunk is one that could not be merged as it
was, and a hunk of a merged change that nobody commented on could; Table 2 (67,910 entries for the first task, 13,512
for the other two, which use unmerged ones only) agrees with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reviewbench.core.building import Candidate, Decision, Place
from reviewbench.core.history import PullRequest
from reviewbench.core.protocols import Stage
from reviewbench.core.records import ChangedFile, Comment, Side, Span, Task
from reviewbench.core.results import Drop
from reviewbench.repo.diffs import Hunk, parse_patch
from reviewbench.stages._facts import change_facts
from reviewbench.stages._threads import thread_of


@dataclass(frozen=True)
class SplitHunks(Stage):
    """`task`: `assess` (may this hunk be merged?), `locate` (which line deserves a comment?), `comment` (say it).

    `focus` is the hunk, for `comment` the commented lines, one case for each place. The change keeps this one hunk, so
    the other tasks' reviewers see the same. For `assess`, up to `mergeable` hunks without any comment are added of each
    change that was merged as it stands (in a bare history: that is clean); none of a file where a comment has lost its
    place.
    """

    task: Literal["assess", "locate", "comment"] = "assess"
    mergeable: int = 5

    def each(self, item: Candidate, place: Place) -> Iterator[Candidate | Drop | Decision]:
        """One candidate for each hunk (each commented place for `comment`), and a drop for what stands on none."""
        change = item.case.change
        if not change.has_diff:
            yield self.drop(item.id, "no diff at hand")
            return
        hunks = [(file, hunk) for file in change.files if file.patch for hunk in parse_patch(file.patch)]
        stands: dict[int, list[Comment]] = {}
        for comment in item.case.references:
            at = next((n for n, (file, hunk) in enumerate(hunks) if _holds(file, hunk, comment.span)), None)
            if at is None:
                yield self.drop(f"{item.id}/{comment.id}", "a comment on no hunk of the diff")
            else:
                stands.setdefault(at, []).append(comment)
        blind = _unknown_files(item, stands)
        left = self.mergeable if self.task == "assess" and _as_merged(item) else 0
        made = 0
        for at, (file, hunk) in enumerate(hunks):
            name = f"{item.id}/hunk/{at + 1}"
            if at in stands:
                for part in self._commented(item, file, hunk, stands[at], name):
                    made += 1
                    yield part
            elif left > 0 and file.path not in blind:
                left, made = left - 1, made + 1
                yield self._part(item, file, hunk, name).with_case(references=(), verdict=True)
        if not made:
            yield self.drop(item.id, "no hunk that people commented on")

    def _commented(
        self, item: Candidate, file: ChangedFile, hunk: Hunk, said: list[Comment], name: str
    ) -> Iterator[Candidate]:
        part = self._part(item, file, hunk, name)
        if self.task != "comment":
            verdict = False if self.task == "assess" else None
            yield part.with_case(references=_alone(said), verdict=verdict)
            return
        places = dict.fromkeys(comment.span for comment in said)
        for number, span in enumerate(places, 1):
            here = part.with_change(focus=span)
            ident = name if len(places) == 1 else f"{name}/{number}"
            yield here.with_case(id=ident, references=_alone([c for c in said if c.span == span]), verdict=None)

    def _part(self, item: Candidate, file: ChangedFile, hunk: Hunk, name: str) -> Candidate:
        """The candidate narrowed to one hunk."""
        only = file.model_copy(update={"patch": _text(hunk)})
        change = item.case.change.model_copy(
            update={"files": (only,), "task": Task(self.task), "focus": _span(file.path, hunk), "snippets": ()}
        )
        facts = {**item.case.facts, **change_facts(change)}
        return item.with_case(id=name, change=change, neutral=(), rejected=(), facts=facts)


def _holds(file: ChangedFile, hunk: Hunk, span: Span | None) -> bool:
    if span is None or span.start is None or span.end is None or span.path not in (file.path, file.old_path):
        return False
    numbers = (line.new if span.side is Side.NEW else line.old for line in hunk.lines)
    return any(number is not None and span.start <= number <= span.end for number in numbers)


def _as_merged(item: Candidate) -> bool:
    """Whether the change is the state that was merged; without a pull request, whether it is known to be clean."""
    if item.pull is None:
        return item.case.clean
    return item.pull.merged and item.case.change.head == item.pull.head


def _unknown_files(item: Candidate, stands: dict[int, list[Comment]]) -> set[str]:
    """Files with a comment that no hunk holds: which hunk it was about cannot be told."""
    placed = {thread_of(comment) for comments in stands.values() for comment in comments}
    pull: PullRequest | None = item.pull
    loose = {t.path for t in pull.threads if t.id not in placed} if pull is not None else set()
    held = {comment.id for comments in stands.values() for comment in comments}
    return loose | {c.span.path for c in item.case.references if c.id not in held and c.span is not None}


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
