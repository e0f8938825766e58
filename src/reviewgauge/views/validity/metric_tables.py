"""The tables of a validity report: all metrics of a dimension, and what lies behind one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from reviewgauge.core.document import Column, Plot, Table, Value, columns_of
from reviewgauge.core.reports.validity import MetricValidity, Misjudged
from reviewgauge.views import figures
from reviewgauge.views.validity import words
from reviewgauge.views.validity.published import Printed
from reviewgauge.views.values import COEFFICIENT, coefficient, counted, or_dash

Called = Mapping[tuple[str, str, str], str]
Row = tuple[Value, ...]
PUBLISHED = "published:"
_OVERVIEW = {  # the columns after Spearman: what they say, and how soon a narrow terminal leaves them out
    "Kendall": ("", 2),
    "Pearson": ("", 3),
    "AUC": ("separating the higher grades from the rest, at the cut that splits the rows most evenly", 1),
    "QWK": ("quadratic weighted kappa of grades predicted out of fold", 1),
    "floor": ("Spearman of scores calibrated with the labels, out of fold", 4),
}


def _table(name: str, title: str, columns: Sequence[Column], rows: Sequence[Row], **more: object) -> Table:
    whole = {"name": name, "title": title, "columns": tuple(columns), "rows": tuple(rows), "shown": len(rows), **more}
    return Table.model_validate(whole)


def _text(text: str) -> Value:
    return Value(text=text)


def _figure(figure: Value | None) -> Value:
    """A figure; a dash with the reason where it is undefined."""
    found = or_dash(figure, COEFFICIENT)
    why = figure.reason if figure is not None and found.value is None else ""
    return found.model_copy(update={"text": f"{figures.UNDEFINED} {why}"}) if why else found


def score_unit(metric: MetricValidity) -> str:
    """Scores that are shares have three digits, others two."""
    return COEFFICIENT if metric.unit == "share" else ""


def _named(metric: MetricValidity, called: Called) -> Value:
    estimate = " (estimate)" if metric.estimate_note else ""
    return Value(text=called[words.key(metric)] + estimate, fake=metric.fake)


# --- all metrics of a dimension ------------------------------------------------------------------------------------


def overview_table(metrics: Sequence[MetricValidity], called: Called, printed: Sequence[Printed]) -> Table:
    """Every metric on all rows, and on each part of them; the published ones below."""
    columns = [
        *columns_of("name", "metric"),
        *columns_of("figure", "n"),
        Column(key="Spearman", priority=0),
        *(Column(key=key, help=help, kind="figure", priority=at) for key, (help, at) in _OVERVIEW.items()),
    ]
    ours = [row for metric in metrics for row in _overview(metric, called)]
    theirs = [
        (
            _text(line.metric),
            _text(figures.UNDEFINED),
            coefficient(line.spearman),
            *(coefficient(line.kendall if extra == "Kendall" else None) for extra in _OVERVIEW),
        )
        for line in printed
    ]
    sections = {len(ours): PUBLISHED} if theirs else {}
    return _table("overview", "", columns, [*ours, *theirs], sections=sections)


def _overview(metric: MetricValidity, called: Called) -> Iterator[Row]:
    found, spearman = words.overview_figures(metric), words.spearman(metric)
    extras = (or_dash(found[extra], COEFFICIENT) for extra in _OVERVIEW)
    yield _named(metric, called), counted(spearman.n), or_dash(spearman, COEFFICIENT), *extras
    for part in () if metric.baseline else metric.correlations[1:]:
        others = {"Kendall": part.kendall, "Pearson": part.pearson}
        known = (or_dash(others[e], COEFFICIENT) if e in others else _text("") for e in _OVERVIEW)
        yield (
            _text(f"- {part.rows.name}"),
            counted(part.spearman.n),
            or_dash(part.spearman, COEFFICIENT),
            *known,
        )


def row_sets_table(metrics: Sequence[MetricValidity], called: Called) -> Table:
    """The correlations on every row set, with p."""
    names = ("Spearman", "Kendall", "Pearson")
    columns = [*columns_of("name", "metric"), *columns_of("text", "rows"), *columns_of("figure", "n", "clusters")]
    for name in names:
        columns += [Column(key=name), Column(key=f"{name}: p", title="p", kind="figure")]
    rows = []
    for metric in metrics:
        for part in metric.correlations:
            left = ", ".join(f"{figures.count(n)} {why}" for why, n in part.rows.left_out.items())
            found = [getattr(part, name.lower()) for name in names]
            cells = [cell for one in found for cell in (_figure(one), or_dash(one.p, "p"))]
            counts = (counted(part.spearman.n), counted(part.rows.clusters))
            rows.append((_named(metric, called), _text(part.rows.name), *counts, *cells, _text(left or "none")))
    title = "Correlations by metric and row set"
    return _table("correlations", title, [*columns, *columns_of("text", "left out")], rows)


def slices_table(
    metrics: Sequence[MetricValidity],
    called: Called,
    fact: str,
    printed: Mapping[str, Mapping[str, Printed]],
) -> Table:
    """The rank correlations where a fact has one value, a row a metric; the published ones below."""
    known = [(m, {row.value: row for row in m.slices if row.fact == fact}) for m in metrics]
    ns: dict[str, set[int]] = {}
    for row in (row for _, rows in known for row in rows.values()):
        ns.setdefault(row.value, set()).add(row.spearman.n or 0)
    columns = columns_of("name", "metric")
    for value, counts in ns.items():
        columns.append(Column(key=value, title=f"{value} (n = {words.range_of(counts)}): Spearman"))
        columns.append(Column(key=f"{value}: Kendall", title="Kendall", kind="figure"))
    ours: list[Row] = []
    for metric, rows in known:
        if rows:
            pairs = ((part.spearman, part.kendall) if (part := rows.get(value)) else (None, None) for value in ns)
            cells = [cell for rho, tau in pairs for cell in (_figure(rho), or_dash(tau, COEFFICIENT))]
            ours.append((_named(metric, called), *cells))
    theirs: list[Row] = []
    for name, lines in printed.items():
        given = ((line.spearman, line.kendall) if (line := lines.get(value)) else (None, None) for value in ns)
        theirs.append((_text(name), *(coefficient(one) for pair in given for one in pair)))
    title = f"Spearman (with interval) and Kendall where {fact} has one value"
    return _table("slices", title, columns, [*ours, *theirs], sections={len(ours): PUBLISHED} if theirs else {})


def means_table(metrics: Sequence[MetricValidity], called: Called) -> Table:
    """The mean score of each human grade in the metric's own unit, and whether it rises from grade to grade."""
    grades = sorted({row.grade for metric in metrics for row in metric.grades})
    rows = []
    for metric in (one for one in metrics if one.grades):
        falls = ", ".join(f"{words.grade(one)} to {words.grade(two)}" for one, two in words.falls(metric))
        means = {row.grade: or_dash(row.mean, score_unit(metric), n=row.n) for row in metric.grades}
        cells = (means.get(grade, coefficient(None)) for grade in grades)
        rows.append((_named(metric, called), _text(f"not from {falls}" if falls else "always"), *cells))
    columns = [
        *columns_of("name", "metric"),
        *columns_of("text", "rises"),
        *columns_of("value", *map(words.grade, grades)),
    ]
    return _table("means", "In the metric's own unit", columns, rows)


