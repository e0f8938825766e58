"""Paired comparison: two systems on the cases that both were scored on, and whether benchmarks rank systems alike.

On injected defects and their twins it counts which defects a system tells from their twins, with McNemar's test between
two systems. Source: McNemar, Note on the sampling error of the difference between correlated proportions or
percentages, Psychometrika 12 (1947); here the exact binomial test on the pairs that only one of the two tells apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from statistics import fmean
from typing import Literal

import numpy as np

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.compare.summary import Ends, headline_order, number, order_ends
from reviewgauge.analysis.stats.arrays import Flags, Numbers, no_measure
from reviewgauge.analysis.stats.bootstrap import (
    ENOUGH_REPOSITORIES,
    UNDEFINED_LIMIT,
    Clusters,
    Measures,
    Resampler,
    cluster_cases,
    difference_interval,
    point_measures,
    resampled_measures,
    sum_by_cluster,
)
from reviewgauge.analysis.stats.power import detectable_difference, standard_error
from reviewgauge.analysis.stats.score_table import ScoreTable, merge_pins, table_of, warn_of_fakes
from reviewgauge.analysis.stats.sign_flip import FlipTest, flip_test, holm
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import ARM, PAIR, Arm, Case, Comment, Review
from reviewgauge.core.reports.leaderboard import (
    Comparison,
    ComparisonTable,
    Estimate,
    Leaderboard,
    McNemar,
    RankAgreement,
    Ranked,
    Rankings,
)
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.twins import Twins, planted

Pairs = Sequence[tuple[str, str]] | Literal["all"] | None


def compare(
    run: ScoredRun,
    *,
    pairs: Pairs = None,
    measures: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> ComparisonTable:
    """Compare the systems of a run two by two on their common cases.

    `pairs` None compares the leader of the leaderboard (the best that is not a baseline) with every other system, "all"
    every two systems. `measures` None is the headline alone; p-values are corrected over all pairs and measures of one
    call but those with a baseline, so every further one costs power. Raises UserError for unknown systems or measures,
    and for fewer than two systems.
    """
    check_settings(resamples)
    metric, baselines = run.metric, run.baselines
    panel = table_of(run)
    if not panel.scored.any():
        raise UserError(f"no case was scored by {run.signature}, so there is nothing to compare")
    order = [panel.systems[row] for row in headline_order(panel, metric, baselines)]
    chosen = _choose(panel, order, pairs)
    wanted = tuple(dict.fromkeys(measures)) if measures else (metric.headline,)
    scheme = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    found: list[Comparison] = []
    warnings = scheme.warnings(expanded=True)
    apart = told_apart(run)
    resamplers: dict[int, Resampler] = {}  # kept: most pairs have the same clusters, and so the same draws
    for first, second in chosen:
        pair = _Compared(run, panel, panel.row(first), panel.row(second), scheme)
        size = pair.clusters.count
        resampler = resamplers.setdefault(size, Resampler(size, resamples, seed))
        comparisons, notes = pair.compare(wanted, resampler)
        tested = mcnemar(apart, first, second)
        found += [one.model_copy(update={"mcnemar": tested}) for one in comparisons] if tested else comparisons
        warnings += notes
    outside = [bool(baselines & {comparison.first, comparison.second}) for comparison in found]
    corrected = holm([None if out else comparison.p for comparison, out in zip(found, outside, strict=True)])
    if any(outside):
        named = ", ".join(s for s in order if s in baselines and s in chain.from_iterable(chosen))
        warnings.append(f"{named}: a baseline, outside of the comparisons that p is corrected over")
    compared = dict.fromkeys(panel.row(system) for system in chain.from_iterable(chosen))
    warnings += [*panel.warnings, *merge_pins(panel)[1], *warn_of_fakes(panel, compared)]
    return ComparisonTable(
        metric=run.signature,
        label=run.label,
        benchmark=run.benchmark,
        dataset=run.dataset,
        clustered_by=scheme.by,
        resamples=resamples,
        seed=seed,
        comparisons=tuple(
            comparison.model_copy(update={"p_holm": p}) for comparison, p in zip(found, corrected, strict=True)
        ),
        warnings=tuple(dict.fromkeys(warnings)),
        estimate_note=metric.estimate_note,
    )


def _choose(panel: ScoreTable, order: Sequence[str], pairs: Pairs) -> list[tuple[str, str]]:
    if pairs is not None and pairs != "all":
        for system in chain.from_iterable(pairs):
            panel.row(system)
        return list(pairs)
    if len(order) < 2:
        raise UserError(f"only {order[0]} has scores, a comparison takes two", remedy="score another run or system")
    return list(combinations(order, 2)) if pairs == "all" else [(order[0], other) for other in order[1:]]


@dataclass(frozen=True)
class SystemPair:
    """Two rows of a table on their common cases. `scheme` says what the whole table is clustered by."""

    run: ScoredRun
    panel: ScoreTable
    first: int
    second: int
    scheme: Clusters

    @property
    def metric(self) -> Metric:
        """What measured."""
        return self.run.metric

    @property
    def rows(self) -> list[int]:
        """The rows of both."""
        return [self.first, self.second]

    @cached_property
    def common(self) -> Flags:
        """The cases that both were scored on (N)."""
        return np.asarray(self.panel.scored[self.rows].all(axis=0))

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters of the common cases."""
        return self.scheme.narrow(self.common)

    def sums(self, parts: Numbers, kept: Flags, clusters: Clusters) -> tuple[Numbers, Numbers]:
        """(the parts of both on the kept cases, summed by cluster; the number of cases in each, for both)."""
        size = sum_by_cluster(kept[None, :, None].astype(np.float64), clusters)[0, :, 0]
        return sum_by_cluster(parts * kept[None, :, None], clusters), np.stack([size, size])


