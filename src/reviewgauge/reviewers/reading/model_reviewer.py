"""What the reviewers share that ask one chat model about the pieces of a change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import JsonValue

from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context, Reviewer
from reviewgauge.core.records import Change, Review, Task
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.specs import plugin_name
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, with_patches
from reviewgauge.reviewers.reading.context_text import (
    CHARACTERS,
    ContextText,
    context_text,
    load_contexts,
    prepare_contexts,
)
from reviewgauge.reviewers.reading.model_answers import PieceReview
from reviewgauge.reviewers.reading.placing import all_answered, numbered, placed
from reviewgauge.reviewers.reading.presets import preset_for, refusal

_MOST_REMARKS = 200  # lines of a trace about what was left out
_MANY = 100_000  # tokens of one change, by estimate, that a run warns of


class ModelReviewer(Reviewer):
    """Asks `model` about each piece, with the excerpts of `context` within `budget` tokens."""

    needs_diff: ClassVar[bool] = True
    advice: ClassVar[str] = "use prompt with"
    """What stands before the presets that answer another task."""

    model: str
    context: str | tuple[str, ...]
    budget: int

    @property
    @abstractmethod
    def _tasks(self) -> tuple[Task, ...]:
        """The tasks that it answers."""

    @abstractmethod
    def _pieces(self, change: Change) -> Pieces:
        """The pieces of a change, one call each."""

    @abstractmethod
    def _answers(self, change: Change, pieces: Sequence[Piece], contexts: Sequence[str]) -> Sequence[PieceReview]:
        """What is said of each piece, which has a context. Raises Failed."""

    def _ask(
        self,
        pieces: Sequence[Piece],
        talks: Sequence[Sequence[Message]],
        read: Callable[[str], PieceReview],
        schema: Mapping[str, JsonValue] | None,
    ) -> Sequence[PieceReview]:
        return all_answered(pieces, ask_for_each(chat_model(self.model), talks, read, schema=schema))

    @property
    def _called(self) -> str:
        """What a refusal calls it."""
        return plugin_name(self)

    def _remedy(self, change: Change) -> str:
        split = f"--stage 'split_hunks(task=\"{self._tasks[0]}\")' makes such cases, or "
        whole = change.task is Task.REVIEW and Task.REVIEW not in self._tasks
        return f"{split * whole}{self.advice} {preset_for(change.task)}"

    @property
    def models(self) -> tuple[str, ...]:
        """The model, and those that contexts ask."""
        return tuple(dict.fromkeys((self.model, *(name for one in self._contexts for name in one.models))))

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return load_contexts(self.context)

    def check(self, changes: Sequence[Change]) -> None:
        """Raises UserError where it can read none of them."""
        refused = [refusal(self._tasks, change) for change in changes]
        if all(refused):
            raise UserError(f"{self._called}: {refused[0]}", remedy=self._remedy(changes[0]))

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Name the changes that it cannot read, which will be failures, and count the files. Raises UserError."""
        chat_model(self.model)  # refuses a parameter that the model does not take, before a case fails of it
        return (*prepare_contexts(self._contexts, self.budget, changes), *self._unreadable(changes))

    def _unreadable(self, changes: Sequence[Change]) -> Iterator[Drop]:
        for change in changes:
            name = change.id or change.repo
            for item, reason in self._trouble_with(change):
                yield Drop(item=f"{name} {item}".rstrip(), by=plugin_name(self), reason=reason)

    def _trouble_with(self, change: Change) -> Iterator[tuple[str, str]]:
        """(file, or nothing for all of it; what cannot be read)."""
        if problem := refusal(self._tasks, change):
            yield "", f"{problem}: the case will be a failure"
        elif not change.has_diff:
            if change.git is None:
                yield "", "no diff is at hand: the case will be a failure"
        elif not (found := self._pieces(change)).pieces:
            yield "", "no hunk of text: the case will be a failure"
        else:
            if sum(len(piece.text) for piece in found.pieces) > _MANY * CHARACTERS:
                yield "", f"more than {_MANY:,} tokens of code by estimate: truncate= bounds it"
            for reason in found.unread:
                path, _, why = reason.rpartition(": ")
                yield path, f"{why}: not shown to the model"

    def review(self, change: Change) -> Review:
        """What the model said, at its places. Raises Failed where one piece has no answer."""
        if problem := refusal(self._tasks, change):
            raise Failed(FailureKind.REQUEST, f"{self._called}: {problem}", remedy=self._remedy(change))
        try:
            change = with_patches(change, plugin_name(self))
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
        shown = self._pieces(change)
        if not shown.pieces:
            why = "; ".join(shown.unread[:3]) or "no file of it has a patch"
            raise Failed(FailureKind.REQUEST, f"the change has no hunk of text to show: {why}")
        given = [self._context_of(change, piece) for piece in shown.pieces]
        answers = self._answers(change, shown.pieces, [one.text for one in given])
        comments = (placed(one, piece) for piece, of in zip(shown.pieces, answers, strict=True) for one in of.comments)
        left_out = [*shown.remarks, *_left_out(shown, given)]
        more = [f"and {len(left_out) - _MOST_REMARKS:,} more parts were left out"] * (len(left_out) > _MOST_REMARKS)
        remarks = [*left_out[:_MOST_REMARKS], *more, *(answer.remark for answer in answers if answer.remark)]
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=numbered(comments),
            verdict=answers[0].verdict,
            ranked_lines=answers[0].ranked_lines,
            trace="\n".join(remarks) or None,
        )

    def _context_of(self, change: Change, piece: Piece) -> ContextText:
        try:
            return context_text(self._contexts, change, piece.change, self.budget)
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None


def _left_out(shown: Pieces, given: Sequence[ContextText]) -> Iterator[str]:
    """A line on each part of the context that was left out, with its piece where there are several."""
    for piece, one in zip(shown.pieces, given, strict=True):
        for remark in one.remarks:
            yield f"{piece.place}: {remark}" if len(shown.pieces) > 1 else remark
