"""The results of `validate` in the terminal: which metric agrees with people, and how well.

They fit 100 columns and show less on 80. The report and `--json` have every figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.validity import FitReport, MetricValidity, RowSet, ValidityReport
from reviewgauge.views import figures
from reviewgauge.views.terminal.documents import table_view
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain
from reviewgauge.views.validity import published, words
from reviewgauge.views.validity.metric_tables import Called, overview_table

SHOWN_WEIGHTS = 10
SHOWN_PUBLISHED = 3  # of a dimension, the highest


def validity(report: ValidityReport) -> RenderableType:
    """Per dimension: every metric beside published ones, and which metric to trust."""
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
    printed = published.printed(report, dimension)
    yield table_view(overview_table(metrics, called, printed[:SHOWN_PUBLISHED], parts=True))
    if printed:
        lower = len(printed) - SHOWN_PUBLISHED
        more = f"; {lower} lower ones are in the report" if lower > 0 else ""
        yield notes_below(f"{published.sources(report, dimension)}, perhaps not on the same rows{more}")
    yield Text("")
    yield plain(words.trust(report, dimension), 2000, "bold")
    yield from (plain(remark, 1000) for remark in words.remarks(report, dimension))
    yield Text("")
    missing = words.undefined(metrics, called)
    if missing:
        yield notes_below(*(f"! {why}" for why in missing))
        yield Text("")


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
        yield f"floor: Spearman of scores below one counted as equal, which was fitted out of fold ({'; '.join(folds)})"


def _row_set(rows: RowSet) -> str:
    left = ", ".join(f"{figures.count(n)} {why}" for why, n in rows.left_out.items())
    text = f"n = {figures.count(rows.rows)} rows, {figures.count(rows.clusters)} clusters by {rows.clustered_by}"
    return f"{text}; left out: {left}" if left else text


def _footer(report: ValidityReport, called: Called) -> list[RenderableType]:
    dimensions = words.dimensions(report)
    of: dict[str, list[str]] = {}
    for dimension in dimensions:
        for line in _rows(words.best_first(report, dimension)):
            of.setdefault(line, []).append(dimension)
    lines = [line if where == dimensions else f"{', '.join(where)}: {line}" for line, where in of.items()]
    notes = dict.fromkeys(m.estimate_note for m in report.metrics if m.estimate_note)
    lines += [f"! {note}" for note in (*words.cautions(report), *notes)]
    lines.append(
        f"{figures.percent(report.level)} intervals from {report.resamples:,} resamples, seed {report.seed}; "
        f"benchmark {figures.short_hash(report.benchmark)}; –: undefined"
    )
    signed: dict[tuple[str, str], dict[str, None]] = {}
    for m in (m for m in report.metrics if not m.baseline):
        signed.setdefault((one_line(called[words.key(m)], 60), m.metric), {})[m.measure] = None
    lines += [f"{name}: {metric}, measure {', '.join(measures)}" for (name, metric), measures in signed.items()]
    return [notes_below(*lines)]


# --- several metrics as one grade ----------------------------------------------------------------------------------


def fitted(fit: FitReport, closing: str) -> RenderableType:
    """The account of a fit: all metrics, the fitted grade by system, the largest weights, the leakage."""
    first, weights = fit.account[0], fit.weights
    rows = first.correlations[0].rows
    table = bare_table(f"{first.dimension}: agreement of the scores with people")
    table.add_column("metric")
    for head in ("n", "Spearman", "AUC", "QWK", "exact"):
        number_column(table, head)
    for metric in fit.account:
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
            f"{fit.folds} folds of {figures.count(rows.rows)} rows by {rows.clustered_by} "
            f"({figures.count(rows.clusters)} groups); "
            "QWK and exact agreement of every row are of grades fitted in such folds",
            f"leakage: fitted to shuffled labels it reaches {words.with_bounds(fit.leakage)}, which should be about 0",
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
