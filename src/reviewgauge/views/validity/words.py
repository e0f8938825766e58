"""Which metric to trust on these rows, in sentences, and the warnings to read first.

Coefficients have three digits, because close metrics often differ in the third.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from reviewgauge.analysis.stats.classification import MAJORITY, TREE
from reviewgauge.core.document import Value
from reviewgauge.core.reports.validity import (
    Calibrated,
    Classifier,
    KsCell,
    LabelSummary,
    MetricValidity,
    ReferencePoint,
    Sweep,
    ValidityReport,
)
from reviewgauge.views import figures

GAIN = 0.005  # of Spearman from a floor that is worth a sentence
NAMED = 3  # more metrics than this in one sentence are counted, not named


def coefficient(value: float | None) -> str:
    """`.224`: a correlation, a distance, a share that differs in the third digit."""
    return figures.number(value, digits=3)


def bounds(figure: Value | KsCell, gap: str = " ") -> str:
    """`[.197, .250]`, empty where there is no interval."""
    return figures.interval(figure.low, figure.high, gap=gap, digits=3)


def with_bounds(figure: Value) -> str:
    """`.224 [.197, .250]`."""
    return f"{coefficient(figure.value)} {bounds(figure)}".rstrip()


def score(value: float | None, unit: str) -> str:
    """A score of a metric in its own unit: `.056` for a share, `6.73` for others."""
    return figures.number(value, unit, digits=3 if unit == "share" else 2)


def range_of(counts: set[int]) -> str:
    """`300`, or `290-300` if metrics have different rows."""
    return "-".join(figures.count(n) for n in sorted({min(counts), max(counts)}))


def grade(value: float) -> str:
    """`1`, `2.5`."""
    return f"{value:g}"


# --- order and names -----------------------------------------------------------------------------------------------


def dimensions(report: ValidityReport) -> list[str]:
    """The dimensions of the report, in its order."""
    return list(dict.fromkeys(m.dimension for m in report.metrics))


def spearman(metric: MetricValidity) -> Value:
    """The correlation on all rows."""
    if not metric.correlations:
        return Value(value=None, n=0, reason="no correlation was computed")
    return metric.correlations[0].spearman


def best_first(report: ValidityReport, dimension: str) -> list[MetricValidity]:
    """The metrics of a dimension by their correlation on all rows; undefined ones come last."""
    found = [m for m in report.metrics if m.dimension == dimension]
    return sorted(found, key=lambda m: -_defined(spearman(m).value, -2.0))


def _defined(value: float | None, otherwise: float) -> float:
    return value if value is not None and figures.defined(value) else otherwise


def names(report: ValidityReport) -> dict[tuple[str, str, str], str]:
    """(signature, measure, dimension) -> the display name of a metric.

    This is its label, with the measure if it has several, or its signature if two metrics share a label.
    """
    called: dict[tuple[str, str, str], str] = {}
    for dimension in dimensions(report):
        inside = [m for m in report.metrics if m.dimension == dimension]
        for m in inside:
            alike = [o for o in inside if (o.label or o.metric) == (m.label or m.metric)]
            name = m.label or m.metric
            if len({o.metric for o in alike}) > 1:
                name = m.metric
            if len({o.measure for o in alike if o.metric == m.metric}) > 1:
                name = f"{name} {figures.label(m.measure)}"
            called[key(m)] = name
    return called


def key(metric: MetricValidity) -> tuple[str, str, str]:
    """The key of an entry of a report."""
    return metric.metric, metric.measure, metric.dimension


def labels_of(report: ValidityReport, dimension: str) -> LabelSummary | None:
    """The human labels of a dimension."""
    return next((summary for summary in report.labels if summary.dimension == dimension), None)


def classifier(metric: MetricValidity, name: str) -> Classifier | None:
    """The classifier of that name."""
    return next((c for c in metric.classifiers if c.name == name), None)


def calibrated(metric: MetricValidity, method: str) -> Calibrated | None:
    """The metric's calibration of that method."""
    return next((c for c in metric.calibrated if c.method == method), None)


