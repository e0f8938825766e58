"""One metric's scores of one or more runs, read together: what leaderboards, comparisons and gates are made from."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Metric, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import import_named, load, load_recorded, short_spec, signature
from reviewgauge.engine.run.folder import REVIEWS, SCORES, RunFolder

T = TypeVar("T", Outcome, Score)


@dataclass(frozen=True)
class ScoredRun:
    """One metric's scores on one benchmark.

    `unscored` are systems that were reviewed but not measured with this metric. `reviewers` has the signature and the
    pins of the reviewer behind each system. `by_metric` has the scores of the same runs with every metric, by its
    signature. `systems_in` has, for each run, its scored systems by their own name, with the name that they have here.
    """

    metric: Metric
    cases: Sequence[Case]
    scores: Sequence[Score]
    dataset: str = ""
    benchmark: str = ""
    outcomes: Sequence[Outcome] = ()
    labels: Sequence[Label] = ()
    unscored: Sequence[str] = ()
    reviewers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_metric: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    systems_in: Sequence[Mapping[str, str]] = ()

    @property
    def systems(self) -> list[str]:
        """The systems that were scored, in the order of the runs."""
        return list(dict.fromkeys(score.system for score in self.scores))

    @property
    def floors(self) -> frozenset[str]:
        """The systems that are there to be beaten, such as silence."""
        return frozenset(system for system, known in self.reviewers.items() if _is_floor(known[0]))

    def only(self, systems: Sequence[str]) -> ScoredRun:
        """The scores of these systems alone."""
        return replace(self, scores=[score for score in self.scores if score.system in systems])


def _is_floor(spec: str) -> bool:
    try:
        return load_recorded(Reviewer, spec).floor
    except UserError:  # recorded reviews, and code outside the package that the user did not name
        return False


def read_scored_runs(paths: Sequence[str | Path], metric: str | None = None) -> list[ScoredRun]:
    """One ScoredRun per metric that the runs were scored with, or for the metric that is named.

    Systems that have the same name in two runs get their run's name in front. Raises UserError for runs of different
    benchmarks, and for runs that were not scored.
    """
    runs = open_runs(paths)
    renames = _renames(runs, paths)
    outcomes = [_renamed(o, names) for run, names in zip(runs, renames, strict=True) for o in run.outcomes()]
    if not outcomes:
        raise UserError(f"{paths[0]} holds no reviews", remedy=f"reviewgauge review DATASET REVIEWER -o {paths[0]}")
    scores = [[_renamed(score, names) for score in _scores(run)] for run, names in zip(runs, renames, strict=True)]
    chosen = _choose_metrics([s for own in scores for s in own], metric, paths[0], several=len(runs) > 1)
    by_metric: dict[str, list[Score]] = {}
    for score in (s for own in scores for s in own):
        by_metric.setdefault(score.metric, []).append(score)
    blank = ScoredRun(
        metric=next(iter(chosen.values())),
        cases=runs[0].cases(),
        scores=(),
        dataset=runs[0].manifest.dataset,
        benchmark=runs[0].manifest.benchmark,
        outcomes=outcomes,
        labels=[label for run, names in zip(runs, renames, strict=True) for label in _renamed_labels(run, names)],
        reviewers={
            names.get(system, system): (entry.signature, *entry.pins.values())
            for run, names in zip(runs, renames, strict=True)
            for system, entry in run.manifest.systems.items()
        },
        by_metric=by_metric,
    )
    return [_of_metric(blank, name, loaded, scores, renames) for name, loaded in chosen.items()]


def _of_metric(
    blank: ScoredRun,
    name: str,
    metric: Metric,
    scores: Sequence[Sequence[Score]],
    renames: Sequence[Mapping[str, str]],
) -> ScoredRun:
    original = [{new: old for old, new in names.items()} for names in renames]
    scored = [dict.fromkeys(score.system for score in own if score.metric == name) for own in scores]
    seen = {system for own in scored for system in own}
    return replace(
        blank,
        metric=metric,
        scores=blank.by_metric[name],
        unscored=tuple(dict.fromkeys(o.system for o in blank.outcomes if o.system not in seen)),
        systems_in=[{old.get(s, s): s for s in own} for old, own in zip(original, scored, strict=True)],
    )


def _choose_metrics(scores: Sequence[Score], wanted: str | None, path: str | Path, several: bool) -> dict[str, Metric]:
    """The metrics by the signature that their scores carry. Raises UserError where there is none."""
    names = list(dict.fromkeys(score.metric for score in scores if wanted or score.parts is not None or score.failure))
    spec = "hits"
    if wanted:
        import_named(wanted)
        asked = load(Metric, wanted)
        spec, names = short_spec(asked), [name for name in names if name == signature(asked)]
    if not names:
        command = shlex.join(["reviewgauge", "score", str(path), spec])
        raise UserError(f"{path} was not scored {f'with {spec}' if wanted else 'yet'}", remedy=command)
    found = {name: load_recorded(Metric, name) for name in names}
    joint = [metric for metric in found.values() if metric.joint]
    if several and joint:
        raise UserError(
            f"{short_spec(joint[0])} looks at all systems of a run together, and these were measured run by run",
            remedy="review them into one folder, or choose another metric with --metric",
        )
    return found


def open_runs(paths: Sequence[str | Path]) -> list[RunFolder]:
    """The runs in these folders. Raises UserError for runs of different benchmarks, and for one that is named twice."""
    check_named_once(paths)
    runs = [RunFolder.open(Path(path)) for path in paths]
    first = runs[0].manifest
    for run, path in zip(runs, paths, strict=True):
        if run.manifest.benchmark != first.benchmark:
            raise UserError(
                f"{paths[0]} and {path} are runs of different benchmarks ({first.dataset}, {run.manifest.dataset})",
                remedy="only runs on the same cases can be compared",
            )
    return runs


def check_named_once(paths: Sequence[str | Path]) -> None:
    """Raise UserError where no run is named, or one twice."""
    if not paths:
        raise UserError("no run folder given")
    places = [Path(path).resolve() for path in paths]
    if twice := next((path for i, path in enumerate(paths) if places[i] in places[:i]), None):
        raise UserError(f"{twice} is named twice", remedy="name each run once")


def _scores(run: RunFolder) -> list[Score]:
    """The run's scores. Raises UserError where their reviews are gone or were changed since."""
    outcomes = {(o.case, o.system, o.attempt): o for o in run.outcomes()}
    scores = run.scores()
    measured = [(score, outcomes.get((score.case, score.system, score.attempt))) for score in scores]
    orphans = [score for score, outcome in measured if outcome is None]
    if outcomes and orphans:
        raise UserError(
            f"{run.path / SCORES} holds {len(orphans)} scores of reviews that {REVIEWS} does not hold, "
            f"such as {orphans[0].system} on {orphans[0].case}",
            remedy=f"remove {SCORES} and score again",
        )
    changed = [score for score, outcome in measured if outcome and not outcome.is_measured_by(score)]
    if changed:
        raise UserError(
            f"{run.path}: {len(changed)} reviews changed since they were measured, "
            f"such as {changed[0].system} on {changed[0].case}",
            remedy=shlex.join(["reviewgauge", "score", str(run.path), recorded_label(changed[0].metric)]),
        )
    return scores


def recorded_label(metric: str) -> str:
    """A stored metric as people write it; one outside the package that was not imported stays as it is."""
    try:
        return short_spec(load_recorded(Metric, metric))
    except UserError:
        return metric


def _renames(runs: Sequence[RunFolder], paths: Sequence[str | Path]) -> list[dict[str, str]]:
    """For each run, the new names of its systems whose name another run has too."""
    systems = [{outcome.system for outcome in run.outcomes()} for run in runs]
    names = [Path(path).resolve().name for path in paths]
    result = []
    for i, own in enumerate(systems):
        others = set().union(*(s for j, s in enumerate(systems) if j != i))
        prefix = names[i] if names.count(names[i]) == 1 else f"{names[i]}-{i + 1}"
        result.append({system: f"{prefix}:{system}" for system in own & others})
    return result


def _renamed(record: T, names: Mapping[str, str]) -> T:
    return record.model_copy(update={"system": names[record.system]}) if record.system in names else record


def _renamed_labels(run: RunFolder, names: Mapping[str, str]) -> Iterable[Label]:
    for label in run.labels():
        system = label.subject.system or ""
        if system in names:
            subject = label.subject.model_copy(update={"system": names[system]})
            yield label.model_copy(update={"subject": subject})
        else:
            yield label
