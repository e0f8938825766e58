"""Reviewed changes as examples to learn from, and what the reviewers share that repeat the review of the most similar.

A passage is one hunk, in which a comment or the focus of a small task lies. Where the place is not known, it is all
hunks.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Anchoring, Case, Change, ChangedFile, Comment, Review, Span, Task
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.same_change import identity_marks
from reviewgauge.core.specs import plugin_name
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.reviewers.reading.change_text import with_patches
from reviewgauge.reviewers.reading.placing import changed_lines
from reviewgauge.reviewers.reading.presets import preset_for
from reviewgauge.reviewers.reading.review_files import unique

MOST = 500  # hunks of a change that are read
LONGEST = 20_000  # characters of a passage that are read; the longest method of GradedReviews has 2,000


class Passage(NamedTuple):
    """A part of a change: its lines with their markers, and where a comment on it belongs."""

    text: str
    span: Span | None


class PassagesRead(NamedTuple):
    """The passages of a change that are read, and a remark on those that are not."""

    passages: Sequence[Passage]
    remark: str | None


class Example(NamedTuple):
    """A passage that was reviewed: with a comment, a verdict (mergeable or not), or both."""

    text: str
    comment: str | None
    verdict: bool | None
    case: str
    marks: frozenset[str]


def passages(change: Change) -> list[Passage]:
    """The hunks that a review is asked about: those of the focus, if there is one and it is found, else all."""
    hunks = [(file, hunk) for file in change.files for hunk in parse_patch(file.patch or "")]
    focus = change.focus
    if focus is not None and (within := _covered(hunks, focus)):
        return [Passage(_text([hunk]), focus) for _, hunk in within]
    return [Passage(_text([hunk]), changed_lines(file, hunk)) for file, hunk in hunks]


def read_passages(change: Change, who: str) -> PassagesRead:
    """The first `MOST` passages; the patches may come from the commits. Raises Failed where there are none."""
    try:
        found = passages(with_patches(change, who))
    except NeedsCode as error:
        raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
    if not found:
        raise Failed(FailureKind.REQUEST, "the change has no hunk of text")
    left = len(found) - MOST
    return PassagesRead(found[:MOST], f"{left:,} hunks were not read, only the first {MOST:,}" if left > 0 else None)


def _covered(hunks: Sequence[tuple[ChangedFile, Hunk]], span: Span) -> list[tuple[ChangedFile, Hunk]]:
    of_file = [(file, hunk) for file, hunk in hunks if span.path in (file.path, file.old_path)]
    return [(file, hunk) for file, hunk in of_file if hunk.covers(span)] if span.start is not None else of_file


def _text(hunks: Iterable[Hunk]) -> str:
    return "\n".join(line.kind + line.text for hunk in hunks for line in hunk.lines)[:LONGEST]


def examples(cases: Iterable[Case]) -> Iterator[Example]:
    """One example per reference comment, and one per verdict without a comment. Cases without a diff give none."""
    for case in cases:
        change = case.change
        hunks = [(file, hunk) for file in change.files for hunk in parse_patch(file.patch or "")]
        marks = identity_marks(case.id, change)
        comments = [(comment.body.strip(), comment.span or change.focus) for comment in case.references]
        known: list[tuple[str | None, Span | None]] = [(body, span) for body, span in comments if body]
        for body, span in known or [(None, change.focus)]:
            around = (_covered(hunks, span) if span is not None else []) or hunks
            text = _text(hunk for _, hunk in around)
            if text.strip() and (body is not None or case.verdict is not None):
                yield Example(text, body, case.verdict, case.id, marks)


def read_examples(cases: Iterable[Case], who: str) -> tuple[Example, ...]:
    """All examples. Raises UserError where there are none."""
    found = tuple(examples(cases))
    if not found:
        raise UserError(
            f"{who} finds nothing to learn from: no training case has a diff with a reference comment or a verdict",
            remedy="reviewgauge info DATASET shows what a data set holds",
        )
    return found


def examples_hash(found: Sequence[Example]) -> str:
    """The SHA-256 of what can be learnt, in the order in which it was read."""
    digest = hashlib.sha256()
    for example in found:
        parts = (example.text, example.comment or "", str(example.verdict))
        digest.update("\x1f".join(parts).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


Mask = np.ndarray[Any, np.dtype[np.bool_]]


class Hit(NamedTuple):
    """The closest example, by its number, and how similar it is: comparable among the passages of one change."""

    number: int
    similarity: float


class Index(Protocol):
    """Finds examples by the text of a passage."""

    def closest(self, text: str, allowed: Mask) -> Hit | None:
        """The most similar of the allowed examples; None where none is similar at all."""


class Memory:
    """What a retrieval reviewer has learnt: the examples, and which of them each kind of question may use."""

    def __init__(self, found: Sequence[Example], index: Index) -> None:
        self.examples, self.index, self.digest = found, index, examples_hash(found)
        self._commented = np.array([example.comment is not None for example in found], dtype=bool)
        self._judged = np.array([example.verdict is not None for example in found], dtype=bool)
        self._by_mark: defaultdict[str, list[int]] = defaultdict(list)
        for number, example in enumerate(found):
            for mark in example.marks:
                self._by_mark[mark].append(number)

    def allowed(self, change: Change) -> Mask:
        """The examples that may answer for a change: of its kind, and not from the change itself."""
        mask = (self._judged if change.task is Task.ASSESS else self._commented).copy()
        for mark in identity_marks(change.id or change.repo, change):
            mask[self._by_mark.get(mark, [])] = False
        return mask


@dataclass(frozen=True)
class Learner(Reviewer):
    """Base of the reviewers that learn from reviewed changes; they say nothing on some tasks."""

    learns: ClassVar[bool] = True
    lacks: ClassVar[tuple[Task, ...]] = (Task.LOCATE,)
    limit: ClassVar[str] = "ranks no lines"
    """Why it has nothing to say on the tasks that it `lacks`."""

    @override
    def check(self, changes: Sequence[Change]) -> None:
        if all(change.task in self.lacks for change in changes):
            task = changes[0].task
            problem = f"{plugin_name(self)} {self.limit}, and the task is {task}"
            raise UserError(problem, remedy=f"use prompt with {preset_for(task)}")

    def _notes(self, learnt: str, changes: Sequence[Change]) -> list[Drop]:
        """What it has learnt, and how many changes it has nothing to say on."""
        name, lost = plugin_name(self), sum(change.task in self.lacks for change in changes)
        notes = [Drop(item=learnt, by=name, reason="learnt from")]
        if lost:
            count = f"{lost} change{'s' * (lost != 1)}"
            notes.append(Drop(item=count, by=name, reason=f"it {self.limit}: a change of another task is a failure"))
        return notes

    def _shown(self, change: Change) -> PassagesRead:
        """The passages of a change. Raises Failed where there are none, or for a task that it lacks."""
        if change.task in self.lacks:
            raise Failed(FailureKind.REQUEST, f"{plugin_name(self)} {self.limit}")
        return read_passages(change, plugin_name(self))


@dataclass(frozen=True)
class Nearest(Learner):
    """Base of the retrieval reviewers: they repeat the comment, or the verdict, of the closest training example."""

    leaves_one_out: ClassVar[bool] = True

    most: Positive = 3
    _memory: Memory | None = field(default=None, init=False, repr=False, compare=False)

    @abstractmethod
    def _index(self, texts: Sequence[str]) -> Index:
        """An index of the texts of all examples."""

    @override
    def fit(self, cases: Iterable[Case], progress: Progress | None = None) -> Self:
        found = read_examples(cases, plugin_name(self))
        learnt = replace(self)
        object.__setattr__(learnt, "_memory", Memory(found, self._index([example.text for example in found])))
        return learnt

    @override
    def pins(self) -> Mapping[str, str]:
        if self._memory is None:
            return {}
        return {"training": self._memory.digest[:16], "examples": str(len(self._memory.examples))}

    @override
    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        name = plugin_name(self)
        if self._memory is None:
            raise UserError(
                f"{name} repeats what was said about similar changes, and was given none", remedy="--train DATASET"
            )
        return self._notes(f"{len(self._memory.examples):,} examples", changes)

    @override
    def review(self, change: Change) -> Review:
        """The comments of the closest examples, or the verdict of the closest. Raises Failed."""
        memory = self._memory
        if memory is None:
            raise Failed(FailureKind.REQUEST, f"{plugin_name(self)} has not learnt anything", remedy="--train DATASET")
        shown, remark = self._shown(change)
        allowed = memory.allowed(change)
        found = [(passage, hit) for passage in shown if (hit := memory.index.closest(passage.text, allowed))]
        found.sort(key=lambda item: -item[1].similarity)
        case = change.id or change.repo
        if change.task is Task.ASSESS:
            if not found:
                raise Failed(FailureKind.REQUEST, "no training example with a verdict shares a word with the change")
            return Review(case=case, system=self.system, verdict=memory.examples[found[0][1].number].verdict)
        return Review(case=case, system=self.system, comments=unique(self._comments(found, memory)), trace=remark)

    def _comments(self, found: Sequence[tuple[Passage, Hit]], memory: Memory) -> Iterator[Comment]:
        said: set[str] = set()
        for passage, hit in found:
            example = memory.examples[hit.number]
            body = example.comment or ""
            if body in said or len(said) == self.most:
                continue
            said.add(body)
            span = passage.span
            yield Comment(
                id=content_id(span.path if span else None, span.start if span else None, body),
                body=body,
                span=span,
                anchoring=Anchoring.AS_GIVEN,
                author=plugin_name(self),
                extra={"said of": example.case, "similarity": round(hit.similarity, 4)},
            )
