"""The review of the most similar passage of the training data: what retrieval reviewers share."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Anchoring, Case, Change, Comment, Review, Task
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.same_change import identity_marks
from reviewgauge.core.specs import plugin_name
from reviewgauge.reviewers.learning.examples import Example, Passage, examples_hash, read_examples, read_passages
from reviewgauge.reviewers.reading.presets import preset_for
from reviewgauge.reviewers.reading.review_files import unique

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
class Nearest(Reviewer):
    """Base of the retrieval reviewers: they repeat the comment, or the verdict, of the closest training example."""

    learns: ClassVar[bool] = True
    leaves_one_out: ClassVar[bool] = True

    most: int = 3
    _memory: Memory | None = field(default=None, init=False, repr=False, compare=False)

    @abstractmethod
    def _index(self, texts: Sequence[str]) -> Index:
        """An index of the texts of all examples."""

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError(f"most must be positive, got {self.most}")

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
    def check(self, changes: Sequence[Change]) -> None:
        if all(change.task is Task.LOCATE for change in changes):
            raise UserError(
                f"{plugin_name(self)} ranks no lines, and the task is locate",
                remedy=f"use prompt with {preset_for(Task.LOCATE)}",
            )

    @override
    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        name = plugin_name(self)
        if self._memory is None:
            raise UserError(
                f"{name} repeats what was said about similar changes, and was given none", remedy="--train DATASET"
            )
        notes = [Drop(item=f"{len(self._memory.examples):,} examples", by=name, reason="learnt from")]
        located = sum(change.task is Task.LOCATE for change in changes)
        if located:
            count = f"{located} change{'s' * (located != 1)}"
            notes.append(Drop(item=count, by=name, reason="it ranks no lines: a change to locate is a failure"))
        return notes

    @override
    def review(self, change: Change) -> Review:
        """The comments of the closest examples, or the verdict of the closest. Raises Failed."""
        memory, name = self._memory, plugin_name(self)
        if memory is None:
            raise Failed(FailureKind.REQUEST, f"{name} has not learnt anything", remedy="--train DATASET")
        if change.task is Task.LOCATE:
            raise Failed(FailureKind.REQUEST, f"{name} ranks no lines")
        shown, remark = read_passages(change, name)
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
