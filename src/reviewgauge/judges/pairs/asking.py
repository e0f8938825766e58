"""The base of judges that ask a chat model: which pairs to ask about, the questions, and the votes on each pair.

A question never names the author of a comment: a judge sees its text and the diff.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import Field, JsonValue

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Failed, Pair, Verdict, Vote
from reviewgauge.core.specs import load, names, near_names
from reviewgauge.core.stored import Lazy
from reviewgauge.judges.pairs.location import in_words, locate
from reviewgauge.models.chat.ask import Reading, ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message
from reviewgauge.models.request.model_spec import is_model, parse_model

T = TypeVar("T")
Agree = Literal["majority", "mean"]
Table = Sequence[Sequence[Verdict | None]]
_REASON = 300  # characters of a model's reasoning that a verdict repeats; its vote keeps all of it


class WeightedVote(NamedTuple):
    """One vote, and its probability of a yes."""

    vote: Vote
    probability: float

    @property
    def yes(self) -> bool:
        """Whether the vote is a yes."""
        return self.vote.value is True


def probability_of(same: bool, confidence: float | None) -> float:
    """The probability of a yes behind an answer. A low confidence never turns a yes into a no, or the reverse."""
    sure = 1.0 if confidence is None else max(0.5, confidence)
    return sure if same else 1.0 - sure


def agreed(cast: Sequence[WeightedVote], agree: Agree) -> Verdict:
    """The verdict of at least one vote. Its probability is the mean of their chances.

    `majority`: the same where more than half say so; the probability is held on that side of one half. `mean`: the
    same where the mean is above one half; at one half, as the majority. A tie is a no. `unsure`: they do not agree.
    """
    yes, many = sum(one.yes for one in cast), len(cast)
    mean = round(sum(one.probability for one in cast) / many, 6)
    most = 2 * yes > many
    if agree == "majority":
        same, mean = most, max(0.5, mean) if most else min(0.5, mean)
    else:
        same = mean > 0.5 or (mean == 0.5 and most)
    if many == 1:
        text = cast[0].vote.reason or ""
        reason = f"{'yes' if same else 'no'}" if text.strip().lower() in ("yes", "no", "") else one_line(text, _REASON)
    else:
        reason = f"{yes} of {many} say yes"
    votes = tuple(one.vote for one in cast)
    return Verdict(probability=mean, same=same, unsure=yes not in (0, many), reason=reason, votes=votes)


Location = Literal["first", "any"]
Order = Literal["comment_first", "reference_first", "both"]
Cell = tuple[int, int]  # (comment, reference) by place
NOT_ASKED = "not asked: "  # prefix of the reason of a verdict without a question
MOST_VOTES = 99
Votes = Annotated[int, Field(ge=1, le=MOST_VOTES)]


class Compared(NamedTuple):
    """What a judge compares: comments, those of `review`, with references of `case`. The arguments of `Judge.judge`."""

    case: Case
    comments: Sequence[Comment]
    references: Sequence[Comment]
    review: Review


class Asking(Judge):
    """A judge that asks questions, and can judge some pairs only."""

    @abstractmethod
    def judge_some(self, compared: Compared, cells: Sequence[Cell]) -> Mapping[Cell, Verdict | None]:
        """The verdicts on the given pairs. Raises Failed when a vote on one of them failed."""

    @abstractmethod
    def was_asked(self, verdict: Verdict) -> bool:
        """Whether a model was asked for this verdict."""

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """The verdicts on all pairs. Raises Failed when a vote on one of them failed."""
        cells = [(c, r) for c in range(len(comments)) for r in range(len(references))]
        found = self.judge_some(Compared(case, comments, references, review), cells)
        return [[found[c, r] for r in range(len(references))] for c in range(len(comments))]


def not_asked(place: Pair) -> Verdict:
    """The verdict on a pair that the location rule excludes."""
    return Verdict(probability=0.0, same=False, reason=NOT_ASKED + in_words(place))


class PairVerdict(NamedTuple):
    """The answer of a model about a pair."""

    same: bool
    confidence: float | None = None
    reason: str = ""


class ModelJudge(Asking):
    """Asks one chat model about each pair, `votes` times."""

    model: str
    votes: int
    agree: Agree
    location: Location
    tolerance: int

    @property
    def answer_schema(self) -> Mapping[str, JsonValue] | None:
        """The JSON schema of the answers, for endpoints that take one; None asks for words."""
        return None

    def __post_init__(self) -> None:
        """Raise ValueError, and UserError for an unknown model."""
        super().__post_init__()
        if not self.model:
            raise ValueError("a model is required, such as model='openai:gpt-5'")
        parse_model(self.model)

    @property
    def models(self) -> tuple[str, ...]:
        """The model that is asked."""
        return (self.model,)

    @property
    def sure(self) -> float:
        """A model's yes is a yes: there is no unsure band, and a comment's file does not overrule it."""
        return self.threshold

    @property
    def orders(self) -> Sequence[bool]:
        """The orders in which a pair is shown: True puts the reference first."""
        return (False,)

    @abstractmethod
    def messages(self, case: Case, comment: Comment, reference: Comment, swapped: bool) -> tuple[Message, ...]:
        """The question about a pair."""

    @abstractmethod
    def read(self, text: str) -> PairVerdict:
        """The answer in a text. Raises Unreadable."""

    def decided(self, comment: Comment, reference: Comment) -> Verdict | None:
        """The verdict where the location rule excludes the pair; None where the model must be asked."""
        if self.location == "first":
            place = locate(comment, reference, self.tolerance)
            if place.located is False:
                return not_asked(place)
        return None

    def judge_some(self, compared: Compared, cells: Sequence[Cell]) -> dict[Cell, Verdict | None]:
        """The verdicts on some pairs: all questions at the same time, equal ones once."""
        case, comments, references, _ = compared
        found = {(c, r): self.decided(comments[c], references[r]) for c, r in cells}

        def question(cell: Cell, swapped: bool) -> tuple[Message, ...]:
            return self.messages(case, comments[cell[0]], references[cell[1]], swapped)

        asked: dict[Cell, list[bytes]] = {}
        first: dict[bytes, tuple[Cell, bool]] = {}  # by a digest: the questions themselves are long, and written twice
        for cell in (cell for cell, verdict in found.items() if verdict is None):
            for swapped in self.orders:
                mark = hashlib.sha256(repr(question(cell, swapped)).encode("utf-8", "surrogatepass")).digest()
                first.setdefault(mark, (cell, swapped))
                asked.setdefault(cell, []).append(mark)
        votes = dict(zip(first, self._cast(Lazy.of(list(first.values()), lambda one: question(*one))), strict=True))
        for cell, several in asked.items():
            cast = [
                one for swapped, m in zip(self.orders, several, strict=True) for one in self._named(votes[m], swapped)
            ]
            found[cell] = agreed(cast, self.agree)
        return found

    def was_asked(self, verdict: Verdict) -> bool:
        """Whether the model voted."""
        return bool(verdict.votes)

    def _cast(self, questions: Sequence[tuple[Message, ...]]) -> list[list[PairVerdict]]:
        """The answers to each question, one a trial."""
        if not questions:
            return []
        trials = list(range(1, self.votes + 1)) * len(questions)
        conversations = Lazy(len(trials), lambda at: questions[at // self.votes])
        answers = ask_for_each(
            chat_model(self.model), conversations, self.read, trials=trials, schema=self.answer_schema
        )
        verdicts = [reading.value for reading in all_read(answers, "votes")]
        return [verdicts[at : at + self.votes] for at in range(0, len(verdicts), self.votes)]

    def _named(self, verdicts: Sequence[PairVerdict], swapped: bool) -> list[WeightedVote]:
        """Votes under the model's name, with the trial and the order where there are several."""
        cast = []
        for trial, one in enumerate(verdicts, start=1):
            notes = [f"trial {trial}"] if len(verdicts) > 1 else []
            notes += ["reference first" if swapped else "comment first"] if len(self.orders) > 1 else []
            rater = f"{self.model} ({', '.join(notes)})" if notes else self.model
            vote = Vote(rater=rater, value=one.same, confidence=one.confidence, reason=one.reason)
            cast.append(WeightedVote(vote, probability_of(one.same, one.confidence)))
        return cast


