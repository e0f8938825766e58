"""The size of a study of one pair: changes and attempts, from the two parts of the variance of its difference.

A study of n changes with k attempts each has the variance (between + within / k) / n. Sources: Bloom, Minimum
Detectable Effects, Evaluation Review 19 (1995); Guenther, Sample Size Formulas for Normal Theory T Tests, The American
Statistician 35 (1981), for the allowance for a t-test; Cochran, Sampling Techniques (1977), chapter 10, for the
cheapest number of attempts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, UNDEFINED_LIMIT, Clusters
from reviewgauge.analysis.stats.power import Components, Spread, clusters_needed, detectable_difference
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.plan import AttemptRow, PairPlan

ATTEMPTS = (1, 2, 3, 5, 10)
MOST_ATTEMPTS = 30  # tried for the cheapest study, and for the changes at hand
MOST_CHANGES = 10**9  # larger studies are reported as impossible
RANGE = 0.95
LIKE_IT = "another like it"


@dataclass(frozen=True)
class Question:
    """The difference that a study must detect, and its costs. Raises UserError for impossible values."""

    detect: float
    power: float = 0.8
    level: float = 0.05
    comparisons: int = 1
    attempts: Sequence[int] = ATTEMPTS
    dollars_per_attempt: Mapping[str, float] = field(default_factory=dict)
    dollars_per_change: float = 0.0

    def __post_init__(self) -> None:
        """Check the values."""
        if not (math.isfinite(self.detect) and self.detect > 0):
            raise UserError(f"detect must be positive, got {self.detect:g}", remedy="such as --detect .03")
        if not 0 < self.level < 1:
            raise UserError(f"level must be between 0 and 1, got {self.level:g}", remedy="0.05 is the default")
        if not self.level < self.power < 1:
            raise UserError(f"power must be between the level and 1, got {self.power:g}", remedy="0.8 is the default")
        if self.comparisons < 1:
            raise UserError(f"comparisons must be at least 1, got {self.comparisons}")

    @property
    def shared_level(self) -> float:
        """The level of the hardest of the comparisons under Holm's correction."""
        return self.level / self.comparisons

    @property
    def allowance(self) -> int:
        """Clusters to add because a study estimates its own spread: half the squared critical value."""
        return math.ceil(NormalDist().inv_cdf(1 - self.shared_level / 2) ** 2 / 2)


def twins(name: str, parts: Components, spread: Spread, clusters: Clusters, question: Question) -> list[PairPlan]:
    """One system paired with one like it: twice its variance if they share nothing, only the attempts' if all."""
    own = parts.within[0]
    doubled = (2 * parts.draws[0], parts.draws[1], parts.draws[1])
    apart = Components(2 * parts.between, (own, own), parts.cases, parts.clusters, np.stack(doubled))
    assumptions = {"nothing in common": apart}
    if own:
        same = np.stack([np.zeros_like(parts.draws[0]), parts.draws[1], parts.draws[1]])
        alike = Components(0.0, (own, own), parts.cases, parts.clusters, same)
        assumptions["good at the same changes: only attempts differ"] = alike
    return [
        pair_plan((name, LIKE_IT), None, each, [spread, spread], clusters=clusters, question=question, assumed=assumed)
        for assumed, each in assumptions.items()
    ]


def pair_plan(
    names: tuple[str, str],
    difference: float | None,
    parts: Components,
    spreads: Sequence[Spread],
    *,
    clusters: Clusters,
    question: Question,
    assumed: str = "",
    tiny: float = 0.0,
) -> PairPlan:
    """The plan for a pair from its variance components. Errors up to `tiny` are rounding."""
    inverse = [float(np.mean(1 / spread.counts)) for spread in spreads]
    here = parts.between + sum((part or 0.0) * each for part, each in zip(parts.within, inverse, strict=False))
    error = math.sqrt(here / parts.cases)
    blank = PairPlan(
        first=names[0],
        second=names[1],
        difference=difference,
        changes=parts.cases,
        clusters=parts.clusters,
        attempts_first=float(spreads[0].counts.mean()),
        attempts_second=float(spreads[-1].counts.mean()),
        between=math.sqrt(parts.between),
        within_first=None if parts.within[0] is None else math.sqrt(parts.within[0]),
        within_second=None if parts.within[1] is None else math.sqrt(parts.within[1]),
        error=error,
        assumed=assumed,
        warnings=tuple(_component_warnings(parts, spreads, names, tiny)),
    )
    if error <= tiny:
        reason = "the difference never varies, so no study can be planned"
        return blank.model_copy(update={"error": None, "reason": reason})
    study = _Study(parts, clusters, question, names)
    planned = [k for k in sorted(set(question.attempts)) if k == 1 or any(parts.within)] or [1]
    return blank.model_copy(
        update={
            "rows": tuple(study.row(k) for k in planned),
            "attempts_at_hand": study.attempts_at_hand(),
            "cheapest": study.cheapest(),
        }
    )


def _component_warnings(parts: Components, spreads: Sequence[Spread], names: tuple[str, str], tiny: float) -> list[str]:
    """Warnings about the variance components."""
    warnings: list[str] = []
    unknown = [name for name, part in zip(names, parts.within, strict=True) if part is None]
    if len(unknown) == 2:
        warnings.append(
            "one attempt of each change: the variance between attempts is not known apart from that between changes, "
            "so the plan is by changes only (to separate them: reviewgauge review --attempts 3)"
        )
    elif unknown:
        warnings.append(f"{unknown[0]} has one attempt of each change: more are planned for the other system only")
    if not unknown and not any(parts.within):
        warnings.append("attempts at one change never differ: one is enough")
    if any(parts.within) and parts.between <= tiny**2:
        warnings.append(
            "the variance between changes was estimated as 0 beside that between attempts, which makes many attempts "
            "look too good; use the upper end of the range"
        )
    if any((spread.counts != spread.counts[0]).any() for spread in spreads):
        warnings.append("some changes have fewer attempts than others; each change counts once")
    if parts.clusters < FEW_CLUSTERS:
        warnings.append(f"a pilot of {parts.clusters} is small: use the range, not the number")
    return warnings


