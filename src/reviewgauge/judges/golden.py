"""Does a candidate comment raise the issue of a golden one? A chat model answers with match, confidence and reason.

Source: the way of asking of Martian's code-review-benchmark (https://github.com/withmartian/code-review-benchmark,
MIT). Its prompt is not printed in a paper: the words here are our own, the signature says `prompt='own'`, and no
figure with it is a published one. Its matching is `hits(policy="greedy", variant="martian")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, JsonValue

from reviewgauge.core.parameters import Count
from reviewgauge.core.records import Case, Comment
from reviewgauge.core.trust import ModelName, texts_in
from reviewgauge.judges.pairs.asking import Agree, Location, ModelJudge, PairVerdict, Votes
from reviewgauge.judges.pairs.fixes import with_fix
from reviewgauge.models.answers.readers import check_same
from reviewgauge.models.answers.records import AnswerRecord, LooseText, answer_schema, read_record
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return value


class _Answer(AnswerRecord, extra="allow"):  # a doubt may stand under any key
    reasoning: LooseText = ""
    match: bool
    confidence: Annotated[float, AfterValidator(_share)]


@dataclass(frozen=True)
class Golden(ModelJudge):
    """Match, confidence and reasoning about each pair. The probability is the confidence on the side of the answer.

    `location`: "any" asks about all pairs, as the benchmark has no lines; "first" does not ask about pairs that
    stand more than `tolerance` lines apart or in another file. `votes` trials; `agree`: see docs/reference/judges.md.
    """

    model: ModelName = ""
    prompt: Literal["own"] = "own"
    location: Location = "any"
    tolerance: Count = 1
    votes: Votes = 1
    agree: Agree = "majority"

    @property
    def answer_schema(self) -> Mapping[str, JsonValue]:
        """An object with the reasoning, the match and the confidence."""
        return answer_schema(_Answer)

    @property
    def _prompt(self) -> Prompt:
        return load_prompt("reviewgauge.judges", "golden")

    def pins(self) -> Mapping[str, str]:
        """The digest of the prompt."""
        return {"prompt": self._prompt.fenced_digest}

    def messages(self, case: Case, comment: Comment, reference: Comment, swapped: bool) -> tuple[Message, ...]:
        """The question, both texts fenced."""
        texts = {"golden": fence(with_fix(reference)), "candidate": fence(comment.body)}
        return self._prompt.messages({"fence_note": FENCE_NOTE, **texts})

    def read(self, text: str) -> PairVerdict:
        """`match` and `confidence` of one JSON object; `reasoning` may be missing, as it decides nothing."""
        answer = read_record(text, _Answer, self._prompt)
        check_same(answer.match, "\n".join(texts_in(answer.model_dump().values())))
        return PairVerdict(answer.match, answer.confidence, answer.reasoning)
