"""Remove review comments that a chat model, after reasoning, finds of little relevance to their code.

Source: ContextCRBench (arXiv:2511.07017), section 2.3.3: relevance to the associated code, with examples of good and
poor comments, and reasoning before the judgement. Its prompt is not printed: words and examples here are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.prose import obeys
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence
from reviewgauge.stages.asking.stage import AskingStage, code_of, decision, own_prompt, prompt_pins, shown_with
from reviewgauge.stages.pull_requests.candidates import replace_references

LOW, NO_CODE, EMPTY = "low relevance to its code", "no code at hand to hold it against", "it says nothing"


class ValueVerdict(AnswerRecord):
    """The model's answer about one comment."""

    reasoning: Text
    relevance: Word[Literal["high", "low"]]


@dataclass(frozen=True)
class DropLowValue(AskingStage):
    """Keep references of high relevance; drop a candidate of which none is left. One without any passes.

    A reference without code cannot be judged and is removed too.
    """

    model: ModelName

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(own_prompt("low_value"))

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        if not item.case.references:
            yield item
            return
        code = {comment.id: code_of(item, comment) for comment in item.case.references}
        asked = [comment for comment in item.case.references if code[comment.id] and comment.body.strip()]
        answers = self.ask([self.messages(code[c.id], c) for c in asked], read, schema=answer_schema(ValueVerdict))
        verdicts = {comment.id: answer.value for comment, answer in zip(asked, answers, strict=True)}
        for comment in asked:
            shown, found = shown_with(item, comment, comment.body), verdicts[comment.id]
            made = decision(self, item, shown=shown, decided=found.relevance, reason=found.reasoning)
            yield made.on(DecisionKind.COMMENT, comment.id)
        gone = {c.id: reason for c in item.case.references if (reason := _reason(verdicts.get(c.id), code[c.id]))}
        if len(gone) == len(item.case.references):
            yield self.drop(item.id, "no comment is worth anything to its code", _counted(gone))
            return
        yield replace_references(item, {c.id: () if c.id in gone else (c,) for c in item.case.references})

    def messages(self, code: str, comment: Comment) -> tuple[Message, ...]:
        """The question about one comment, both texts fenced."""
        texts = {"diff_hunk": fence(code), "review_comment": fence(comment.body)}
        return own_prompt("low_value").messages({"fence_note": FENCE_NOTE, **texts})


_CLAIMED = re.compile(
    r"\b(high|low) relevance\b|\brelevance (?:is|as|of) (high|low)\b|\brate[ds]? it (high|low)\b", re.IGNORECASE
)


def read(text: str) -> ValueVerdict:
    """`relevance` of one JSON object. Raises Unreadable: also where there is no reasoning, as it was asked for."""
    answer = read_record(text, ValueVerdict, own_prompt("low_value"))
    claimed = {one.lower() for pair in _CLAIMED.findall(answer.reasoning) for one in pair if one}
    follows = answer.relevance == "high" and obeys(answer.reasoning)
    if follows or (claimed and answer.relevance not in claimed):
        raise Unreadable("its reasoning contradicts its relevance, or follows an order of the comment")
    return answer


def _reason(verdict: ValueVerdict | None, code: str) -> str:
    if verdict is not None:
        return LOW if verdict.relevance == "low" else ""
    return NO_CODE if not code else EMPTY


def _counted(gone: Mapping[str, str]) -> str:
    counts = {reason: list(gone.values()).count(reason) for reason in (LOW, NO_CODE, EMPTY)}
    return "; ".join(f"{count} {reason}" for reason, count in counts.items() if count)
