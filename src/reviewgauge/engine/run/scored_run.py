"""One metric's scores of one or more runs, read together: what leaderboards, comparisons and gates are made from."""

from __future__ import annotations

import shlex
from array import array
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Metric, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import import_named, is_ours, load, load_recorded, short_spec, signature
from reviewgauge.core.stored import Lazy, chained
from reviewgauge.engine.run.folder import REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.indexes import OutcomeKey, ScoreHead
from reviewgauge.engine.run.kept import Origin
from reviewgauge.engine.run.manifest import MIXED, SystemEntry

T = TypeVar("T", Outcome, Score)


class ReviewedBy(NamedTuple):
    """Who made a system's reviews: the signature and the pins, and the reviewer where it can be loaded.

    `mixed` are the pins that are not the same for all of its reviews.
    """

    texts: tuple[str, ...]
    mixed: tuple[str, ...] = ()
    reviewer: Reviewer | None = None  # None: recorded reviews, and code outside the package that was not imported


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """One metric's scores on one benchmark, read once: leaderboard, comparison, gate, plan and report take it as it is.

    `unscored` are systems that were reviewed but not measured with this metric. `reviewers` has who is behind each
    system. `systems_in` has, for each run, its scored systems by their own name, with the name that they have here.
    `outcome_keys` and `score_keys` say without reading what each outcome and score is of; empty where a run was made in
    memory.
    """

    metric: Metric
    cases: Sequence[Case]
    scores: Sequence[Score]
    dataset: str = ""
    benchmark: str = ""
    outcomes: Sequence[Outcome] = ()
    labels: Sequence[Label] = ()
    unscored: Sequence[str] = ()
    reviewers: Mapping[str, ReviewedBy] = field(default_factory=dict)
    systems_in: Sequence[Mapping[str, str]] = ()
    outcome_keys: Sequence[OutcomeKey] = ()
    score_keys: Sequence[OutcomeKey] = ()
    origin: Origin | None = field(default=None, init=False)  # of what was read; what is made from it has none

    @property
    def systems(self) -> list[str]:
        """The systems that were scored, in the order of the runs."""
        if self.systems_in:
            return list(dict.fromkeys(name for own in self.systems_in for name in own.values()))
        return list(dict.fromkeys(score.system for score in self.scores))

    @property
    def baselines(self) -> frozenset[str]:
        """The systems that are there to be beaten, such as silence."""
        known = ((system, by.reviewer) for system, by in self.reviewers.items())
        return frozenset(system for system, reviewer in known if reviewer is not None and reviewer.baseline)

    @property
    def models(self) -> list[str]:
        """The chat models that its reviewers ask."""
        asked = (by.reviewer.models for by in self.reviewers.values() if by.reviewer is not None)
        return list(dict.fromkeys(chain.from_iterable(asked)))

    @property
    def signature(self) -> str:
        """The metric with all its parameters, as the scores carry it."""
        return signature(self.metric)

    @property
    def label(self) -> str:
        """The metric as people read it."""
        return short_spec(self.metric)

    def only(self, systems: Sequence[str]) -> ScoredRun:
        """The scores of these systems alone."""
        keys = self.score_keys or [score.key for score in self.scores]
        kept = [at for at, (_, system, _) in enumerate(keys) if system in systems]
        named = [{old: new for old, new in own.items() if new in systems} for own in self.systems_in]
        scores = Lazy.of(kept, self.scores.__getitem__)
        return replace(self, scores=scores, score_keys=[keys[at] for at in kept], systems_in=named)

    def on(self, cases: Sequence[Case]) -> ScoredRun:
        """The scores on these of its cases alone."""
        names, keys = {case.id for case in cases}, self.score_keys or [score.key for score in self.scores]
        kept = [at for at, (case, *_) in enumerate(keys) if case in names]
        scores = Lazy.of(kept, self.scores.__getitem__)
        return replace(self, cases=cases, scores=scores, score_keys=[keys[at] for at in kept])


