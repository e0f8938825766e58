"""The results of `validate` as documents: the page, what the terminal shows of it, and the account of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.core.document import (
    Block,
    Chart,
    Column,
    Document,
    Plot,
    Section,
    Series,
    Table,
    Text,
    Value,
    columns_of,
)
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.validity import FitReport, MetricValidity, RowSet, Sweep, ValidityReport
from reviewgauge.views import figures
from reviewgauge.views.validity import metric_tables as tables
from reviewgauge.views.validity import published, words
from reviewgauge.views.validity.metric_tables import Called
from reviewgauge.views.values import COEFFICIENT, counted, note, or_dash

SHOWN_WEIGHTS = 10
SHOWN_PUBLISHED = 3  # of a dimension, the highest, in the terminal
MOST_RANKED = 8  # metrics beside people's ranks in the chart; the table has all
_ABOUT = (
    "Spearman, Kendall (tau-b) and Pearson compare the score of every review with its human value. Intervals are "
    "percentile bootstrap intervals over whole clusters, so that reviews of one reference stay together; which of two "
    "metrics agrees better is told by the interval of their difference on the rows that both scored, not by whether "
    "their intervals overlap. A Kolmogorov-Smirnov distance is 0 where the scores of two grades are distributed alike "
    "and 1 where they do not overlap. A decision tree and every calibration learn from the labels and are read off on "
    "rows that they did not see; the majority class, which looks at nothing, is the figure to beat."
)


def validity_summary(report: ValidityReport) -> Document:
    """For the terminal: each dimension with every metric beside published ones, and which metric to trust."""
    called = words.names(report)
    blocks: list[Block] = []
    for dimension in words.dimensions(report):
        blocks += [_overview(report, dimension, called, SHOWN_PUBLISHED), *_answer(report, dimension)]
        blocks += [note(f"! {why}") for why in words.undefined(words.best_first(report, dimension), called)]
    if not report.metrics:
        blocks.append(Text(text="no metric was validated"))
    head = f"{report.dataset}: {figures.count(report.reviews)} reviews of {figures.count(report.cases)} cases"
    below = [*(f"! {caution}" for caution in _cautions(report)), *_settings(report, called)]
    return Document(headline=head, blocks=(*blocks, *map(note, below)))


def validity_document(report: ValidityReport) -> Document:
    """For the page: the answers and warnings, every metric on each dimension, then metric by metric."""
    called, dimensions = words.names(report), words.dimensions(report)
    nothing = [] if dimensions else [Text(text="No metric was validated.", kind="strong")]
    fake = [note("! some scores are fake")] if any(m.fake for m in report.metrics) else []
    return Document(
        headline=f"Which metric agrees with people on {report.dataset}?",
        blocks=(
            *(text for dimension in dimensions for text in _answer(report, dimension)),
            *nothing,
            *fake,
            *(note(f"! {caution}") for caution in _cautions(report)),
            *(_together(report, dimension, called) for dimension in dimensions),
            *(_each(report, dimension, called) for dimension in dimensions),
            Section(title="About these numbers", blocks=(Text(text=_ABOUT), *map(note, _settings(report, called)))),
        ),
    )


def _answer(report: ValidityReport, dimension: str) -> Iterator[Text]:
    """Which metric to trust on a dimension, then its uses and limits."""
    yield Text(text=words.trust(report, dimension), kind="strong")
    yield from (Text(text=remark) for remark in words.remarks(report, dimension))


def _cautions(report: ValidityReport) -> list[str]:
    return [*words.cautions(report), *dict.fromkeys(m.estimate_note for m in report.metrics if m.estimate_note)]


def _settings(report: ValidityReport, called: Called) -> Iterator[str]:
    """The rows behind the figures, the resamples, and the signature of every metric."""
    dimensions = words.dimensions(report)
    of: dict[str, list[str]] = {}
    for dimension in dimensions:
        for line in _rests_on(words.best_first(report, dimension)):
            of.setdefault(line, []).append(dimension)
    yield from (line if where == dimensions else f"{', '.join(where)}: {line}" for line, where in of.items())
    yield (
        f"{figures.percent(report.level)} intervals from {report.resamples:,} resamples, seed {report.seed}; "
        f"benchmark {figures.short_hash(report.benchmark)}; –: undefined"
    )
    signed: dict[tuple[str, str], dict[str, None]] = {}
    for m in (m for m in report.metrics if not m.baseline):
        signed.setdefault((one_line(called[words.key(m)], 60), m.metric), {})[m.measure] = None
    yield from (f"{name}: {metric}, measure {', '.join(measures)}" for (name, metric), measures in signed.items())
    yield from dict.fromkeys(f"{name}: {value}" for m in report.metrics for name, value in m.pins.items())


def _rests_on(metrics: Sequence[MetricValidity]) -> Iterator[str]:
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


# --- all metrics of a dimension ------------------------------------------------------------------------------------


def _overview(report: ValidityReport, dimension: str, called: Called, shown: int | None = None) -> Table:
    """Every metric beside what was published, of which the `shown` highest, and what is known of the labels."""
    metrics, printed = words.best_first(report, dimension), published.printed(report, dimension)
    table = tables.overview_table(metrics, called, printed[:shown])
    lower = len(printed) - shown if shown is not None else 0
    more = f"; {lower} lower ones are in the report" if lower > 0 else ""
    notes = [f"{published.sources(report, dimension)}, perhaps not on the same rows{more}"] if printed else []
    title = f"{dimension}: agreement of the scores with people"
    return table.model_copy(update={"title": title, "notes": (*notes, *_labels(report, dimension))})


def _labels(report: ValidityReport, dimension: str) -> Iterator[str]:
    if (labels := words.labels_of(report, dimension)) is not None:
        counts = ", ".join(f"{value}: {figures.count(n)}" for value, n in labels.distribution.items())
        raters = ", ".join(f"{rater} {figures.count(n)}" for rater, n in labels.raters.items())
        scale = f"{words.grade(labels.scale.low)} to {words.grade(labels.scale.high)}"
        meaning = f" ({labels.scale.meaning})" if labels.scale.meaning else ""
        many = f"{len(labels.raters)} rater" + ("" if len(labels.raters) == 1 else "s")
        how = " in consensus" if labels.consensus else ""
        yield f"{figures.count(labels.rows)} rows by {many}{how}: {raters}; {scale}{meaning}; {counts}"


def _together(report: ValidityReport, dimension: str, called: Called) -> Section:
    metrics = words.best_first(report, dimension)
    forest = Plot(kind="forest", columns=(2,))
    blocks: list[Block] = [
        _overview(report, dimension, called).model_copy(update={"plot": forest}),
        *map(note, _rests_on(metrics)),
        *(note(f"! {why}") for why in words.undefined(metrics, called)),
        *_sensitivity(metrics, called),
        Section(title="Every row set, with p", blocks=(tables.row_sets_table(metrics, called),), folded=True),
    ]
    for fact in dict.fromkeys(row.fact for metric in metrics for row in metric.slices):
        values = list(dict.fromkeys(row.value for m in metrics for row in m.slices if row.fact == fact))
        printed = published.by_value(report, dimension, fact, values)
        table = tables.slices_table(metrics, called, fact, printed)
        blocks.append(Section(title=f"By {fact}", blocks=(table,), folded=not printed))
    if (means := tables.means_table(metrics, called)).rows:
        blocks.append(Section(title="Mean score by human grade", blocks=(means,), folded=True))
    if paired := words.paired(report, dimension):
        title = "The best less each other one, and each less each baseline, by Spearman on the rows that both scored"
        blocks.append(Section(title=title, blocks=tuple(map(note, paired)), folded=True))
    blocks += _ranks(report, dimension, metrics, called)
    return Section(title=f"All metrics on {dimension}", blocks=tuple(blocks))


def _sensitivity(metrics: Sequence[MetricValidity], called: Called) -> Iterator[Chart]:
    """The mean score by human grade, each metric on its own range from 0 to 1; none whose scores are all equal."""
    series = []
    for m in metrics:
        low, high = min((r.minimum for r in m.grades), default=0.0), max((r.maximum for r in m.grades), default=0.0)
        if len(m.grades) > 1 and high > low:
            points = tuple((row.grade, _scaled(row.mean, low, high)) for row in m.grades)
            series.append(Series(name=called[words.key(m)], points=points))
    if series:
        yield Chart(
            title="Mean score by human grade",
            caption="0 and 1 are the lowest and the highest score of the metric; a flat line does not separate grades",
            series=tuple(series),
            across="human grade",
            ticks=tuple(sorted({grade for one in series for grade, _ in one.points})),
            from_zero=True,
        )


def _scaled(figure: Value, low: float, high: float) -> Value:
    found = or_dash(figure, COEFFICIENT)
    ends = {name: getattr(found, name) for name in ("value", "low", "high")}
    scaled = {name: None if end is None else (end - low) / (high - low) for name, end in ends.items()}
    return found.model_copy(update=scaled)


def _ranks(
    report: ValidityReport, dimension: str, metrics: Sequence[MetricValidity], called: Called
) -> Iterator[Block]:
    """The systems ranked by people and by each metric, as a chart and as a table."""
    ranked = [(called[words.key(m)], m.ranking) for m in metrics if m.ranking is not None and m.ranking.systems]
    if not ranked:
        return
    people = {p.system: p.human_rank for _, ranking in reversed(ranked) for p in ranking.systems}
    systems = sorted(people, key=lambda system: (people[system], system))
    orders = [people, *({p.system: p.metric_rank for p in one.systems} for _, one in ranked[:MOST_RANKED])]
    yield Chart(
        title="Systems ranked by people and by each metric",
        caption="in colour: those that people rank first",
        series=tuple(
            Series(
                name=system,
                points=tuple((float(at), or_dash(own.get(system), "rank")) for at, own in enumerate(orders)),
            )
            for system in systems
        ),
        across="",
        ticks=tuple(float(at) for at in range(len(orders))),
        named=("people", *(name for name, _ in ranked[:MOST_RANKED])),
    )
    table = tables.ranks_table(metrics, called, systems, published.means(report, dimension, systems))
    lines = [
        f"published order of the systems: {line.metric}: Spearman {words.coefficient(line.spearman)}, Kendall "
        f"{words.coefficient(line.kendall)}"
        for line in published.printed(report, dimension, published.SYSTEMS)
    ]
    lines += dict.fromkeys(words.place_of_reference(point) for point in ranked[0][1].references)
    left = list(dict.fromkeys(name for _, ranking in ranked for name in ranking.left_out))
    lines += [f"left out: {', '.join(left)}"] if left else []
    yield Section(title="Ranks of the systems", blocks=(table, *map(note, lines)), folded=True)


# --- metric by metric ----------------------------------------------------------------------------------------------


def _each(report: ValidityReport, dimension: str, called: Called) -> Section:
    ends = published.printed(report, dimension, published.ENDS)
    metrics = words.best_first(report, dimension)
    sections = (
        Section(
            title=f"{called[words.key(m)]}{' (fake)' * m.fake}: Spearman {words.with_bounds(words.spearman(m))}, n = "
            f"{figures.count(words.spearman(m).n)}",
            blocks=tuple(_metric(m, ends)),
            folded=True,
        )
        for m in metrics
    )
    return Section(title=f"Metric by metric: {dimension}", blocks=tuple(sections))


def _metric(m: MetricValidity, printed_ends: Sequence[published.Printed]) -> Iterator[Block]:
    unit = "shares" if m.unit == "share" else m.unit
    yield note(f"{m.metric}, measure {m.measure}, in {unit}, against {m.dimension}")
    yield from (note(f"! {warning}") for warning in (m.estimate_note, *m.warnings) if warning)
    found = [tables.grades_table(m), tables.distances_matrix(m), *tables.heat_tables(m)]
    yield from _distributions(m)
    yield from (table for table in found if table.rows)
    if (sweep := words.main_sweep(m)) is not None and sweep.points:
        yield _swept(sweep)
    rest = [tables.sweeps_table(m), *tables.class_tables(m), tables.calibrated_table(m)]
    yield from (table for table in rest if table.rows)
    if (distances := tables.distances_table(m)).rows:
        yield Section(title="The distances with intervals", blocks=(distances,), folded=True)
    if m.ends is not None:
        yield Text(text=f"It puts {words.ends(m)}.")
        cuts = f"{words.score(m.ends.low_cut, m.unit)} and {words.score(m.ends.high_cut, m.unit)}"
        yield note(f"the cuts are {cuts}; n = {figures.count(m.ends.over.n)}")
        yield from (note(_printed_end(line)) for line in printed_ends)
    if (traits := tables.traits_table(m)).rows:
        yield traits
    for title, rows in (("Scored too high", m.over), ("Scored too low", m.under)):
        if rows:
            table = tables.misjudged_table(m, rows)
            yield Section(title=f"{title}: the {len(rows)} furthest", blocks=(table,), folded=True)


def _distributions(m: MetricValidity) -> Iterator[Chart]:
    """The density of the scores of each grade, as in Figures 4 and 7 of GradedReviews."""
    if shown := [row for row in m.grades if row.density]:
        yield Chart(
            title="Distribution of the scores by human grade",
            caption="the higher a line, the more reviews of the grade have such a score",
            series=tuple(
                Series(
                    name=words.grade(row.grade), points=tuple((at, Value(value=d, unit="")) for at, d in row.density)
                )
                for row in shown
            ),
            across="score",
            from_zero=True,
        )


def _swept(sweep: Sweep) -> Chart:
    """Precision, recall and F1 along the threshold."""
    points = sorted(sweep.points, key=lambda point: point.threshold)
    return Chart(
        title=f"Separating {words.grade(sweep.cut)} and above from the rest",
        caption="upright: the threshold with the best F1, chosen on the same rows",
        series=tuple(
            Series(
                name=name,
                points=tuple((p.threshold, or_dash(getattr(p, name.lower()), COEFFICIENT)) for p in points),
            )
            for name in ("F1", "precision", "recall")
        ),
        across="threshold",
        upright=(sweep.best.threshold,) if sweep.best else (),
        from_zero=True,
    )


def _printed_end(line: published.Printed) -> str:
    over, under = (f"{100 * line.figures.get(name, 0.0):.1f}%" for name in ("over", "under"))
    rho, tau = words.coefficient(line.spearman), words.coefficient(line.kendall)
    return (
        f"published ({line.source}) of {line.metric}: {over} and {under}; without these, Spearman {rho}, Kendall {tau}"
    )


# --- several metrics as one grade ----------------------------------------------------------------------------------


def fit_document(fit: FitReport) -> Document:
    """The account of a fit: all metrics, the fitted grade by system, the largest weights, the leakage."""
    first, weights = fit.account[0], fit.weights
    rows = first.correlations[0].rows
    name = Column(key="metric", kind="name", priority=0)
    spearman = Column(key="Spearman", priority=0, digits=3)
    n = columns_of("figure", "n")
    account = Table(
        name="account",
        title=f"{first.dimension}: agreement of the scores with people",
        columns=(name, *n, spearman, *columns_of("figure", "AUC", "QWK", "exact")),
        rows=tuple(_accounted(metric) for metric in fit.account),
    )
    systems = Table(
        name="systems",
        title=f"{first.label}, by system{' (fake)' if first.fake else ''}",
        columns=(name.model_copy(update={"key": "system"}), *n, spearman),
        rows=tuple(
            (Value(text=row.value), counted(row.spearman.n), or_dash(row.spearman, COEFFICIENT)) for row in first.slices
        ),
    )
    largest = Table(
        name="weights",
        title=f"The {min(SHOWN_WEIGHTS, len(weights))} largest of {len(weights)} weights",
        columns=(name.model_copy(update={"key": "feature"}), Column(key="per sd", kind="difference")),
        rows=tuple((Value(text=what), Value(value=weight, unit="")) for what, weight in weights[:SHOWN_WEIGHTS]),
    )
    notes = (
        f"{fit.folds} folds of {figures.count(rows.rows)} rows by {rows.clustered_by} ({figures.count(rows.clusters)} "
        "groups); QWK and exact agreement of every row are of grades fitted in such folds",
        f"leakage: fitted to shuffled labels it reaches {words.with_bounds(fit.leakage)}, which should be about 0",
        "the fit uses labels; a judge that saw none, such as a prompted model, knows less",
    )
    return Document(blocks=(account, *([systems] if first.slices else []), largest, *map(note, notes)))


def _accounted(metric: MetricValidity) -> tuple[Value, ...]:
    sweep, heat, spearman = words.main_sweep(metric), metric.heat_map, words.spearman(metric)
    found = [sweep.auc if sweep else None, heat.kappa_quadratic if heat else None, heat.exact if heat else None]
    return (
        Value(text=metric.label, fake=metric.fake),
        counted(spearman.n),
        or_dash(spearman, COEFFICIENT),
        *(or_dash(figure, COEFFICIENT) for figure in found),
    )
