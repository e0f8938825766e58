"""Data sets, stages and metrics from the specs and paths that a user writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from reviewgauge.core.errors import NothingRecorded, UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Dataset, Metric, Stage
from reviewgauge.core.records import Case, Review
from reviewgauge.core.specs import Spec, build, load, names, parse_spec, plugin_name, short_spec, signature


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
    """Whether a word is a path; a folder with the name of a data set needs a `./`."""
    is_spec = "(" in word and word.partition("(")[0] in names(Dataset.kind)
    return not is_spec and (word.endswith(".jsonl") or "/" in word or Path(word).is_file() or _is_own_folder(word))


def _is_own_folder(word: str) -> bool:
    return bool(word) and word not in names(Dataset.kind) and Path(word).is_dir()


def labelled(dataset: Dataset) -> tuple[Sequence[Case], Sequence[Review], list[Label]]:
    """The cases of a data set, its recorded reviews, if any, and the labels on both, each once."""
    cases = list(dataset.cases())
    try:
        reviews, recorded = dataset.recorded()
    except NothingRecorded:
        reviews, recorded = (), ()
    labels = (*(label for case in cases for label in case.labels), *recorded)
    return cases, reviews, list({label.to_line(): label for label in labels}.values())


def dataset_label(dataset: Dataset) -> str:
    """The data set's spec without its path, which is a fact about this machine; for a JSON lines file its name."""
    if plugin_name(dataset) == "jsonl" and dataset.path:
        return Path(dataset.path).name
    return short_spec(dataclasses.replace(dataset, path="")) if dataset.path else short_spec(dataset)  # type: ignore[type-var]


def given_path(word: str | Dataset, found: Dataset, source: str | Path | None) -> str:
    """The path of the data as the user gave it: an absolute path would reveal this machine."""
    if source:
        return str(source)
    named = isinstance(word, str) and found.path == str(Path(word).resolve())
    return str(word) if named else found.path


def find_stages(specs: Sequence[str | Stage]) -> list[Stage]:
    """Stages from their specs."""
    return [spec if isinstance(spec, Stage) else load(Stage, spec) for spec in specs]


def staged_label(dataset: Dataset, stages: Sequence[Stage]) -> str:
    """The data set and what narrowed it, as a recipe reads: `aacr_bench | first(cases=10)`."""
    return " | ".join([dataset_label(dataset), *(short_spec(stage) for stage in stages)])


def find_metrics(specs: Sequence[str | Metric], judge: str = "", test: str = "") -> list[Metric]:
    """Metrics from their specs, each once; `hits` when none is named.

    `judge` judges where a spec names no judge, `test` is the command of one that runs tests and names none.
    """
    found = [spec if isinstance(spec, Metric) else _filled_in(spec, judge, test) for spec in (specs or ("hits",))]
    return list({signature(metric): metric for metric in found}.values())


def _filled_in(text: str, judge: str, test: str) -> Metric:
    found, spec = load(Metric, text), parse_spec(text)
    usual = {"judge": judge} if judge and getattr(found, "judge", "") == "lexical" else {}
    usual |= {"test": test} if test and getattr(found, "test", None) == "" else {}
    usual = {name: word for name, word in usual.items() if name not in spec.parameters}
    return build(type(found), Spec(spec.name, {**spec.parameters, **usual})) if usual else found


def names_dataset(word: str) -> bool:
    """Whether the manifest names a data set; other files are named there by their file name."""
    try:
        name = parse_spec(word).name
    except UserError:
        return False
    return name in names(Dataset.kind) or ("." in name and not word.endswith((".jsonl", ".csv")))
