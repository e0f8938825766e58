"""Two comments raise the same thing when a chat model says that they express the same concern about the diff.

Source: AACR-Bench, arXiv:2601.19494, its location rule and Figure 9. The paper prints that prompt for finding repeated
comments, with five answers polled, and none besides for its semantic matching; what its evaluator asks since it was
rewritten in 2026 is `prompt="evaluation"`. The evaluators read "No, they are not the same" as yes; here that is a no.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from reviewgauge.core.parameters import Count
from reviewgauge.core.records import Case, Comment
from reviewgauge.core.results import Verdict
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.pairs.asking import NOT_ASKED, Agree, Location, ModelJudge, Order, PairVerdict, Votes
from reviewgauge.judges.pairs.fixes import with_fix
from reviewgauge.judges.pairs.location import hunk_of
from reviewgauge.models.answers.readers import one_answer, yes_no
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt, system

_OPEN, _CLOSED = "<details>", "</details>"
_GAPS = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class SameConcern(ModelJudge):
    """Yes or no about each pair that the location rule leaves.

    `prompt`: the paper's words, "published" to the byte, or "fenced" with the texts under review marked as data; or
    "evaluation", those of the rewritten evaluator, which shows no code, names the reference first and leaves out
    `<details>`.
    `location`: "first" does not ask about pairs on other lines (more than `tolerance` apart), another side or another
    file; what has no lines is asked. "any" asks about all. `votes` trials, in one `order` or in both; `agree`: see
    docs/reference/judges.md.
    """

    model: ModelName = ""
    prompt: Literal["fenced", "published", "evaluation"] = "fenced"
    location: Location = "first"
    tolerance: Count = 1
    votes: Votes = 1
    agree: Agree = "majority"
    order: Order = "comment_first"

    @property
    def answer_schema(self) -> Mapping[str, JsonValue] | None:
        """Yes or no and nothing else, except where the published call is made as it was."""
        return one_answer(("yes", "no")) if self.prompt == "fenced" else None

    @property
    def _prompt(self) -> Prompt:
        return load_prompt("reviewgauge.judges", "same_concern" + "_evaluation" * (self.prompt == "evaluation"))

    @property
    def orders(self) -> Sequence[bool]:
        """One order, or both."""
        return {"comment_first": (False,), "reference_first": (True,), "both": (False, True)}[self.order]

    def pins(self) -> Mapping[str, str]:
        """The digest of the prompt."""
        return {"prompt": self._prompt.fenced_digest if self.prompt == "fenced" else self._prompt.digest}

    def decided(self, comment: Comment, reference: Comment) -> Verdict | None:
        """Also yes for the same words at the same place, unless a published prompt is used."""
        equal = comment.body == reference.body and comment.span == reference.span and comment.body.strip()
        if equal and self.prompt == "fenced":
            return Verdict(probability=1.0, same=True, reason=NOT_ASKED + "the same words at the same place")
        return super().decided(comment, reference)

    def messages(self, case: Case, comment: Comment, reference: Comment, swapped: bool) -> tuple[Message, ...]:
        """The paper's prompt, or its evaluator's, filled."""
        if self.prompt == "evaluation":
            texts = (_without_details(comment.body), _without_details(reference.body))
            one, two = texts if swapped else reversed(texts)
            return self._prompt.messages({"comment1": one, "comment2": two})
        hunk, found = hunk_of(case.change, reference, comment)
        known = reference.body if self.prompt == "published" else with_fix(reference)
        one, two = (known, comment.body) if swapped else (comment.body, known)
        if self.prompt == "published":
            return self._prompt.messages({"diff_hunk": hunk, "comment1": one, "comment2": two})
        values = {"diff_hunk": fence(hunk) if found else hunk, "comment1": fence(one), "comment2": fence(two)}
        return (system(FENCE_NOTE), *self._prompt.messages(values))

    def read(self, text: str) -> PairVerdict:
        """Yes or no. Raises Unreadable."""
        return PairVerdict(yes_no(text), reason=text.strip().replace("\x00", "\N{REPLACEMENT CHARACTER}"))


def _without_details(text: str) -> str:
    kept, at = [], 0
    while (start := text.find(_OPEN, at)) >= 0 and (end := text.find(_CLOSED, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(_CLOSED)
    return _GAPS.sub("\n\n", "".join([*kept, text[at:]])).strip()