@dataclass(frozen=True)
class _Compared(SystemPair):
    """A pair that `compare` reads several measures of."""

    def compare(self, measures: Sequence[str], resampler: Resampler) -> tuple[list[Comparison], list[str]]:
        """One comparison a measure (without Holm's correction), and notes on them."""
        panel, metric = self.panel, self.metric
        title = f"{panel.systems[self.first]} against {panel.systems[self.second]}"
        common, clusters = self.common, self.clusters
        sums, sizes = self.sums(panel.parts[self.rows], common, clusters)
        points = point_measures(metric, panel.names, sums, sizes)
        for measure in measures:
            if measure not in points.names:
                raise no_measure(metric, measure, points.names)
        draws = resampled_measures(metric, panel.names, sums, sizes, resampler)
        settings = {"draws": resampler.resamples, "seed": resampler.seed}
        tests = flip_test(metric, panel.names, sums[0], sums[1], sizes[0], measures=measures, **settings)
        ends = self._ends(measures)
        notes = [] if common.any() else [f"{title}: no case was scored for both"]
        if common.any() and self.scheme.by == "repository" and clusters.count < ENOUGH_REPOSITORIES:
            notes.append(f"{title}: common cases in {clusters.count} repositories only, the interval is too narrow")
        found: list[Comparison] = []
        for measure in measures:
            comparison, remarks = self._comparison(measure, points, draws, tests[measure])
            found.append(comparison.model_copy(update={"worst": ends[measure][0], "best": ends[measure][1]}))
            notes += [f"{title}: {text}" for text in remarks]
        return found, notes

    def _comparison(
        self, measure: str, points: Measures, draws: Measures, test: FlipTest
    ) -> tuple[Comparison, list[str]]:
        clusters = self.clusters
        one, two = (number(points.of(measure, s)[0]) for s in (0, 1))
        difference = None if one is None or two is None else one - two
        low = high = detectable = None
        notes: list[str] = []
        if difference is not None and clusters.count >= 2:
            gaps: Numbers = draws.of(measure, 0) - draws.of(measure, 1)
            low, high, undefined = difference_interval(gaps, clusters.count)
            if undefined > UNDEFINED_LIMIT:
                notes.append(f"no interval for {measure}, undefined in {undefined:.0%} of the resamples")
            else:
                if test.p is not None and test.p > 0.05 and low is not None and high is not None and low * high > 0:
                    notes.append(
                        f"the interval of the difference in {measure} leaves out 0, but p is {test.p:.2f}: believe p, "
                        "since few changes make the difference and the interval is too narrow"
                    )
                error = standard_error(gaps, clusters.count)
                rounding = 1e-12 * max(abs(one or 0.0), abs(two or 0.0), 1e-300)
                varies = error is not None and error > rounding
                detectable = detectable_difference(error, clusters.count) if varies else None
                too_large = detectable is None or (
                    detectable > 1 and self.metric.units.get(measure, "share") == "share"
                )  # shares differ by 1 at most
                if not varies:
                    notes.append(f"the difference in {measure} never varies, so no detectable difference can be given")
                elif too_large:
                    detectable = None
                    notes.append(f"no difference in {measure}, however large, would have been detected reliably")
        comparison = Comparison(
            measure=measure,
            first=self.panel.systems[self.first],
            second=self.panel.systems[self.second],
            first_value=one,
            second_value=two,
            difference=difference,
            low=low,
            high=high,
            p=test.p,
            p_holm=None,
            test=test.test,
            detectable=detectable,
            n=int(self.common.sum()),
            clusters=clusters.count,
            unit=self.metric.units.get(measure, "share"),
        )
        return comparison, notes

    def _ends(self, measures: Sequence[str]) -> Mapping[str, Ends]:
        """The difference with the failures of both counted against the first system, and for it."""
        panel, rows = self.panel, self.rows
        both = np.asarray(panel.measured[rows].all(axis=0))
        failed = any(row in rows and both[column] for row, column, _ in panel.failed)
        if failed and not panel.bounded[rows].all():
            return dict.fromkeys(measures, (None, None))
        against = self._difference(panel.worst[self.first], panel.best[self.second], both)
        in_favour = self._difference(panel.best[self.first], panel.worst[self.second], both)
        lower = self.metric.lower_is_better
        return {r: order_ends(against.get(r), in_favour.get(r), r in lower) for r in measures}

    def _difference(self, one: Numbers, two: Numbers, cases: Flags) -> dict[str, float | None]:
        sums = np.stack([one, two])[:, cases].sum(axis=1)[:, None]
        points = point_measures(self.metric, self.panel.names, sums, np.full((2, 1), float(cases.sum())))
        return {measure: number(points.of(measure, 0)[0] - points.of(measure, 1)[0]) for measure in points.names}


