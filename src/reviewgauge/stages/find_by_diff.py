"""Which injected defects are found without the repository: by static analysers, and by a model that sees a diff alone.

Source: ours. A benchmark of what anybody finds tells no reviewers apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import ARM, Arm, Change, Comment, Span
from reviewgauge.core.trust import ModelName, Word
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, LooseText, WholeNumber, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, fence
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, analyse, check_tools, versions
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.syntax.languages import language
from reviewgauge.stages.asking.stage import AskingStage, decision, own_prompt, prompt_pins
from reviewgauge.stages.injection.arms import SOUND_HEAD, repository_of, sound_span
from reviewgauge.stages.injection.diff_text import numbered_diff

FOUND = "found_by_diff"  # in `Comment.extra`, until `drop_easy`: by whom it was looked for, and whether it was found
ANALYSERS, MODEL = "analysers", "model"
MOST = 3  # problems that a model may name
_REACH = 2  # lines beside the defect that still name it


class NamedProblem(AnswerRecord):
    """A place that a model names."""

    path: str
    line: WholeNumber
    problem: LooseText = ""


class NamedProblems(AnswerRecord):
    """The answer of a model that saw a diff alone."""

    problems: list[NamedProblem]


@dataclass(frozen=True)
class FindByDiff(AskingStage):
    """Notes for each injected defect whether `tools` report something on its lines that they do not report without it.

    With a `model`: whether that names its place among at most three problems of the diff. The default tool is the one
    that comes with ReviewGauge and finds defects rather than complexity.
    """

    needs_model: ClassVar[bool] = False
    model: ModelName = ""
    tools: tuple[Word, ...] = ("ruff",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tools(self.tools)

    @override
    def pins(self) -> Mapping[str, str]:
        return {**versions(self.tools), **(prompt_pins(own_prompt("find_by_diff")) if self.model else {})}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        reference = next((one for one in item.case.references if one.span is not None), None)
        if item.case.facts.get(ARM) != Arm.DEFECT or reference is None or reference.span is None:
            yield item
            return
        found: dict[str, bool] = {}
        if any(language(reference.span.path) in TOOLS[tool] for tool in self.tools):
            sound = sound_span(reference) or reference.span
            found[ANALYSERS] = bool(
                self._reported(item, item.case.change.head or "", reference.span)
                - self._reported(item, str(item.case.facts[SOUND_HEAD]), sound)
            )
        if self.model:
            diff = numbered_diff(item.case.change.files)
            asked = own_prompt("find_by_diff").messages({"fence_note": FENCE_NOTE, "diff": fence(diff)})
            (answer,) = self.ask([asked], _read, schema=answer_schema(NamedProblems))
            found[MODEL] = any(_near(one, reference.span) for one in answer.value)
            named = "\n".join(f"{one.path}, line {one.line}: {one.problem}" for one in answer.value)
            yield decision(self, item, shown=diff, decided=named or "nothing").on(DecisionKind.FOUND, reference.id)
        told = {reference.id: reference.model_copy(update={"extra": {**reference.extra, FOUND: found}})}
        yield item.with_case(references=tuple(told.get(one.id, one) for one in item.case.references))

    @override
    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Candidate:
        """Without the model's word."""
        told: list[Comment] = []
        for one in after.case.references:
            found = one.extra.get(FOUND)
            rest = {who: seen for who, seen in found.items() if who != MODEL} if isinstance(found, dict) else found
            told.append(one.model_copy(update={"extra": {**one.extra, FOUND: rest}}) if FOUND in one.extra else one)
        return after.with_case(references=tuple(told))

    def _reported(self, item: Candidate, head: str, span: Span) -> frozenset[tuple[str, str]]:
        """What the tools report on the lines of a span, by tool and rule."""
        repository, change = repository_of(item.case), item.case.change
        files = repository.changed_files(change.base or "", head, LARGEST_FILE)
        seen = Change(repo=change.repo, base=change.base, head=head, git=change.git).model_copy(
            update={"files": tuple(file for file in files if file.path == span.path)}
        )
        findings = analyse(repository, seen, AnalyserSettings(tools=self.tools)).findings
        first, last = span.start or 0, span.end or 0
        return frozenset((one.tool, one.rule) for one in findings if one.start <= last and one.end >= first)


def _near(named: NamedProblem, span: Span) -> bool:
    return named.path == span.path and (span.start or 0) - _REACH <= named.line <= (span.end or 0) + _REACH


def _read(text: str) -> list[NamedProblem]:
    found = read_record(text, NamedProblems, own_prompt("find_by_diff")).problems
    if len(found) > MOST:
        raise Unreadable(f"it names {len(found)} problems, and at most {MOST} are asked for")
    return found
