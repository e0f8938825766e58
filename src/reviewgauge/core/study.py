"""The file of a study: which benchmarks, reviewers, metrics and tables. Read from TOML; see docs/guides/study.md."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

from pydantic import Field, ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import first_problem

TableKind = Literal[
    "leaderboard", "comparisons", "ablation", "slices", "distribution", "overlap", "attempts", "cost", "validity"
]
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")  # of a benchmark or a table: also that of a file


class BenchmarkEntry(Record):
    """Cases to review: `data`, `from` and `stages` as for `review`. `metrics` instead of those of the file."""

    name: str = ""
    data: str
    source: str = Field(default="", alias="from")
    stages: tuple[str, ...] = ()
    limit: int | None = Field(default=None, ge=1)
    train: str = ""
    metrics: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name that the file gives it, or that of its data."""
        return self.name or re.sub(r"[^\w.+-]+", "-", self.data).strip("-.") or "data"


class ReviewerEntry(Record):
    """Who reviews. Words in braces in `spec` and `name` are axes, one reviewer for each combination of their values.

    `{benchmark}` is the name of the benchmark. `benchmarks`: only on these.
    """

    spec: str
    name: str = ""
    benchmarks: tuple[str, ...] = ()


class Published(Record):
    """What a paper prints in the place of this table: its values by row and column, `percent` if so printed."""

    source: str
    note: str = ""
    percent: bool = False
    values: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)


class TableEntry(Record):
    """One table of the study. Every kind reads some of these; docs/guides/study.md says which."""

    kind: TableKind
    name: str = ""
    title: str = ""
    benchmarks: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()  # names or patterns (`prompt *`); empty stands for all
    metric: str = ""
    metrics: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    by: str = ""
    rows: Literal["reviewers", "slices"] = "reviewers"
    axis: str = ""
    baseline: str = ""
    across: str = ""
    groups: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    of: Literal["reviewers", "attempts", "grades", "classes", "distribution", "heat map", "systems"] = "reviewers"
    dimension: str = ""
    dimensions: tuple[str, ...] = ()
    plot: bool = True
    spread: bool = False
    mean: str = ""
    published: Published | None = None

    @property
    def label(self) -> str:
        """The name that the file gives it, or its kind."""
        return self.name or self.kind


class StudyFile(Record):
    """The whole file. `on` has, by a name, what stands in the place of the entries above with `--on NAME`."""

    title: str
    source: str = ""
    notes: tuple[str, ...] = ()
    attempts: int = Field(default=1, ge=1, le=1000)
    metrics: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    axes: Mapping[str, tuple[str, ...] | Mapping[str, str]] = Field(default_factory=dict)
    benchmark: tuple[BenchmarkEntry, ...] = Field(min_length=1)
    reviewer: tuple[ReviewerEntry, ...] = Field(min_length=1)
    table: tuple[TableEntry, ...] = ()
    on: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)

    def metrics_of(self, benchmark: BenchmarkEntry) -> tuple[str, ...]:
        """The metrics of one benchmark: its own, or those of the file; none stands for the usual one of its task."""
        return benchmark.metrics or self.metrics

    def values_of(self, axis: str) -> Mapping[str, str]:
        """The values of an axis by their names; a value without a name is its own."""
        found = self.axes[axis]
        return found if isinstance(found, Mapping) else {value: value for value in found}


