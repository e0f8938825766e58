"""Who is best, by how much, and at what cost: the leaderboard, its paired differences, attempts, and dollars.

On the frontier of quality and cost is whom no other beats: nobody is as good for less, or better for as much.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from reviewgauge.analysis.compare.compare import compare
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
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import plugin_name, short_spec
from reviewgauge.core.study import TableEntry

LABELS = {"f1": "F1", "f2": "F2", "f0.5": "F0.5"}


def measure_label(measure: str) -> str:
    """The name of a measure in a table."""
    return LABELS.get(measure, measure.replace("_", " "))


def leaderboard_table(entry: TableEntry, material: Material) -> Table:
    """Columns: the measures of each metric, what people say, and how many changes were scored with the first metric."""
    words = entry.metrics or ((entry.metric,) if entry.metric else ())
    metrics = [material.metric(word) for word in words] or [material.metrics[0]]
    chosen = material.chosen(entry)
    shown = [*material.contenders, *(c for c in chosen if c.members)]
    columns: list[str] = []
    cells: dict[str, list[Value]] = {c.name: [Value(text=c.name)] for c in chosen}
    for metric in metrics:
        board = by_system(material.board(metric, (), shown).systems)
        for measure in measures_of(material, metric, entry if len(metrics) == 1 else TableEntry(kind=entry.kind)):
            columns.append(measure_label(measure) if len(metrics) == 1 else _metric_label(metric, metrics))
            for contender in chosen:
                cells[contender.name].append(summary_cell(board.get(contender.system), measure, contender))
    for dimension in entry.dimensions:
        columns.append(f"people: {dimension}")
        for name, cell in _of_people(dimension, material, chosen):
            cells[name].append(cell)
    board = by_system(material.board(metrics[0], (), shown).systems)
    rows = []
    for contender in chosen:
        summary = board.get(contender.system)
        scored = f"{summary.scored}/{summary.cases}" if summary is not None else "–"
        rows.append((*cells[contender.name], Value(text=scored)))
    label = measure_label(metrics[0].headline)
    leading = 1 + (columns.index(label) if label in columns else 0)  # the column by which they are ranked
    lower = metrics[0].headline in metrics[0].lower_is_better
    rows.sort(key=lambda row: _place(row[leading], lower))
    if entry.spread:
        rows += [_over_all("mean", np.mean, rows), _over_all("variance", np.var, rows)]
    return study_table(
        entry,
        ("reviewer", *columns, "scored"),
        rows,
        plot=Plot(kind="forest", columns=(leading,)),
        provenance="\n".join(map(material.provenance, metrics)),
        notes=(*about(entry, chosen), *material.warnings(metrics[0], chosen)),
    )


def _over_all(name: str, of: Callable[[list[float]], Any], rows: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The mean, or the variance, of each column over the contenders that have a figure (ContextCRBench, Table 4)."""
    found = [Value(text=name)]
    for column in list(zip(*rows, strict=True))[1:-1]:
        values = [cell.value for cell in column if cell.value is not None]
        unit = next((cell.unit for cell in column if cell.value is not None), "") + ("²" if of is np.var else "")
        fake = any(cell.fake for cell in column)
        found.append(Value(value=float(of(values)), n=len(values), unit=unit, fake=fake) if values else DASH)
    return (*found, Value(text=""))


def _of_people(dimension: str, material: Material, chosen: Sequence[Contender]) -> Iterator[tuple[str, Value]]:
    """The mean of what people say of each contender, on their scale from 0 to 1 (CRScore, Table 10)."""
    grades, scale = material.people(dimension)
    for contender in chosen:
        own = {
            case: ((float(np.mean(values)) - scale.low) / (scale.high - scale.low), 1.0)
            for case, values in grades.get(contender.system, {}).items()
        }
        yield contender.name, material.ratio_of(own) if own else DASH


def about(entry: TableEntry, chosen: Sequence[Contender]) -> Iterator[str]:
    """What the means and people's columns are."""
    if means := [f"{one.name}: of {len(one.members)}" for one in chosen if one.members]:
        yield f"means over {entry.mean}: {'; '.join(means)}"
    if entry.dimensions:
        yield "people: the mean of their grades, from 0 for the lowest to 1 for the highest of the scale"


def _metric_label(metric: Metric, metrics: Sequence[Metric]) -> str:
    """The name of a metric beside others: its spec where two of them are of one kind."""
    alike = sum(plugin_name(one) == plugin_name(metric) for one in metrics)
    return plugin_name(metric) if alike == 1 else short_spec(metric)


def _place(cell: Value, lower: bool) -> tuple[bool, float]:
    value = cell.value
    return value is None, 0.0 if value is None else value if lower else -value


def comparisons_table(entry: TableEntry, material: Material) -> Table:
    """The best reviewer against each other one: the difference, p, p corrected over all (Holm), what is detectable."""
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
        figures = [gap, *(Value(value=value, n=one.n, unit=unit, fake=fake) for value, unit in rest)]
        called = names[one.first], names[one.second], measure_label(one.measure)
        rows.append([*(Value(text=text) for text in called), *(DASH if f.value is None else f for f in figures)])
    return study_table(
        entry,
        ("first", "second", "measure", "difference", "p", "p (Holm)", "detectable"),
        rows,
        names=3,
        provenance=material.provenance(metric),
        notes=(
            f"p (Holm): corrected over {found.corrected} comparison{'s' * (found.corrected != 1)}; detectable: the "
            "smallest true difference found with 80% power",
            *found.warnings,
        ),
    )


