"""What grade from 1 to 5 does a chat model give the review, compared with its reference?

Source: "LLM-based Scoring" of GradedReviews, "Deep Assessment of Code Review Generation Approaches: Beyond Lexical
Similarity", arXiv:2501.05176, section 5.2: its prompt and its four measures, in its order.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds, Vote
from reviewgauge.core.specs import plugin_name
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.pairs.asking import all_read
from reviewgauge.metrics.texts.text_metric import one_spaced, reference_texts, text_pair
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import claims_of_sameness
from reviewgauge.models.answers.readers import Unreadable, one_answer, whole_number
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt
from reviewgauge.models.request.model_spec import parse_model

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


LOW, EQUIVALENT, HIGH = 1, 4, 5
MOST_TRIALS = 99
_WORD = re.compile(r"\w+|[^\w\s]")


_CRITERIA = {  # what the prompt calls each grade
    5: re.compile(r"\bidentical\b", re.I), 4: re.compile(r"\bessential(?:ly)? equivalent\b", re.I),
    2: re.compile(r"\bloosely related\b", re.I), 1: re.compile(r"\b(?:completely|entirely|totally) unrelated\b", re.I),
}  # fmt: skip
_NEGATED = re.compile(r"(?:\bnot|n['’]t|\bno|\bnever)(?: \w+){0,2} $", re.IGNORECASE)


def read_grade(text: str) -> int:
    """The grade of an answer. Raises Unreadable, also where its words are the criterion of another grade."""
    grade = whole_number(text, LOW, HIGH, _CRITERIA)
    for other, words in _CRITERIA.items():
        found = words.search(text)
        if other != grade and found and not _NEGATED.search(text[max(0, found.start() - 30) : found.start()]):
            raise Unreadable(f"it gives the grade {grade} in the words of grade {other}")
    claims = claims_of_sameness(re.sub(r"[{}\"]", " ", text))  # of JSON, the texts too
    if claims == ({True} if grade == LOW else {False} if grade >= EQUIVALENT else set()) and claims:
        raise Unreadable(f"its words contradict its grade {grade}")
    return grade


@dataclass(frozen=True)
class ModelGrade(Metric):
    """What a chat model makes of the text of a review, asked in the words of `prompt`."""

    model: ModelName = ""
    prompt: Literal["published", "fenced"] = "published"

    reads_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model:  # a missing one is an error only once it is asked: see `grades`
            parse_model(self.model)

    @property
    def models(self) -> tuple[str, ...]:
        """The model that is asked."""
        return (self.model,) if self.model else ()

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt."""
        return {"prompt": self._prompt.digest}

    @property
    def _prompt(self) -> Prompt:
        suffix = "" if self.prompt == "published" else "_fenced"
        return load_prompt("reviewgauge.metrics", plugin_name(self) + suffix)