class _Order(NamedTuple):
    """An order of the systems: (rank, mean) by system, the unit of the means, its correlations with people's."""

    name: str
    ranks: Mapping[str, tuple[float, Value]]
    unit: str = COEFFICIENT
    agrees: Mapping[str, Value] = {}


def ranks_table(
    metrics: Sequence[MetricValidity],
    called: Called,
    systems: Sequence[str],
    printed: Mapping[str, Mapping[str, tuple[float, int]]],
) -> Table:
    """The rank of each system and its mean by people and by each metric; then the correlation of the two orders."""
    known = [(m, m.ranking) for m in metrics if m.ranking is not None]
    people = {p.system: (p.human_rank, p.human) for _, ranking in reversed(known) for p in ranking.systems}
    orders = [_Order("people", people)]
    orders += [
        _Order(f"{name}, published", {system: (rank, Value(value=mean)) for system, (mean, rank) in own.items()})
        for name, own in printed.items()
    ]
    orders += [
        _Order(
            called[words.key(m)],
            {p.system: (p.metric_rank, p.metric) for p in ranking.systems},
            score_unit(m),
            {"Spearman": ranking.spearman, "Kendall": ranking.kendall},
        )
        for m, ranking in known
    ]
    columns, nothing = columns_of("name", "system"), (None, None)
    for one in orders:
        columns += [Column(key=f"{one.name}: rank", kind="figure"), Column(key=f"{one.name}: mean", title="mean")]
    rows = []
    for system in systems:
        pairs = [(one.unit, *one.ranks.get(system, nothing)) for one in orders]
        cells = (cell for unit, rank, mean in pairs for cell in (or_dash(rank, "count"), or_dash(mean, unit)))
        rows.append((_text(system), *cells))
    for name in ("Spearman", "Kendall"):
        agreed = (_figure(one.agrees[name]) if one.agrees else _text("") for one in orders)
        rows.append((_text(name), *(cell for figure in agreed for cell in (_text(""), figure))))
    title = "Rank of each system, 1 is best, and its mean, that of people from 0 to 1"
    sections = {len(systems): "correlation of the order with people's:"}
    return _table("ranks", title, columns, rows, sections=sections)


