"""Who is best: every contender with some measures of one or several metrics, best first by the headline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reviewgauge.analysis.study.material import Material, by_system, measures_of, summary_cell
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import plugin_name, short_spec
from reviewgauge.core.study import TableEntry

LABELS = {"f1": "F1", "f2": "F2", "f0.5": "F0.5"}


def leaderboard_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: the measures of each metric, then how many changes were scored with the first."""
    words = entry.metrics or ((entry.metric,) if entry.metric else ())
    metrics = [material.metric(word) for word in words] or [material.metrics[0]]
    columns: list[str] = []
    cells: dict[str, list[Value]] = {c.name: [] for c in material.chosen(entry)}
    for metric in metrics:
        board = by_system(material.board(metric).systems)
        for measure in measures_of(material, metric, entry if len(metrics) == 1 else TableEntry(kind=entry.kind)):
            columns.append(measure_label(measure) if len(metrics) == 1 else _metric_label(metric, metrics))
            for contender in material.chosen(entry):
                cells[contender.name].append(summary_cell(board.get(contender.system), measure, contender))
    board = by_system(material.board(metrics[0]).systems)
    rows = []
    for contender in material.chosen(entry):
        summary = board.get(contender.system)
        scored = f"{summary.scored}/{summary.cases}" if summary is not None else "–"
        rows.append((Value(text=contender.name), *cells[contender.name], Value(text=scored)))
    label = measure_label(metrics[0].headline)
    leading = 1 + (columns.index(label) if label in columns else 0)  # the column by which they are ranked
    lower = metrics[0].headline in metrics[0].lower_is_better
    rows.sort(key=lambda row: _place(row[leading], lower))
    if entry.spread:
        rows += [_over_all("mean", np.mean, rows), _over_all("variance", np.var, rows)]
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", *columns, "scored")),
        rows=tuple(rows),
        plot=Plot(kind="forest", columns=(leading,)) if entry.plot else None,
        provenance="\n".join(map(material.provenance, metrics)),
        notes=tuple(material.warnings(metrics[0], material.chosen(entry))),
    )


def _over_all(name: str, of: Callable[[list[float]], Any], rows: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The mean, or the variance, of each column over the contenders that have a figure (ContextCRBench, Table 4)."""
    found = [Value(text=name)]
    for column in list(zip(*rows, strict=True))[1:-1]:
        values = [cell.value for cell in column if cell.value is not None]
        unit = next((cell.unit for cell in column if cell.value is not None), "") + ("²" if of is np.var else "")
        fake = any(cell.fake for cell in column)
        found.append(Value(value=float(of(values)), n=len(values), unit=unit, fake=fake) if values else Value(text="–"))
    return (*found, Value(text=""))


def _metric_label(metric: Metric, metrics: Sequence[Metric]) -> str:
    """The name of a metric beside others: its spec where two of them are of one kind."""
    alike = sum(plugin_name(one) == plugin_name(metric) for one in metrics)
    return plugin_name(metric) if alike == 1 else short_spec(metric)


def _place(cell: Value, lower: bool) -> tuple[bool, float]:
    value = cell.value
    return value is None, 0.0 if value is None else value if lower else -value


def measure_label(measure: str) -> str:
    """The name of a measure in a table."""
    return LABELS.get(measure, measure.replace("_", " "))
