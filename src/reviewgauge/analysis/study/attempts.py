"""How much the attempts at the same changes differ: what a second run of the whole study would vary by."""

from __future__ import annotations

import math

from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Material, by_system, summary_cell
from reviewgauge.core.document import Table, Value, name_columns
from reviewgauge.core.study import TableEntry


def attempts_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: the headline, its standard deviation if all attempts were made again, and where the variance lies."""
    metric = material.metric(entry.metric)
    board = by_system(material.board(metric).systems)
    rows = []
    for contender in material.chosen(entry):
        summary = board.get(contender.system)
        mean = summary_cell(summary, metric.headline, contender)
        spread = summary.spread if summary is not None and not contender.trouble else None
        if spread is None or summary is None:
            rows.append((Value(text=contender.name), mean, *(Value(text=contender.trouble or "–") for _ in range(5))))
            continue
        fake = summary.fake
        deviations = (spread.again, spread.within, spread.between)
        share = spread.within_share
        rows.append(
            (
                Value(text=contender.name),
                mean,
                *(Value(value=one, n=spread.n, unit=spread.unit, fake=fake) for one in deviations),
                Value(text="–") if share is None or math.isnan(share) else Value(value=share, n=spread.n, fake=fake),
                Value(value=float(spread.attempts), n=spread.repeated, unit="count", fake=fake),
            )
        )
    heads = ("SD if repeated", "SD between attempts", "SD between changes", "share of attempts", "attempts")
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", measure_label(metric.headline), *heads)),
        rows=tuple(rows),
        provenance=material.provenance(metric),
        notes=(
            "SD if repeated: of the figure itself, if all attempts were made again on the same changes; the other two: "
            "of what one attempt at one change adds to it; share of attempts: in the variance of the two",
        ),
    )
