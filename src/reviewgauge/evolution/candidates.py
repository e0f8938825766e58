"""What evolves: the words of each reviewer's prompt, and one context out of a list."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.specs import short_spec
from reviewgauge.models.request.messages import read_prompt
from reviewgauge.reviewers.prompt import Prompt as PromptReviewer
from reviewgauge.reviewers.reading.presets import PRESETS

CONTEXT = "context"
Candidate = Mapping[str, str]  # component -> its text
_DIGITS = 12


def digest_of(candidate: Candidate) -> str:
    """The name of a candidate: a hash of its texts."""
    return hashlib.sha256(json.dumps(sorted(candidate.items())).encode()).hexdigest()[:_DIGITS]


def diff_of(before: Candidate, after: Candidate) -> str:
    """What changed, as a unified diff of each component."""
    lines: list[str] = []
    for name in before:
        old, new = before[name].splitlines(), after[name].splitlines()
        lines += difflib.unified_diff(old, new, f"seed/{name}", f"evolved/{name}", lineterm="")
    return "\n".join(lines)


@dataclass(frozen=True)
class Species:
    """The reviewers that evolve together, each for the cases of its tasks, and the contexts to choose from.

    A component is the template of a reviewer (`template`, or `template-swr` of several), or `context`.
    """

    reviewers: tuple[PromptReviewer, ...]
    contexts: tuple[str, ...] = ()

    @classmethod
    def of(cls, reviewers: Sequence[Reviewer], contexts: Sequence[str]) -> Species:
        """Raises UserError for a reviewer without a template, and for two of one preset."""
        for reviewer in reviewers:
            if not isinstance(reviewer, PromptReviewer):
                raise UserError(
                    f"{short_spec(reviewer)} has no template that could evolve",
                    remedy='\'prompt(model="openai:gpt-5", preset="swr")\' has',
                )
            if reviewer.prompt == "published":
                raise UserError("a published prompt stays as it is", remedy='leave prompt="published" out')
        found = tuple(one for one in reviewers if isinstance(one, PromptReviewer))
        if len({one.preset for one in found}) != len(found) or not found:
            raise UserError("each reviewer needs a preset of its own", remedy="name each preset once")
        if contexts and any(one.context for one in found):
            raise UserError("the reviewer has a context already", remedy="give it with --context")
        choices = tuple(dict.fromkeys(contexts))
        if len(choices) == 1:  # nothing to choose
            return cls(tuple(replace(one, context=choices[0]) for one in found))
        return cls(found, choices)

    def component(self, at: int) -> str:
        """The component of a reviewer."""
        return "template" if len(self.reviewers) == 1 else f"template-{self.reviewers[at].preset}"

    @property
    def seed(self) -> dict[str, str]:
        """The candidate to begin with: the words that the reviewers have now, and the first context."""
        found = {
            self.component(at): with_slots(one.words().text, one, bool(self.contexts))
            for at, one in enumerate(self.reviewers)
        }
        return found | ({CONTEXT: self.contexts[0]} if self.contexts else {})

    def reviewer_of(self, case: Case) -> int | None:
        """Which reviewer reviews a case; None where none does its task."""
        fits = (at for at, one in enumerate(self.reviewers) if case.change.task in PRESETS[one.preset].tasks)
        return next(fits, None)

    def built(self, at: int, candidate: Candidate, folder: Path) -> PromptReviewer:
        """A reviewer with the candidate's words, which are written to `folder`."""
        text = candidate[self.component(at)]
        path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}.txt"
        if not path.exists():
            write_whole(path, text.encode())
        context = candidate.get(CONTEXT) or self.reviewers[at].context
        return replace(self.reviewers[at], template=str(path), context=context)

    def problem(self, component: str, text: str) -> str:
        """Why a text cannot be that component; empty where it can."""
        if component == CONTEXT:
            return "" if text in self.contexts else f"{text!r} is not one of the contexts"
        at = next(at for at in range(len(self.reviewers)) if self.component(at) == component)
        try:
            prompt = read_prompt(text, component)
        except ValueError:
            return "it does not begin with a line [user] or [system]"
        one = self.reviewers[at]
        return replace(one, context=one.context or self.contexts[:1]).template_problem(prompt)

    def slots(self, component: str) -> list[str]:
        """The slots that a template of the component has in the seed, all of which a new one keeps."""
        return sorted(read_prompt(self.seed[component], component).slots)


def with_slots(text: str, reviewer: PromptReviewer, context: bool) -> str:
    """A template that has a place for the context, where one is given or may be."""
    if not (context or reviewer.context) or read_prompt(text, reviewer.preset).slots & {"context", "contexts"}:
        return text
    return re.sub(r"\{\{ diff_hunk \}\}(\n```)?", r"\g<0>\n{{ context }}", text, count=1)