def no_plan(first: str, second: str, changes: int, reason: str) -> PairPlan:
    """A pair without a plan, for a reason."""
    return PairPlan(
        first=first,
        second=second,
        difference=None,
        changes=changes,
        clusters=changes,
        attempts_first=0.0,
        attempts_second=0.0,
        between=0.0,
        within_first=None,
        within_second=None,
        error=None,
        reason=reason,
    )


@dataclass(frozen=True)
class _Study:
    """The size of a study of one pair."""

    parts: Components
    clusters: Clusters
    question: Question
    names: tuple[str, str]

    @property
    def per_cluster(self) -> float:
        return self.parts.cases / self.parts.clusters

    def detectable(self, attempts: int) -> float | None:
        """The smallest difference that the clusters at hand detect with this many attempts."""
        q, groups = self.question, self.parts.clusters
        error = math.sqrt(self.parts.variance(attempts) / self.parts.cases)
        found = detectable_difference(error, power=q.power, level=q.shared_level)
        if found is None or groups <= q.allowance:
            return None
        return found * math.sqrt(groups / (groups - q.allowance))

    def groups_for(self, variance: float) -> int:
        """The clusters that detect the wanted difference at this variance of a change."""
        q = self.question
        error = math.sqrt(variance / self.parts.cases)
        known = detectable_difference(error, power=q.power, level=q.shared_level)
        return q.allowance + (1 if known is None else clusters_needed(known, self.parts.clusters, q.detect))

    def changes_for(self, groups: int) -> int | None:
        """The changes in this many clusters; None if no study could be that large."""
        changes = math.ceil(round(groups * self.per_cluster, 9))
        return changes if changes <= MOST_CHANGES else None

    def row(self, attempts: int) -> AttemptRow:
        """The study with this many attempts."""
        groups = self.groups_for(self.parts.variance(attempts))
        changes = self.changes_for(groups)
        low, high = self._range(attempts)
        return AttemptRow(
            attempts=attempts,
            changes=changes,
            low=low,
            high=high,
            repositories=groups if self.clusters.by == "repository" else None,
            judgements=None if changes is None else changes * sum(self._attempts_of(attempts)),
            detectable=self.detectable(attempts),
            dollars=None if changes is None else self._price(changes, attempts),
        )

    def _range(self, attempts: int) -> tuple[int | None, int | None]:
        """The number of changes at both ends of the variance's interval.

        The ends come from the spread of its logarithm, or from the resamples where those are further out: a variance
        between changes that was estimated as 0 need not be 0.
        """
        drawn = self.parts.drawn(attempts)
        drawn = drawn[drawn > 0]
        if self.parts.clusters < 3 or drawn.size < max(2, (1 - UNDEFINED_LIMIT) * self.parts.draws.shape[1]):
            return None, None
        from scipy.stats import t

        reach = float(t.ppf((1 + RANGE) / 2, self.parts.clusters - 1))  # of the middle 95% of Student's distribution
        factor = math.exp(reach * float(np.std(np.log(drawn))))
        variance = self.parts.variance(attempts)
        least, most = (float(end) for end in np.quantile(drawn, [(1 - RANGE) / 2, (1 + RANGE) / 2]))
        ends = (min(variance / factor, least), max(variance * factor, most))
        low, high = (self.changes_for(self.groups_for(end)) for end in ends)
        return low, high

    def _attempts_of(self, attempts: int) -> tuple[int, int]:
        """The attempts of the first and the second system: 1 for a system without variance between attempts."""
        one, two = (attempts if part or not any(self.parts.within) else 1 for part in self.parts.within)
        return one, two

    def _price(self, changes: int, attempts: int) -> float | None:
        q = self.question
        prices = [q.dollars_per_attempt.get(name) for name in self.names]
        if self.names[1] not in q.dollars_per_attempt and self.names[1] == LIKE_IT:
            prices[1] = prices[0]
        if prices[0] is None or prices[1] is None:
            return None
        one, two = self._attempts_of(attempts)
        return changes * (q.dollars_per_change + one * prices[0] + two * prices[1])

    @property
    def tried(self) -> Sequence[int]:
        """The numbers of attempts to consider.

        If the variance between changes was estimated as 0, many attempts look as good as many changes only because
        the pilot is small, so no more are tried than the table shows.
        """
        if not any(self.parts.within):
            return [1]
        return range(1, (MOST_ATTEMPTS if self.parts.between > 0 else max(self.question.attempts)) + 1)

    def cheapest(self) -> AttemptRow | None:
        """The cheapest study; None without prices.

        Studies with too few changes for intervals are left out, unless they take one attempt.
        """
        prices: dict[int, float] = {}
        for attempts in self.tried:
            groups = self.groups_for(self.parts.variance(attempts))
            changes = self.changes_for(groups)
            price = None if changes is None else self._price(changes, attempts)
            if price is not None and (attempts == 1 or groups >= FEW_CLUSTERS):
                prices[attempts] = price
        best = min(prices, key=lambda attempts: prices[attempts], default=None)
        return self.row(best) if best is not None and prices[best] else None

    def attempts_at_hand(self) -> int | None:
        """The fewest attempts with which the changes at hand are enough."""
        enough = (k for k in self.tried if (found := self.detectable(k)) is not None and found <= self.question.detect)
        return next(enough, None)
