"""The results of `validate` and `calibrate` in the terminal: which metric agrees with people, and how well.

They fit 100 columns and show less on 80. The report and `--json` have every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reviewgauge.analysis.stats.classification import TREE
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.validity import Classifier, Figure, GradeRow, MetricValidity, RowSet, ValidityReport
from reviewgauge.views.terminal import figures
from reviewgauge.views.terminal.tables import NARROW, SLIM, Fitted, bare_table, notes_below, number_column, plain
from reviewgauge.views.validity import words

SHOWN_WEIGHTS = 10
MOST_VALUES = 12  # shown values of one fact; the report has all
NAME = 24  # columns for a metric's name, which is folded when it is longer
Called = Mapping[tuple[str, str, str], str]
Short = Callable[[MetricValidity], Text]


def validity(report: ValidityReport) -> RenderableType:
    """Per dimension: the overview, which metric to trust, slices, medians, KS distances, trees and rankings."""
    called = words.names(report)
    head = f"{report.dataset}: {figures.count(report.reviews)} reviews of {figures.count(report.cases)} cases"
    parts: list[RenderableType] = [plain(head, 500, "bold"), Text("")]
    for dimension in words.dimensions(report):
        parts += _dimension(report, dimension, called)
    if not report.metrics:
        parts.append(Text("no metric was validated"))
    return Group(*parts, *_footer(report, called))


def _dimension(report: ValidityReport, dimension: str, called: Called) -> Iterator[RenderableType]:
    metrics = words.best_first(report, dimension)
    labels = words.labels_of(report, dimension)
    title = f"{dimension}: agreement of the scores with people"
    yield plain(title, 200, "bold")
    if labels is not None:
        spread = ", ".join(f"{value}: {figures.count(n)}" for value, n in labels.distribution.items())
        raters = f"{len(labels.raters)} rater" + ("" if len(labels.raters) == 1 else "s")
        yield plain(f"{figures.count(labels.rows)} rows by {raters}; {spread}", 1000, "dim")
    yield Fitted(lambda width: _overview(metrics, called, width))
    yield Text("")
    yield plain(words.trust(report, dimension), 2000, "bold")
    yield from (plain(remark, 1000) for remark in words.remarks(report, dimension))
    yield Text("")
    short = _shortened(metrics, called)
    for table in (_slices, _medians, _distances, _trees, _rankings):
        yield from table(metrics, short)
    missing = words.undefined(metrics, called)
    if missing:
        yield notes_below(*(f"! {why}" for why in missing))
        yield Text("")


def _name(metric: MetricValidity, called: Called, most: int = 500) -> Text:
    name = plain(called[words.key(metric)], most)
    if metric.fake:
        name.append(" (fake)", style="bold yellow")
    if metric.estimate_note:
        name.append(" (estimate)", style="yellow")
    return name


def _shortened(metrics: Sequence[MetricValidity], called: Called) -> Short:
    """Names for the detail tables: cut to one line if they stay distinct."""
    cut = [one_line(called[words.key(m)], NAME) for m in metrics]
    most = NAME if len(set(cut)) == len(cut) else 500
    return lambda metric: _name(metric, called, most)


def _named(width: int) -> Table:
    table = bare_table()
    table.add_column("metric", overflow="fold", min_width=min(12, width // 3), max_width=max(12, min(NAME, width - 22)))
    return table


# --- overview ------------------------------------------------------------------------------------------------------


def _overview(metrics: Sequence[MetricValidity], called: Called, width: int) -> RenderableType:
    table = _named(width)
    extras = ["Kendall", "Pearson", "AUC", "QWK", "floor", "isotonic"]
    extras = extras if width >= NARROW else ["AUC", "QWK"] if width >= SLIM else []
    for head in ("n", "Spearman", *extras):
        number_column(table, head)
    for metric in metrics:
        found = words.overview_figures(metric)
        for at, part in enumerate(metric.correlations):
            others: Mapping[str, Figure | None] = {"Kendall": part.kendall, "Pearson": part.pearson}
            own = found if at == 0 else others
            name = _name(metric, called) if at == 0 else Text("  ").append(plain(part.rows.name, 60, "dim"))
            shown = part.spearman
            interval = words.bounds(shown, gap="") if width >= SLIM else ""
            cells = [own.get(extra) for extra in extras]
            table.add_row(
                name,
                Text(figures.count(shown.n)),
                Text(f"{words.coefficient(shown.value)} {interval}".rstrip()),
                *(Text("" if at and f is None else words.coefficient(f.value if f else None)) for f in cells),
            )
    return table


def _rows(metrics: Sequence[MetricValidity]) -> Iterator[str]:
    """Notes on the rows and columns of the overview, each once."""
    yield from dict.fromkeys(_row_set(part.rows) for metric in metrics for part in metric.correlations[:1])
    cuts = sorted({sweep.cut for m in metrics if (sweep := words.main_sweep(m)) is not None})
    if cuts:
        yield f"AUC: {' or '.join(words.grade(cut) for cut in cuts)} and above against the rest"
    heats = dict.fromkeys(m.heat_map.predicted_by for m in metrics if m.heat_map is not None)
    if heats:
        yield f"QWK: quadratic weighted kappa of predicted grades ({'; '.join(heats)})"
    folds = dict.fromkeys(f"{c.folds} folds by {c.grouped_by}" for m in metrics for c in m.calibrated)
    if folds:
        yield (
            f"floor, isotonic: Spearman of scores calibrated out of fold ({'; '.join(folds)}); isotonic is the mean "
            "within folds, to be compared with the uncalibrated score within the same folds (calibrated.csv)"
        )


def _row_set(rows: RowSet) -> str:
    left = ", ".join(f"{figures.count(n)} {why}" for why, n in rows.left_out.items())
    text = f"n = {figures.count(rows.rows)} rows, {figures.count(rows.clusters)} clusters by {rows.clustered_by}"
    return f"{text}; left out: {left}" if left else text


# --- details -------------------------------------------------------------------------------------------------------


def _blocks(title: str, columns: Sequence[str], rows: Sequence[tuple[Text, Sequence[str]]], wide: int) -> Fitted:
    """A table with one line a metric; columns that do not fit follow in further tables."""

    def build(width: int) -> RenderableType:
        room = max(1, (width - NAME - 1) // (wide + 1))
        tables: list[RenderableType] = [plain(title, 200, "bold")]
        for start in range(0, len(columns), room):
            table = _named(width)
            for column in columns[start : start + room]:
                number_column(table, column)
            for name, cells in rows:
                table.add_row(name.copy(), *(Text(cell) for cell in cells[start : start + room]))
            tables.append(table)
        return Group(*tables)

    return Fitted(build)


def _slices(metrics: Sequence[MetricValidity], short: Short) -> Iterator[RenderableType]:
    """Spearman by system, language and other facts: one block a fact, for the values with most rows."""
    ns: dict[str, dict[str, set[int]]] = {}
    for row in chain.from_iterable(m.slices for m in metrics):
        ns.setdefault(row.fact, {}).setdefault(row.value, set()).add(row.spearman.n)
    for fact, values in ns.items():
        shown = sorted(sorted(values, key=lambda value: -max(values[value]))[:MOST_VALUES])
        heads = [f"{one_line(value, 16)}\n{_n(values[value])}" for value in shown]
        rows = [
            (short(m), [words.coefficient(known.get(value)) for value in shown])
            for m in metrics
            if (known := {row.value: row.spearman.value for row in m.slices if row.fact == fact})
        ]
        wide = max(len(line) for head in heads for line in head.split("\n"))
        yield _blocks(f"Spearman by {one_line(fact, 60)}", heads, rows, wide)
        if len(shown) < len(values):
            yield notes_below(f"{len(values) - len(shown)} values with fewer rows are in the report")
        yield Text("")


def _medians(metrics: Sequence[MetricValidity], short: Short) -> Iterator[RenderableType]:
    counts: dict[float, set[int]] = {}
    for row in chain.from_iterable(m.grades for m in metrics):
        counts.setdefault(row.grade, set()).add(row.n)
    if not counts:
        return
    grades = sorted(counts)
    heads = [f"{words.grade(g)}\n{_n(counts[g])}" for g in grades]
    rows = [
        (short(m), [_median(known.get(g), m.unit) for g in grades])
        for m in metrics
        if (known := {row.grade: row for row in m.grades})
    ]
    yield _blocks("median score by grade", heads, rows, max(8, *(len(h.split("\n")[1]) for h in heads)))
    if any(_equal(row) for m in metrics for row in m.grades):
        yield notes_below("=: all scores of that grade are equal")
    yield Text("")


def _n(counts: set[int]) -> str:
    """`n=300`, or the range if metrics have different rows."""
    return f"n={'-'.join(figures.count(n) for n in sorted({min(counts), max(counts)}))}"


def _equal(row: GradeRow) -> bool:
    return row.n > 1 and row.minimum == row.maximum


def _median(row: GradeRow | None, unit: str) -> str:
    if row is None:
        return figures.UNDEFINED
    return words.score(row.median.value, unit) + ("=" if _equal(row) else "")


def _distances(metrics: Sequence[MetricValidity], short: Short) -> Iterator[RenderableType]:
    pairs = sorted({(cell.first, cell.second) for m in metrics for cell in m.ks})
    if not pairs:
        return
    rows = [
        (short(m), [words.coefficient(known.get(pair)) for pair in pairs])
        for m in metrics
        if (known := {(cell.first, cell.second): cell.statistic for cell in m.ks})
    ]
    heads = [f"{words.grade(a)}-{words.grade(b)}" for a, b in pairs]
    title = "Kolmogorov-Smirnov distance between the scores of two grades (0 the same, 1 apart)"
    yield _blocks(title, heads, rows, max(5, *(len(h) for h in heads)))
    yield Text("")


def _trees(metrics: Sequence[MetricValidity], short: Short) -> Iterator[RenderableType]:
    """The tree of every metric, and one line for the majority class if it is the same for all."""
    every = [(m, c) for m in metrics for c in m.classifiers]
    if not every:
        return
    first = [c for _, c in every if c.name == TREE][:1]
    baselines = {(c.name, c.rows, c.accuracy.value, c.balanced_accuracy.value): c for _, c in every if c.name != TREE}
    lines = [
        (short(m) if c.name == TREE else plain(f"  {c.name}", 60, "dim"), c)
        for m, c in every
        if c.name == TREE or len(baselines) > 1
    ]
    if len(baselines) == 1:
        lines += [(plain(c.name, 60, "bold"), c) for c in baselines.values()]
    yield Text("grades predicted from the scores: decision tree beside the majority class", style="bold")
    yield Fitted(lambda width: _tree_table(lines, width))
    yield notes_below(
        "F1 by grade, macro means, share of right grades with its range over splits",
        *(
            f"{c.splits} splits, n = {figures.count(c.n_train)} to train, {figures.count(c.n_test)} to test"
            for c in first
        ),
    )
    yield Text("")


def _tree_table(lines: Sequence[tuple[Text, Classifier]], width: int) -> RenderableType:
    table = _named(width)
    grades = sorted({row.grade for _, c in lines for row in c.rows})
    room = (width - NAME - 46) // 5
    shown = grades if len(grades) <= room else []
    macro = width >= NARROW
    heads = [f"F1 {words.grade(g)}" if g == grades[0] else words.grade(g) for g in shown]
    for head in [*heads, *(("P", "R", "F1") if macro else ()), "right", "balanced", "QWK"]:
        number_column(table, head)
    for name, c in lines:
        known = {row.grade: row for row in c.rows}
        f1 = [figures.number(known[g].f1) if g in known else figures.UNDEFINED for g in shown]
        means = [figures.number(v) for v in (c.macro.precision, c.macro.recall, c.macro.f1)] if macro else []
        span = figures.interval(c.accuracy.low, c.accuracy.high, gap="") if width >= NARROW else ""
        right = f"{words.coefficient(c.accuracy.value)} {span}".rstrip()
        rest = [words.coefficient(f.value) for f in (c.balanced_accuracy, c.kappa_quadratic)]
        table.add_row(name, *(Text(cell) for cell in [*f1, *means, right, *rest]))
    return table


def _rankings(metrics: Sequence[MetricValidity], short: Short) -> Iterator[RenderableType]:
    ranked = [(m, m.ranking) for m in metrics if m.ranking is not None]
    if not ranked:
        return

    def build(width: int) -> RenderableType:
        table = _named(width)
        for name in ("systems", "Spearman", "Kendall"):
            number_column(table, name)
        for m, ranking in ranked:
            cells = (words.with_bounds(ranking.spearman), words.coefficient(ranking.kendall.value))
            table.add_row(short(m), *(Text(cell) for cell in (str(len(ranking.systems)), *cells)))
        return table

    yield Text("order of the systems by the metric and by people", style="bold")
    yield Fitted(build)
    left = dict.fromkeys(name for _, ranking in ranked for name in ranking.left_out)
    why = dict.fromkeys(r.spearman.reason for _, r in ranked if r.spearman.value is None and r.spearman.reason)
    places = [words.place_of_reference(point) for point in ranked[0][1].references]
    yield notes_below(f"left out: {', '.join(left)}" if left else "", *places, *(f"! {reason}" for reason in why))
    yield Text("")


def _footer(report: ValidityReport, called: Called) -> list[RenderableType]:
    dimensions = words.dimensions(report)
    of: dict[str, list[str]] = {}
    for dimension in dimensions:
        for line in _rows(words.best_first(report, dimension)):
            of.setdefault(line, []).append(dimension)
    lines = [line if where == dimensions else f"{', '.join(where)}: {line}" for line, where in of.items()]
    if any(cell.low is not None for m in report.metrics for cell in m.ks):
        lines.append("the report and its CSV tables have the other intervals")
    notes = dict.fromkeys(m.estimate_note for m in report.metrics if m.estimate_note)
    lines += [f"! {note}" for note in (*words.cautions(report), *notes)]
    lines.append(
        f"{figures.percent(report.level)} intervals from {report.resamples:,} resamples, seed {report.seed}; "
        f"benchmark {figures.short_hash(report.benchmark)}; –: undefined"
    )
    signed = dict.fromkeys((one_line(called[words.key(m)], 60), m.metric, m.reading) for m in report.metrics)
    lines += [f"{name}: {metric}, reading {reading}" for name, metric, reading in signed]
    return [notes_below(*lines)]


# --- calibration ---------------------------------------------------------------------------------------------------


def calibration(
    account: Sequence[MetricValidity],
    *,
    leakage: Figure,
    weights: Sequence[tuple[str, float]],
    closing: str,
    folds: int,
) -> RenderableType:
    """The account of `calibrate`: all metrics, the calibrated grade by system, the largest weights, the leakage."""
    first = account[0]
    rows = first.correlations[0].rows
    table = bare_table(f"{first.dimension}: agreement of the scores with people")
    table.add_column("metric")
    for head in ("n", "Spearman", "AUC", "QWK", "exact"):
        number_column(table, head)
    for metric in account:
        called = plain(metric.label, 60)
        table.add_row(called.append(" (fake)", style="bold yellow") if metric.fake else called, *_cells(metric))
    systems = bare_table(f"{first.label}, by system{' (fake)' if first.fake else ''}")
    systems.add_column("system")
    number_column(systems, "n")
    number_column(systems, "Spearman")
    for row in first.slices:
        systems.add_row(plain(row.value, 60), figures.count(row.spearman.n), words.with_bounds(row.spearman))
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
            f"{folds} folds of {figures.count(rows.rows)} rows by {rows.clustered_by} ({figures.count(rows.clusters)} "
            "groups); QWK and exact agreement of every row are of grades fitted in such folds",
            f"leakage: fitted to shuffled labels it reaches {words.with_bounds(leakage)}, which should be about 0",
            "the fit uses labels; a judge that saw none, such as a prompted model, knows less",
        ),
        plain(closing, 1000),
    )


def _cells(metric: MetricValidity) -> list[str]:
    sweep, heat = words.main_sweep(metric), metric.heat_map
    spearman = words.spearman(metric)
    found = [sweep.auc if sweep else None, heat.kappa_quadratic if heat else None, heat.exact if heat else None]
    return [
        figures.count(spearman.n),
        words.with_bounds(spearman),
        *(words.coefficient(figure.value if figure else None) for figure in found),
    ]
