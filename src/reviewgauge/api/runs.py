"""Run folders read together, and what can be made of their scores."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from reviewgauge.analysis.compare import cascade, self_judging
from reviewgauge.analysis.compare.compare import Pairs
from reviewgauge.analysis.compare.compare import compare as make_comparison
from reviewgauge.analysis.compare.leaderboard import leaderboard as make_leaderboard
from reviewgauge.api.classified import classified, renamed_labels
from reviewgauge.api.cutoffs import with_cutoffs
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.plugin import short_spec, signature
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import import_named, load, load_recorded
from reviewgauge.engine.run.folder import REVIEWS, SCORES, RunFolder

T = TypeVar("T", Outcome, Score)


class ScoredRun(NamedTuple):
    """Runs read together: one benchmark, the systems of all of them, and one metric's scores."""

    metric: Metric
    cases: list[Case]
    scores: list[Score]
    outcomes: list[Outcome]
    dataset: str
    benchmark: str
    unscored: tuple[str, ...] = ()
    of_the_judge: tuple[str, ...] = ()  # what must be said of a judge that asks models
    labels: tuple[Label, ...] = ()
    made_by: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # signature and pins of each system's reviewer

    def leaderboard(self, slices: Sequence[str], resamples: int, seed: int) -> Leaderboard:
        """The leaderboard of these scores, with what must be said beside them."""
        slices, said = with_cutoffs(slices, {system: made[0] for system, made in self.made_by.items()})
        cut = classified(self.scores, self.cases, self.labels, self.metric, slices)
        board = make_leaderboard(
            cut.scores,
            cut.cases,
            self.metric,
            dataset=self.dataset,
            benchmark=self.benchmark,
            slices=slices,
            resamples=resamples,
            seed=seed,
        )
        return board.model_copy(update={"warnings": (*self.warnings, *said, *board.warnings)})

    def comparison(
        self, pairs: Pairs, resamples: int, seed: int, *, readings: Sequence[str] | None = None
    ) -> ComparisonTable:
        """The paired comparisons of these scores."""
        return make_comparison(
            self.scores,
            self.cases,
            self.metric,
            dataset=self.dataset,
            benchmark=self.benchmark,
            pairs=pairs,
            readings=readings,
            resamples=resamples,
            seed=seed,
        )

    @property
    def systems(self) -> list[str]:
        """The systems that were scored, in the order of the runs."""
        return list(dict.fromkeys(score.system for score in self.scores))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said wherever these scores are shown."""
        if not self.unscored:
            return self.of_the_judge
        shown = ", ".join(self.unscored[:8]) + (f" and {len(self.unscored) - 8} more" if len(self.unscored) > 8 else "")
        unseen = f"reviewed but not measured with {short_spec(self.metric)}, so not shown: {shown} (reviewgauge score)"
        return (unseen, *self.of_the_judge)


def read_runs(paths: Sequence[str | Path], metric: str | None = None) -> list[ScoredRun]:
    """One entry per metric that the runs were scored with, or for the one that is named.

    Systems that have the same name in two runs are told apart by their run's name. Raises UserError for runs of
    different benchmarks and for runs that nobody scored yet.
    """
    runs = _of_one_benchmark(paths)
    first = runs[0].manifest
    renames = _renames(runs, paths)
    cases = runs[0].cases()
    outcomes = [_renamed(o, renames[i]) for i, run in enumerate(runs) for o in run.outcomes()]
    scores = [_renamed(s, renames[i]) for i, run in enumerate(runs) for s in _scores(run)]
    if not outcomes:
        raise UserError(f"{paths[0]} holds no reviews", remedy=f"reviewgauge review DATASET REVIEWER -o {paths[0]}")
    if metric:
        import_named(metric)
    wanted = signature(load(Metric, metric)) if metric else None
    signatures = list(dict.fromkeys(score.metric for score in scores))
    chosen = [s for s in signatures if wanted is None or s == wanted]
    if not chosen:
        spec = short_spec(load(Metric, metric)) if metric else "hits"
        what = f"with {spec}" if metric else "yet"
        command = shlex.join(["reviewgauge", "score", str(paths[0]), spec])
        raise UserError(f"{paths[0]} was not scored {what}", remedy=command)
    metrics = [load_recorded(Metric, name) for name in chosen]
    if len(runs) > 1 and (apart := [m for m in metrics if m.joint]):
        raise UserError(
            f"{short_spec(apart[0])} looks at all systems of a run together, and these were measured run by run",
            remedy="review them into one folder, or choose another metric with --metric",
        )
    labels = tuple(label for i, run in enumerate(runs) for label in renamed_labels(run.labels(), renames[i]))
    systems = list(dict.fromkeys(outcome.system for outcome in outcomes))
    made_by = {
        names.get(system, system): (entry.signature, *entry.pins.values())
        for run, names in zip(runs, renames, strict=True)
        for system, entry in run.manifest.systems.items()
    }
    by_metric = {name: [s for s in scores if s.metric == name] for name in signatures}
    entries = []
    for loaded, name in zip(metrics, chosen, strict=True):
        mine = by_metric[name]
        seen = {s.system for s in mine}
        unscored = tuple(system for system in systems if system not in seen)
        own = self_judging.warnings(loaded.models, {s: made_by.get(s, ()) for s in systems if s in seen})
        said = (*own, *cascade.notes(loaded, mine, by_metric))
        entries.append(
            ScoredRun(loaded, cases, mine, outcomes, first.dataset, first.benchmark, unscored, said, labels, made_by)
        )
    return entries


def _of_one_benchmark(paths: Sequence[str | Path]) -> list[RunFolder]:
    """The runs. Raises UserError for runs of different benchmarks, and for one that is named twice."""
    runs = [RunFolder.open(Path(path)) for path in paths]
    if not runs:
        raise UserError("no run folder given")
    places = [Path(path).resolve() for path in paths]
    if twice := next((path for i, path in enumerate(paths) if places[i] in places[:i]), None):
        raise UserError(f"{twice} is named twice", remedy="name each run once")
    first = runs[0].manifest
    for run, path in zip(runs, paths, strict=True):
        if run.manifest.benchmark != first.benchmark:
            raise UserError(
                f"{paths[0]} and {path} are runs of different benchmarks ({first.dataset}, {run.manifest.dataset})",
                remedy="only runs on the same cases can be held against each other",
            )
    return runs


def _scores(run: RunFolder) -> list[Score]:
    """The run's scores. Raises UserError where their reviews are gone or were changed since."""
    there = {(o.case, o.system, o.attempt): o for o in run.outcomes()}
    scores = run.scores()
    of = [there.get((s.case, s.system, s.attempt)) for s in scores]
    orphans = [score for score, outcome in zip(scores, of, strict=True) if outcome is None]
    if there and orphans:
        raise UserError(
            f"{run.path / SCORES} holds {len(orphans)} scores of reviews that {REVIEWS} does not hold, "
            f"such as {orphans[0].system} on {orphans[0].case}",
            remedy=f"remove {SCORES} and score again",
        )
    changed = [s for s, outcome in zip(scores, of, strict=True) if outcome and not outcome.is_measured_by(s)]
    if changed:
        raise UserError(
            f"{run.path}: {len(changed)} reviews are not those that were measured, "
            f"such as {changed[0].system} on {changed[0].case}",
            remedy=shlex.join(["reviewgauge", "score", str(run.path), _short(changed[0].metric)]),
        )
    return scores


def _short(metric: str) -> str:
    """A stored metric as people write it; of code that nobody named, as it stands."""
    try:
        return short_spec(load_recorded(Metric, metric))
    except UserError:
        return metric


def _renames(runs: Sequence[RunFolder], paths: Sequence[str | Path]) -> list[dict[str, str]]:
    systems = [{outcome.system for outcome in run.outcomes()} for run in runs]
    names = [Path(path).resolve().name for path in paths]
    result = []
    for i, own in enumerate(systems):
        others = set().union(*(s for j, s in enumerate(systems) if j != i))
        label = names[i] if names.count(names[i]) == 1 else f"{names[i]}-{i + 1}"
        result.append({system: f"{label}:{system}" for system in own & others})
    return result


def _renamed(record: T, names: dict[str, str]) -> T:
    return record.model_copy(update={"system": names[record.system]}) if record.system in names else record