def all_read(answers: Sequence[Reading[T] | Failed], name: str) -> list[Reading[T]]:
    """All readings. Raises the first failure, with their number: a missing vote is not a vote against."""
    broken = [answer for answer in answers if isinstance(answer, Failed)]
    if broken:
        first, count = broken[0], f"{len(broken)} of {len(answers)} {name} failed: "
        problem = f"{count if len(answers) > 1 else ''}{first.problem}"
        raise Failed(first.kind, problem, remedy=first.remedy, raw=first.raw, stops=first.stops)
    return [answer for answer in answers if not isinstance(answer, Failed)]


def judge_some(judge: Judge, compared: Compared, cells: Sequence[Cell]) -> Mapping[Cell, Verdict | None]:
    """The verdicts of any judge on some pairs, without model calls for the others."""
    if isinstance(judge, Asking):
        return judge.judge_some(compared, cells)
    if not judge.models:
        table: Table = judge.judge(*compared)
        return {(c, r): table[c][r] for c, r in cells}
    case, comments, references, review = compared
    found: dict[Cell, Verdict | None] = {}
    for c in dict.fromkeys(c for c, _ in cells):
        columns = [r for d, r in cells if d == c]
        row = judge.judge(case, [comments[c]], [references[r] for r in columns], review)[0]
        found.update(zip([(c, r) for r in columns], row, strict=True))
    return found


_PROVIDER = re.compile(r"\s*\w*:")  # no plug-in's name holds a colon: an unknown provider is named as one


@lru_cache(maxsize=64)
def judge_of(spec: str) -> Judge:
    """The judge that `spec` names; `openai:gpt-5` is `same_concern(model="openai:gpt-5")`."""
    if is_model(spec.strip()) or _PROVIDER.match(spec):
        spec = f"same_concern(model={spec.strip()!r})"
    known, word = names(Judge.kind), spec.strip()
    if not (re.fullmatch(r"[\w.]+\(.*\)|(?:[^\W\d]\w*\.)+[^\W\d]\w*", word, re.DOTALL) or near_names(word, known)):
        remedy = f"a chat model is named with its provider, such as openai:gpt-5; judges are {', '.join(known)}"
        raise UserError(f"no judge is called {word!r}", remedy=remedy)
    return load(Judge, spec)