def attempts_table(entry: TableEntry, material: Material) -> Table:
    """Columns: the headline, its standard deviation if all attempts were made again, and where the variance lies."""
    metric = material.metric(entry.metric)
    board = by_system(material.board(metric).systems)
    rows = []
    for contender in material.chosen(entry):
        summary = board.get(contender.system)
        row = [Value(text=contender.name), summary_cell(summary, metric.headline, contender)]
        spread = summary.spread if summary is not None and not contender.trouble else None
        if spread is None or summary is None:
            rows.append(row + [Value(text=contender.trouble or "–")] * 5)
            continue
        fake, share = summary.fake, spread.within_share
        deviations = (spread.again, spread.within, spread.between)
        row += [Value(value=one, n=spread.n, unit=spread.unit, fake=fake) for one in deviations]
        row.append(DASH if share is None or math.isnan(share) else Value(value=share, n=spread.n, fake=fake))
        row.append(Value(value=float(spread.attempts), n=spread.repeated, unit="count", fake=fake))
        rows.append(row)
    heads = ("SD if repeated", "SD between attempts", "SD between changes", "share of attempts", "attempts")
    return study_table(
        entry,
        ("reviewer", measure_label(metric.headline), *heads),
        rows,
        provenance=material.provenance(metric),
        notes=(
            "SD if repeated: of the figure itself, if all attempts were made again on the same changes; the other two: "
            "of what one attempt at one change adds to it; share of attempts: in the variance of the two",
        ),
    )


def cost_table(entry: TableEntry, material: Material) -> Table:
    """Columns: dollars a review, the measure, calls and tokens a review, and whether on the frontier."""
    metric = material.metric(entry.metric)
    (measure,) = measures_of(material, metric, entry)
    board = by_system(material.board(metric).systems)
    spent = _spent(material.outcomes)
    rows = []
    for contender in material.chosen(entry):
        quality = summary_cell(board.get(contender.system), measure, contender)
        if contender.trouble or contender.recorded:
            dollars = calls = tokens = Value(text=contender.trouble or "not recorded")
        else:
            dollars, calls, tokens = _per_review(material, spent.get(contender.system, {}), quality.fake)
        rows.append((Value(text=contender.name), dollars, quality, calls, tokens))
    flags = _frontier([(row[1].value, row[2].value) for row in rows], measure in metric.lower_is_better)
    return study_table(
        entry,
        ("reviewer", "dollars a review", measure_label(measure), "calls", "tokens", "frontier"),
        [(*row, Value(text=flag)) for row, flag in zip(rows, flags, strict=True)],
        plot=Plot(kind="scatter", columns=(1, 2, 5)),
        provenance=material.provenance(metric),
        notes=(
            "frontier: nobody is as good for less, or better for as much; cost is that of the reviews, not of judges",
            *material.gaps(entry, metric),
        ),
    )


def _spent(outcomes: Sequence[Outcome]) -> Mapping[str, Mapping[str, Sequence[Usage]]]:
    """What the attempts took, in their order, by system and case."""
    used = [(o.attempt, o.system, o.case, o.usage if o.review is None else o.review.usage) for o in outcomes]
    found: dict[str, dict[str, list[Usage]]] = defaultdict(lambda: defaultdict(list))
    for _, system, case, usage in sorted(used, key=itemgetter(0)):
        found[system][case].append(usage)
    return found


def _per_review(material: Material, spent: Mapping[str, Sequence[Usage]], fake: bool) -> Iterator[Value]:
    """Dollars, calls and tokens a review."""
    unpriced = any(use.dollars is None and use.calls for uses in spent.values() for use in uses)
    counts: list[tuple[str, Callable[[Usage], float]]] = [
        ("dollars", lambda use: use.dollars or 0.0),
        ("count", lambda use: float(use.calls)),
        ("count", lambda use: float(use.tokens_in + use.tokens_out)),
    ]
    for unit, of in counts:
        sums = {case: (sum(map(of, uses)), float(len(uses))) for case, uses in spent.items()}
        known = unit != "dollars" or not unpriced
        yield material.ratio_of(sums, unit, fake=fake) if known else Value(text="price unknown")


def _frontier(points: Sequence[tuple[float | None, float | None]], lower: bool) -> list[str]:
    """`yes` for the points that no other beats; a dash where a figure is missing."""
    sign = -1.0 if lower else 1.0
    known = [(c, sign * q) if c is not None and q is not None else None for c, q in points]
    beaten = [
        one is not None and any(o is not None and o[0] <= one[0] and o[1] >= one[1] and o != one for o in known)
        for one in known
    ]
    return ["–" if one is None else "no" if no else "yes" for one, no in zip(known, beaten, strict=True)]
