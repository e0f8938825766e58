"""Is the candidate not worse than the baseline, and which few cases tell systems apart best for a quick look?

The gate is paired non-inferiority on the cases that both were scored on. The whole interval of the difference above
-margin: not worse. The whole interval below zero: worse. Else it cannot be told, nor can it from fewer than six
clusters, where no resampling reaches the tails. The interval is that of `compare`, to the digit. Source: Wellek,
Testing Statistical Hypotheses of Equivalence and Noninferiority (2010), chapter 2 (interval inclusion).

For a quick look (`smoke`) each case is judged by what it does to a middling system's reading when that system's parts
on it are replaced by each system's in turn, and how far that goes with what the systems do on all other cases. Source:
the corrected item-total covariance of test theory (Lord and Novick, Statistical Theories of Mental Test Scores, 1968,
chapter 15), with the variance between attempts in the denominator, so that a case that flips from attempt to attempt is
not picked. Of two systems every case goes with the rest one way or the other, so there the size of the difference
counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.compare.summary import number
from reviewgauge.analysis.stats.arrays import ROUNDING, Flags, Integers, Numbers, reading_with, swapped
from reviewgauge.analysis.stats.bootstrap import (
    LEVEL,
    Resampler,
    cluster_cases,
    difference_interval,
    resampled_readings,
    sum_by_cluster,
)
from reviewgauge.analysis.stats.score_table import ScoreTable, Status, lay_out, merge_pins
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.gate import Gate, GateCase, GateVerdict, SmokeCase, SmokeSet
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.engine.run.scored_run import ScoredRun

FEWEST = 6  # clusters; with fewer, all of them on one side happen by chance in more than 2.5% of the draws (.5 ** n)
FEWEST_RESAMPLES = 200


def gate(
    run: ScoredRun,
    *,
    candidate: str,
    baseline: str,
    margin: float,
    reading: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> Gate:
    """Whether `candidate` is at most `margin` worse than `baseline` in `reading` (the headline when empty).

    `margin` is in the reading's unit. Raises UserError for unknown systems or readings and for a negative margin.
    """
    _check(candidate, baseline, margin, resamples)
    metric, name = run.metric, reading or run.metric.headline
    panel = lay_out(run.scores, run.cases, metric, run.benchmark)
    rows = [panel.row(candidate), panel.row(baseline)]
    paired = _PairedReading(panel, metric, name, rows[0], rows[1], resamples, seed)
    one, two = paired.values()
    found = paired.interval(panel.parts[rows], paired.common)
    failed = int(paired.failed_alone.sum())
    pessimist = paired.pessimistic() if failed else None
    difference = None if one is None or two is None else one - two
    ruling = _Ruling(paired.sign, margin, difference, found, pessimist, failed)
    verdict, reason = ruling.verdict()
    return Gate(
        verdict=verdict,
        reason=reason,
        metric=signature(metric),
        label=short_spec(metric),
        reading=name,
        unit=metric.units.get(name, "share"),
        lower_is_better=paired.sign < 0,
        margin=margin,
        candidate=candidate,
        baseline=baseline,
        candidate_value=one,
        baseline_value=two,
        difference=difference,
        low=found.low,
        high=found.high,
        low_if_worst=pessimist and (pessimist.low if paired.sign > 0 else pessimist.high),
        level=LEVEL,
        n=int(paired.common.sum()),
        of=len(panel.cases),
        clusters=found.clusters,
        clustered_by=found.by,
        attempts=paired.attempts,
        failed=failed,
        needed=ruling.needed() if verdict is GateVerdict.CANNOT_TELL else None,
        cases=tuple(paired.cases()),
        dataset=run.dataset,
        benchmark=run.benchmark,
        resamples=resamples,
        seed=seed,
        fake=bool(panel.fake[rows].any()),
        estimate_note=metric.estimate_note,
        warnings=tuple(dict.fromkeys([*paired.warnings(), *found.warnings, *merge_pins(panel)[1]])),
    )


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
class _Interval:
    low: float | None
    high: float | None
    clusters: int
    by: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Ruling:
    """The rule, on a difference turned so that more is better for the candidate."""

    sign: int
    margin: float
    difference: float | None
    interval: _Interval
    pessimist: _Interval | None
    failed: int

    def verdict(self) -> tuple[GateVerdict, str]:
        """The verdict and its reason in words."""
        low, high = self._turned(self.interval)
        if self.difference is None:
            return GateVerdict.CANNOT_TELL, "the reading is undefined for one of the two"
        if low is None or high is None:
            return GateVerdict.CANNOT_TELL, "there is no interval: too few cases were scored for both"
        if self.interval.clusters < FEWEST:
            found = f"{self.interval.clusters} clusters are too few for a verdict: {FEWEST} are the least"
            return GateVerdict.CANNOT_TELL, found
        if low > -self.margin or (low == high == 0 and self.margin == 0):
            if self.pessimist is not None:
                worst = self._turned(self.pessimist)[0]
                if worst is None or worst <= -self.margin:
                    return (
                        GateVerdict.CANNOT_TELL,
                        f"not worse on what was scored, but it failed on {self.failed} cases that the baseline did, "
                        "and with these counted as worst it may be worse",
                    )
            within = ", though a little worse" if high < 0 else ""
            return GateVerdict.NOT_WORSE, f"the whole interval lies above the margin{within}"
        if high < 0:
            return GateVerdict.WORSE, "the whole interval lies below zero, and reaches past the margin"
        return GateVerdict.CANNOT_TELL, "the interval reaches past the margin, and does not lie below zero"

    def _turned(self, found: _Interval) -> tuple[float | None, float | None]:
        if found.low is None or found.high is None:
            return None, None
        return (found.low, found.high) if self.sign > 0 else (-found.high, -found.low)

    def needed(self) -> int | None:
        """About how many clusters would do, were the difference and its spread to stay as they are."""
        low, high = self._turned(self.interval)
        if low is None or high is None or self.difference is None:
            return None
        turned = self.sign * self.difference
        half = (high - low) / 2
        reach = turned + self.margin if turned > -self.margin else -turned
        if reach <= ROUNDING or half <= 0:
            return None
        return max(FEWEST, self.interval.clusters + 1, math.ceil(self.interval.clusters * (half / reach) ** 2))


@dataclass(frozen=True)
class _PairedReading:
    """Two rows of a panel and one reading."""

    panel: ScoreTable
    metric: Metric
    reading: str
    first: int
    second: int
    resamples: int
    seed: int

    @property
    def sign(self) -> int:
        """-1 where less is better."""
        return -1 if self.reading in self.metric.lower_is_better else 1

    @property
    def common(self) -> Flags:
        """The cases that both were scored on (N)."""
        return np.asarray(self.panel.scored[[self.first, self.second]].all(axis=0))

    @property
    def failed_alone(self) -> Flags:
        """The cases on which the candidate failed and the baseline was scored (N)."""
        failed = self.panel.status[self.first] == Status.FAILED
        return np.asarray(failed & self.panel.scored[self.second])

    @property
    def attempts(self) -> tuple[int, int]:
        """The most attempts that each system made at a case."""
        most = self.panel.attempts[[self.first, self.second]].max(axis=1, initial=0)
        return int(most[0]), int(most[1])

    def values(self) -> tuple[float | None, float | None]:
        """The reading of both on the common cases."""
        rows = self.panel.parts[[self.first, self.second]][:, self.common].sum(axis=1)
        found = reading_with(self.metric, self.panel.names, rows, int(self.common.sum()), self.reading)
        return number(found[0]), number(found[1])

    def interval(self, parts: Numbers, kept: Flags) -> _Interval:
        """The interval of candidate - baseline, resampling clusters of the `kept` cases. `parts` is 2 x N x K."""
        clusters = cluster_cases(self.panel.cases, np.asarray(self.panel.scored.any(axis=0))).narrow(kept)
        if clusters.count < 2:
            return _Interval(None, None, clusters.count, clusters.by, tuple(clusters.warnings(expanded=True)))
        sums = sum_by_cluster(parts * kept[None, :, None], clusters)
        size = sum_by_cluster(kept[None, :, None].astype(np.float64), clusters)[0, :, 0]
        resampler = Resampler(clusters.count, self.resamples, self.seed)
        draws = resampled_readings(self.metric, self.panel.names, sums, np.stack([size, size]), resampler)
        gaps: Numbers = draws.of(self.reading, 0) - draws.of(self.reading, 1)
        low, high, undefined = difference_interval(gaps, clusters.count)
        notes = clusters.warnings(expanded=True)
        if low is not None and low == high:
            notes.append(
                "every resample gives the same difference, so the interval has no width: "
                f"{clusters.count} clusters are not as sure as that"
            )
        if low is None:
            notes.append(f"no interval: {self.reading} is undefined in {undefined:.0%} of the resamples")
        return _Interval(low, high, clusters.count, clusters.by, tuple(notes))

    def pessimistic(self) -> _Interval:
        """The interval with the candidate's failures counted as worst, without ends where they cannot be bounded."""
        if not self.panel.bounded[self.first]:
            return _Interval(None, None, 0, "")
        parts = np.stack([self.panel.worst[self.first], self.panel.parts[self.second]])
        return self.interval(parts, np.asarray(self.common | self.failed_alone))

    def cases(self) -> list[GateCase]:
        """What every common case adds, the largest losses first."""
        total = self.panel.parts[self.first][self.common].sum(axis=0)
        n = int(self.common.sum())
        found = [self._case(int(column), total, n) for column in np.flatnonzero(self.common)]
        return sorted(found, key=lambda case: (case.gain is None, case.gain or 0.0, case.case))

    def _case(self, column: int, total: Numbers, n: int) -> GateCase:
        mine, theirs = (self.panel.attempt_parts(row, column) for row in (self.first, self.second))
        own = mine.mean(axis=0)
        rows = np.vstack([own, theirs.mean(axis=0), mine, theirs])
        out = np.broadcast_to(own, rows.shape)
        values = self.sign * reading_with(self.metric, self.panel.names, swapped(total, out, rows), n, self.reading)
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
        if max(self.attempts) < 2:
            found.append("one attempt each: which cases are unstable cannot be seen (--attempts 3)")
        rows = ((self.first, self.panel.systems[self.first]), (self.second, self.panel.systems[self.second]))
        found += [f"{name}: fake, a figure that came from a fake model" for r, name in rows if self.panel.fake[r].any()]
        return found