def main_sweep(metric: MetricValidity) -> Sweep | None:
    """The threshold sweep that splits the rows most evenly; of ties the one with the lowest cut."""
    return max(metric.sweeps, key=lambda s: (min(s.positives, s.n - s.positives), -s.cut), default=None)


# --- the answer ----------------------------------------------------------------------------------------------------


def trust(report: ValidityReport, dimension: str) -> str:
    """Which metric agrees best with people on this dimension, and whether the next one differs from it."""
    metrics = best_first(report, dimension)
    real = _compared(metrics)
    if not real:
        return f"No metric has a defined correlation with {dimension} here{_reasons(metrics)}."
    answer = _answer(real, _baselines(metrics), names(report), _differences(report, real[0]))
    fakes = sum(m.fake for m in metrics)
    return answer if not fakes else f"{answer} {fakes} with fake scores {'is' if fakes == 1 else 'are'} not compared."


def _compared(metrics: Sequence[MetricValidity]) -> list[MetricValidity]:
    """The metrics that can be recommended, best first: no fakes, no baselines, no undefined correlations."""
    return [m for m in metrics if not m.fake and not m.baseline and figures.defined(spearman(m).value)]


def _baselines(metrics: Sequence[MetricValidity]) -> list[MetricValidity]:
    """The baselines with a defined correlation, best first."""
    return [m for m in metrics if m.baseline and figures.defined(spearman(m).value)]


def _beaten_by(baselines: Sequence[MetricValidity], metric: MetricValidity) -> MetricValidity | None:
    """The best baseline if the metric does not beat it."""
    value = _defined(spearman(metric).value, -2.0)
    return next((m for m in baselines[:1] if _defined(spearman(m).value, -2.0) >= value), None)


def _differences(report: ValidityReport, metric: MetricValidity) -> dict[tuple[str, str, str], Value]:
    """What a metric is better by than each other one, on the rows of both, by the key of the other."""
    own = (pair for pair in report.differences if (pair.metric, pair.measure, pair.dimension) == key(metric))
    return {(pair.other, pair.other_measure, pair.dimension): pair.difference for pair in own}


def _answer(
    real: Sequence[MetricValidity],
    baselines: Sequence[MetricValidity],
    called: Mapping[tuple[str, str, str], str],
    differences: Mapping[tuple[str, str, str], Value],
) -> str:
    best, *others = real
    figure, dimension = spearman(best), best.dimension
    name, figures_text = called[key(best)], f"Spearman {with_bounds(figure)} over {figures.count(figure.n)} rows"
    if _defined(figure.low, figure.value or 0.0) <= 0:
        why = "an interval that includes 0" if figures.defined(figure.low) else "which is not above 0"
        if _defined(figure.high, 1.0) < 0:
            why = "so it goes against people"
        return f"None can be trusted on {dimension}: the best, {name}, has {figures_text}, {why}."
    if (baseline := _beaten_by(baselines, best)) is not None:
        beaten = f"{called[key(baseline)]} has {with_bounds(spearman(baseline))}"
        return f"None beats the baseline on {dimension}: the best, {name}, has {figures_text}; {beaten}."
    first = f"{name} agrees best with people on {dimension}: {figures_text}"
    if not others:
        return f"{first}. It is the only metric here with a defined correlation."
    follower = spearman(others[0])
    rows = "" if follower.n == figure.n else f" over {figures.count(follower.n)} rows"
    follows = f"{called[key(others[0])]} comes next with {with_bounds(follower)}{rows}"
    if not (figures.defined(figure.low) and figures.defined(follower.high)):
        return f"{first}; {follows}. Without intervals the order is uncertain."
    gaps = {key(m): differences.get(key(m)) for m in (*others, *baselines)}
    rivals = [called[other] for other, gap in gaps.items() if gap is None or _defined(gap.low, -2.0) <= 0]
    if rivals:
        return f"{first}; {follows}. On the rows of both it cannot be told from {_joined(rivals)}."
    lead = with_bounds(gaps[key(others[0])] or figure)
    return f"{first}; {follows}. On the rows of both it is better by {lead}, and it is better than all others."


