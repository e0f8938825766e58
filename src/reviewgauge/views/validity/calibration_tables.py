"""What `calibrate` made, for the terminal: the calibrated grade beside what it is made of, all out of fold."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.reports.validity import Figure, MetricValidity
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain
from reviewgauge.views.validity import words

SHOWN_WEIGHTS = 10


def calibration(
    account: Sequence[MetricValidity],
    *,
    leakage: Figure,
    weights: Sequence[tuple[str, float]],
    closing: str,
    folds: int,
) -> RenderableType:
    """The account, what the calibrated grade reaches per system, the largest weights and the check on leakage."""
    first = account[0]
    rows = first.correlations[0].rows
    table = bare_table(f"{first.dimension}: how the scores go with people")
    table.add_column("metric")
    for head in ("n", "Spearman", "AUC", "QWK", "exact"):
        number_column(table, head)
    for metric in account:
        called = plain(metric.label, 60)
        if metric.fake:
            called.append(" (fake)", style="bold yellow")
        table.add_row(called, *_cells(metric))
    systems = bare_table(f"{first.label}, by system{' (fake)' if first.fake else ''}")
    systems.add_column("system")
    number_column(systems, "n")
    number_column(systems, "Spearman")
    for row in first.slices:
        systems.add_row(plain(row.value, 60), words.count(row.spearman.n), words.with_bounds(row.spearman))
    largest = bare_table(f"The {min(SHOWN_WEIGHTS, len(weights))} largest of {len(weights)} weights")
    largest.add_column("feature")
    number_column(largest, "per sd")
    for name, weight in weights[:SHOWN_WEIGHTS]:
        largest.add_row(plain(name, 80), f"{weight:+.2f}")
    parts: list[RenderableType] = [table, Text("")]
    parts += [systems, Text("")] if first.slices else []
    parts += [largest, Text("")]
    return Group(
        *parts,
        notes_below(
            f"{folds} folds of {words.count(rows.rows)} rows by {rows.clustered_by} ({words.count(rows.clusters)} "
            "groups); QWK and exact agreement of every row are of grades fitted in such folds",
            f"fitted to shuffled labels it reaches {words.with_bounds(leakage)}: nothing leaks where that is about 0",
            "labels were used: a judge that saw none, such as a prompted model, knows less",
        ),
        plain(closing, 1000),
    )


def _cells(metric: MetricValidity) -> list[str]:
    sweep, heat = words.main_sweep(metric), metric.heat_map
    spearman = words.spearman(metric)
    found = [sweep.auc if sweep else None, heat.kappa_quadratic if heat else None, heat.exact if heat else None]
    return [
        words.count(spearman.n),
        words.with_bounds(spearman),
        *(words.coefficient(figure.value if figure else None) for figure in found),
    ]