# --- a quick look ---------------------------------------------------------------------------------------------------


def smoke(run: ScoredRun, *, count: int, reading: str = "") -> SmokeSet:
    """The `count` cases that separated these systems best. Clean changes keep the share that they have in the whole.

    Raises UserError for fewer than two systems, and where fewer cases were scored for all of them.
    """
    if count < 1:
        raise UserError(f"--smoke {count} asks for no case")
    metric = run.metric
    panel = lay_out(run.scores, run.cases, metric, run.benchmark)
    if len(panel.systems) < 2:
        raise UserError("it takes two systems to see which cases tell systems apart", remedy="name a second run")
    kept = np.flatnonzero(panel.scored.all(axis=0))
    if len(kept) < count:
        raise UserError(f"{len(kept)} cases were scored for all systems, fewer than {count}")
    effects, noise = _effects(panel, metric, reading or metric.headline, kept)
    chosen = _choose(panel, kept, effects, noise, count)
    warnings = [] if len(panel.systems) > 2 else ["picked from two systems: what sets these two apart may not others"]
    warnings.append("the cases were picked because they tell systems apart: differences on them are exaggerated")
    return SmokeSet(
        metric=signature(metric),
        label=short_spec(metric),
        reading=reading or metric.headline,
        systems=panel.systems,
        of=len(panel.cases),
        dataset=run.dataset,
        benchmark=run.benchmark,
        cases=tuple(chosen),
        warnings=tuple(warnings),
    )