def paired(report: ValidityReport, dimension: str) -> list[str]:
    """What the best metric is better by than each other one, and each metric than each baseline, a line each."""
    called = names(report)
    lines = []
    for pair in report.differences:
        if pair.dimension == dimension:
            one, two = called[pair.metric, pair.measure, dimension], called[pair.other, pair.other_measure, dimension]
            rho = f"{coefficient(pair.value)} and {coefficient(pair.other_value)}"
            of = f"{rho} on {figures.count(pair.difference.n)} rows"
            lines.append(f"{one} less {two}: {with_bounds(pair.difference)} ({pair.difference.reason or of})")
    return lines


def _joined(called: Sequence[str]) -> str:
    if len(called) > NAMED:
        return f"{', '.join(called[: NAMED - 1])} and {len(called) - NAMED + 1} more"
    return called[0] if len(called) == 1 else f"{', '.join(called[:-1])} and {called[-1]}"


def _reasons(metrics: Sequence[MetricValidity]) -> str:
    reasons = dict.fromkeys(spearman(m).reason for m in metrics if spearman(m).reason)
    fakes = ["the scores are fake"] if metrics and all(m.fake for m in metrics) else []
    reasons_text = "; ".join([*reasons, *fakes])
    return f": {reasons_text}" if reasons_text else ""


def remarks(report: ValidityReport, dimension: str) -> list[str]:
    """The uses and limits of the best metric of a dimension, with figures."""
    metrics = best_first(report, dimension)
    real = _compared(metrics)
    if not real or _defined(spearman(real[0]).low, spearman(real[0]).value or 0.0) <= 0:
        return []
    baselines, called = _baselines(metrics), names(report)
    if _beaten_by(baselines, real[0]) is not None:
        return [f"{called[key(real[0])]} {use}" for use in _uses(real[0])]
    found = [f"Note: {text}." for text in filter(None, (real[0].estimate_note, *real[0].warnings))]
    found += [f"It {use}" for use in _uses(real[0])]
    found += _other_by_auc(real, called)
    gaps = _differences(report, real[0])
    for baseline in baselines[:1]:
        gap = gaps.get(key(baseline))
        lead = f"; it is better by {with_bounds(gap)}" if gap is not None and figures.defined(gap.value) else ""
        found.append(f"For comparison: {called[key(baseline)]} has Spearman {with_bounds(spearman(baseline))}{lead}.")
    return found


def falls(metric: MetricValidity) -> list[tuple[float, float]]:
    """The neighbouring grades where the mean score falls although the grade rises; turned where less is better."""
    sign = -1.0 if metric.less_is_better else 1.0
    means = [(row.grade, sign * _defined(row.mean.value, 0.0)) for row in sorted(metric.grades, key=lambda r: r.grade)]
    return [(one, two) for (one, first), (two, second) in pairwise(means) if second < first]


