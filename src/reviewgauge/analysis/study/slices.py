"""How contenders do on the parts of a benchmark, by any fact of it; and what an axis, such as more context, brings.

Source of the shape of the second: ContextCRBench (arXiv:2511.07017), Tables 5 to 7. The gain is relative to the group's
mean at the baseline; its interval comes from resamples of the changes that all contenders share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import (
    Measures,
    Resampler,
    cluster_cases,
    percentile_interval,
    point_measures,
    resampled_measures,
    sum_by_cluster,
)
from reviewgauge.analysis.stats.score_table import table_of
from reviewgauge.analysis.study.leaderboard import about, measure_label
from reviewgauge.analysis.study.material import (
    DASH,
    Contender,
    Material,
    by_system,
    measures_of,
    study_table,
    summary_cell,
)
from reviewgauge.core.document import Plot, Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.leaderboard import Leaderboard, SliceSummary, SystemSummary
from reviewgauge.core.study import TableEntry

MOST_AXES = 12  # of a radar chart
PER_CHANGE = " per change"


Shape = tuple[list[str], list[list[Value]], int]  # columns, rows, how many columns name a row


def slices_table(entry: TableEntry, material: Material) -> Table:
    """Rows: the contenders, columns: the whole and the slices; or, with `rows = "slices"`, the other way round."""
    metric = material.metric(entry.metric)
    contenders = material.chosen(entry)
    board = material.board(metric, (entry.by,), contenders)
    pieces = [piece for piece in board.slices if piece.fact == entry.by]
    measures = list(entry.measures) or _measures(board, pieces)
    shape = _by_slice if entry.rows == "slices" else _by_contender
    columns, rows, texts = shape(entry, board, pieces, measures, contenders)
    single = len(measures) == 1 or len(contenders) == 1
    radar = shape is _by_contender and single and 3 <= len(pieces) <= MOST_AXES
    unit = "changes that have any" if any(piece.facet for piece in pieces) else "changes"
    counts = ", ".join(f"{piece.value} {piece.n}" for piece in pieces)
    return study_table(
        entry,
        columns,
        rows,
        names=texts,
        plot=Plot(kind="radar", columns=tuple(range(texts + 1, texts + 1 + len(pieces)))) if radar else None,
        provenance=material.provenance(metric),
        notes=(
            f"{', '.join(map(measure_label, measures))} by {entry.by}; {unit}: {counts}",
            *about(entry, contenders),
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


def _by_contender(
    entry: TableEntry,
    board: Leaderboard,
    pieces: Sequence[SliceSummary],
    measures: Sequence[str],
    contenders: Sequence[Contender],
) -> Shape:
    several = len(measures) > 1
    columns = ["reviewer", *(["measure"] if several else []), "all", *(piece.value for piece in pieces)]
    parts = [by_system(systems) for systems in (board.systems, *(piece.systems for piece in pieces))]
    rows = []
    for contender in contenders:
        found = [part.get(contender.system) for part in parts]
        for measure in measures:
            lead = [Value(text=contender.name), *([Value(text=measure_label(measure))] if several else [])]
            rows.append([*lead, *(summary_cell(one, measure, contender) for one in found)])
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
    rows, whole = [], by_system(board.systems)
    for value, systems in [*((piece.value, piece.systems) for piece in pieces), ("all", board.systems)]:
        for contender in contenders:
            found = by_system(systems).get(contender.system)
            lead = [Value(text=value), *([Value(text=contender.name)] if several else [])]
            counts = [_count(found, part, whole.get(contender.system)) for part in entry.counts]
            rows.append([*lead, *counts, *(summary_cell(found, measure, contender) for measure in measures)])
    return columns, rows, 2 if several else 1


def _count(summary: SystemSummary | None, wanted: str, whole: SystemSummary | None) -> Value:
    """A count on a slice, or with `per change` behind it the count divided by the scored changes of the whole."""
    if summary is None or whole is None or not whole.scored:
        return Value(text="–")
    part = wanted.removesuffix(PER_CHANGE)
    if part not in summary.parts:
        raise UserError(f"unknown count {part!r}", remedy=f"there are: {', '.join(summary.parts)}")
    if part == wanted:
        return Value(value=summary.parts[part], n=summary.scored, unit="count", fake=summary.fake)
    return Value(value=summary.parts[part] / whole.scored, n=whole.scored, unit="points", fake=summary.fake)


# --- ablation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Draws:
    """The measures of the systems of a run, and what they are under each resample, which all systems share."""

    systems: tuple[str, ...]
    points: Measures
    draws: Measures
    n: Sequence[int]
    fake: Sequence[bool]

    @classmethod
    def of(cls, material: Material, metric: Metric) -> _Draws:
        panel = table_of(material.run(metric).only([c.system for c in material.contenders]))
        clusters = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
        sizes = sum_by_cluster(panel.scored[:, :, None].astype(np.float64), clusters)[:, :, 0]
        sums = sum_by_cluster(panel.parts * panel.scored[:, :, None], clusters)
        resampler = Resampler(clusters.count, material.resamples, material.seed)
        return cls(
            panel.systems,
            point_measures(metric, panel.names, sums, sizes),
            resampled_measures(metric, panel.names, sums, sizes, resampler),
            panel.scored.sum(axis=1).tolist(),
            [bool(row.any()) for row in panel.fake],
        )

    def mean(self, measure: str, contenders: Sequence[Contender]) -> tuple[Numbers, Numbers] | None:
        """The mean of a group, (1,) and under each resample; None where one of it was not scored."""
        if not all(c.system in self.systems for c in contenders):
            return None
        at = [self.systems.index(c.system) for c in contenders]
        point, drawn = (np.mean([of.of(measure, one) for one in at], axis=0) for of in (self.points, self.draws))
        return point, drawn

    def cell(self, found: tuple[Numbers, Numbers], unit: str, contenders: Sequence[Contender]) -> Value:
        """The figure of a group with its interval."""
        at = [self.systems.index(c.system) for c in contenders]
        n, (point, drawn) = min(self.n[one] for one in at), found
        if not np.isfinite(point[0]):
            return Value(text="–", n=n)
        low, high, _ = percentile_interval(drawn)
        fake = any(self.fake[one] for one in at)
        return Value(value=float(point[0]), low=low, high=high, n=n, unit=unit, fake=fake)


def ablation_table(entry: TableEntry, material: Material) -> Table:
    """Rows: the values of the axis, for each measure; columns: the other axes, then mean and gain of each group."""
    metric = material.metric(entry.metric)
    cells, groups = _design(entry, material)
    columns = list(dict.fromkeys(column for _, column in cells))
    measures = measures_of(material, metric, entry)
    draws, several = _Draws.of(material, metric), len(measures) > 1
    board = by_system(material.board(metric).systems)
    rows = []
    for measure in measures:
        unit = metric.units.get(measure, "share")
        for value in dict.fromkeys(value for value, _ in cells):
            row = [*([Value(text=measure_label(measure))] if several else []), Value(text=value)]
            for column in columns:
                one = cells.get((value, column))
                row.append(DASH if one is None else summary_cell(board.get(one.system), measure, one))
            for group in groups.values():
                here, there = ([cells.get((at, column)) for column in group] for at in (value, entry.baseline))
                row += _of_group(draws, measure, unit, here, None if value == entry.baseline else there)
            rows.append(row)
    heads = [head for group in groups for head in (f"{group}: mean", f"{group}: gain")]
    shown, unit = ", ".join(map(measure_label, measures)), metric.units.get(measures[0], "share")
    return study_table(
        entry,
        (*(["measure"] if several else []), entry.axis, *columns, *heads),
        rows,
        names=2 if several else 1,
        provenance=material.provenance(metric),
        notes=(
            f"figures: {shown} ({unit}); gain: of the mean over {entry.baseline}, relative",
            *material.gaps(entry, metric),
        ),
    )


def _design(
    entry: TableEntry, material: Material
) -> tuple[Mapping[tuple[str, str], Contender], Mapping[str, Sequence[str]]]:
    """(the contenders by their value on the axis and their column, the columns of each group)."""
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
    groups = {name: [c for c in members if members[c] in wanted] for name, wanted in entry.groups.items()}
    known = {name: found for name, found in groups.items() if found}  # other models may stand in for the paper's
    return cells, known or {"all": list(members)}


def _of_group(
    draws: _Draws,
    measure: str,
    unit: str,
    here: Sequence[Contender | None],
    baseline: Sequence[Contender | None] | None,
) -> Iterator[Value]:
    """The mean of the group, and its relative gain over the baseline; no gain of the baseline itself (None)."""
    present = [c for c in here if c is not None and not c.trouble]
    found = draws.mean(measure, present) if len(present) == len(here) else None
    yield DASH if found is None else draws.cell(found, unit, present)
    if found is None or baseline is None:
        yield DASH if found is None else Value(text="")
        return
    there = [c for c in baseline if c is not None and not c.trouble]
    base = draws.mean(measure, there) if len(there) == len(baseline) else None
    if base is None:
        yield DASH
        return
    with np.errstate(invalid="ignore", divide="ignore"):
        point, drawn = (one / other - 1 for one, other in zip(found, base, strict=True))
    yield draws.cell((point, np.where(np.isfinite(drawn), drawn, np.nan)), "gain", present)