def _effects(panel: ScoreTable, metric: Metric, reading: str, kept: Integers) -> tuple[Numbers, Numbers]:
    """(what each system's parts on each case do to the mean system's reading: S x n, noise between attempts: n).

    An undefined effect counts as none.
    """
    systems, sign = len(panel.systems), -1 if reading in metric.lower_is_better else 1
    middle = panel.parts[:, kept].mean(axis=0)
    total = middle.sum(axis=0)
    base = float(reading_with(metric, panel.names, total[None], len(kept), reading)[0])
    effects, noise = np.zeros((systems, len(kept))), np.full(len(kept), np.nan)
    for at, column in enumerate(kept):
        groups = [panel.attempt_parts(row, int(column)) for row in range(systems)]
        rows = swapped(total, middle[at], np.concatenate(groups))
        values = np.nan_to_num(sign * (reading_with(metric, panel.names, rows, len(kept), reading) - base), nan=0.0)
        by_system = np.split(values, np.cumsum([len(group) for group in groups])[:-1])
        effects[:, at] = [own.mean() for own in by_system]
        if spread := [own.var(ddof=1) / own.size for own in by_system if own.size > 1]:
            noise[at] = float(np.mean(spread))
    return effects, noise


def _choose(panel: ScoreTable, kept: Integers, effects: Numbers, noise: Numbers, count: int) -> list[SmokeCase]:
    """The best of the clean changes and of the others, each by its share of the whole, best first."""
    centred = effects - effects.mean(axis=0)
    rest = centred.sum(axis=1, keepdims=True) - centred
    separation = (centred * rest).mean(axis=0)
    between = centred.var(axis=0)
    spread = between + np.nan_to_num(noise, nan=0.0)
    scale = np.divide(1 if len(centred) > 2 else between, spread, out=np.zeros_like(spread), where=spread > 0)
    worth = separation * np.sqrt(scale)
    clean = np.array([panel.cases[int(column)].clean for column in kept], dtype=np.bool_)
    quiet = round(count * clean.mean())
    order = sorted(range(len(kept)), key=lambda at: (-worth[at], panel.cases[int(kept[at])].id))
    picked = {*[at for at in order if clean[at]][:quiet], *[at for at in order if not clean[at]][: count - quiet]}
    return [
        SmokeCase(
            case=panel.cases[int(kept[at])].id,
            separation=float(separation[at]),
            noise=None if np.isnan(noise[at]) else float(noise[at]),
            clean=bool(clean[at]),
        )
        for at in order
        if at in picked
    ]
