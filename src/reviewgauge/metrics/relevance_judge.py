"""How relevant is the review to the change, from 1 to 5, in the eyes of a chat model that sees both?

Source: the LLM-as-a-judge of CRScore (Naik et al. 2025, arXiv:2409.19801), appendix D.4: its system prompt and its
task prompt. It needs no reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Bounds
from reviewgauge.metrics.grade import ModelGrade, grades
from reviewgauge.models.answers.readers import one_answer, whole_number
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence

LOW, HIGH = 1, 5
MEANINGS = {HIGH: re.compile(r"\bconcise and comprehensive\b", re.IGNORECASE)}  # the prompt's words
CUT = "cut"
NO_LANGUAGE = "the case does not say its language, which the prompt names"
NO_DIFF = "the diff of the change is not at hand"


@dataclass(frozen=True)
class RelevanceJudge(ModelGrade):
    """`score` from 1 to 5, and `relevance`, the same from 0 to 1: (score - 1) / 4, as CRScore normalises its raters.

    The model is asked once a review, and told the language of the case and its whole diff; with `cut` no more than
    the first so many characters of it, and the measure `cut` is the share of reviews of which that was not all. An
    answer without a readable score is asked again twice, in the same words (`prompt="fenced"`: with the reason). A
    blank review is a 1 without a call.
    """

    cut: Positive | None = None

    headline: ClassVar[str] = "score"
    units: ClassVar[Mapping[str, str]] = {"score": "grades"}
    lower_is_better: ClassVar[frozenset[str]] = frozenset({CUT})

    def unmeasurable(self, case: Case) -> str:
        """The case lacks its diff or its language."""
        if not diff_of(case.change):
            return NO_DIFF
        return "" if _language(case) else NO_LANGUAGE

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The score of the review's text, and the same as a share. Raises Failed."""
        if reason := self.unmeasurable(case):
            return reason
        diff = diff_of(case.change)
        text = "\n".join(comment.body for comment in review.comments)
        too_long = self.cut is not None and len(diff) > self.cut
        if not text.strip():
            return Measured(parts=self._parts(LOW, False))
        read = partial(whole_number, low=LOW, high=HIGH, meanings=MEANINGS)
        messages = self.messages(_language(case), diff[: self.cut], text)
        fenced = self.prompt == "fenced"
        schema = one_answer(range(LOW, HIGH + 1)) if fenced else None
        found = grades("relevance_judge", self.model, messages, read, trials=1, remind=fenced, schema=schema)
        return Measured(parts=self._parts(found.values[0], too_long), votes=found.votes, fake=found.fake)

    def messages(self, language: str, diff: str, text: str) -> tuple[Message, ...]:
        """The prompt about one review of one change."""
        texts = {"code_change": diff, "review": text}
        if self.prompt == "fenced":
            texts = {"fence_note": FENCE_NOTE, **{name: fence(text) for name, text in texts.items()}}
        return self._prompt.messages({"lang": language, **texts})

    def _parts(self, score: int, too_long: bool) -> Mapping[str, float]:
        parts = {"score": float(score), "relevance": (score - LOW) / (HIGH - LOW)}
        return parts if self.cut is None else {**parts, CUT: float(too_long)}

    def bounds(self, case: Case) -> Bounds | None:
        """A 1 and a 5."""
        if self.unmeasurable(case):
            return None
        too_long = self.cut is not None and len(diff_of(case.change)) > self.cut
        return Bounds(worst=self._parts(LOW, too_long), best=self._parts(HIGH, too_long))


def diff_of(change: Change) -> str:
    """The change as one diff: its patch as it stands where it is one file, else each under its two paths.

    Empty where the patch of a text file is not at hand: half a change is not what the model would be told it is.
    """
    files = [file for file in change.files if not file.binary]
    if not files or any(file.patch is None for file in files):
        return ""
    if len(change.files) == 1:
        return files[0].patch or ""
    return "\n".join(f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}" for file in files)


def _language(case: Case) -> str:
    """The language as the prompt writes it: Python, Java, Javascript. Others begin with a capital too."""
    found = case.facts.get("language")
    return f"{found[:1].upper()}{found[1:]}" if isinstance(found, str) else ""
