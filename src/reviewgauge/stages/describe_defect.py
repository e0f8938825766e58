"""Say in one sentence what was wrong, where a reference holds the message of a fix: when, and what follows.

Source: ours. A fix's message says what was mended, and seldom what a reviewer could have seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment, Origin, Resolution, findings
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import short_spec
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Line, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, fence
from reviewgauge.repo.diff.diffs import DiffLine, normal, parse_patch
from reviewgauge.repo.syntax.languages import trivial
from reviewgauge.stages.asking.stage import AskingStage, decision, own_prompt, prompt_pins

LONGEST = 500  # characters of a sentence
_LONGEST_LINE = 120  # characters of a code line in a sentence
_MOST_LINES = 12  # of a run, which are compared with each other
_ALIKE = 0.6  # from which on one line is another form of the other
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z`\"'(])")
_NO_REASON = re.compile(r"this reverts|(?:fix|clos|resolv)(?:e[sd]?|ing)? \S+$", re.IGNORECASE)
_NOTHING = "(nothing)"
_QUOTED = re.compile(r"`([^`]++)`")
_INSIDE = re.compile(r"[a-z0-9][A-Z]")  # of a name in camel case
_FIX = re.compile(r"\b(?:pull request|the fix|this fix|later fix|was fixed)\b", re.IGNORECASE)


class DefectSentence(AnswerRecord):
    """The model's answer; null where it cannot tell what was wrong."""

    sentence: Line | None


@dataclass(frozen=True)
class DescribeDefect(AskingStage):
    """Rewords references that hold the message of a fix; the message moves to `resolution.explanation`.

    A `model` writes the sentence from the message, what an issue says, and the fix's hunks. It may only use names and
    numbers that stand there; where it uses others, or cannot tell what was wrong, and where no model is named, a
    template quotes the message and a line that the fix replaced. `extra["described_by"]` says which of the two.
    """

    needs_model: ClassVar[bool] = False
    model: ModelName = ""

    @override
    def pins(self) -> Mapping[str, str]:
        return {"template": "1", **(prompt_pins(own_prompt("describe_defect")) if self.model else {})}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        told: list[Comment] = []
        for finding in findings(item.case.references):
            if any(one.origin is not Origin.FIX or "described_by" in one.extra for one in finding):
                told += finding
                continue
            material = FixText.of(finding)
            sentence = self._told(material) if self.model else None
            if self.model:
                shown = f"{material.message}\n\n{material.explanation}\n\n{material.diff}".strip()
                made = decision(self, item, shown=shown, decided=sentence or "(the template)")
                yield made.on(DecisionKind.WORDS, finding[0].id) if sentence else made
            by = short_spec(self) if sentence else "template"
            told += [_reworded(one, sentence or template(material), by) for one in finding]
        order = {one.id: at for at, one in enumerate(item.case.references)}
        yield item.with_case(references=tuple(sorted(told, key=lambda one: order[one.id])))

    @override
    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Candidate:
        """The template in the place of a sentence."""
        refused = {one.about for one in wrong}
        told = {
            one.id: _reworded(one, template(FixText.of(finding)), "template")
            for finding in findings(before.case.references)
            if finding[0].id in refused
            for one in finding
        }
        return after.with_case(references=tuple(told.get(one.id, one) for one in after.case.references))

    def _told(self, material: FixText) -> str | None:
        """The model's sentence; None where it cannot tell, or used what is not given."""
        values = {
            "fence_note": FENCE_NOTE,
            "message": fence(material.message),
            "explanation": fence(material.explanation) if material.explanation else _NOTHING,
            "diff": fence(material.diff) if material.diff else _NOTHING,
        }
        asked = own_prompt("describe_defect").messages(values)
        try:
            (answer,) = self.ask([asked], material.read, schema=answer_schema(DefectSentence))
        except Failed as error:
            if error.kind is not FailureKind.UNREADABLE:
                raise
            return None
        return answer.value


