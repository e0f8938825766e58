"""How contenders do on the parts of a benchmark: by language, context level, category, type or any other fact."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Contender, Material, by_system, summary_cell
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import Leaderboard, SliceSummary, SystemSummary
from reviewgauge.core.study import TableEntry

MOST_AXES = 12  # of a radar chart


def slices_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Rows: the contenders, columns: the whole and the slices; or, with `rows = "slices"`, the other way round."""
    metric = material.metric(entry.metric)
    contenders = material.chosen(entry)
    board = material.board(metric, (entry.by,), contenders)
    pieces = [piece for piece in board.slices if piece.fact == entry.by]
    measures = list(entry.measures) or _measures(board, pieces)
    shape = _by_slice if entry.rows == "slices" else _by_contender
    columns, rows, texts = shape(entry, board, pieces, measures, contenders)
    radar = entry.plot and shape is _by_contender and len(measures) == 1 and 3 <= len(pieces) <= MOST_AXES
    unit = "changes that have any" if any(piece.facet for piece in pieces) else "changes"
    counts = ", ".join(f"{piece.value} {piece.n}" for piece in pieces)
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(columns, texts),
        rows=tuple(rows),
        plot=Plot(kind="radar", columns=tuple(range(texts + 1, texts + 1 + len(pieces)))) if radar else None,
        provenance=material.provenance(metric),
        notes=(
            f"{', '.join(map(measure_label, measures))} by {entry.by}; {unit}: {counts}",
            *material.gaps(entry, metric),
        ),
    )


def _measures(board: Leaderboard, pieces: Sequence[SliceSummary]) -> list[str]:
    """The headline; for a facet of findings alone, recall."""
    if any(piece.facet for piece in pieces):
        defined = [e.value for p in pieces for s in p.systems for e in s.estimates if e.measure == board.headline]
        if not any(value is not None for value in defined):
            return ["recall"]
        known = {e.measure for s in board.systems for e in s.estimates}
        return ["recall"] if "recall" in known else [board.headline]
    return [board.headline]


Shape = tuple[list[str], list[tuple[Value, ...]], int]


def _by_contender(
    entry: TableEntry,
    board: Leaderboard,
    pieces: Sequence[SliceSummary],
    measures: Sequence[str],
    contenders: Sequence[Contender],
) -> Shape:
    several = len(measures) > 1
    columns = ["reviewer", *(["measure"] if several else []), "all", *(piece.value for piece in pieces)]
    rows = []
    for contender in contenders:
        for measure in measures:
            lead = [Value(text=contender.name), *([Value(text=measure_label(measure))] if several else [])]
            found = [
                by_system(systems).get(contender.system) for systems in (board.systems, *(p.systems for p in pieces))
            ]
            rows.append((*lead, *(summary_cell(one, measure, contender) for one in found)))
    return columns, rows, 2 if several else 1


def _by_slice(
    entry: TableEntry,
    board: Leaderboard,
    pieces: Sequence[SliceSummary],
    measures: Sequence[str],
    contenders: Sequence[Contender],
) -> Shape:
    several = len(contenders) > 1
    columns = [entry.by, *(["reviewer"] if several else []), *entry.counts, *map(measure_label, measures)]
    rows = []
    for value, systems in [*((piece.value, piece.systems) for piece in pieces), ("all", board.systems)]:
        for contender in contenders:
            found = by_system(systems).get(contender.system)
            lead = [Value(text=value), *([Value(text=contender.name)] if several else [])]
            counts = [_count(found, part, contender) for part in entry.counts]
            rows.append((*lead, *counts, *(summary_cell(found, measure, contender) for measure in measures)))
    return columns, rows, 2 if several else 1


def _count(summary: SystemSummary | None, part: str, contender: Contender) -> Value:
    if contender.trouble or summary is None:
        return Value(text="–")
    if part not in summary.parts:
        raise UserError(f"unknown count {part!r}", remedy=f"there are: {', '.join(summary.parts)}")
    return Value(value=summary.parts[part], n=summary.scored, unit="count", fake=summary.fake)