# --- behind one metric ---------------------------------------------------------------------------------------------


def grades_table(metric: MetricValidity) -> Table:
    """The scores by human grade."""
    unit = score_unit(metric)
    rows = [
        (
            _text(words.grade(row.grade)),
            counted(row.n),
            *(or_dash(one, unit) for one in (row.minimum, row.q1)),
            or_dash(row.median, unit),
            *(or_dash(one, unit) for one in (row.q3, row.maximum)),
            or_dash(row.mean, unit),
        )
        for row in metric.grades
    ]
    columns = [
        *columns_of("name", "grade"),
        *columns_of("figure", "n", "lowest", "quarter"),
        *columns_of("value", "median"),
    ]
    columns += [*columns_of("figure", "three quarters", "highest"), *columns_of("value", "mean")]
    box = Plot(kind="box", columns=(2, 3, 4, 5, 6))
    return _table("grades", "Scores by human grade", columns, rows, plot=box)


def distances_matrix(metric: MetricValidity) -> Table:
    """The same as a matrix, the darker the further apart."""
    pairs = {frozenset((cell.first, cell.second)): cell.statistic for cell in metric.ks}
    grades = sorted({grade for pair in pairs for grade in pair})
    rows = [
        (_text(words.grade(one)), *(coefficient(pairs.get(frozenset((one, other)))) for other in grades))
        for one in grades
    ]
    columns = [*columns_of("name", "grade"), *columns_of("figure", *map(words.grade, grades))]
    return _table("distances", "Kolmogorov-Smirnov distance of the scores of two grades", columns, rows, shaded=True)


def heat_tables(metric: MetricValidity) -> Iterator[Table]:
    """How often each predicted grade met each human one, the darker the more often."""
    if (heat := metric.heat_map) is None:
        return
    labels = [words.grade(grade) for grade in heat.grades]
    rows = [(_text(label), *map(counted, counts)) for label, counts in zip(labels, heat.counts, strict=True)]
    columns = [Column(key="predicted", title="predicted ↓ people →", kind="name", priority=0)]
    exact, kappa = words.with_bounds(heat.exact), words.with_bounds(heat.kappa_quadratic)
    lines = f"the same grade: {exact}; quadratic weighted kappa {kappa}", f"predicted by {heat.predicted_by}"
    same = tuple((at, at + 1) for at in range(len(rows)))
    columns += columns_of("figure", *labels)
    yield _table("predicted", "Predicted against human grade", columns, rows, shaded=True, strong=same, notes=lines)


def distances_table(metric: MetricValidity) -> Table:
    """The distance of the scores of two grades."""
    rows = [
        (
            _text(f"{words.grade(cell.first)} and {words.grade(cell.second)}"),
            or_dash(cell.statistic, COEFFICIENT, low=cell.low, high=cell.high),
            or_dash(cell.p, "p"),
            counted(cell.n_first),
            counted(cell.n_second),
        )
        for cell in metric.ks
    ]
    columns = [*columns_of("name", "grades"), *columns_of("value", "distance")]
    columns += columns_of("figure", "p", "n of the first", "n of the second")
    title = "Kolmogorov-Smirnov distance of the scores of two grades"
    notes = tuple(dict.fromkeys(cell.reason for cell in metric.ks if cell.reason))
    return _table("ks", title, columns, rows, notes=notes)


def sweeps_table(metric: MetricValidity) -> Table:
    """How well the scores tell a grade and above from the rest."""
    rows = []
    for sweep in metric.sweeps:
        best, interval = sweep.best, sweep.best_f1
        low, high = (interval.low, interval.high) if interval else (None, None)
        rows.append(
            (
                _text(words.grade(sweep.cut)),
                Value(text=f"{figures.count(sweep.positives)} of {figures.count(sweep.n)}"),
                _figure(sweep.auc),
                or_dash(best.f1 if best else None, COEFFICIENT, low=low, high=high),
                or_dash(best.threshold if best else None, score_unit(metric)),
                coefficient(best.precision if best else None),
                coefficient(best.recall if best else None),
            )
        )
    columns = [*columns_of("name", "from grade"), *columns_of("figure", "rows"), *columns_of("value", "AUC", "best F1")]
    columns += columns_of("figure", "threshold", "precision", "recall")
    title = (
        "Telling a grade and above from the rest; the best F1 was chosen on these very rows, its interval is that of "
        "F1 at that threshold"
    )
    return _table("auc", title, columns, rows)


