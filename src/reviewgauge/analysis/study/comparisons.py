"""Paired differences: the best reviewer against every other, on the changes that both were scored on."""

from __future__ import annotations

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Material, by_system
from reviewgauge.core.document import Table, Value, name_columns
from reviewgauge.core.study import TableEntry


def comparisons_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: the difference in a measure, p, p corrected over all (Holm), and the smallest detectable difference."""
    metric = material.metric(entry.metric)
    names = {c.system: c.name for c in material.chosen(entry) if c.system}
    run = material.run(metric).only(list(names))
    found = compare(run, measures=entry.measures, resamples=material.resamples, seed=material.seed)
    board = by_system(material.board(metric).systems)
    rows = []
    for one in found.comparisons:
        fake = board[one.first].fake or board[one.second].fake
        gap = Value(value=one.difference, low=one.low, high=one.high, n=one.n, unit=one.unit, fake=fake)
        rest = [(one.p, "p"), (one.p_holm, "p"), (one.detectable, one.unit)]
        rows.append(
            (
                *(Value(text=names[one.first]), Value(text=names[one.second]), Value(text=measure_label(one.measure))),
                *(Value(text="–") if cell.value is None else cell for cell in (gap, *_cells(rest, one.n, fake))),
            )
        )
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("first", "second", "measure", "difference", "p", "p (Holm)", "detectable"), 3),
        rows=tuple(rows),
        provenance=material.provenance(metric),
        notes=(
            f"p (Holm): corrected over {found.corrected} comparison{'s' * (found.corrected != 1)}; detectable: the "
            "smallest true difference found with 80% power",
            *found.warnings,
        ),
    )


def _cells(figures: list[tuple[float | None, str]], n: int, fake: bool) -> list[Value]:
    return [Value(value=value, n=n, unit=unit, fake=fake) for value, unit in figures]
