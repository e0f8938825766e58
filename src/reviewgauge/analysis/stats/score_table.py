"""Scores as a table of systems x cases: attempts averaged, failures kept apart, nothing dropped silently."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from weakref import WeakKeyDictionary

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers
from reviewgauge.analysis.stats.power import Attempts
from reviewgauge.analysis.stats.slim import Slimmer, SlimScore
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.core.results import NOT_STATED, Bounds, Parts, Score
from reviewgauge.engine.run.scored_run import ScoredRun


class Status(IntEnum):
    """The outcome of one system on one case. A case is scored if at least one attempt was."""

    MISSING = 0
    NOT_APPLICABLE = 1
    FAILED = 2
    SCORED = 3


Cells = Mapping[tuple[int, int], Sequence[SlimScore]]
Key = tuple[str, str, int]
# Sizes, severities, difficulties and required contexts, each in its order; three of these scales have a `medium`.
_SIZES = ("XS", "S", "M", "L", "XL", "XXL")
_LEVELS = ("critical", "high", "easy", "small", "medium", "large", "hard", "low")
_SCALE = (*_SIZES, *_LEVELS, "info", "diff", "file", "repo")


@dataclass(frozen=True)
class ScoreTable:
    """S systems on N cases with K parts; cases and systems are sorted by name, so input order does not matter.

    `parts`, `worst` and `best` are S x N x K: a case's scored attempts averaged, and the same with each failed
    attempt replaced by its bounds. `bounded` (S) marks the systems whose failures all have bounds.
    """

    systems: tuple[str, ...]
    cases: tuple[Case, ...]
    names: tuple[str, ...]
    parts: Numbers
    worst: Numbers
    best: Numbers
    status: Integers
    bounded: Flags
    attempts: Integers
    failed: tuple[tuple[int, int, str], ...]  # row, column and kind of each failed attempt
    fake: Flags
    cells: Cells
    warnings: tuple[str, ...]

    @property
    def scored(self) -> Flags:
        """Where there is a measurement (S x N)."""
        flags: Flags = self.status == Status.SCORED
        return flags

    @property
    def measured(self) -> Flags:
        """Where there is a measurement or a failure (S x N)."""
        flags: Flags = self.status >= Status.FAILED
        return flags

    def row(self, system: str) -> int:
        """The row of a system. Raises UserError for an unknown one."""
        if system not in self.systems:
            raise UserError(f"there is no system {system!r}", remedy=f"there are: {', '.join(self.systems)}")
        return self.systems.index(system)

    def attempt_parts(self, row: int, column: int) -> Numbers:
        """The parts of each scored attempt of a system at a case (attempts x K)."""
        scored = [score.parts for score in self.cells.get((row, column), ()) if score.parts is not None]
        rows = [[parts.get(name, 0.0) for name in self.names] for parts in scored]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.names))

    def attempts_on(self, row: int, kept: Flags) -> Attempts:
        """The scored attempts of one system at the cases of `kept` (N)."""
        groups = [self.attempt_parts(row, int(column)) for column in np.flatnonzero(kept)]
        case = [at for at, group in enumerate(groups) for _ in group]
        rows = np.concatenate([np.zeros((0, len(self.names))), *groups])
        return Attempts(rows, np.array(case, dtype=np.int64), len(groups))

    def failures(self, system: int, mask: Flags) -> dict[str, int]:
        """Failed attempts by kind, on the cases of `mask` (N)."""
        kinds = Counter(kind for row, column, kind in self.failed if row == system and mask[column])
        return dict(sorted(kinds.items()))

    def facets(self) -> list[str]:
        """The facets of the scores: names to slice by, beside case facts."""
        return sorted(stated_facets(score for scores in self.cells.values() for score in scores))

    def facet(self, name: str) -> Iterator[tuple[str, Numbers, Flags]]:
        """Each value of a facet with the parts of its subset (S x N x K) and the cases where it occurs (N)."""
        every = (score for scores in self.cells.values() for score in scores if score.parts is not None)
        values = {value for score in every for value in score.facets.get(name, {})}
        if values <= {NOT_STATED}:
            return
        columns = {part: at for at, part in enumerate(self.names)}
        for value in sorted(values, key=word_order):
            table, mask = np.zeros_like(self.parts), np.zeros(len(self.cases), dtype=np.bool_)
            for (row, column), scores in self.cells.items():
                measured = [score for score in scores if score.parts is not None]
                for score in measured:
                    if (parts := score.facets.get(name, {}).get(value)) is not None:
                        table[row, column] += _vector(parts, columns, score) / len(measured)
                        mask[column] = True
            yield value, table, mask


def word_order(value: str) -> tuple[bool, int, str]:
    """Words of a scale in its order, other values by name, NOT_STATED last."""
    return value == NOT_STATED, _SCALE.index(value) if value in _SCALE else len(_SCALE), value


def stated_facets(scores: Iterable[Score | SlimScore]) -> dict[str, set[str]]:
    """The facets of the scores with their stated values; facets without any are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for score in scores:
        for name, values in score.facets.items():
            found[name] |= values.keys() - {NOT_STATED}
    return {name: values for name, values in found.items() if values}