@dataclass(frozen=True)
class FixText:
    """The message of a fix, what was written about it elsewhere, and its hunks."""

    message: str
    explanation: str
    diff: str

    @classmethod
    def of(cls, finding: Sequence[Comment]) -> FixText:
        """What the references of one finding hold of their fix."""
        resolutions = [one.resolution for one in finding if one.resolution is not None]
        explanation = next((one.explanation for one in resolutions if one.explanation), "")
        diff = "\n".join(dict.fromkeys(one.diff for one in resolutions if one.diff))
        return cls(finding[0].body.strip(), explanation.strip(), diff)

    def read(self, text: str) -> str | None:
        """The sentence in an answer, None where it says that it cannot tell. Raises Unreadable for an invented name."""
        value = read_record(text, DefectSentence, own_prompt("describe_defect")).sentence
        if value is None:
            return None
        sentence = storable(value)
        if len(sentence) > LONGEST:
            raise Unreadable(f"the sentence has {len(sentence)} characters, over {LONGEST}")
        if found := _FIX.search(sentence):
            raise Unreadable(f"the sentence speaks of {found[0]!r}, and not of the code before the fix")
        if invented := list(self.invented(sentence)):
            raise Unreadable(f"the sentence names {invented[0]!r}, which is not in what was given")
        return sentence

    def invented(self, sentence: str) -> Iterator[str]:
        """The names and numbers in a sentence that do not stand in the material."""
        known = " ".join(f"{self.message}\n{self.explanation}\n{self.diff}".split())
        names = [name.strip().removesuffix("()") for name in _QUOTED.findall(sentence)]
        names += [word for word in re.findall(r"\w+", sentence) if _is_code(word)]
        yield from (name for name in names if name not in known)


def _is_code(word: str) -> bool:
    """Whether a word is a name or a number rather than English."""
    return "_" in word or any(map(str.isdigit, word)) or _INSIDE.search(word) is not None


def template(material: FixText) -> str:
    """Quotes: the title of the fix's message, the first sentence below, a line that the fix replaced or took out."""
    title, _, rest = material.message.partition("\n")
    paragraphs = [" ".join(text.split()) for text in rest.split("\n\n")]
    said = next((_first_sentence(text) for text in paragraphs if text and not _NO_REASON.match(text)), "")
    pieces = [_stopped(title.strip() or "A later fix"), _stopped(said), _evidence(material.diff)]
    return " ".join(filter(None, pieces))


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0][:LONGEST]


def _stopped(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", ":")) else f"{text}."


def _evidence(diff: str) -> str:
    """What became of a line, where the diff leaves no doubt; else the first line that it takes out, or adds."""
    hunks = parse_patch(_only_hunks(diff))
    gone, come = ({normal(one.text) for hunk in hunks for one in hunk.lines if one.kind == sign} for sign in "-+")
    pairs = [pair for hunk in hunks for pair in _replaced(hunk.lines, gone & come)]
    ratios = [SequenceMatcher(None, old, new, autojunk=False).ratio() for old, new in pairs]
    if ratios and max(ratios) >= _ALIKE:
        old, new = pairs[ratios.index(max(ratios))]
        return f"`{old}` became `{new}`."
    for sign, words in (("-", "was taken out"), ("+", "was added")):
        other = come if sign == "-" else gone
        lines = (one.text.strip() for hunk in hunks for one in hunk.lines if one.kind == sign)
        lines = (line for line in lines if normal(line) not in other)
        if found := next((line for line in map(_quoted, lines) if line), ""):
            return f"`{found}` {words}."
    return ""


def _only_hunks(diff: str) -> str:
    """The hunks, without the paths between them."""
    return "\n".join(line for line in diff.splitlines() if line[:1] in "@+- \\" and line)


def _replaced(lines: Sequence[DiffLine], moved: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """(a line that is taken out, one that comes in its place) for each pair of neighbouring runs, but for `moved`."""
    runs = [
        (kind, [_quoted(one.text.strip()) for one in run if normal(one.text) not in moved])
        for kind, run in groupby(lines, key=lambda one: one.kind)
    ]
    for (kind, out), (following, into) in pairwise(runs):
        if (kind, following) == ("-", "+"):
            yield from ((old, new) for old in out[:_MOST_LINES] for new in into[:_MOST_LINES] if old and new)


def _quoted(line: str) -> str:
    """A line of code as it is quoted; empty where it says nothing, or is too long to be quoted whole."""
    return "" if trivial(line) or len(line) > _LONGEST_LINE else line.replace("`", "'")


def _reworded(reference: Comment, sentence: str, by: str) -> Comment:
    """The reference with another text; the message of the fix stays as what was written about it elsewhere."""
    before = reference.resolution or Resolution()
    kept = "\n\n".join(filter(None, (reference.body.strip(), before.explanation)))
    resolution = before.model_copy(update={"explanation": kept})
    extra = {**reference.extra, "described_by": by}
    return reference.model_copy(update={"body": sentence, "resolution": resolution, "extra": extra})
