"""How good n attempts are together, for every n, from one stored set of attempts.

The attempts of a run are put together in random subsets of each size, and each case's measurement is the mean over the
subsets. So no reviewer is asked again, and a lucky choice of attempts evens out. After SWR-Bench (arXiv:2509.01494),
Figure 7, which shows one choice for each n.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric, Progress
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import ComparisonTable
from reviewgauge.core.results import Failed, Failure, FailureKind, Outcome, Score
from reviewgauge.core.specs import all_pins, short_spec, signature
from reviewgauge.engine.measure import measure
from reviewgauge.engine.run.executors import Executor, failure_of
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.models.chat.client import track_usage
from reviewgauge.reviewers.aggregation.ballot import Attempted, Ballot, answered
from reviewgauge.reviewers.aggregation.model_report import ModelReport

By = Literal["alone", "votes", "model"]
Attempt = tuple[str, int]  # (system, attempt)
_WAYS: tuple[By, ...] = ("alone", "votes", "model")
USUAL = (1, 2, 3, 5, 10, 20, 50, 100)  # attempts
_TRIES = 50  # random draws for each subset that is wanted, most of which are new


@dataclass(frozen=True)
class CurveSettings:
    """`systems` are those whose attempts are taken, by default the only one with several.

    `judge` and `least` are those of votes; `model` also lets a model put the attempts together. `sizes` are the
    numbers of attempts (the usual ones, and all, where empty), `subsets` how many of each are drawn.
    """

    metric: Metric
    systems: tuple[str, ...] = ()
    judge: str = "lexical"
    least: int = 0
    model: str = ""
    sizes: tuple[int, ...] = ()
    subsets: int = 20
    resamples: int = 10_000
    seed: int = 0


class _Work(NamedTuple):
    """One case with all its attempts, and the subsets of one size that are put together."""

    case: Case
    attempts: Sequence[Attempted]
    ballot: Ballot
    by: By
    n: int
    subsets: Sequence[tuple[int, ...]]

    @property
    def system(self) -> str:
        """The name of this point of the curve."""
        return point_name(self.by, self.n)


def point_name(by: By, n: int) -> str:
    """A point of the curve as the name of a system."""
    return "one attempt" if by == "alone" else f"{by} of {n}"


def ensemble_curve(
    run: RunFolder, settings: CurveSettings, executor: Executor, progress: Progress | None = None
) -> Curve:
    """The curve of the attempts in a run. Raises UserError."""
    if settings.metric.joint:
        raise UserError(f"{short_spec(settings.metric)} looks at all systems together, and a curve has no others")
    outcomes = run.outcomes()
    systems = _systems(outcomes, settings.systems)
    pool = list(dict.fromkeys((o.system, o.attempt) for o in outcomes if o.system in systems))
    work = list(_work(run.cases(), outcomes, pool, settings))
    scores: list[Score] = []
    with closing(executor.map(_Job(settings, run.manifest.benchmark), work)) as finished:
        for done, (_, value) in enumerate(finished, 1):
            if isinstance(value, Failed):
                raise value
            if isinstance(value, Failure):
                raise Failed(value.kind, value.message)
            scores += value
            if progress is not None:
                progress(done, len(work), "putting attempts together")
    return _curve(run, pool, settings, work, scores)


def _systems(outcomes: Sequence[Outcome], wanted: Sequence[str]) -> tuple[str, ...]:
    known = list(dict.fromkeys(outcome.system for outcome in outcomes))
    if missing := [system for system in wanted if system not in known]:
        raise UserError(f"the run holds no system {missing[0]!r}", remedy=f"it has: {', '.join(known) or 'none'}")
    if not wanted:
        several = list(dict.fromkeys(outcome.system for outcome in outcomes if outcome.attempt > 1))
        if len(several) > 1:
            named = ", ".join(several)
            raise UserError(f"several systems made more than one attempt: {named}", remedy="--system names one or more")
        wanted = several
    attempts = {(outcome.system, outcome.attempt) for outcome in outcomes if outcome.system in wanted}
    if len(attempts) < 2:
        what = f"{wanted[0]} made one attempt" if wanted else "no system made more than one attempt"
        raise UserError(what, remedy="reviewgauge review BENCHMARK REVIEWER --attempts 10 -o RUN")
    return tuple(wanted)


def sizes_of(stored: int, settings: CurveSettings) -> list[int]:
    """The numbers of attempts, one among them. Raises UserError for one that the run does not have."""
    if wrong := [n for n in settings.sizes if not 1 <= n <= stored]:
        raise UserError(f"{wrong[0]} attempts cannot be drawn: the run holds {stored}")
    wanted = settings.sizes or [n for n in (*USUAL, stored) if n <= stored]
    return sorted({1, *wanted})


def draw(stored: int, n: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """At most `most` different subsets of size `n`, at random; all of them where there are no more."""
    if math.comb(stored, n) <= most:
        return list(combinations(range(stored), n))
    source = random.Random(f"{seed} {stored} {n}")
    found: dict[tuple[int, ...], None] = {}
    for _ in range(_TRIES * most):
        found[tuple(sorted(source.sample(range(stored), n)))] = None
        if len(found) == most:
            break
    return list(found)


def _work(
    cases: Sequence[Case], outcomes: Sequence[Outcome], pool: Sequence[Attempt], settings: CurveSettings
) -> Iterator[_Work]:
    if settings.subsets < 1:
        raise UserError(f"subsets must be positive, got {settings.subsets}")
    if not 0 <= settings.least <= len(pool):
        raise UserError(f"least must be from 0 to the {len(pool)} attempts of the run, got {settings.least}")
    known = {(o.case, o.system, o.attempt): o for o in outcomes}
    sizes = sizes_of(len(pool), settings)
    drawn = {n: draw(len(pool), n, settings.subsets if n > 1 else len(pool), settings.seed) for n in sizes}
    for case in cases:
        attempts = [_attempted(known.get((case.id, *attempt)), attempt) for attempt in pool]
        reviews = [one.answer for one in attempts if isinstance(one.answer, Review)]
        change = case.change.model_copy(update={"id": case.id})
        ballot = Ballot(change, reviews, settings.judge)
        for n, subsets in drawn.items():
            for by in _ways(n, settings):
                yield _Work(case, attempts, ballot, by, n, subsets)


def _ways(n: int, settings: CurveSettings) -> Iterator[By]:
    if n == 1:
        yield "alone"
        return
    if n >= settings.least:
        yield "votes"
    if settings.model:
        yield "model"


def _attempted(outcome: Outcome | None, attempt: Attempt) -> Attempted:
    name = f"attempt {attempt[1]} of {attempt[0]}"
    if outcome is None or (outcome.review is None and outcome.failure is None):
        return Attempted(name, Failed(FailureKind.CRASH, "it is not in the run"))
    if outcome.review is not None:
        return Attempted(name, outcome.review)
    failure = outcome.failure
    assert failure is not None
    return Attempted(name, Failed(failure.kind, failure.message))


@dataclass(frozen=True)
class _Job:
    """Puts the subsets of one case and size together and measures each; a Failed is one that stops everything."""

    settings: CurveSettings
    benchmark: str

    def __call__(self, work: _Work) -> list[Score] | Failed:
        try:
            return [self._score(work, at, subset) for at, subset in enumerate(work.subsets, start=1)]
        except Failed as error:
            return error

    @property
    def metric(self) -> Metric:
        """What measures."""
        return self.settings.metric

    def _score(self, work: _Work, at: int, subset: tuple[int, ...]) -> Score:
        with track_usage() as tracker:
            value = self._measured(work, subset)
        blank = Score(
            case=work.case.id,
            system=work.system,
            attempt=at,
            metric=signature(self.metric),
            benchmark=self.benchmark,
            pins=all_pins(self.metric),
            usage=tracker.usage,
            fake=tracker.fake or any(isinstance(a := work.attempts[i].answer, Review) and a.fake for i in subset),
        )
        if isinstance(value, str):
            return blank.model_copy(update={"reason": value})
        if isinstance(value, Failure):
            return blank.model_copy(update={"failure": value, "bounds": self.metric.bounds(work.case)})
        return blank.model_copy(update={"parts": value.parts, "fake": blank.fake or value.fake})

    def _measured(self, work: _Work, subset: tuple[int, ...]) -> Measured | str | Failure:
        if why := self.metric.unmeasurable(work.case):
            return why
        try:
            review = self._together(work, subset)
        except Failed as error:
            if error.stops:
                raise
            return failure_of(error)
        return next(measure(self.metric, [(work.case, review)]))

    def _together(self, work: _Work, subset: tuple[int, ...]) -> Review:
        chosen = [work.attempts[at] for at in subset]
        reviews = answered(chosen)
        if work.by == "alone":
            return reviews[0]
        if work.by == "model":
            made = ModelReport(self.settings.model).report(work.ballot.change, reviews)
        else:
            places = {id(review): at for at, review in enumerate(work.ballot.reviews)}
            made = work.ballot.report(self.settings.least, [places[id(review)] for review in reviews])
        return made.model_copy(update={"system": work.system})


def _curve(
    run: RunFolder, pool: Sequence[Attempt], settings: CurveSettings, work: Sequence[_Work], scores: Sequence[Score]
) -> Curve:
    scored = ScoredRun(
        metric=settings.metric,
        cases=run.cases(),
        scores=scores,
        dataset=run.manifest.dataset,
        benchmark=run.manifest.benchmark,
    )
    board = leaderboard(scored, resamples=settings.resamples, seed=settings.seed)
    summaries = {summary.system: summary for summary in board.systems}
    subsets = {(one.by, one.n): len(one.subsets) for one in work}
    points = sorted(subsets, key=lambda point: (_WAYS.index(point[0]), point[1]))
    return Curve(
        run=str(run.path),
        dataset=board.dataset,
        benchmark=board.benchmark,
        systems=tuple(dict.fromkeys(system for system, _ in pool)),
        stored=len(pool),
        judge=settings.judge,
        least=settings.least,
        model=settings.model,
        metric=board.metric,
        label=board.label,
        headline=board.headline,
        points=tuple(
            CurvePoint(by=by, n=n, subsets=subsets[by, n], summary=summaries[point_name(by, n)]) for by, n in points
        ),
        comparisons=_comparisons(scored, dict(points), settings),
        clustered_by=board.clustered_by,
        clusters=board.clusters,
        resamples=board.resamples,
        seed=board.seed,
        estimate_note=board.estimate_note,
        warnings=board.warnings,
    )


def _comparisons(scored: ScoredRun, most: Mapping[By, int], settings: CurveSettings) -> ComparisonTable | None:
    """The most attempts against one alone, and the model against the votes. `most`: the largest n of each way."""
    if not any(score.parts is not None for score in scored.scores):
        return None
    ways: Sequence[By] = [by for by in ("votes", "model") if by in most]
    pairs = [(point_name(by, most[by]), point_name("alone", 1)) for by in ways]
    if len(ways) > 1:
        pairs.append((point_name("model", most["model"]), point_name("votes", most["votes"])))
    return compare(scored, pairs=pairs, resamples=settings.resamples, seed=settings.seed) if pairs else None
