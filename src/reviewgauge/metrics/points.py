"""Which change-points does the report raise, and which known ones do they hit? A model reads it, as in SWR-Bench.

Source: Zeng et al., "Benchmarking and Studying the LLM-based Code Review" (SWR-Bench), arXiv:2509.01494, section
III-B and Table I. The paper prints neither of its two prompts: these are our own, and no result with them is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review, findings, groups_of
from reviewgauge.core.results import (
    Bounds,
    CommentOutcome,
    CommentState,
    GroupOutcome,
    Matching,
    Pair,
    Verdict,
    Vote,
)
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import TYPES, change_type, functional
from reviewgauge.metrics.matching import policies
from reviewgauge.metrics.matching.asking_points import (
    LEAST,
    MOST,
    Ballot,
    Point,
    extract,
    extraction_prompt,
    hits_prompt,
    rate,
    rating_prompt,
    vote,
)
from reviewgauge.metrics.matching.counts import add_parts, f_measure
from reviewgauge.metrics.matching.match import why_unmeasurable
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.model_spec import parse_model

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


BROKEN = "true and false positives do not add up to the points predicted"
Parts = dict[str, float]


@dataclass(frozen=True)
class Counted:
    """One way of counting some predictions against some known points, all by position."""

    states: Mapping[int, CommentState]  # of each prediction
    credit: Mapping[int, float]  # of each prediction: what of the true positives it stands for
    hit: frozenset[int]
    credited: Mapping[int, tuple[int, ...]]  # by known point
    published: bool

    def said(self, prediction: int) -> float:
        """The weight of a prediction in the denominator of precision."""
        state = self.states[prediction]
        if state is CommentState.FALSE:
            return 1.0
        return self.credit[prediction] if self.published else float(state is CommentState.MATCHED)


@dataclass(frozen=True)
class Table:
    """Predictions x known points, with the votes of the trials on each pair."""

    case: Case
    points: Sequence[Point]
    ballots: Sequence[Ballot]
    published: bool
    rater: str

    @cached_property
    def groups(self) -> list[tuple[str, ...]]:
        """The ids of each known point's phrasings."""
        return [tuple(one.id for one in group) for group in findings(self.case.references)]

    @cached_property
    def types(self) -> list[str | None]:
        """The type of each known point; None where the data names none."""
        named = [[change_type(one.category) for one in group] for group in findings(self.case.references)]
        return [next((code for code in codes if code), None) for codes in named]

    @cached_property
    def share(self) -> policies.Matrix:
        """The share of trials in which a prediction hits a known point."""
        found = np.zeros((len(self.points), len(self.groups)))
        for ballot in self.ballots:
            for g, hitting in enumerate(ballot.hits):
                found[sorted(hitting), g] += 1
        return found / max(1, len(self.ballots))

    def count(self, predictions: Iterable[int], known: Iterable[int]) -> Counted:
        """These predictions against these known points, and nothing else."""
        rows, columns = sorted(predictions), sorted(known)
        strength = np.where(self.share > 0.5, self.share, 0.0)[np.ix_(rows, columns)]
        if self.published:
            credits = [(r, c) for r in range(len(rows)) for c in range(len(columns)) if strength[r, c] > 0]
        else:
            credits = list(policies.assign(strength))
        credited: dict[int, tuple[int, ...]] = {}
        for r, c in credits:
            credited[columns[c]] = (*credited.get(columns[c], ()), rows[r])
        credit = dict.fromkeys(rows, 0.0)
        for hitting in credited.values():
            for row in hitting:
                credit[row] += 1 / len(hitting)
        holders = {rows[r] for r, _ in credits}
        states = {}
        for r, row in enumerate(rows):
            hits_one = bool(strength.shape[1]) and strength[r].max() > 0
            left = CommentState.DUPLICATE if hits_one else CommentState.FALSE
            states[row] = CommentState.MATCHED if row in holders else left
        return Counted(states, credit, frozenset(credited), credited, self.published)

    @cached_property
    def whole(self) -> Counted:
        """Everything against everything."""
        return self.count(range(len(self.points)), range(len(self.groups)))

    @cached_property
    def functional(self) -> Counted:
        """Only functional predictions against functional points."""
        return self.count(self.functional_points, [g for g, code in enumerate(self.types) if functional(code)])

    @cached_property
    def functional_points(self) -> list[int]:
        """The predictions with a functional type."""
        return [p for p, point in enumerate(self.points) if functional(point.type)]

    # --- counts ------------------------------------------------------------------------------------------------

    def parts(self) -> Parts:
        """The counts of the whole, and of the functional points where every known point has a type."""
        clean, typed = self.case.clean, [code for code in self.types if code]
        found = _totals(self.whole, len(self.groups))
        found |= {
            "changes": 1.0,
            "severity": float(sum(point.severity for point in self.points)),
            "typed": float(len(typed)),
            "functional_predicted": float(len(self.functional_points)),
            "functional_severity": float(sum(self.points[p].severity for p in self.functional_points)),
            "clean": float(clean),
            "clean_quiet": float(clean and not self.points),
        }
        if len(typed) == len(self.groups):
            known = sum(functional(code) for code in typed)
            own = _totals(self.functional, known)
            found |= {f"functional_{name}": value for name, value in own.items() if name != "predicted"}
            found["typed_changes"] = float(bool(typed))
        return found

    def facets(self) -> dict[str, dict[str, Parts]]:
        """Parts by type: precision of the predictions of a type, recall of the known points of it.

        A known point that several predictions hit is shared out evenly among them, so that the slices add up.
        """
        found: dict[str, Parts] = {}

        def add(code: str | None, parts: Parts) -> None:
            add_parts(found, f"{code} {TYPES[code].name}" if code else None, parts)

        for g, code in enumerate(self.types):
            hit = float(g in self.whole.hit)
            add(code, {"references": 1.0, "hit": hit, "missed": 1.0 - hit})
        for p, point in enumerate(self.points):
            parts = {"predicted": 1.0, "severity": float(point.severity), str(self.whole.states[p]): 1.0}
            add(point.type, {**parts, "right": self.whole.credit[p], "said": self.whole.said(p)})
        return {"type": found}

    # --- evidence ----------------------------------------------------------------------------------------------

    def matching(self) -> Matching:
        """Who hit whom, with every vote; the text, type and severity of a prediction stand in its reason."""
        matched = sum(state is CommentState.MATCHED for state in self.whole.states.values())
        broken = self.published and len(self.whole.hit) != matched
        return Matching(
            policy="points:published" if self.published else "points",
            comments=tuple(self._prediction(p) for p in range(len(self.points))),
            groups=tuple(self._known(g) for g in range(len(self.groups))),
            pairs=tuple(self._pairs()),
            broken=(BROKEN,) if broken else (),
        )

    def _prediction(self, p: int) -> CommentOutcome:
        point, state = self.points[p], self.whole.states[p]
        hits = [g for g in range(len(self.groups)) if self.share[p, g] > 0.5]
        own = [g for g, hitting in self.whole.credited.items() if p in hitting]
        reason = f"{point.type} {TYPES[point.type].name}, severity {point.severity}: {point.text}"
        others = [self.groups[g][0] for g in hits if g not in own]
        if state is CommentState.MATCHED and len(own) > 1:
            reason += f" (hits {', '.join(self.groups[g][0] for g in own)})"
        if others:
            reason += (
                f" (also hits {', '.join(others)})" if own else f" (hits {', '.join(others)}, credited to another)"
            )
        group = next(iter([*own, *hits]), None)
        return CommentOutcome(
            comment=point.id, state=state, group=None if group is None else self.groups[group][0], reason=reason
        )

    def _known(self, g: int) -> GroupOutcome:
        hitting = self.whole.credited.get(g, ())
        reason = "" if self.types[g] else "has no type of SWR-Bench's"
        if not hitting:
            by = [self.points[p].id for p in range(len(self.points)) if self.share[p, g] > 0.5]
            why = f"hit by {', '.join(by)}, credited for another point" if by else "no prediction hits it"
            reason = "; ".join(filter(None, (why, reason)))
        return GroupOutcome(
            group=self.groups[g][0],
            members=self.groups[g],
            hit=g in self.whole.hit,
            comments=tuple(self.points[p].id for p in hitting),
            reason=reason,
        )

    def _pairs(self) -> Iterable[Pair]:
        """The pairs that at least one trial calls a hit."""
        for p, point in enumerate(self.points):
            for g, group in enumerate(self.groups):
                share = float(self.share[p, g])
                if share == 0:
                    continue
                votes = tuple(
                    Vote(rater=self.rater, value=p in ballot.hits[g], reason=f"trial {trial}: {ballot.raw[g]}")
                    for trial, ballot in enumerate(self.ballots, 1)
                )
                verdict = Verdict(probability=share, same=share > 0.5, votes=votes)
                yield Pair(comment=point.id, reference=group[0], verdict=verdict)


