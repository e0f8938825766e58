"""Is the candidate not worse than the baseline?

The gate is paired non-inferiority on the cases that both were scored on. The whole interval of the difference above
-margin: not worse. The whole interval below zero: worse. Else it cannot be told, nor can it from fewer than six
clusters, where no resampling reaches the tails, from an interval without width, or where both do no better than a
worthless reviewer. The interval is that of `compare`, to the digit. Source: Wellek, Testing Statistical Hypotheses of
Equivalence and Noninferiority (2010), chapter 2 (interval inclusion).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reviewgauge.analysis.compare.changed_comments import changed_comments
from reviewgauge.analysis.compare.compare import SystemPair
from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.compare.summary import Ends, number
from reviewgauge.analysis.stats.arrays import ROUNDING, Flags, Numbers, measure_with, measures_of_totals, swapped
from reviewgauge.analysis.stats.bootstrap import (
    LEVEL,
    Clusters,
    Measures,
    Resampler,
    cluster_cases,
    difference_interval,
    resampled_measures,
)
from reviewgauge.analysis.stats.score_table import Status, merge_pins, table_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.gate import Gate, GateCase, GateCheck, GateVerdict
from reviewgauge.engine.run.scored_run import ScoredRun

FEWEST = 6  # clusters; with fewer, all of them on one side happen by chance in more than 2.5% of the draws (.5 ** n)
FEWEST_RESAMPLES = 200
GUARDS = {"noise": 0.1, "comments_per_change": 2.0, "clean_left_alone": 0.1}  # margins, in the measures' units
MOST_FAILED = 0.2  # of the attempts; what a candidate that fails more often would have said is not known


def gate(
    run: ScoredRun,
    *,
    candidate: str,
    baseline: str,
    margins: Mapping[str, float],
    resamples: int = 10_000,
    seed: int = 0,
) -> Gate:
    """Whether `candidate` is at most as much worse than `baseline` as `margins` allow.

    `margins` are in the unit of each measure ("" is the headline); the figures are those of the first. `GUARDS` that
    are not named come on top where the baseline comments at all: a guard fails what is surely worse by more.
    Raises UserError for unknown systems or measures and for a negative margin.
    """
    metric = run.metric
    named = {measure or metric.headline: margin for measure, margin in margins.items()}
    for margin in named.values():
        _check(candidate, baseline, margin, resamples)
    panel = table_of(run)
    scheme = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    paired = _Gated(run, panel, panel.row(candidate), panel.row(baseline), scheme, resamples, seed)
    guards = [paired.guard(measure, margin) for measure, margin in GUARDS.items() if measure not in named]
    checks = tuple(paired.check(measure, margin) for measure, margin in named.items())
    checks += tuple(guard for guard in guards if guard is not None)
    verdict, reason = overall(checks)
    clusters = paired.clusters
    notes = [*paired.warnings(), *clusters.warnings(expanded=True), *merge_pins(panel)[1]]
    return Gate(
        verdict=verdict,
        reason=reason,
        metric=run.signature,
        **checks[0].model_dump(exclude={"verdict", "reason"}),
        candidate=candidate,
        baseline=baseline,
        level=LEVEL,
        n=int(paired.common.sum()),
        of=len(panel.cases),
        clusters=clusters.count,
        clustered_by=clusters.by,
        attempts=paired.attempts,
        failed=int(paired.lacking.sum()),
        checks=checks,
        cases=tuple(paired.cases(checks[0].measure)),
        **changed_comments(run, [candidate, baseline], {panel.cases[at].id for at in np.flatnonzero(paired.common)}),
        dataset=run.dataset,
        benchmark=run.benchmark,
        resamples=resamples,
        seed=seed,
        fake=bool(panel.fake[paired.rows].any()),
        estimate_note=metric.estimate_note,
        warnings=tuple(dict.fromkeys(notes)),
    )


def overall(checks: Sequence[GateCheck]) -> tuple[GateVerdict, str]:
    """The verdict on all checks, the worst one's, and its reason."""
    for verdict in (GateVerdict.WORSE, GateVerdict.CANNOT_TELL):
        if failing := next((check for check in checks if check.verdict is verdict), None):
            return verdict, failing.reason
    return checks[0].verdict, checks[0].reason