def merge_pins(panel: ScoreTable) -> tuple[dict[str, str], list[str]]:
    """(the pins of all scores, differing values joined; a warning for each pin that differs)."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, value in {pin for scores in panel.cells.values() for score in scores for pin in score.pins.items()}:
        found[name].add(value)
    pins = {name: " | ".join(sorted(values)) for name, values in sorted(found.items())}
    return pins, [f"scores were made with different {name}: {pins[name]}" for name in pins if len(found[name]) > 1]


def warn_of_fakes(panel: ScoreTable, rows: Iterable[int]) -> list[str]:
    """A warning that names the systems in `rows` with figures from a fake model; empty without one."""
    names = [panel.systems[row] for row in rows if panel.fake[row].any()]
    what = "a figure" if len(names) == 1 else "figures"
    return [f"{', '.join(names)}: fake, {what} that came from a fake model"] if names else []


def broken_identities(panel: ScoreTable) -> dict[str, int]:
    """Accounting identity -> the number of reviews in which a published variant breaks it."""
    found = Counter(name for scores in panel.cells.values() for score in scores for name in score.broken)
    return dict(sorted(found.items()))


_TABLES: WeakKeyDictionary[ScoredRun, ScoreTable] = WeakKeyDictionary()


def table_of(run: ScoredRun) -> ScoreTable:
    """The table of the scores of a run, made when first asked for. Raises UserError for scores of several kinds.

    It holds cases and scores without their texts and evidence, and reads each once, whoever asks later.
    """
    if run not in _TABLES:
        _TABLES[run] = _lay_out(run)
    return _TABLES[run]


def _lay_out(run: ScoredRun) -> ScoreTable:
    slimmer, cases, metric = Slimmer(), run.cases, run.metric
    by_id = {case.id: case for case in map(slimmer.case, cases)}
    ordered = tuple(by_id[name] for name in sorted(by_id))
    column = {case.id: at for at, case in enumerate(ordered)}
    kept, warnings = _collect(run, slimmer, column)
    systems = tuple(sorted({system for system, _, _ in kept}))
    cells: dict[tuple[int, int], list[SlimScore]] = defaultdict(list)
    for (system, case, _), score in sorted(kept.items(), key=lambda item: item[0]):
        cells[systems.index(system), column[case]].append(score)
    failures = [(at, score) for at, group in cells.items() for score in group if score.failure is not None]
    unbounded = {ordered[at[1]].id for at, score in failures if score.bounds is None}
    later = {case.id: metric.bounds(case) for case in cases if case.id in unbounded} if unbounded else {}
    bounds = {(at, score.attempt): score.bounds or later[score.case] for at, score in failures}
    names = _names(cells, bounds.values())
    columns = {part: at for at, part in enumerate(names)}
    shape = (len(systems), len(ordered), len(names))
    parts = np.zeros(shape)
    worst, best = (np.zeros(shape), np.zeros(shape)) if failures else (parts, parts)
    status: Integers = np.zeros(shape[:2], dtype=np.int64)
    attempts: Integers = np.zeros(shape[:2], dtype=np.int64)
    fake = np.zeros(shape[:2], dtype=np.bool_)
    bounded = np.ones(len(systems), dtype=np.bool_)
    for at, group in cells.items():
        measured = [_vector(score.parts, columns, score) for score in group if score.parts is not None]
        broken = [(score, bounds[at, score.attempt]) for score in group if score.failure is not None]
        low = [_vector(bound.worst, columns, score) for score, bound in broken if bound is not None]
        high = [_vector(bound.best, columns, score) for score, bound in broken if bound is not None]
        bounded[at[0]] &= len(low) == len(broken)
        status[at], attempts[at], fake[at] = _status(group), len(group), any(score.fake for score in group)
        for table, rows in ((parts, measured), (worst, measured + low), (best, measured + high)):
            if rows:
                table[at] = rows[0] if len(rows) == 1 else np.mean(rows, axis=0)
    failed = tuple((*at, score.failure.kind.value) for at, score in failures if score.failure is not None)
    warnings += _warn_of_attempts(systems, cells)
    return ScoreTable(
        systems=systems,
        cases=ordered,
        names=names,
        parts=parts,
        worst=worst,
        best=best,
        status=status,
        bounded=bounded,
        attempts=attempts,
        failed=failed,
        fake=fake,
        cells=cells,
        warnings=tuple(warnings),
    )


def _names(cells: Cells, bounds: Iterable[Bounds | None]) -> tuple[str, ...]:
    """Every part of a score or a bound."""
    names = {name for group in cells.values() for score in group for name in score.parts or {}}
    for bound in bounds:
        names |= set(bound.worst) | set(bound.best) if bound is not None else set()
    return tuple(sorted(names))


def _status(group: Sequence[SlimScore]) -> Status:
    if any(score.parts is not None for score in group):
        return Status.SCORED
    return Status.FAILED if any(score.failure is not None for score in group) else Status.NOT_APPLICABLE


def _vector(parts: Parts, columns: Mapping[str, int], score: SlimScore) -> Numbers:
    """The parts in their columns, 0 in the others."""
    row = [0.0] * len(columns)
    for name, value in parts.items():
        if not math.isfinite(value):
            raise UserError(
                f"{score.metric} measured {name}={value} for {score.system} on {score.case}, which is not finite",
                remedy="a metric that does not apply must return a reason instead",
            )
        if name in columns:
            row[columns[name]] = value
    return np.array(row, dtype=np.float64)


def _collect(run: ScoredRun, slimmer: Slimmer, column: Mapping[str, int]) -> tuple[dict[Key, SlimScore], list[str]]:
    """The scores by (system, case, attempt), and warnings. Raises UserError for two metrics or benchmarks."""
    wanted, benchmark = run.signature, run.benchmark
    kept: dict[Key, SlimScore] = {}
    replaced = 0
    for score in map(slimmer.score, run.scores):
        if score.metric != wanted:
            raise UserError(f"scores of {score.metric} do not compare with those of {wanted}", remedy="score again")
        if score.benchmark != benchmark:
            raise UserError(
                f"{score.system} was scored on benchmark {score.benchmark[:12]}, not on {benchmark[:12]}",
                remedy="score both runs on the same cases: figures on different data do not compare",
            )
        if score.case not in column:
            raise UserError(f"{score.system} was scored on case {score.case!r}, which is not in the benchmark")
        key = (score.system, score.case, score.attempt)
        before = kept.get(key)
        if before is None or _measurement(before) == _measurement(score):
            kept.setdefault(key, score)
        elif before.failure is not None or score.failure is not None:
            replaced += 1
            kept[key] = score if before.failure is not None else before
        else:
            raise UserError(
                f"{score.system} has two different scores on case {score.case}, attempt {score.attempt}",
                remedy="give the systems of different runs different names",
            )
    if not kept:
        raise UserError(f"there are no scores of {wanted}", remedy="reviewgauge score RUN METRIC")
    return kept, [f"{replaced} failures were replaced by a later score of the same attempt"] if replaced else []


def _measurement(score: SlimScore) -> tuple[object, ...]:
    """What is equal in two scores that differ in their cost only."""
    return score.parts, score.facets, score.failure is None, score.bounds


def _warn_of_attempts(systems: Sequence[str], cells: Cells) -> list[str]:
    """Warnings for systems with fewer measured attempts on some cases than on others."""
    found: list[str] = []
    for at, system in enumerate(systems):
        own = [scores for (row, _), scores in cells.items() if row == at]
        partly = sum(any(x.failure is not None for x in s) and _status(s) is Status.SCORED for s in own)
        if partly:
            found.append(f"{system}: some attempts failed on {partly} cases, which count by the mean of the others")
        most = max(len(scores) for scores in own)
        fewer = sum(len(scores) < most for scores in own)
        if fewer:
            found.append(f"{system}: {fewer} cases have fewer than {most} attempts")
    return found
