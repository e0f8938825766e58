"""A chat model with one prompt, asked about every hunk or about the whole change.

Source: AACR-Bench (arXiv:2601.19494), Figure 16, the prompt for review without code context, and Figure 17, the one
with it, to the letter with `prompt="published"`; the same words with the text under review fenced as data with
`prompt="fenced"`. The paper ran all
models at temperature .7, top-p .95 and top-k 20, which belong into the spec: `?temperature=0.7&top_p=0.95&top_k=20`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context, Reviewer
from reviewgauge.core.records import Anchoring, Change, Comment, Review
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.chat.ask import Reading, ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message, fence, load_prompt
from reviewgauge.models.request.messages import Prompt as Template
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, Scope, pieces_of, with_patches
from reviewgauge.reviewers.reading.context_text import (
    BUDGET,
    ContextText,
    context_text,
    load_contexts,
    pin_contexts,
    prepare_contexts,
)
from reviewgauge.reviewers.reading.model_answers import read_notes
from reviewgauge.reviewers.reading.review_files import unique


@dataclass(frozen=True)
class Prompt(Reviewer):
    """Asks `model` with the prompt of `preset`, once a hunk (as in the paper) or once for the whole change.

    A piece longer than `truncate` characters is cut off at a line's end, which the review's trace says; 0 cuts nothing.
    `context` is what the model is given beside the piece: one context, or several whose excerpts are added, within
    `budget` tokens by estimate. The trace says what did not fit.
    """

    needs_diff: ClassVar[bool] = True

    model: ModelName
    scope: Scope = "hunk"
    preset: Literal["aacr"] = "aacr"
    prompt: Literal["fenced", "published"] = "fenced"
    truncate: int = 0
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        load_contexts(self.context)  # refuses what is not a context before anything is read

    @property
    def models(self) -> tuple[str, ...]:
        """The model, and those that contexts ask."""
        return tuple(dict.fromkeys((self.model, *(name for one in self._contexts for name in one.models))))

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return load_contexts(self.context)

    def _template(self, context: bool) -> Template:
        name = self.preset + "_context" * context + "_fenced" * (self.prompt == "fenced")
        return load_prompt("reviewgauge.reviewers", name)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt, without context and with it, and what the contexts rest on."""
        found = {"prompt": self._template(False).digest}
        if self.context:
            found["prompt with context"] = self._template(True).digest
        return found | pin_contexts(self._contexts)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Name the changes that it cannot read, which will be failures, and count the files. Raises UserError."""
        chat_model(self.model)  # refuses a parameter that the model does not take, before a case fails of it
        if self.truncate < 0:
            problem = f"truncate of prompt must not be negative, got {self.truncate}"
            raise UserError(problem, remedy="truncate=0 shows everything")
        return (*prepare_contexts(self._contexts, self.budget, changes), *self._unreadable(changes))

    def _unreadable(self, changes: Sequence[Change]) -> Iterator[Drop]:
        for change in changes:
            name = change.id or change.repo
            if not change.has_diff:
                if change.git is None:
                    yield Drop(item=name, by="prompt", reason="no diff is at hand: the case will be a failure")
                continue
            found = pieces_of(change, self.scope)
            if not found.pieces:
                yield Drop(item=name, by="prompt", reason="no hunk of text: the case will be a failure")
            else:
                for reason in found.unread:
                    path, _, why = reason.rpartition(": ")
                    yield Drop(item=f"{name} {path}", by="prompt", reason=f"{why}: not shown to the model")

    def review(self, change: Change) -> Review:
        """The model's notes, located in the piece that they are about. Raises Failed where one piece has no answer."""
        try:
            change = with_patches(change, "prompt")
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
        shown = pieces_of(change, self.scope, self.truncate)
        if not shown.pieces:
            why = "; ".join(shown.unread[:3]) or "no file of it has a patch"
            raise Failed(FailureKind.REQUEST, f"the change has no hunk of text to show: {why}")
        given = [self._context_of(change, piece) for piece in shown.pieces]
        talks = [self._messages(change, piece, one.text) for piece, one in zip(shown.pieces, given, strict=True)]
        answers = ask_for_each(chat_model(self.model), talks, read_notes)
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=_numbered(_located(shown, answers)),
            trace="\n".join([*shown.remarks, *_left_out(shown, given)]) or None,
        )

    def _context_of(self, change: Change, piece: Piece) -> ContextText:
        try:
            return context_text(self._contexts, change, piece.change, self.budget)
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None

    def _messages(self, change: Change, piece: Piece, context: str = "") -> tuple[Message, ...]:
        values = {"pr_title": change.title, "pr_description": change.description, "diff_hunk": piece.text}
        values |= {"contexts": context} if context else {}
        dress = fence if self.prompt == "fenced" else str
        return self._template(bool(context)).messages({name: dress(value) for name, value in values.items()})


def _left_out(shown: Pieces, given: Sequence[ContextText]) -> Iterator[str]:
    """A line on each part of the context that was left out, with its piece where there are several."""
    for piece, one in zip(shown.pieces, given, strict=True):
        for remark in one.remarks:
            yield f"{piece.place}: {remark}" if len(shown.pieces) > 1 else remark


def _located(shown: Pieces, answers: Sequence[Reading[tuple[Comment, ...]] | Failed]) -> Iterator[Comment]:
    """The comments of all pieces. Raises Failed for the first piece without an answer: half a review is none."""
    failed = sum(isinstance(answer, Failed) for answer in answers)
    for piece, answer in zip(shown.pieces, answers, strict=True):
        if isinstance(answer, Failed):
            of = f"{failed} of {len(shown.pieces)} pieces have no answer, first {piece.place}: "
            problem = (of if len(shown.pieces) > 1 else "") + answer.problem
            raise Failed(answer.kind, problem, remedy=answer.remedy, raw=answer.raw)
        for comment in answer.value:
            placed = anchor(comment, piece.change)
            if placed.anchoring is Anchoring.INVALID:  # no place of its own, but it is known what it was said about
                placed = placed.model_copy(update={"extra": {**placed.extra, "about": piece.place}})
            yield placed


def _numbered(comments: Iterator[Comment]) -> tuple[Comment, ...]:
    """With ids made from place and words, the same in every attempt; a comment that says the same again is numbered."""
    found = []
    for comment in comments:
        claim = comment.claimed
        path = comment.span.path if comment.span else str(comment.extra.get("about", ""))
        key = content_id(path, claim.hunk if claim else None, claim.side if claim else None, comment.body)
        found.append(comment.model_copy(update={"id": key}))
    return unique(found)