@dataclass(frozen=True)
class Grade(ModelGrade):
    """`grade`, a mean of 1 to 5. The model is asked `trials` times at once, unless the review says the reference.

    In the paper's order: an exact match is a 5 without a call; the commonest grade of the trials counts, their median
    where no grade is commoner than the others; a 5 for a review that is not lexically identical becomes a 4. A trial
    without a readable grade is asked twice more in the same words; without one after that there is no grade at all.
    A blank review is a 1 without a call. Of several references the one with the best grade counts. `asked` is the
    share of reviews that took calls, `spread` how far the trials of such a review lie apart, on average.
    """

    trials: int = 3

    headline: ClassVar[str] = "grade"
    units: ClassVar[Mapping[str, str]] = {"grade": "grades", "spread": "grades"}
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"spread"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.trials <= MOST_TRIALS or self.trials % 2 == 0:
            raise ValueError(f"trials={self.trials} must be an odd number from 1 to {MOST_TRIALS}")

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The grade of the review's text, whether the model was asked, and the spread of its trials. Raises Failed."""
        pair = text_pair(case, review)
        if isinstance(pair, str):
            return pair
        hypothesis, references = pair
        if not hypothesis.strip():
            return Measured(parts=_parts(LOW))
        if one_spaced(hypothesis) in map(one_spaced, references):
            return Measured(parts=_parts(HIGH))
        found = [(self._ask(hypothesis, reference), reference) for reference in references]
        graded = [
            (capped(mode_or_median(trials.values), hypothesis, reference), max(trials.values) - min(trials.values))
            for trials, reference in found
        ]
        best, spread = max(graded, key=lambda one: one[0])
        return Measured(
            parts=_parts(best, asked=1, spread=spread),
            votes=tuple(vote for trials, _ in found for vote in trials.votes),
            fake=any(trials.fake for trials, _ in found),
        )

    def _ask(self, hypothesis: str, reference: str) -> Grades:
        schema = one_answer(range(LOW, HIGH + 1)) if self.prompt == "fenced" else None
        messages = self.messages(hypothesis, reference)
        return grades("grade", self.model, messages, read_grade, trials=self.trials, remind=False, schema=schema)

    def messages(self, hypothesis: str, reference: str) -> tuple[Message, ...]:
        """The prompt about one review and one reference."""
        texts = {"generated_review": hypothesis, "reference_review": reference}
        if self.prompt == "fenced":
            texts = {"fence_note": FENCE_NOTE, **{name: fence(text) for name, text in texts.items()}}
        return self._prompt.messages(texts)

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The mean grade, the share of reviews asked about, and the mean spread of those."""
        return {
            "grade": aggregate.ratio(aggregate.total("grade"), aggregate.count),
            "asked": aggregate.ratio(aggregate.total("asked"), aggregate.count),
            "spread": aggregate.ratio(aggregate.total("spread"), aggregate.total("asked")),
        }

    def unmeasurable(self, case: Case) -> str:
        """Why the case has no reference text; empty where it has one."""
        references = reference_texts(case)
        return references if isinstance(references, str) else ""

    def bounds(self, case: Case) -> Bounds | None:
        """A grade of 1 from trials that lie as far apart as they can, and a 5 from trials that agree."""
        if self.unmeasurable(case):
            return None
        return Bounds(worst=_parts(LOW, asked=1, spread=HIGH - LOW), best=_parts(HIGH, asked=1))


def _parts(grade: int, asked: int = 0, spread: int = 0) -> Mapping[str, float]:
    return {"grade": float(grade), "asked": float(asked), "spread": float(spread)}


def mode_or_median(values: Sequence[int]) -> int:
    """The commonest of an odd number of grades; their median where two are equally common, as where all differ."""
    (grade, count), *others = Counter(values).most_common()
    if others and others[0][1] == count:
        return int(statistics.median(values))
    return grade


def capped(grade: int, hypothesis: str, reference: str) -> int:
    """A 5 only for the same words and marks in the same order, white space apart; else a 4."""
    if grade == HIGH and _WORD.findall(hypothesis) != _WORD.findall(reference):
        return HIGH - 1
    return grade


class Grades(NamedTuple):
    """The grade of each trial, the answers as votes, and whether a fake model gave one."""

    values: tuple[int, ...]
    votes: tuple[Vote, ...]
    fake: bool


def grades(
    metric: str,
    model: str,
    messages: Sequence[Message],
    read: Callable[[str], int],
    *,
    trials: int,
    remind: bool,
    schema: Mapping[str, JsonValue] | None = None,
) -> Grades:
    """`trials` answers to one question, asked at the same time.

    Raises Failed where one of them fails, even if others succeeded. Raises UserError without a model.
    """
    if not model:
        raise UserError(f"{metric} needs a chat model", remedy=f'{metric}(model="openai:gpt-5")')
    numbers = range(1, trials + 1)
    answers = ask_for_each(chat_model(model), [messages] * trials, read, trials=numbers, remind=remind, schema=schema)
    readings = all_read(answers, "trials")
    raters = [model if trials == 1 else f"{model} (trial {trial})" for trial in numbers]
    votes = tuple(
        Vote(rater=rater, value=reading.value, reason=storable(reading.raw))
        for rater, reading in zip(raters, readings, strict=True)
    )
    fake = any(answer.fake for reading in readings for answer in reading.answers)
    return Grades(tuple(reading.value for reading in readings), votes, fake)
