"""New texts for a component, by the reflection model: asked through the one door to models, checked before use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.core.results import Failed
from reviewgauge.evolution.candidates import CONTEXT, Candidate, Species
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.chat.ask import ask_for
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence, load_prompt
from reviewgauge.reviewers.reading.presets import slots_in_words

_BEGIN, _END = "<prompt>", "</prompt>"  # lines of their own around the new text
_LONGEST = 40_000  # characters of a prompt
_PACKAGE = "reviewgauge.evolution"


class Proposal(NamedTuple):
    """A new text of a component, or why there is none."""

    text: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Proposer:
    """Asks `model` for a new text of a component. All that it rests on is in its prompt, so that it is replayable."""

    species: Species
    model: str

    def reflect(self, component: str, candidate: Candidate, evidence: Sequence[str]) -> Proposal:
        """A text that learns from the evidence, the worst case first."""
        told = {"count": f"{len(evidence)} changes", "evidence": "\n\n".join(evidence), "fence_note": FENCE_NOTE}
        if component != CONTEXT:
            return self._ask("reflect", self._about(component, candidate) | told, self._text(component, candidate))
        options = self.species.contexts
        listed = "\n".join(f"{number}: {spec}" for number, spec in enumerate(options, 1))
        values = told | {"options": listed, "now": candidate[CONTEXT]}
        return self._ask("choose_context", values, lambda text: _chosen(text, options, candidate[CONTEXT]))

    def vary(self, component: str, candidate: Candidate, number: int) -> Proposal:
        """A text that knows of no evidence, the baseline."""
        values = self._about(component, candidate) | {"number": str(number), "fence_note": FENCE_NOTE}
        return self._ask("vary", values, self._text(component, candidate))

    def _about(self, component: str, candidate: Candidate) -> dict[str, str]:
        slots = slots_in_words(self.species.slots(component))
        return {"template": fence(candidate[component].rstrip("\n")), "slots": slots}

    def _text(self, component: str, candidate: Candidate) -> Callable[[str], str]:
        def read(answer: str) -> str:
            lines = [line.rstrip(" \t") for line in answer.split("\n")]
            if _BEGIN not in lines or _END not in lines[lines.index(_BEGIN) + 1 :]:
                raise Unreadable(f"there is no prompt between a line {_BEGIN} and a line {_END}")
            begin = lines.index(_BEGIN) + 1
            text = "\n".join(answer.split("\n")[begin : lines.index(_END, begin)]).strip("\n") + "\n"
            if len(text) > _LONGEST:
                raise Unreadable(f"the prompt is longer than {_LONGEST:,} characters")
            if problem := self.species.problem(component, text):
                raise Unreadable(problem)
            if text.split() == candidate[component].split():
                raise Unreadable("it is the same prompt")
            return text

        return read

    def _ask(self, name: str, values: dict[str, str], read: Callable[[str], str]) -> Proposal:
        messages: Sequence[Message] = load_prompt(_PACKAGE, name).messages(values)
        try:
            return Proposal(ask_for(chat_model(self.model), messages, read).value)
        except Failed as error:
            if error.stops:
                raise
            return Proposal(refused=error.problem)


def _chosen(text: str, options: Sequence[str], now: str) -> str:
    number = text.strip().rstrip(".")
    if not number.isdecimal() or not 1 <= int(number) <= len(options):
        raise Unreadable(f"it is not a number from 1 to {len(options)}")
    if options[int(number) - 1] == now:
        raise Unreadable("that is the context that it has now")
    return options[int(number) - 1]
