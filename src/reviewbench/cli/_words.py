"""Words to objects: data set specs, paths and runs as a user writes them."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from reviewbench.core.errors import UserError
from reviewbench.core.plugins import load, names, short_spec, signature
from reviewbench.core.protocols import Dataset, Metric
from reviewbench.core.records import Case
from reviewbench.core.results import Outcome, Score
from reviewbench.engine.store import REVIEWS, SCORES, RunFolder


def find_dataset(word: str | Dataset, path: str | Path | None = None) -> Dataset:
    """A data set from its spec, or from the path of a JSON lines file; `path` says where its files are."""
    if isinstance(word, Dataset):
        dataset = word
    elif _is_path(word):
        dataset = dataclasses.replace(load(Dataset, "jsonl"), path=str(Path(word).resolve()))  # type: ignore[type-var]
    else:
        dataset = load(Dataset, word)
    if path:
        dataset = dataclasses.replace(dataset, path=str(Path(path).resolve()))  # type: ignore[type-var]
    return dataset


def _is_path(word: str) -> bool:
    """Whether a word means files of one's own; a folder that is called like a data set needs a `./`."""
    return word.endswith(".jsonl") or "/" in word or Path(word).is_file() or _is_own_folder(word)


def _is_own_folder(word: str) -> bool:
    return bool(word) and word not in names(Dataset.kind) and Path(word).is_dir()


def dataset_label(dataset: Dataset) -> str:
    """The data set's spec without its path, which is a fact about this machine."""
    return short_spec(dataclasses.replace(dataset, path="")) if dataset.path else short_spec(dataset)  # type: ignore[type-var]


def find_metrics(specs: Sequence[str]) -> list[Metric]:
    """Metrics from their specs; `hits` when none is named."""
    return [load(Metric, spec) for spec in (specs or ("hits",))]


T = TypeVar("T", Outcome, Score)


class Measured(NamedTuple):
    """Runs read together: one benchmark, the systems of all of them, and one metric's scores."""

    metric: Metric
    cases: list[Case]
    scores: list[Score]
    outcomes: list[Outcome]
    dataset: str
    benchmark: str
    unscored: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said wherever these scores are shown."""
        if not self.unscored:
            return ()
        shown = ", ".join(self.unscored[:8]) + (f" and {len(self.unscored) - 8} more" if len(self.unscored) > 8 else "")
        return (f"reviewed but not measured with {short_spec(self.metric)}, so not shown: {shown} (reviewbench score)",)


def read_runs(paths: Sequence[str | Path], metric: str | None = None) -> list[Measured]:
    """One entry per metric that the runs were scored with, or for the one that is named.

    Systems that have the same name in two runs are told apart by their run's name. Raises UserError for runs of
    different benchmarks and for runs that nobody scored yet.
    """
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
    renames = _renames(runs, paths)
    cases = runs[0].cases()
    outcomes = [_renamed(o, renames[i]) for i, run in enumerate(runs) for o in run.outcomes()]
    scores = [_renamed(s, renames[i]) for i, run in enumerate(runs) for s in _scores(run)]
    if not outcomes:
        raise UserError(f"{paths[0]} holds no reviews", remedy=f"reviewbench review DATASET REVIEWER -o {paths[0]}")
    wanted = signature(load(Metric, metric)) if metric else None
    signatures = list(dict.fromkeys(score.metric for score in scores))
    chosen = [s for s in signatures if wanted is None or s == wanted]
    if not chosen:
        spec = short_spec(load(Metric, metric)) if metric else "hits"
        what = f"with {spec}" if metric else "yet"
        command = shlex.join(["reviewbench", "score", str(paths[0]), spec])
        raise UserError(f"{paths[0]} was not scored {what}", remedy=command)
    metrics = [load(Metric, name) for name in chosen]
    if len(runs) > 1 and (apart := [m for m in metrics if m.joint]):
        raise UserError(
            f"{short_spec(apart[0])} looks at all systems of a run together, and these were measured run by run",
            remedy="review them into one folder, or choose another metric with --metric",
        )
    systems = list(dict.fromkeys(outcome.system for outcome in outcomes))
    entries = []
    for loaded, name in zip(metrics, chosen, strict=True):
        mine = [s for s in scores if s.metric == name]
        seen = {s.system for s in mine}
        unscored = tuple(system for system in systems if system not in seen)
        entries.append(Measured(loaded, cases, mine, outcomes, first.dataset, first.benchmark, unscored))
    return entries


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
            remedy=shlex.join(["reviewbench", "score", str(run.path), short_spec(load(Metric, changed[0].metric))]),
        )
    return scores


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


__all__ = ["Measured", "dataset_label", "find_dataset", "find_metrics", "read_runs"]