def read_scored_runs(
    paths: Sequence[str | Path], metric: str | None = None, left_out: list[UserError] | None = None
) -> list[ScoredRun]:
    """One ScoredRun per metric that the runs were scored with, or for the metric that is named.

    Systems that have the same name in two runs get their run's name in front. Raises UserError for runs of different
    benchmarks, for runs that were not scored, and for a metric that cannot be read, unless there is a list to note it
    in (`left_out`) and another can.
    """
    runs = open_runs(paths)
    reviews = [run.stored_outcomes() for run in runs]
    digests = [dict(zip(one.keys, one.digests, strict=True)) for one in reviews]
    if not any(digests):
        raise UserError(f"{paths[0]} holds no reviews", remedy=f"reviewgauge review DATASET REVIEWER -o {paths[0]}")
    renames = rename_systems([{system for _, system, _ in own} for own in digests], paths)
    measured = [_check_scores(run, own) for run, own in zip(runs, digests, strict=True)]
    chosen = _choose_metrics(measured, metric, paths[0], several=len(runs) > 1, left_out=left_out)
    blank = ScoredRun(
        metric=next(iter(chosen.values())),
        cases=runs[0].cases(),
        scores=(),
        dataset=runs[0].manifest.dataset,
        benchmark=runs[0].manifest.benchmark,
        outcomes=_together([one.outcomes for one in reviews], renames),
        outcome_keys=_keys([one.keys for one in reviews], renames),
        labels=chained([renamed_labels(run, names) for run, names in zip(runs, renames, strict=True)]),
        reviewers={
            names.get(system, system): _reviewed_by(entry)
            for run, names in zip(runs, renames, strict=True)
            for system, entry in run.manifest.systems.items()
        },
        unscored=list(
            dict.fromkeys(new.get(s, s) for own, new in zip(digests, renames, strict=True) for _, s, _ in own)
        ),
    )
    found = []
    for name, loaded in chosen.items():
        scored = [
            {system: new.get(system, system) for system in (own[name].systems if name in own else ())}
            for own, new in zip(measured, renames, strict=True)
        ]
        seen = {system for own in scored for system in own.values()}
        found.append(
            replace(
                blank,
                metric=loaded,
                scores=_together(
                    [
                        Lazy.of(own[name].places if name in own else (), run.scores().__getitem__)
                        for run, own in zip(runs, measured, strict=True)
                    ],
                    renames,
                ),
                score_keys=_keys([own[name].keys if name in own else () for own in measured], renames),
                unscored=[system for system in blank.unscored if system not in seen],
                systems_in=scored,
            )
        )
    _note_origins(runs, found)
    return found


def _note_origins(runs: Sequence[RunFolder], found: Sequence[ScoredRun]) -> None:
    """Say where it was read, unless code outside of this package makes figures of it."""
    places, contents = zip(*(run.origin for run in runs), strict=True)
    for one in found:
        loaded = [by.texts[0] for by in one.reviewers.values() if by.reviewer is not None]
        if all(map(is_ours, (one.signature, *loaded))):
            content = "\n".join((one.signature, *contents, str(one.systems_in)))
            object.__setattr__(one, "origin", Origin("\n".join(places), content))


def _reviewed_by(entry: SystemEntry) -> ReviewedBy:
    texts = entry.signature, *entry.pins.values()
    mixed = tuple(f"{name} {pin}" for name, pin in entry.pins.items() if MIXED in pin)
    try:
        return ReviewedBy(texts, mixed, load_recorded(Reviewer, entry.signature))
    except UserError:
        return ReviewedBy(texts, mixed)


def _choose_metrics(
    measured: Sequence[Mapping[str, _Measured]],
    wanted: str | None,
    path: str | Path,
    several: bool,
    left_out: list[UserError] | None,
) -> dict[str, Metric]:
    """The metrics by the signature that their scores carry. Raises UserError where there is none."""
    names = list(dict.fromkeys(name for own in measured for name, one in own.items() if wanted or one.applies))
    spec = "hits"
    if wanted:
        import_named(wanted)
        asked = load(Metric, wanted)
        spec, names = short_spec(asked), [name for name in names if name == signature(asked)]
    if not names:
        command = shlex.join(["reviewgauge", "score", str(path), spec])
        raise UserError(f"{path} was not scored {f'with {spec}' if wanted else 'yet'}", remedy=command)
    found: dict[str, Metric] = {}
    errors: list[UserError] = []
    for name in names:
        try:
            found[name] = _read_metric(name, several=several)
        except UserError as error:
            if left_out is None:
                raise
            errors.append(error)
    if left_out is not None:
        left_out += errors
    if not found:
        raise errors[0]
    return found


def _read_metric(name: str, *, several: bool) -> Metric:
    metric = load_recorded(Metric, name)
    if several and metric.joint:
        raise UserError(
            f"{short_spec(metric)} looks at all systems of a run together, and these were measured run by run",
            remedy="review them into one folder, or choose another metric with --metric",
        )
    return metric