def class_tables(metric: MetricValidity) -> Iterator[Table]:
    """Precision, recall and F1 of each grade as the classifiers predict it, with their ranges over the splits."""
    for one in metric.classifiers:
        classes = [(words.grade(row.grade), row) for row in one.rows] + [("all grades (macro)", one.macro)]
        rows = [
            (
                _text(name),
                counted(row.support),
                *(
                    or_dash(getattr(row, rate), low=getattr(row, f"{rate}_low"), high=getattr(row, f"{rate}_high"))
                    for rate in ("precision", "recall", "f1")
                ),
            )
            for name, row in classes
        ]
        columns = [*columns_of("name", "grade"), *columns_of("figure", "rows"), *columns_of("value", *("P", "R", "F1"))]
        title = (
            f"Grades predicted from the scores by the {one.name}: means and ranges over {one.splits} splits of "
            f"{figures.count(one.n_train)} rows to train and {figures.count(one.n_test)} to test"
        )
        whole = {
            "accuracy": one.accuracy,
            "balanced accuracy": one.balanced_accuracy,
            "quadratic weighted kappa": one.kappa_quadratic,
        }
        said = "; ".join(f"{key} {words.with_bounds(value)} {value.reason}".strip() for key, value in whole.items())
        yield _table(one.name, title, columns, rows, notes=(said,))


def calibrated_table(metric: MetricValidity) -> Table:
    """Spearman of the scores before and after calibration."""
    dash, spearman = _text(figures.UNDEFINED), words.spearman(metric)
    first = (_text("uncalibrated"), _figure(spearman), counted(spearman.n), dash, dash)
    rows = [
        (
            _text(one.method),
            _figure(one.spearman),
            counted(one.spearman.n),
            _text(f"{one.folds} by {one.grouped_by}"),
            _text(one.learned or figures.UNDEFINED),
        )
        for one in metric.calibrated
    ]
    columns = [*columns_of("name", "method"), *columns_of("value", "Spearman"), *columns_of("figure", "n")]
    columns += columns_of("text", "folds", "learned")
    notes = tuple(dict.fromkeys(one.warning for one in metric.calibrated if one.warning))
    title = "Spearman of the scores after calibration out of fold"
    return _table("calibrated", title, columns, [first, *rows] if rows else [], notes=notes)


def traits_table(metric: MetricValidity) -> Table:
    """What the reviews that it misjudges share."""
    rows = [
        (
            _text(trait.trait),
            or_dash(trait.over, trait.unit),
            or_dash(trait.over_less_all, trait.unit),
            or_dash(trait.under, trait.unit),
            or_dash(trait.under_less_all, trait.unit),
            or_dash(trait.all, trait.unit),
            _text(trait.unit),
        )
        for trait in metric.traits
    ]
    n_over, n_under, n_all = next(((t.n_over, t.n_under, t.n_all) for t in metric.traits), (0, 0, 0))
    columns = [
        *columns_of("name", "mean of"),
        Column(key="too high", title=f"too high (n = {figures.count(n_over)})", kind="figure"),
        Column(key="too high less all", title="less all rows"),
        Column(key="too low", title=f"too low (n = {figures.count(n_under)})", kind="figure"),
        Column(key="too low less all", title="less all rows"),
        Column(key="all", title=f"all rows (n = {figures.count(n_all)})", kind="figure"),
        *columns_of("text", "unit"),
    ]
    title = "What these reviews share; a difference whose interval holds 0 may be noise"
    return _table("traits", title, columns, rows)


def misjudged_table(metric: MetricValidity, rows: Sequence[Misjudged]) -> Table:
    """Reviews that the metric places far from where people do, with their texts."""
    columns = [*columns_of("name", "case"), *columns_of("text", "system"), *columns_of("figure", "score", "its rank")]
    columns += columns_of("figure", "people", "their rank")
    columns += columns_of("text", "review", "reference", *(["claims"] if any(row.claims for row in rows) else []))
    cells = [
        (
            *map(_text, (row.case, row.system)),
            or_dash(row.score, score_unit(metric)),
            or_dash(row.score_rank, COEFFICIENT),
            counted(row.human),
            or_dash(row.human_rank, COEFFICIENT),
            *map(_text, (row.hypothesis, row.reference, "; ".join(row.claims))[: len(columns) - 6]),
        )
        for row in rows
    ]
    notes = ("a rank is the share of the rows below, with equal values counted half",)
    return _table("misjudged", "", columns, cells, notes=notes)


def _systems(metrics: Sequence[MetricValidity]) -> Iterator[Table]:
    names = sorted({point.system for m in metrics if m.ranking for point in m.ranking.systems})
    yield ranks_table(metrics, {words.key(m): m.label for m in metrics}, names, {})


VIEWS: Mapping[str, Callable[[Sequence[MetricValidity]], Iterator[Table]]] = {
    "classes": lambda metrics: (table for m in metrics for table in islice(class_tables(m), 1)),
    "distribution": lambda metrics: map(grades_table, metrics),
    "heat map": lambda metrics: (table for m in metrics for table in heat_tables(m)),
    "systems": _systems,
}
"""Tables of the validity report that a study may name."""
