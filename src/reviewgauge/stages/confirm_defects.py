"""Ask a chat model whether a label of a fix holds: whether the change brought a defect, and the fix mends that one.

Source: ours. Words cannot decide it: of 14 messages that only may speak of a fix, 3 did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment, Origin, findings
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence
from reviewgauge.stages.asking.stage import AskingStage, code_of, decision, own_prompt, prompt_pins, shown_with
from reviewgauge.stages.history.labels import MAY_BE


class DefectVerdict(AnswerRecord):
    """The model's answer about one label."""

    reasoning: Text
    brought: Word[Literal["yes", "no", "unclear"]]


@dataclass(frozen=True)
class ConfirmDefects(AskingStage):
    """Drop labels whose fix, a model says, mends nothing that the change brought; a change without another leaves.

    The model sees the change's hunk, the message of the fix and its hunks. Where it cannot tell, a label stays if the
    message surely speaks of a fix. Without a model nothing is dropped. A dropped change is not clean either.
    """

    needs_model: ClassVar[bool] = False
    model: ModelName = ""

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(own_prompt("confirm_defects")) if self.model else {}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        labels = [one for one in findings(item.case.references) if self.model and one[0].origin is Origin.FIX]
        if not labels:
            yield item
            return
        asked = [_messages(item, label[0]) for label in labels]
        answers = self.ask(asked, _read, schema=answer_schema(DefectVerdict))
        gone = set[str]()
        for label, answer in zip(labels, answers, strict=True):
            told = answer.value
            shown = shown_with(item, label[0], label[0].body, _diff(label[0]))
            made = decision(self, item, shown=shown, decided=told.brought, reason=told.reasoning)
            yield made.on(DecisionKind.COMMENT, label[0].id)
            if told.brought == "no" or (told.brought == "unclear" and MAY_BE in label[0].extra):
                gone |= {one.id for one in label}
        left = tuple(one for one in item.case.references if one.id not in gone)
        yield item.with_case(references=left) if left else self.drop(item.id, "its fix mends nothing that it brought")


def _messages(item: Candidate, label: Comment) -> tuple[Message, ...]:
    texts = {"code": code_of(item, label), "message": label.body, "diff": _diff(label)}
    fenced = {name: fence(text) if text else "(nothing)" for name, text in texts.items()}
    return own_prompt("confirm_defects").messages({"fence_note": FENCE_NOTE, **fenced})


def _diff(label: Comment) -> str:
    return (label.resolution.diff or "") if label.resolution else ""


def _read(text: str) -> DefectVerdict:
    return read_record(text, DefectVerdict, own_prompt("confirm_defects"))