def _other_by_auc(real: Sequence[MetricValidity], called: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    """A remark if AUC puts another metric first."""
    aucs = {
        key(m): sweep.auc for m in real if (sweep := main_sweep(m)) is not None and figures.defined(sweep.auc.value)
    }
    if key(real[0]) not in aucs:
        return
    best = max(aucs, key=lambda name: _defined(aucs[name].value, 0.0))
    if _defined(aucs[best].value, 0.0) > _defined(aucs[key(real[0])].value, 0.0):
        yield (
            f"By AUC {called[best]} comes first with {with_bounds(aucs[best])}: AUC measures the order only, Spearman "
            "also rewards equal scores where grades are equal."
        )


def _uses(metric: MetricValidity) -> Iterator[str]:
    sweep = main_sweep(metric)
    if sweep is not None and figures.defined(sweep.auc.value):
        yield (
            f"separates {grade(sweep.cut)} and above from the rest with AUC {with_bounds(sweep.auc)} "
            f"({figures.count(sweep.positives)} of {figures.count(sweep.n)} rows)."
        )
    tree, majority = classifier(metric, TREE), classifier(metric, MAJORITY)
    if tree and majority and figures.defined(tree.accuracy.value) and figures.defined(majority.accuracy.value):
        yield (
            f"lets a decision tree predict {coefficient(tree.accuracy.value)} of the grades; always predicting the "
            f"most common grade gets {coefficient(majority.accuracy.value)}."
        )
    floor = calibrated(metric, "floor")  # the others are means within folds, which do not compare
    if floor is not None and _defined(floor.spearman.value, -2.0) > _defined(spearman(metric).value, 2.0) + GAIN:
        yield f"reaches Spearman {with_bounds(floor.spearman)} after {floor.method} calibration, which uses the labels."
    ranking = metric.ranking
    if ranking is not None and figures.defined(ranking.spearman.value):
        yield (
            f"ranks {len(ranking.systems)} systems with Spearman {with_bounds(ranking.spearman)} "
            "against the ranking by people"
            + "".join(f"; {place_of_reference(point)}" for point in ranking.references)
            + "."
        )
    if metric.ends:
        yield f"puts {ends(metric)}."


def ends(metric: MetricValidity) -> str:
    """How many reviews the metric and people place at opposite ends, and its correlation without them."""
    found = metric.ends
    assert found is not None
    over, under = (
        f"{figures.count(n)} review{'' if n == 1 else 's'} ({share.value or 0.0:.1%})"
        for n, share in ((found.n_over, found.over), (found.n_under, found.under))
    )
    return (
        f"{over} to which people gave {grade(found.lowest)} among its highest scores, and {under} to which they gave "
        f"{grade(found.highest)} among its lowest; without these, Spearman is {with_bounds(found.spearman)}"
    )


def place_of_reference(point: ReferencePoint) -> str:
    """Where people rank a reference among the systems."""
    rank = f"{point.rank:g} of {point.among}"
    return f"{point.system}, the reference: people rank it {rank} (mean {coefficient(point.mean)}, n = {point.n:,})"


def cautions(report: ValidityReport) -> list[str]:
    """Every warning of the report once, with its metrics."""
    called = names(report)
    of: dict[str, dict[str, None]] = {}
    for m in report.metrics:
        own = [*m.warnings, "the scores are fake and say nothing about people" if m.fake else ""]
        for text in filter(None, own):
            of.setdefault(text, {})[called[key(m)]] = None
    consensus = [summary.dimension for summary in report.labels if summary.consensus]
    lines = list(report.warnings)
    if consensus:
        lines.append(f"consensus labels, not independent ones: {', '.join(consensus)}")
    methods: dict[str, dict[str, None]] = {}
    for found in (c for m in report.metrics for c in m.calibrated if c.warning):
        methods.setdefault(found.warning, {})[found.method] = None
    everyone = set(called.values())
    for text, metrics in of.items():
        subject = "" if len(everyone) > 1 and set(metrics) == everyone else f"{_joined(list(metrics))}: "
        lines.append(f"{subject}{text}")
    lines += [f"figures of calibrated scores ({_joined(list(used))}): {text}" for text, used in methods.items()]
    return list(dict.fromkeys(lines))


def undefined(metrics: Sequence[MetricValidity], called: Mapping[tuple[str, str, str], str]) -> list[str]:
    """The reasons for missing figures of the overview, each once."""
    why: dict[tuple[str, str], list[str]] = {}
    for m in metrics:
        missing: dict[str, list[str]] = {}
        for name, figure in overview_figures(m).items():
            if figure is not None and not figures.defined(figure.value):
                missing.setdefault(figure.reason or "no reason given", []).append(name)
        for reason, lacking in missing.items():
            why.setdefault((", ".join(lacking), reason), []).append(called[key(m)])
    return [f"{_joined(of)}: {what} undefined: {reason}" for (what, reason), of in why.items()]


def overview_figures(metric: MetricValidity) -> dict[str, Value | None]:
    """The figures of a metric's line in the overview, None if not computed."""
    rows = metric.correlations[0] if metric.correlations else None
    sweep, heat = main_sweep(metric), metric.heat_map
    floor = calibrated(metric, "floor")
    return {
        "Spearman": rows.spearman if rows else None,
        "Kendall": rows.kendall if rows else None,
        "Pearson": rows.pearson if rows else None,
        "AUC": sweep.auc if sweep else None,
        "QWK": heat.kappa_quadratic if heat else None,
        "floor": floor.spearman if floor else None,
    }
