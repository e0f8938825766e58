"""Every combination of the axes as reviewers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod

from reviewgauge.core.errors import BadInput
from reviewgauge.core.study import BenchmarkEntry, ReviewerEntry, StudyFile

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
            raise BadInput(where, f"there is no axis {name!r}", remedy=f"there is: {known}; {{{{{name}}}}} is no axis")
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
