"""Say in one sentence what was wrong, where a reference holds the message of a fix: when, and what follows.

Source: ours. A fix's message says what was mended, and seldom what a reviewer could have seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment, Origin, Resolution, findings
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import short_spec
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable, json_object
from reviewgauge.models.request.messages import FENCE_NOTE, fence
from reviewgauge.stages.asking.stage import AskingStage, decision, own_prompt, prompt_pins
from reviewgauge.stages.history.lines import trivial

LONGEST = 500  # characters of a sentence
_LONGEST_LINE = 120  # characters of a code line in a sentence
_NOTHING = "(nothing)"
_QUOTED = re.compile(r"`([^`]++)`")
_INSIDE = re.compile(r"[a-z0-9][A-Z]")  # of a name in camel case
_FIX = re.compile(r"\b(?:pull request|the fix|this fix|later fix|was fixed)\b", re.IGNORECASE)


@dataclass(frozen=True)
class TellDefect(AskingStage):
    """Rewords references that hold the message of a fix; the message moves to `resolution.explanation`.

    A `model` writes the sentence from the message, what an issue says, and the fix's hunks. It may only use names and
    numbers that stand there; where it uses others, or cannot tell what was wrong, and where no model is named, a
    template quotes the message's title and the lines that the fix replaced. `extra["told_by"]` says which of the two.
    """

    model: ModelName = ""

    def __post_init__(self) -> None:
        if self.model:
            super().__post_init__()

    @property
    @override
    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.model else ()

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(own_prompt("tell_defect")) if self.model else {}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        told: list[Comment] = []
        for finding in findings(item.case.references):
            if any(one.origin is not Origin.FIX or "told_by" in one.extra for one in finding):
                told += finding
                continue
            material = _Material.of(finding)
            sentence = self._told(material) if self.model else None
            if self.model:
                shown = f"{material.message}\n\n{material.explanation}\n\n{material.diff}".strip()
                yield decision(self, item, shown=shown, decided=sentence or "(the template)")
            by = short_spec(self) if sentence else "template"
            told += [_reworded(one, sentence or template(material), by) for one in finding]
        order = {one.id: at for at, one in enumerate(item.case.references)}
        yield item.with_case(references=tuple(sorted(told, key=lambda one: order[one.id])))

    def _told(self, material: _Material) -> str | None:
        """The model's sentence; None where it cannot tell, or used what is not given."""
        values = {
            "fence_note": FENCE_NOTE,
            "message": fence(material.message),
            "explanation": fence(material.explanation) if material.explanation else _NOTHING,
            "diff": fence(material.diff) if material.diff else _NOTHING,
        }
        try:
            (answer,) = self.ask([own_prompt("tell_defect").messages(values)], material.read)
        except Failed as error:
            if error.kind is not FailureKind.UNREADABLE:
                raise
            return None
        return answer.value


@dataclass(frozen=True)
class _Material:
    """All that is known of a finding."""

    message: str
    explanation: str
    diff: str

    @classmethod
    def of(cls, finding: Sequence[Comment]) -> _Material:
        resolutions = [one.resolution for one in finding if one.resolution is not None]
        explanation = next((one.explanation for one in resolutions if one.explanation), "")
        diff = "\n".join(dict.fromkeys(one.diff for one in resolutions if one.diff))
        return cls(finding[0].body.strip(), explanation.strip(), diff)

    def read(self, text: str) -> str | None:
        """The sentence in an answer, None where it says that it cannot tell. Raises Unreadable for an invented name."""
        value = json_object(text, ["sentence"], own_prompt("tell_defect"))["sentence"]
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise Unreadable('"sentence" is neither a text nor null')
        sentence = storable(" ".join(value.split()))
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


def template(material: _Material) -> str:
    """The title of the fix's message, and what it replaced: nothing that is not in the record."""
    title = material.message.partition("\n")[0].strip().rstrip(".") or "A later fix"
    gone, come = (_first(material.diff, sign) for sign in "-+")
    if gone and come:
        return f"{title}: `{gone}` became `{come}`."
    if gone or come:
        return f"{title}: `{gone or come}` was {'removed' if gone else 'added'}."
    return f"{title}."


def _first(diff: str, sign: str) -> str:
    """The first line of a diff with this sign that says something, cut to a length."""
    lines = (line[1:].strip().replace("`", "'") for line in diff.splitlines() if line.startswith(sign))
    found = next((line for line in lines if line and not trivial(line)), "")
    return found if len(found) <= _LONGEST_LINE else found[: _LONGEST_LINE - 1] + "…"


def _reworded(reference: Comment, sentence: str, by: str) -> Comment:
    """The reference with another text; the message of the fix stays as what was written about it elsewhere."""
    before = reference.resolution or Resolution()
    kept = "\n\n".join(filter(None, (reference.body.strip(), before.explanation)))
    resolution = before.model_copy(update={"explanation": kept})
    extra = {**reference.extra, "told_by": by}
    return reference.model_copy(update={"body": sentence, "resolution": resolution, "extra": extra})