# --- defects and their twins ----------------------------------------------------------------------------------------

Place = tuple[object, ...]  # a planted place on both arms: the repository, the host, and what is wrong there
Apart = Mapping[str, Mapping[Place, bool]]  # by system


def told_apart(run: ScoredRun) -> Apart:
    """Whether each system found each defect and said nothing on its lines of the twin; empty for other metrics.

    Of several attempts most count. What was not reviewed on both arms is in neither.
    """
    metric = run.metric
    if not isinstance(metric, Twins):
        return {}
    cases = {case.id: case for case in run.cases if case.facts.get(ARM) in (Arm.DEFECT, Arm.TWIN)}
    found: dict[tuple[str, Place], list[float]] = defaultdict(list)
    spoken: dict[tuple[str, Place], list[float]] = defaultdict(list)
    for score in run.scores:
        case = cases.get(score.case)
        if score.matching is not None and case is not None and case.facts[ARM] == Arm.DEFECT:
            known = {one.id: place for place in _places(case) for one in place[1]}
            for group in score.matching.groups:
                found[score.system, known[group.group][0]].append(group.credit)
    for outcome in run.outcomes:
        case = cases.get(outcome.case)
        if outcome.review is not None and case is not None and case.facts[ARM] == Arm.TWIN:
            for place, comments in _places(case):
                stands = any(_stands(outcome.review, one, metric.tolerance) for one in comments)
                spoken[outcome.system, place].append(float(stands))
    result: dict[str, dict[Place, bool]] = defaultdict(dict)
    for (system, place), credits in found.items():
        if (system, place) in spoken:
            result[system][place] = fmean(credits) > 0.5 > fmean(spoken[system, place])
    return result


