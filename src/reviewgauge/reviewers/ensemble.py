"""Several attempts at a review, of one reviewer or of several, made into one by votes or by a model.

Source: SWR-Bench (Zeng et al. 2025, arXiv:2509.01494), Multi-Review: Self-Agg (one reviewer, n attempts) and Multi-Agg
(several reviewers), put together by a model; its prompt is not printed, ours is in `prompts/aggregate.txt`. Votes are
our own baseline for it, which needs no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, signature
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.judges.pairs.asking import judge_of
from reviewgauge.models.chat.client import chat_model
from reviewgauge.reviewers.aggregation.ballot import Ballot, answered, attempt_all, check_judge, remarks
from reviewgauge.reviewers.aggregation.model_report import ModelReport, template

MOST_ATTEMPTS = 100
SELF = 10  # the paper's number of attempts


@dataclass(frozen=True)
class Ensemble(Reviewer):
    """Makes `n` attempts with each reviewer (0: ten with one, one with each of several) and puts them together.

    `by="votes"` keeps each finding that at least `least` attempts raise (0: more than half of those that answered), as
    `judge` compares them. `by="model"` lets `model` write the report. Attempts that fail are left out and named in the
    trace; with fewer than half of them the review fails.
    """

    example: ClassVar[str] = 'ensemble(reviewer="prompt(model=\\"fake:example\\")", n=3)'

    reviewer: PluginSpec | tuple[PluginSpec, ...]
    n: int = 0
    by: Literal["votes", "model"] = "votes"
    least: int = 0
    judge: PluginSpec = "lexical"
    model: ModelName = ""

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError("name a reviewer: reviewer=\"prompt(model='openai:gpt-5')\"")
        if len(set(map(signature, self.members))) < len(self.members):
            raise ValueError("the same reviewer is named twice: n=2 makes two attempts with each")
        if self.n < 0 or not 1 <= self.attempts * len(self.members) <= MOST_ATTEMPTS:
            raise ValueError(f"n={self.n} must make from 1 to {MOST_ATTEMPTS} attempts")
        if not 0 <= self.least <= self.attempts * len(self.members):
            raise ValueError(f"least={self.least} must be from 0 to the number of attempts")
        if self.by == "model" and not self.model:
            raise ValueError("by='model' needs a model, such as model='openai:gpt-5'")
        check_judge(self.judge)

    @cached_property
    def members(self) -> Sequence[Reviewer]:
        """The reviewers."""
        specs = self.reviewer if isinstance(self.reviewer, tuple) else (self.reviewer,)
        return [load(Reviewer, spec) for spec in specs if spec]

    @property
    def attempts(self) -> int:
        """How many attempts each reviewer makes."""
        return self.n or (SELF if len(self.members) == 1 else 1)

    @property
    def needs_diff(self) -> bool:  # type: ignore[override]
        """Whether one of the reviewers does."""
        return any(member.needs_diff for member in self.members)

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Whether one of the reviewers does."""
        return any(member.learns for member in self.members)

    @property
    def leaves_one_out(self) -> bool:  # type: ignore[override]
        """Whether all that learn do."""
        return all(member.leaves_one_out for member in self.members if member.learns)

    @property
    def default_name(self) -> str:
        """Its reviewers by their names, and its own parameters."""
        said = [f"n={self.attempts}", f"by={self.by}"]
        said += [f"least={self.least}"] if self.least else []
        said += [f"judge={self.judge}"] if self.by == "votes" and self.judge != "lexical" else []
        said += [f"model={self.model}"] if self.by == "model" else []
        named = f"ensemble({' + '.join(member.system for member in self.members)}, {', '.join(said)})"
        return named.replace("\\", "")

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the reviewers, and the one that puts their reviews together."""
        asked = [model for member in self.members for model in member.models]
        asked += judge_of(self.judge).models if self.by == "votes" else [self.model]
        return tuple(dict.fromkeys(asked))

    def pins(self) -> Mapping[str, str]:
        """The pins of the reviewers, and of the judge or the prompt."""
        own = {"prompt": template().digest} if self.by == "model" else judge_of(self.judge).pins()
        return {
            **{
                f"{at} {m.system}: {name}": value
                for at, m in enumerate(self.members, 1)
                for name, value in m.pins().items()
            },
            **own,
        }

    def fit(self, cases: Iterable[Case], progress: Progress | None = None) -> Ensemble:
        """With the reviewers that learn having learnt from the same cases."""
        known = list(cases)
        learnt = replace(self)
        learnt.__dict__["members"] = [one.fit(known, progress) if one.learns else one for one in self.members]
        return learnt

    @override
    def check(self, changes: Sequence[Change]) -> None:
        for member in self.members:
            member.check(changes)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """What the reviewers cannot use."""
        if self.model:
            chat_model(self.model)
        return tuple(drop for member in self.members for drop in member.prepare(changes))

    def review(self, change: Change) -> Review:
        """The review made of all attempts. Raises Failed where fewer than half of them answered."""
        attempts = attempt_all(change, self.members, self.attempts)
        reviews = answered(attempts)
        if self.by == "model":
            made = ModelReport(self.model).report(change, reviews)
        else:
            made = Ballot(change, reviews, self.judge).report(self.least)
        trace = [f"{len(reviews)} of {len(attempts)} attempts answered", *([made.trace] if made.trace else [])]
        return made.model_copy(
            update={
                "system": self.system,
                "fake": any(review.fake for review in reviews),
                "trace": "\n".join([*trace, *remarks(attempts)]),
            }
        )