def _check(candidate: str, baseline: str, margin: float, resamples: int) -> None:
    check_settings(resamples)
    if candidate == baseline:
        raise UserError("candidate and baseline are the same system", remedy="name two with --system and --against")
    if resamples < FEWEST_RESAMPLES:
        raise UserError(f"{resamples} resamples have no tails to judge by", remedy=f"{FEWEST_RESAMPLES} or more")
    if not (margin >= 0 and math.isfinite(margin)):
        problem = "is not a number" if math.isnan(margin) else "has no end" if margin > 0 else "is below 0"
        raise UserError(f"a margin of {margin:g} {problem}", remedy="how much worse would still be fine, such as .02")


@dataclass(frozen=True)
class _Gated(SystemPair):
    """The candidate and the baseline."""

    resamples: int
    seed: int

    @cached_property
    def lacking(self) -> Flags:
        """The cases that the baseline was scored on, and on which the candidate failed or has no review (N)."""
        lacks = np.isin(self.panel.status[self.first], (Status.FAILED, Status.MISSING))
        return np.asarray(lacks & self.panel.scored[self.second])

    @cached_property
    def broken(self) -> tuple[int, int, int]:
        """The candidate's failed attempts, all of them, and the cases of the failed, where the baseline was scored."""
        theirs = self.panel.scored[self.second]
        columns = [column for row, column, _ in self.panel.failed if row == self.first and theirs[column]]
        return len(columns), int(self.panel.attempts[self.first][theirs].sum()), len(set(columns))

    @property
    def attempts(self) -> tuple[int, int]:
        """The most attempts that each system made at a case."""
        most = self.panel.attempts[self.rows].max(axis=1, initial=0)
        return int(most[0]), int(most[1])

    def check(self, measure: str, margin: float, guard: bool = False) -> GateCheck:
        """What the interval of candidate - baseline allows to say of one measure."""
        metric = self.metric
        one, two = self._values(self.rows, measure)
        if margin > 1 and not guard and metric.units.get(measure, "share") == "share":
            raise UserError(f"a margin of {margin:g} lets everything pass: {measure} lies between 0 and 1")
        difference = None if one is None or two is None else one - two
        interval = self._turned(self.draws, measure, self.clusters.count)
        bounded = self.broken[0] and self.panel.bounded[self.first]
        uncertain = self.lacking.any() or bounded
        worst = self._turned(self._worst_draws, measure, self._worst_clusters.count) if uncertain else None
        verdict, reason = self._rule(measure, margin, (one, two), interval, worst)
        sign = self._sign(measure)
        low, high = (None if end is None else sign * end for end in interval[::sign])
        telling = difference is None or verdict is not GateVerdict.CANNOT_TELL
        return GateCheck(
            measure=measure,
            label=self.run.label,
            unit=metric.units.get(measure, "share"),
            lower_is_better=sign < 0,
            margin=margin,
            guard=guard,
            candidate_value=one,
            baseline_value=two,
            difference=difference,
            low=low,
            high=high,
            low_if_worst=None if worst is None or worst[0] is None else sign * worst[0],
            needed=None if telling else _needed(sign * (difference or 0.0), interval, margin, self.clusters.count),
            verdict=verdict,
            reason=reason,
        )

    def guard(self, measure: str, margin: float) -> GateCheck | None:
        """The check of a guard; None for a baseline that says nothing, and for a measure undefined or not there."""
        said = self.panel.parts[self.second][self.common].sum(axis=0)
        if "comments" not in self.panel.names or not said[self.panel.names.index("comments")]:
            return None
        if measure not in measures_of_totals(self.metric, self.panel.names, np.append(said, 1.0)[None, :]):
            return None  # a plug-in may count comments too
        found = self.check(measure, margin, guard=True)
        if found.difference is None or found.low is None or found.high is None:
            return None
        if (found.low > margin) if found.lower_is_better else (found.high < -margin):
            return found
        within = "a guard: the candidate is not surely worse by more than the margin"
        return found.model_copy(update={"verdict": GateVerdict.NOT_WORSE, "reason": within})

    def _sign(self, measure: str) -> int:
        """-1 where less is better."""
        return -1 if measure in self.metric.lower_is_better else 1

    def _values(self, rows: Sequence[int], measure: str) -> list[float | None]:
        """The measure of these rows on the common cases."""
        sums = self.panel.parts[rows][:, self.common].sum(axis=1)
        found = measure_with(self.metric, self.panel.names, sums, int(self.common.sum()), measure)
        return [number(value) for value in found]

    def _rule(
        self, measure: str, margin: float, values: Ends, interval: Ends, worst: Ends | None
    ) -> tuple[GateVerdict, str]:
        """The verdict and its reason in words. Intervals are turned so that more is better for the candidate."""
        if None in values:
            return GateVerdict.CANNOT_TELL, "the measure is undefined for one of the two"
        if why := self._at_a_baseline(measure, values):
            return GateVerdict.CANNOT_TELL, why
        low, high = interval
        if low is None or high is None:
            return GateVerdict.CANNOT_TELL, "there is no interval: too few cases were scored for both"
        count = self.clusters.count
        if count < FEWEST:
            return GateVerdict.CANNOT_TELL, f"{count} clusters are too few for a verdict: {FEWEST} are the least"
        if low <= -margin and not low == high == margin == 0:
            if high < 0:
                return GateVerdict.WORSE, "the whole interval says worse, and reaches past the margin"
            return GateVerdict.CANNOT_TELL, "the interval reaches past the margin, and does not all say worse"
        if low == high and not self._same_words():
            found = f"every resample gives the same difference, so the interval has no width: {count} clusters"
            return GateVerdict.CANNOT_TELL, f"{found} are not as sure as that"
        failed, tried, _ = self.broken
        if failed > MOST_FAILED * tried:
            return GateVerdict.CANNOT_TELL, f"the candidate failed in {failed} of {tried} attempts"
        if worst is not None and (worst[0] is None or worst[0] <= -margin):
            return (
                GateVerdict.CANNOT_TELL,
                f"not worse on what was scored, but it failed in {failed} of {tried} attempts and has none scored on "
                f"{int(self.lacking.sum())} cases of the baseline; with these counted as worst it may be worse",
            )
        anyone = int((self.panel.measured.any(axis=0)).sum())
        if 2 * int(self.common.sum()) < anyone:
            return GateVerdict.CANNOT_TELL, f"only {int(self.common.sum())} of {anyone} cases were scored for both"
        if self._same_words():
            return GateVerdict.NOT_WORSE, "both said the very same"
        within = ", though a little worse" if high < 0 else ""
        return GateVerdict.NOT_WORSE, f"the whole interval lies within the margin{within}"

    def _at_a_baseline(self, measure: str, values: Ends) -> str:
        """Why two systems that both do no better than a worthless one cannot be compared; empty where one does."""
        names, parts = self.panel.names, self.panel.parts[self.rows][:, self.common]
        if "comments" in names and not parts[:, :, names.index("comments")].any():
            return "neither of the two comments on anything"
        if self._sign(measure) < 0:
            return ""
        baselines = self.run.baselines if measure == self.metric.headline else ()
        rows = [row for row, system in enumerate(self.panel.systems) if system in baselines]
        least = max([0.0, *(value for value in self._values(rows, measure) if value is not None)])
        if any(value is None or value > least + ROUNDING for value in values):
            return ""
        return f"neither of the two is better than a baseline that finds nothing ({least:.2f})"

    def _same_words(self) -> bool:
        """Whether both said the very same on every case, so that no resample can differ."""
        said: list[dict[tuple[str, int], object]] = [{}, {}]
        names = [self.panel.systems[row] for row in self.rows]
        for one in self.run.outcomes:
            if one.system in names and (review := one.review) is not None:
                comments = [(comment.body, comment.span) for comment in review.comments]
                said[names.index(one.system)][one.case, one.attempt] = comments, review.verdict, review.ranked_lines
        return bool(said[0]) and said[0] == said[1]

    # --- intervals

    @cached_property
    def draws(self) -> Measures | None:
        """The resampled measures of both on the common cases; None from fewer than two clusters."""
        return self._draw(self.panel.parts[self.rows], self.common, self.clusters)

    @cached_property
    def _worst_clusters(self) -> Clusters:
        return self.scheme.narrow(np.asarray(self.common | self.lacking))

    @cached_property
    def _worst_draws(self) -> Measures | None:
        """The same with what the candidate lacks counted as worst; None where that cannot be bounded."""
        own = self.panel.worst[self.first].copy()
        missing = self.lacking & (self.panel.status[self.first] == Status.MISSING)
        column = {self.panel.cases[at].id: at for at in np.flatnonzero(missing)}
        for case in self.run.cases if column else ():
            if case.id in column:
                bounds = self.metric.bounds(case)
                if bounds is None:
                    return None
                own[column[case.id]] = [bounds.worst.get(name, 0.0) for name in self.panel.names]
        if not self.panel.bounded[self.first]:
            return None
        kept = np.asarray(self.common | self.lacking)
        return self._draw(np.stack([own, self.panel.parts[self.second]]), kept, self._worst_clusters)

    def _draw(self, parts: Numbers, kept: Flags, clusters: Clusters) -> Measures | None:
        if clusters.count < 2:
            return None
        sums, sizes = self.sums(parts, kept, clusters)
        resampler = Resampler(clusters.count, self.resamples, self.seed)
        return resampled_measures(self.metric, self.panel.names, sums, sizes, resampler)

    def _turned(self, draws: Measures | None, measure: str, clusters: int) -> Ends:
        """The interval of the difference, turned so that more is better."""
        if draws is None:
            return None, None
        gaps: Numbers = self._sign(measure) * (draws.of(measure, 0) - draws.of(measure, 1))
        low, high, _ = difference_interval(gaps, clusters)
        return low, high

    # --- cases

    def cases(self, measure: str) -> list[GateCase]:
        """What every common case adds, the largest losses first."""
        total = self.panel.parts[self.first][self.common].sum(axis=0)
        n = int(self.common.sum())
        found = [self._case(int(column), total, n, measure) for column in np.flatnonzero(self.common)]
        return sorted(found, key=lambda case: (case.gain is None, case.gain or 0.0, case.case))

    def _case(self, column: int, total: Numbers, n: int, measure: str) -> GateCase:
        mine, theirs = (self.panel.attempt_parts(row, column) for row in self.rows)
        own = mine.mean(axis=0)
        rows = np.vstack([own, theirs.mean(axis=0), mine, theirs])
        out = np.broadcast_to(own, rows.shape)
        measures = measure_with(self.metric, self.panel.names, swapped(total, out, rows), n, measure)
        values = self._sign(measure) * measures
        gain = float(values[0] - values[1])
        pairs = values[2 : 2 + len(mine), None] - values[2 + len(mine) :][None, :]
        name = self.panel.cases[column].id
        if not math.isfinite(gain):
            return GateCase(case=name, gain=None, outcome="undefined")
        repeated = len(mine) > 1 or len(theirs) > 1
        unstable = bool((pairs > ROUNDING).any() and (pairs < -ROUNDING).any()) if repeated else None
        if abs(gain) <= ROUNDING:
            return GateCase(case=name, gain=0.0, outcome="tied", unstable=unstable)
        return GateCase(case=name, gain=gain, outcome="won" if gain > 0 else "lost", unstable=unstable)

    def warnings(self) -> Sequence[str]:
        """What must be notes beside the verdict."""
        found = []
        total, n = len(self.panel.cases), int(self.common.sum())
        if n < total:
            found.append(
                f"{n} of {total} cases were scored for both: if they were picked because they tell systems apart, the "
                "difference is larger here than on all of them"
            )
        failed, tried, cases = self.broken
        if failed:
            found.append(f"the candidate failed in {failed} of {tried} attempts, on {cases} cases")
        if max(self.attempts) < 2:
            found.append("one attempt each: which cases are unstable cannot be seen (--attempts 3)")
        named = [self.panel.systems[row] for row in self.rows if self.panel.fake[row].any()]
        return found + [f"{name}: fake, a figure that came from a fake model" for name in named]


def _needed(difference: float, interval: Ends, margin: float, clusters: int) -> int | None:
    """About how many clusters would do, were the (turned) difference and its spread to stay as they are."""
    low, high = interval
    if low is None or high is None:
        return None
    half = (high - low) / 2
    reach = difference + margin if difference > -margin else -difference
    if reach <= ROUNDING or half <= 0:
        return None
    return max(FEWEST, clusters + 1, math.ceil(clusters * (half / reach) ** 2))