def mcnemar(apart: Apart, first: str, second: str) -> McNemar | None:
    """The test between two systems on the pairs that both reviewed; None where there are none."""
    one, two = apart.get(first, {}), apart.get(second, {})
    common = one.keys() & two.keys()
    if not common:
        return None
    only_first, only_second = (sum(a[at] and not b[at] for at in common) for a, b in ((one, two), (two, one)))
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    p = min(1.0, 2 * tail / 2**n) if n else None
    return McNemar(pairs=len(common), only_first=only_first, only_second=only_second, p=p)


def _places(case: Case) -> list[tuple[Place, tuple[Comment, ...]]]:
    host = (case.change.repo, case.facts.get(PAIR))
    return [((*host, comments[0].body), comments) for comments in planted(case)]


def _stands(review: Review, finding: Comment, tolerance: int) -> bool:
    return any(locate(comment, finding, tolerance).located for comment in review.comments)


# --- planted and real defects may rank systems differently: do benchmarks agree? -------------------------------------


def rank_alike(boards: Sequence[Leaderboard]) -> Rankings:
    """The systems that all boards have a headline for, in the first one's order. Raises UserError for fewer than 2."""
    known = [{row.system: row.estimate(board.headline) for row in board.systems} for board in boards]
    systems = [name for name in known[0] if all((one := own.get(name)) and one.value is not None for own in known)]
    if len(systems) < 2:
        raise UserError(
            "fewer than two systems have a figure in all of these runs",
            remedy="review every benchmark with the same reviewers under the same names (name=...)",
        )
    ranked = [
        Ranked(
            benchmark=board.benchmark,
            dataset=board.dataset,
            label=board.label,
            measure=board.headline,
            estimates=tuple(one for name in systems if (one := own[name]) is not None),
        )
        for board, own in zip(boards, known, strict=True)
    ]
    pairs = combinations(range(len(ranked)), 2)
    return Rankings(
        systems=tuple(systems), boards=tuple(ranked), agreements=tuple(_agreement(ranked, *two) for two in pairs)
    )


def _agreement(boards: Sequence[Ranked], first: int, second: int) -> RankAgreement:
    from scipy.stats import kendalltau

    one, other = boards[first].estimates, boards[second].estimates
    orders = [(_order(one[a], one[b]), _order(other[a], other[b])) for a, b in combinations(range(len(one)), 2)]
    tau = float(kendalltau([e.value for e in one], [e.value for e in other]).statistic)
    return RankAgreement(
        first=first,
        second=second,
        pairs=len(orders),
        alike=sum(x[0] * y[0] > 0 for x, y in orders),
        opposite=sum(x[0] * y[0] < 0 for x, y in orders),
        surely=sum(x[0] * y[0] < 0 and x[1] and y[1] for x, y in orders),
        tau=None if np.isnan(tau) else tau,
    )


def _order(one: Estimate, other: Estimate) -> tuple[int, bool]:
    """(1, -1 or 0 as one is above, below or equal to the other, whether their intervals are apart)."""
    a, b = one.value or 0.0, other.value or 0.0
    ends = one.low, one.high, other.low, other.high
    if None in ends:
        return (a > b) - (a < b), False
    low, high, other_low, other_high = (end or 0.0 for end in ends)
    return (a > b) - (a < b), low > other_high or high < other_low
