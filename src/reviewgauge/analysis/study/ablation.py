"""What context (or any axis) brings: the value of each contender, and by group the mean and the gain over a baseline.

Source of the shape: ContextCRBench (arXiv:2511.07017), Tables 5 to 7. The gain is relative to the group's mean at the
baseline; its interval comes from resamples of the changes that all contenders share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import percentile_interval
from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Contender, Draws, Material, by_system, measures_of, summary_cell
from reviewgauge.core.document import Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import SystemSummary
from reviewgauge.core.study import TableEntry


@dataclass(frozen=True)
class Design:
    """The contenders by their value on the axis and by their column; the columns of each group."""

    values: Sequence[str]
    columns: Sequence[str]
    groups: Mapping[str, Sequence[str]]
    cells: Mapping[tuple[str, str], Contender]

    def of_group(self, group: str, value: str) -> list[Contender] | None:
        """The contenders of a group at a value; None where one is missing or in trouble."""
        found = [self.cells.get((value, column)) for column in self.groups[group]]
        return [c for c in found if c is not None] if all(c is not None and not c.trouble for c in found) else None


def ablation_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Rows: the values of the axis, for each measure; columns: the other axes, then mean and gain of each group."""
    metric = material.metric(entry.metric)
    design = _design(entry, material)
    measures = measures_of(material, metric, entry)
    draws = Draws.of(material, metric)
    board = by_system(material.board(metric).systems)
    several = len(measures) > 1
    rows = [row for measure in measures for row in _rows(entry, design, draws, board, measure, several=several)]
    unit = metric.units.get(measures[0], "share")
    shown = ", ".join(map(measure_label, measures))
    heads = [head for group in design.groups for head in (f"{group}: mean", f"{group}: gain")]
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(
            (*(["measure"] if several else []), entry.axis, *design.columns, *heads), 2 if several else 1
        ),
        rows=tuple(rows),
        provenance=material.provenance(metric),
        notes=(
            f"figures: {shown} ({unit}); gain: of the mean over {entry.baseline}, relative",
            *material.gaps(entry, metric),
        ),
    )


def _design(entry: TableEntry, material: Material) -> Design:
    chosen = [c for c in material.chosen(entry) if entry.axis in c.coordinates]
    if not chosen:
        raise UserError(f"no reviewer of {material.name} has the axis {entry.axis}", remedy="put it into its spec")
    cells: dict[tuple[str, str], Contender] = {}
    members: dict[str, str] = {}  # the value on the axis that groups are made by, of each column
    for contender in chosen:
        others = {axis: value for axis, value in contender.coordinates.items() if axis != entry.axis}
        column = others[entry.across] if entry.across in others else " ".join(others.values()) or contender.name
        key = contender.coordinates[entry.axis], column
        if key in cells:
            raise UserError(
                f"two reviewers of {material.name} are at {' and '.join(key)}: {cells[key].name}, {contender.name}",
                remedy="choose some: reviewers = [...]",
            )
        cells[key] = contender
        members[column] = others.get(entry.across, column)
    columns = list(members)
    groups = {name: [c for c in columns if members[c] in wanted] for name, wanted in entry.groups.items()}
    groups = {name: found for name, found in groups.items() if found}  # other models may stand in for the paper's
    return Design(list(dict.fromkeys(value for value, _ in cells)), columns, groups or {"all": columns}, cells)


def _rows(
    entry: TableEntry,
    design: Design,
    draws: Draws,
    board: Mapping[str, SystemSummary],
    measure: str,
    *,
    several: bool,
) -> Iterator[tuple[Value, ...]]:
    for value in design.values:
        row = [Value(text=measure_label(measure))] if several else []
        row.append(Value(text=value))
        for column in design.columns:
            contender = design.cells.get((value, column))
            row.append(
                Value(text="–") if contender is None else summary_cell(board.get(contender.system), measure, contender)
            )
        for group in design.groups:
            row += _of_group(design, draws, measure, group, value=value, baseline=entry.baseline)
        yield tuple(row)


def _of_group(design: Design, draws: Draws, measure: str, group: str, *, value: str, baseline: str) -> Iterator[Value]:
    """The mean of the group, and its relative gain over the baseline."""
    here, there = design.of_group(group, value), design.of_group(group, baseline)
    unit = draws.metric.units.get(measure, "share")
    if here is None or not all(c.system in draws.systems for c in here):
        yield from (Value(text="–"), Value(text="–"))
        return
    point, drawn = _mean(draws, measure, here)
    n, fake = min(draws.n[c.system] for c in here), any(draws.fake[c.system] for c in here)
    yield _cell(point, drawn, unit, n, fake)
    if value == baseline:
        yield Value(text="")
        return
    if there is None or not all(c.system in draws.systems for c in there):
        yield Value(text="–")
        return
    base, based = _mean(draws, measure, there)
    with np.errstate(invalid="ignore", divide="ignore"):
        yield _cell(_finite(point / base - 1), _finite(drawn / based - 1), "gain", n, fake)


def _mean(draws: Draws, measure: str, contenders: Sequence[Contender]) -> tuple[Numbers, Numbers]:
    points = np.mean([draws.value(measure, c.system) for c in contenders], axis=0)
    return points, np.mean([draws.resampled(measure, c.system) for c in contenders], axis=0)


def _finite(values: Numbers) -> Numbers:
    return np.where(np.isfinite(values), values, np.nan)


def _cell(point: Numbers, drawn: Numbers, unit: str, n: int, fake: bool) -> Value:
    if not np.isfinite(point[0]):
        return Value(text="–", n=n)
    found = percentile_interval(drawn)
    return Value(value=float(point[0]), low=found.low, high=found.high, n=n, unit=unit, fake=fake)
