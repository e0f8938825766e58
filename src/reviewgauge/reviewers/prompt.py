"""A chat model with one prompt, asked about every hunk, about the whole change, or one of the three small questions.

Sources of the presets: `aacr` is AACR-Bench's prompt (arXiv:2601.19494, Figure 16; Figure 17 with a context), to the
letter with `prompt="published"`, with the text under review fenced as data with `prompt="fenced"`. The others ask what
a paper describes whose prompt it does not print, in our own words (`prompt="own"`): `contextcrbench_assess`, `_locate`
and `_comment` are the questions of ContextCRBench (arXiv:2511.07017), `swr` is the LLM-Review of SWR-Bench
(arXiv:2509.01494), `crscore` asks as CRScore (arXiv:2409.19801) does, with three fixed examples, which are ours.
AACR-Bench ran all models at temperature .7, top-p .95 and top-k 20, ContextCRBench at temperature 0, SWR-Bench at .2.
That stands in the model's name: `?temperature=0.7&top_p=0.95&top_k=20`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context, Reviewer
from reviewgauge.core.records import Change, Review
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message, fence, load_prompt
from reviewgauge.models.request.messages import Prompt as Template
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, Scope, with_patches
from reviewgauge.reviewers.reading.context_text import (
    BUDGET,
    ContextText,
    context_text,
    load_contexts,
    pin_contexts,
    prepare_contexts,
)
from reviewgauge.reviewers.reading.placing import all_answered, numbered, placed
from reviewgauge.reviewers.reading.presets import PRESETS, Preset, PresetName, preset_for


@dataclass(frozen=True)
class Prompt(Reviewer):
    """Asks `model` with the prompt of `preset`, once a hunk or once for the whole change.

    `scope` is that of the preset's source unless given. The small tasks are asked once, about the hunk in focus.
    `prompt` is "own" for a preset whose source prints none. A piece longer than `truncate` characters is cut off at a
    line's end, which the review's trace says; 0 cuts nothing. `context` is what the model is given beside the piece:
    one context, or several whose excerpts are added, within `budget` tokens by estimate. The trace says what did not
    fit.
    """

    needs_diff: ClassVar[bool] = True

    model: ModelName
    scope: Scope | Literal[""] = ""
    preset: PresetName = "aacr"
    prompt: Literal["fenced", "published", "own"] = "fenced"
    truncate: int = 0
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        load_contexts(self.context)  # refuses what is not a context before anything is read
        if not self._preset.printed and self.prompt == "fenced":  # our own words are always fenced
            object.__setattr__(self, "prompt", "own")
        if self._preset.printed == (self.prompt == "own"):
            known = "is published" if self._preset.printed else "has our own words, as its source prints none"
            raise ValueError(f"the prompt of {self.preset} {known}, not prompt={self.prompt!r}")
        if self.scope and self._preset.numbered:
            raise ValueError(f"preset={self.preset!r} shows the hunk in focus: leave scope={self.scope!r} out")

    @property
    def models(self) -> tuple[str, ...]:
        """The model, and those that contexts ask."""
        return tuple(dict.fromkeys((self.model, *(name for one in self._contexts for name in one.models))))

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return load_contexts(self.context)

    @property
    def _preset(self) -> Preset:
        return PRESETS[self.preset]

    def _template(self, context: bool) -> Template:
        name = self.preset + "_context" * (context and self._preset.printed) + "_fenced" * (self.prompt == "fenced")
        return load_prompt("reviewgauge.reviewers", name)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt, without context and with it, and what the contexts rest on."""
        if self.prompt == "own":
            return {"prompt": self._template(False).fenced_digest} | pin_contexts(self._contexts)
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
        refused = [self._preset.refusal(change) for change in changes]
        if changes and all(refused):
            raise UserError(f"preset={self.preset!r}: {refused[0]}", remedy=preset_for(changes[0].task))
        return (*prepare_contexts(self._contexts, self.budget, changes), *self._unreadable(changes))

    def _unreadable(self, changes: Sequence[Change]) -> Iterator[Drop]:
        for change in changes:
            name = change.id or change.repo
            if refusal := self._preset.refusal(change):
                yield Drop(item=name, by="prompt", reason=f"{refusal}: the case will be a failure")
                continue
            if not change.has_diff:
                if change.git is None:
                    yield Drop(item=name, by="prompt", reason="no diff is at hand: the case will be a failure")
                continue
            found = self._pieces(change)
            if not found.pieces:
                yield Drop(item=name, by="prompt", reason="no hunk of text: the case will be a failure")
            else:
                for reason in found.unread:
                    path, _, why = reason.rpartition(": ")
                    yield Drop(item=f"{name} {path}", by="prompt", reason=f"{why}: not shown to the model")

    def review(self, change: Change) -> Review:
        """What the model said, at its places. Raises Failed where one piece has no answer."""
        if refusal := self._preset.refusal(change):
            raise Failed(FailureKind.REQUEST, f"preset={self.preset!r}: {refusal}", remedy=preset_for(change.task))
        try:
            change = with_patches(change, "prompt")
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
        shown = self._pieces(change)
        if not shown.pieces:
            why = "; ".join(shown.unread[:3]) or "no file of it has a patch"
            raise Failed(FailureKind.REQUEST, f"the change has no hunk of text to show: {why}")
        given = [self._context_of(change, piece) for piece in shown.pieces]
        talks = [self._messages(change, piece, one.text) for piece, one in zip(shown.pieces, given, strict=True)]
        read = self._preset.reader(change, self._template(False))
        answers = all_answered(
            shown.pieces, ask_for_each(chat_model(self.model), talks, read, schema=self._preset.schema)
        )
        comments = (placed(one, piece) for piece, of in zip(shown.pieces, answers, strict=True) for one in of.comments)
        remarks = (*shown.remarks, *_left_out(shown, given), *(answer.remark for answer in answers if answer.remark))
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=numbered(comments),
            verdict=answers[0].verdict,
            ranked_lines=answers[0].ranked_lines,
            trace="\n".join(remarks) or None,
        )

    def _pieces(self, change: Change) -> Pieces:
        return self._preset.pieces(change, self.scope, self.truncate)

    def _context_of(self, change: Change, piece: Piece) -> ContextText:
        try:
            return context_text(self._contexts, change, piece.change, self.budget)
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None

    def _messages(self, change: Change, piece: Piece, context: str = "") -> tuple[Message, ...]:
        dress = str if self.prompt == "published" else fence
        return self._preset.messages(self._template(bool(context)), change, piece, dress, context)


def _left_out(shown: Pieces, given: Sequence[ContextText]) -> Iterator[str]:
    """A line on each part of the context that was left out, with its piece where there are several."""
    for piece, one in zip(shown.pieces, given, strict=True):
        for remark in one.remarks:
            yield f"{piece.place}: {remark}" if len(shown.pieces) > 1 else remark