def _totals(counted: Counted, known: int) -> Parts:
    states = list(counted.states.values())
    hit = len(counted.hit)
    return {
        "predicted": float(len(states)),
        **{state.value: float(states.count(state)) for state in CommentState if state is not CommentState.NEUTRAL},
        "right": float(hit),
        "said": float(hit + states.count(CommentState.FALSE)),
        "references": float(known),
        "hit": float(hit),
        "missed": float(known - hit),
    }


@dataclass(frozen=True)
class Points(Metric):
    """Two questions to `model`: the change-points of the review with type and severity, then who hits which known one.

    The default counts each prediction for at most one known point. `variant="published"` counts as the paper does:
    true positives are known points, false positives predictions. `trials` asks the second question several times (an
    odd number) and lets the majority decide on each pair. `points_of` is another model, whose list of change-points is
    taken: `model` gives them types and severities of its own, so that the two can be compared.
    """

    model: ModelName = ""
    variant: Literal["", "published"] = ""
    trials: int = 1
    prompt: Literal["own"] = "own"
    points_of: ModelName = ""

    headline: ClassVar[str] = "f1"
    facets: ClassVar[Sequence[str]] = ("type",)
    units: ClassVar[Mapping[str, str]] = {
        "count": "points per change",
        "functional_count": "points per change",
        "severity": "from 1 to 10",
        "functional_severity": "from 1 to 10",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"duplicate_share"})

    def __post_init__(self) -> None:
        for model in self.models:
            parse_model(model)
        if self.points_of and not self.model:
            raise ValueError("points_of needs a model that rates them: points(model=..., points_of=...)")
        if self.trials < 1 or self.trials % 2 == 0:
            raise ValueError(f"trials={self.trials} must be an odd number, so that no vote ties")

    @property
    def models(self) -> tuple[str, ...]:
        """The model that answers, and the one that lists the points where it is another."""
        return tuple(dict.fromkeys(filter(None, (self.model, self.points_of))))

    @property
    def lister(self) -> str:
        """The model that lists the points."""
        return self.points_of or self.model

    def pins(self) -> Mapping[str, str]:
        """The words of the prompts."""
        own = {"extraction prompt": extraction_prompt().digest, "hits prompt": hits_prompt().digest}
        return own | ({"rating prompt": rating_prompt().digest} if self.points_of else {})

    def unmeasurable(self, case: Case) -> str:
        """Why the case cannot be measured; empty where it can."""
        return why_unmeasurable(case)

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The counts of one review's points against one case.

        Raises Failed, and UserError where no model is named.
        """
        if reason := self.unmeasurable(case):
            return reason
        if not self.model:
            raise UserError("points needs a chat model", remedy='points(model="openai:gpt-5")')
        model = chat_model(self.model)
        found = extract(chat_model(self.lister), review)
        listed = Vote(rater=f"{self.lister} (extraction)", value=len(found.points), reason=found.raw)
        if self.points_of:
            found = rate(model, found)
        ballots, fake = vote(model, case, found.points, self.trials)
        table = Table(case, found.points, ballots, self.variant == "published", self.model)
        return Measured(
            parts=table.parts(),
            facets=table.facets(),
            matching=table.matching(),
            votes=(listed,) if listed.reason else (),
            fake=review.fake or found.fake or fake,
        )

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Micro-averaged measures: every total is summed over the changes before anything is divided.

        precision = right / said: matched / (matched + false), or TP / (TP + FP) as published; recall = hit / known
        points. The functional ones are undefined where no known point has a type. `severity` is a mean over points.
        """
        total, ratio = aggregate.total, aggregate.ratio
        typed = total("typed_changes") > 0
        own = [f"functional_{name}" for name in ("right", "hit", "said", "references")]
        functional_f1 = f_measure(aggregate, own[0], own[1], said=own[2], references=own[3])
        return {
            "precision": ratio(total("right"), total("said")),
            "recall": ratio(total("hit"), total("references")),
            "f1": f_measure(aggregate, "right", "hit"),
            "count": ratio(total("predicted"), total("changes")),
            "severity": ratio(total("severity"), total("predicted")),
            "functional_precision": np.where(typed, ratio(total("functional_right"), total("functional_said")), np.nan),
            "functional_recall": ratio(total("functional_hit"), total("functional_references")),
            "functional_f1": np.where(typed, functional_f1, np.nan),
            "functional_count": ratio(total("functional_predicted"), total("changes")),
            "functional_severity": ratio(total("functional_severity"), total("functional_predicted")),
            "duplicate_share": ratio(total("duplicate"), total("predicted")),
            "typed": ratio(total("typed"), total("references")),
            "clean_left_alone": ratio(total("clean_quiet"), total("clean")),
        }

    def bounds(self, case: Case) -> Bounds:
        """At worst: everything missed and as many false points (at least one). At best: all hit, none false."""
        if self.unmeasurable(case):
            return Bounds(worst={}, best={})
        n = float(len(groups_of(case.references)))
        wrong = max(1.0, n)
        table = Table(case, (), (), published=True, rater=self.model)
        shared = {name: value for name, value in table.parts().items() if value and name != "clean_quiet"}
        worst = {**shared, **dict.fromkeys(("predicted", "false", "said"), wrong), "severity": LEAST * wrong}
        best = {**shared, **dict.fromkeys(("predicted", "matched", "right", "said", "hit"), n), "severity": MOST * n}
        best |= {"missed": 0.0, "clean_quiet": float(case.clean)}
        worst |= {"functional_predicted": wrong, "functional_severity": LEAST * wrong}
        if "functional_said" in table.parts():
            own = shared.get("functional_references", 0.0)
            worst |= dict.fromkeys(("functional_false", "functional_said"), wrong)
            names = ("predicted", "matched", "right", "said", "hit")
            best |= {f"functional_{name}": own for name in names}
            best |= {"functional_missed": 0.0, "functional_severity": MOST * own}
        return Bounds(worst=worst, best=best)