def read_study(raw: bytes, source: str, on: str = "") -> StudyFile:
    """The study in the text of a TOML file, with `on` that variant of it. Raises BadInput for whatever is wrong."""
    try:
        found = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput(source, "is not UTF-8", remedy="save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(source, f"is not valid TOML: {error}") from None
    variants = found.get("on", {})
    if on:
        if not NAME.fullmatch(on) or not isinstance(variants, dict) or not isinstance(variants.get(on), dict):
            there = ", ".join(variants) if isinstance(variants, dict) and variants else "no variant"
            raise BadInput(source, f"has no [on.{on}]", remedy=f"there is: {there}")
        found = {**found, **variants[on]}
    study = _checked(found, source)
    for name, variant in variants.items():  # the other variants are read too, so that a mistake shows at once
        if name != on:
            _checked({**found, **variant}, f"{source}, [on.{name}]")
    return study


def _checked(found: Mapping[str, Any], source: str) -> StudyFile:
    try:
        study = StudyFile.model_validate(found)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(source, problem, field=field, remedy="docs/guides/study.md has every key") from None
    for what, names in (("benchmark", [b.label for b in study.benchmark]), ("table", [t.label for t in study.table])):
        for at, name in enumerate(names, 1):
            where = f"[[{what}]] {at}"
            if not NAME.fullmatch(name):
                raise BadInput(source, f"{where}: {name!r} is no name for a file", remedy="letters, digits and . _ + -")
            if name in names[: at - 1]:
                raise BadInput(source, f"{where}: a second {what} is called {name!r}", remedy='give it a name = "..."')
    _check_words(study, source)
    return study


def _check_words(study: StudyFile, source: str) -> None:
    """Raise BadInput where an entry names a benchmark, an axis or a value that the file does not have."""
    benchmarks = [benchmark.label for benchmark in study.benchmark]
    for kind, entries in (("reviewer", study.reviewer), ("table", study.table)):
        for at, entry in enumerate(entries, 1):
            for name in entry.benchmarks:  # type: ignore[attr-defined]  # both kinds of entries have them
                check_known(source, f"[[{kind}]] {at}, benchmarks", name, benchmarks)
    for at, table in enumerate(study.table, 1):
        where = f"[[table]] {at} ({table.label})"
        for key in ("axis", "across", "mean"):
            if name := getattr(table, key):
                check_known(source, f"{where}, {key}", name, list(study.axes))
        if table.kind == "ablation":
            if not table.axis or not table.baseline:
                raise BadInput(source, f"{where}: an ablation needs axis and baseline", remedy='axis = "context"')
            check_known(source, f"{where}, baseline", table.baseline, list(study.values_of(table.axis)))
        if table.kind == "slices" and not table.by:
            raise BadInput(source, f"{where}: slices need by", remedy='by = "language"')
        if table.kind in ("cost", "distribution") and len(table.measures) > 1:
            raise BadInput(source, f"{where}: it shows one measure", remedy=f'measures = ["{table.measures[0]}"]')


def check_known(source: str, where: str, name: str, known: Collection[str]) -> None:
    """Raise BadInput for a word that is not among the known ones."""
    if name not in known:
        raise BadInput(source, f"{where}: there is no {name!r}", remedy=f"there is: {', '.join(known) or 'none'}")


# --- the cells -------------------------------------------------------------------------------------------------------

BENCHMARK = "benchmark"  # the word in braces for the name of the benchmark
MOST = 10_000  # cells of a benchmark: a slip, such as an axis too many, is named before it fills the memory
_WORD = re.compile(r"\{\{|\}\}|\{(\w+)\}")


@dataclass(frozen=True)
class GridCell:
    """One reviewer on one benchmark. `coordinates` are the names of the values of its axes."""

    benchmark: str
    name: str
    spec: str
    coordinates: Mapping[str, str] = field(default_factory=dict)


def grid(study: StudyFile, source: str) -> dict[str, list[GridCell]]:
    """The cells of each benchmark, in the order of the file. Raises BadInput."""
    found: dict[str, list[GridCell]] = {}
    for benchmark in study.benchmark:
        cells: list[GridCell] = []
        for at, reviewer in enumerate(study.reviewer, 1):
            if not reviewer.benchmarks or benchmark.label in reviewer.benchmarks:
                cells += _cells(study, benchmark, reviewer, f"{source}, [[reviewer]] {at}")
        if twice := next((name for name, count in Counter(cell.name for cell in cells).items() if count > 1), None):
            remedy = 'name them by their axes: name = "prompt {model}"'
            raise BadInput(source, f"two reviewers are called {twice!r}", remedy=remedy)
        if not cells:
            raise BadInput(source, f"no reviewer is for the benchmark {benchmark.label!r}")
        found[benchmark.label] = cells
    return found


def _cells(study: StudyFile, benchmark: BenchmarkEntry, reviewer: ReviewerEntry, where: str) -> Iterator[GridCell]:
    axes = [name for name in words_in(reviewer.spec) if name != BENCHMARK]
    for name in dict.fromkeys([*axes, *words_in(reviewer.name)]):
        if name not in study.axes and name != BENCHMARK:
            known = ", ".join([*study.axes, BENCHMARK])
            known = f"the axes are {known}; {{{{{name}}}}} is taken as it stands"
            raise BadInput(where, f"{name!r} is not an axis", remedy=known)
        if name not in axes and name != BENCHMARK:
            raise BadInput(where, f"the name has {{{name}}}, and the spec has not")
    if (count := prod(len(study.values_of(axis)) for axis in axes)) > MOST:
        raise BadInput(where, f"{count:,} combinations of the axes", remedy=f"at most {MOST:,}: split the study")
    for values in product(*(study.values_of(axis).items() for axis in axes)):
        names = {axis: label for axis, (label, _) in zip(axes, values, strict=True)} | {BENCHMARK: benchmark.label}
        words = {axis: value for axis, (_, value) in zip(axes, values, strict=True)} | {BENCHMARK: benchmark.label}
        spec = filled(reviewer.spec, words)
        name = filled(reviewer.name, names) if reviewer.name else spec
        yield GridCell(benchmark.label, name, spec, {axis: names[axis] for axis in axes})


def words_in(template: str) -> list[str]:
    """The words in braces, each once."""
    return list(dict.fromkeys(found[1] for found in _WORD.finditer(template) if found[1]))


def filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its words in braces replaced; double braces stand for single ones."""
    return _WORD.sub(lambda found: words[found[1]] if found[1] else found[0][0], template)