def open_runs(paths: Sequence[str | Path]) -> list[RunFolder]:
    """The runs in these folders. Raises UserError for runs of different benchmarks, and for one that is named twice."""
    check_named_once(paths)
    runs = [RunFolder.open(Path(path)) for path in paths]
    first = runs[0].manifest
    for run, path in zip(runs, paths, strict=True):
        if run.manifest.benchmark != first.benchmark:
            raise UserError(
                f"{paths[0]} and {path} are runs of different benchmarks ({first.dataset}, {run.manifest.dataset})",
                remedy="only runs on the same cases can be compared; compare --rankings compares their orders",
            )
    return runs


def check_named_once(paths: Sequence[str | Path]) -> None:
    """Raise UserError where no run is named, or one twice."""
    if not paths:
        raise UserError("no run folder given")
    places = [Path(path).resolve() for path in paths]
    if twice := next((path for i, path in enumerate(paths) if places[i] in places[:i]), None):
        raise UserError(f"{twice} is named twice", remedy="name each run once")


@dataclass
class _Measured:
    """The systems that a metric measured in a run, where its scores are, what they are of, and whether it applies."""

    systems: dict[str, None] = field(default_factory=dict)
    places: array[int] = field(default_factory=lambda: array("L"))
    keys: list[OutcomeKey] = field(default_factory=list)
    applies: bool = False


def _check_scores(run: RunFolder, digests: Mapping[tuple[str, str, int], str]) -> dict[str, _Measured]:
    """What was measured, by metric. Raises UserError where its reviews are gone or were changed since."""
    found: dict[str, _Measured] = {}
    orphans: list[ScoreHead] = []
    changed: list[ScoreHead] = []
    for at, head in enumerate(run.stored_scores().heads):
        own = found.setdefault(head.metric, _Measured())
        own.places.append(at)
        own.keys.append(head.key)
        own.systems[head.key[1]] = None
        own.applies = own.applies or head.applies
        digest = digests.get(head.key)
        if digest is None:
            orphans.append(head)
        elif head.of not in ("", digest):
            changed.append(head)
    if digests and orphans:
        raise UserError(
            f"{run.path / SCORES} holds {len(orphans)} scores of reviews that {REVIEWS} does not hold, "
            f"such as {orphans[0].key[1]} on {orphans[0].key[0]}",
            remedy=f"remove {SCORES} and score again",
        )
    if changed:
        raise UserError(
            f"{run.path}: {len(changed)} reviews changed since they were measured, "
            f"such as {changed[0].key[1]} on {changed[0].key[0]}",
            remedy=shlex.join(["reviewgauge", "score", str(run.path), recorded_label(changed[0].metric)]),
        )
    return found


def recorded_label(metric: str) -> str:
    """A stored metric as people write it; one outside the package that was not imported stays as it is."""
    try:
        return short_spec(load_recorded(Metric, metric))
    except UserError:
        return metric


def rename_systems(systems: Sequence[Set[str]], paths: Sequence[str | Path]) -> list[dict[str, str]]:
    """For each run, the new names of its systems whose name another run has too."""
    names = [Path(path).resolve().name for path in paths]
    result = []
    for i, own in enumerate(systems):
        others = set().union(*(s for j, s in enumerate(systems) if j != i))
        prefix = names[i] if names.count(names[i]) == 1 else f"{names[i]}-{i + 1}"
        result.append({system: f"{prefix}:{system}" for system in own & others})
    return result


def _together(parts: Sequence[Sequence[T]], renames: Sequence[Mapping[str, str]]) -> Sequence[T]:
    """The records of all runs, with the new names of their systems."""

    def renamed(record: T, names: Mapping[str, str]) -> T:
        return record.model_copy(update={"system": names[record.system]}) if record.system in names else record

    pairs = zip(parts, renames, strict=True)
    return chained([Lazy.of(part, partial(renamed, names=names)) if names else part for part, names in pairs])


def _keys(parts: Sequence[Sequence[OutcomeKey]], renames: Sequence[Mapping[str, str]]) -> Sequence[OutcomeKey]:
    """The same for what records are of."""
    pairs = zip(parts, renames, strict=True)
    return [(case, names.get(system, system), attempt) for part, names in pairs for case, system, attempt in part]


def renamed_labels(run: RunFolder, names: Mapping[str, str]) -> Sequence[Label]:
    """The labels that were added to a run, with the new names of its systems."""

    def renamed(label: Label) -> Label:
        name = names.get(label.subject.system or "")
        if name is None:
            return label
        return label.model_copy(update={"subject": label.subject.model_copy(update={"system": name})})

    return Lazy.of(run.labels(), renamed) if names else run.labels()
