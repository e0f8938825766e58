"""Subtle defects that a chat model proposes for the lines of a recent change, checked by a second question.

Source: ours. What is proposed is taken only where it parses, changes what runs, and another look at the place finds a
defect of behaviour that does not catch the eye.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import ARM, RequiredContext, Severity, Side, Span
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Line, Text, Word, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, fence
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.syntax.tree import parse
from reviewgauge.stages.asking.stage import AskingStage, decision, own_prompt, prompt_pins, span_in_words
from reviewgauge.stages.drop_trivial import triviality
from reviewgauge.stages.injection.arms import Defect, product_files, with_defect
from reviewgauge.stages.injection.diff_text import numbered_diff

MADE = "proposed"
MOST_LINES = 8  # that a defect may replace, or put in
LONGEST = 500  # characters of a description


class Proposal(AnswerRecord):
    """A defect as a model proposes it: whole lines, and others in their place."""

    path: str
    old: str
    new: str
    description: Line
    category: Word[Literal["defect", "security", "performance"]]
    severity: Word[Literal["critical", "high", "medium", "low"]]
    needs: Word[Literal["diff", "file", "repo"]]


class Proposals(AnswerRecord):
    """What a model answers; none where it finds no place."""

    defects: list[Proposal]


class PlaceVerdict(AnswerRecord):
    """The second answer, about the place with the defect in it."""

    problem: Text
    defect: Word[Literal["behaviour", "other", "none"]]
    rating: Word[Literal["trivial", "findable", "hidden"]]


@dataclass(frozen=True)
class ProposeDefects(AskingStage):
    """One proposed defect for each change that takes one; without a model none.

    `judge` answers the second question, what is wrong at the place; by default the same model. Two calls a change.
    """

    needs_model: ClassVar[bool] = False
    needs_build: ClassVar[bool] = True

    model: ModelName = ""
    judge: ModelName = ""
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.judge:
            parse_model(self.judge)

    @property
    @override
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (self.model, self.model and self.judge))))

    @override
    def pins(self) -> Mapping[str, str]:
        if not self.model:
            return {}
        asked = {"propose": "propose_defect", "check": "check_proposal"}
        return {name: prompt_pins(own_prompt(prompt))["prompt"] for name, prompt in asked.items()}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        yield item
        if not self.model or ARM in item.case.facts:
            return
        contents = product_files(item.case)
        diff = numbered_diff(file for file in item.case.change.files if file.path in contents)
        texts = {"title": fence(item.case.change.title), "diff": fence(diff), "most": str(MOST_LINES)}
        asked = own_prompt("propose_defect").messages({"fence_note": FENCE_NOTE, **texts})
        (answer,) = self.ask([asked], _read_proposal, schema=answer_schema(Proposals))
        if answer.value is None:
            yield decision(self, item, shown=diff, decided="no defect fits")
            yield self.drop(item.id, "the model proposes no defect for it")
            return
        yield decision(self, item, shown=diff, decided=_in_words(answer.value), reason=answer.value.description)
        made = self._made(item, answer.value, contents)
        yield from [self.drop(item.id, made)] if isinstance(made, str) else self._checked(item, made)

    @override
    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Drop:
        """The case with the defect is out."""
        return self.drop(after.id, "people found that it is not a defect")

    def _made(self, item: Candidate, proposal: Proposal, contents: Mapping[str, bytes]) -> Defect | str:
        """The defect that a proposal makes, or why it makes none."""
        sound = contents.get(proposal.path)
        if sound is None:
            return "its path is not a file of the product that the change touches"
        file = next(file for file in item.case.change.files if file.path == proposal.path)
        tree = parse(sound, proposal.path)
        if isinstance(tree, str):
            return "the file does not parse as it is"
        placed = _placed(sound.decode("utf-8"), proposal, changed_lines(file, Side.NEW))
        if isinstance(placed, str):
            return placed
        code, lines, sound_lines = placed
        if isinstance(parse(code, proposal.path), str):
            return "the file does not parse with it"
        if code == sound or triviality(file, sound, code):
            return "it changes nothing that runs"
        return Defect(
            path=proposal.path,
            sound=sound,
            defective=code,
            lines=lines,
            sound_lines=sound_lines,
            body=storable(proposal.description),
            operator=MADE,
            made=MADE,
            category=proposal.category,
            severity=Severity(proposal.severity),
            needs=RequiredContext(proposal.needs),
        )

    def _checked(self, host: Candidate, defect: Defect) -> StageOutput:
        """The case with the defect, where the second question finds it, and not trivial."""
        case = with_defect(host, defect, MADE, self.seed)
        if isinstance(case, str):
            yield self.drop(host.id, case)
            return
        place = span_in_words(Span(path=defect.path, start=defect.lines[0], end=defect.lines[1]))
        diff = numbered_diff(case.case.change.files)
        texts = {"place": fence(place), "diff": fence(diff)}
        asked = own_prompt("check_proposal").messages({"fence_note": FENCE_NOTE, **texts})
        judge = replace(self, model=self.judge or self.model)
        (answer,) = judge.ask([asked], _read_verdict, schema=answer_schema(PlaceVerdict))
        said = answer.value
        shown = f"{place}\n{defect.body}\n\n{diff}"
        made = decision(self, case, shown=shown, decided=f"{said.defect}, {said.rating}", reason=said.problem)
        yield made.on(DecisionKind.DEFECT) if (said.defect, said.rating) == ("behaviour", "findable") else made
        if said.defect != "behaviour":
            yield self.drop(host.id, "the second question finds no defect of behaviour at its place", said.problem)
        elif said.rating != "findable":
            yield self.drop(host.id, f"the second question calls it {said.rating}", said.problem)
        else:
            yield case


def _placed(
    sound: str, proposal: Proposal, added: frozenset[int]
) -> tuple[bytes, tuple[int, int], tuple[int, int]] | str:
    """(the file with the new lines, their first and last line, the old ones' in the sound file), or why not."""
    lines = sound.split("\n")
    end = "\r" if "\r\n" in sound else ""
    old, new = (_lines(text, end) for text in (proposal.old, proposal.new))
    if not any(line.strip() for line in old):
        return "it replaces no line"
    if max(len(old), len(new)) > MOST_LINES:
        return f"it replaces or puts in more than {MOST_LINES} lines"
    found = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if len(found) != 1:
        return "its lines occur more than once" if found else "its lines do not occur in the file"
    start = found[0]
    if not added.issuperset(range(start + 1, start + len(old) + 1)):
        return "its lines are not all added by the change"
    code = "\n".join([*lines[:start], *new, *lines[start + len(old) :]]).encode()
    same = _common(old, new)
    tail = _common(old[same:][::-1], new[same:][::-1])
    first = start + same + 1
    return code, (first, max(first, start + len(new) - tail)), (first, max(first, start + len(old) - tail))


def _lines(text: str, end: str) -> list[str]:
    """The lines of an answer as they stand in the file; none for an empty one."""
    bare = text.replace("\r\n", "\n").strip("\n")
    return [line + end for line in bare.split("\n")] if bare else []


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at their beginning are the same."""
    return next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _in_words(proposal: Proposal) -> str:
    before, after = proposal.old.split("\n"), proposal.new.split("\n")
    return "\n".join([proposal.path, *list(unified_diff(before, after, lineterm=""))[3:]])


def _read_proposal(text: str) -> Proposal | None:
    found = read_record(text, Proposals, own_prompt("propose_defect")).defects
    if len(found) > 1:
        raise Unreadable(f"it proposes {len(found)} defects, and one is asked for")
    if found and len(found[0].description) > LONGEST:
        raise Unreadable(f"its description has {len(found[0].description)} characters, over {LONGEST}")
    return found[0] if found else None


def _read_verdict(text: str) -> PlaceVerdict:
    return read_record(text, PlaceVerdict, own_prompt("check_proposal"))
