"""Plots of a fitted threshold, as SVG by Altair: random pairs beside a normal distribution, and what it gives.

They raise MissingExtra without the extra `plots`. Source: CRScore, arXiv:2409.19801, Figures 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reviewgauge.core.reports.threshold import FittedThreshold, RandomPairs, ThresholdPoint
from reviewgauge.core.reports.validity import Figure
from reviewgauge.views.report.plots import ACCENT, INK, MUTED, SERIES, draw, load_altair, ticks_axis
from reviewgauge.views.validity import words

WIDTH, HEIGHT = 326, 190  # pixels
RATES = {"precision": ([6, 3], SERIES[1]), "recall": ([2, 2], SERIES[2]), "f1": ([1, 0], ACCENT)}
"""The dashes and the colour of each line."""


def histogram(random: RandomPairs, name: str) -> str:
    """The similarities of random pairs, the normal distribution with their mean and spread, and five sigma."""
    alt = load_altair()
    from scipy.stats import norm

    x, y = _axes(alt, "similarity of random sentences", "share")
    bars = [{"x": one.low, "x2": one.high, "y": one.share} for one in random.bins]
    normal = norm(random.mean, random.deviation or 1e-9)
    line = [
        {"x": (one.low + one.high) / 2, "y": float(normal.cdf(one.high) - normal.cdf(one.low))} for one in random.bins
    ]
    layers = [
        alt.Chart(alt.NamedData("bars"))
        .mark_rect(color=ACCENT, opacity=0.35)
        .encode(x=x, x2="x2:Q", y=y, y2=alt.datum(0)),
        alt.Chart(alt.NamedData("line")).mark_line(color=INK, strokeWidth=1.5).encode(x=x, y=y),
        _mark(alt, "sigma"),
    ]
    said = f"mean {words.coefficient(random.mean)}, deviation {words.coefficient(random.deviation)}"
    data = {"bars": bars, "line": line, "sigma": [{"x": random.threshold}]}
    return _drawn(alt.layer(*layers), name, "Similarity of random sentences", said, data)


def quantiles(random: RandomPairs, name: str) -> str:
    """The quantiles of the similarities by those of a normal distribution, on a line where they are equal."""
    alt = load_altair()
    x, y = _axes(alt, "if it were normal", "similarity of random sentences")
    rows = [{"x": point.normal, "y": point.observed} for point in random.quantiles]
    ends = [{"x": end, "y": end} for end in (rows[0]["x"], rows[-1]["x"])]
    layers = [
        alt.Chart(alt.NamedData("ends")).mark_line(color=MUTED, strokeDash=[3, 3], strokeWidth=1).encode(x=x, y=y),
        alt.Chart(alt.NamedData("rows")).mark_point(filled=True, color=ACCENT, size=26, opacity=1).encode(x=x, y=y),
    ]
    said = f"highest {words.coefficient(rows[-1]['y'])}, {words.coefficient(rows[-1]['x'])} if it were normal"
    return _drawn(
        alt.layer(*layers), name, "Quantiles beside those of a normal distribution", said, {"rows": rows, "ends": ends}
    )


def links(fit: FittedThreshold, name: str) -> str:
    """Precision (dashed), recall (dotted) and F1 (solid) of links by threshold; upright: the fitted one."""
    alt = load_altair()
    x, y = _axes(alt, "threshold", None, top=1.0)
    layers, data = [_mark(alt, "here")], {"here": [{"x": fit.here.threshold}]}
    for measure, (dash, colour) in RATES.items():
        data[measure] = _rows(fit.points, [_rate(point, measure) for point in fit.points])
        chart = alt.Chart(alt.NamedData(measure))
        layers.append(chart.mark_line(strokeWidth=2, strokeDash=dash, color=colour).encode(x=x, y=y))
    said = _said(fit, "F1", [point.sentence.f1 if point.sentence else None for point in fit.points])
    return _drawn(alt.layer(*layers), name, "Precision, recall and F1 of links by threshold", said, data)


def correlation(fit: FittedThreshold, name: str) -> str:
    """Spearman (solid) and Kendall (dashed) of `rel` with people by threshold, with the interval of Spearman."""
    alt = load_altair()
    x, y = _axes(alt, "threshold", None)
    spearman = _rows(fit.points, [point.spearman for point in fit.points])
    kendall = _rows(fit.points, [point.kendall for point in fit.points])
    base = alt.Chart(alt.NamedData("spearman"))
    layers = [
        _mark(alt, "here"),
        base.mark_area(color=ACCENT, opacity=0.15).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=2, color=ACCENT).encode(x=x, y=y),
        alt.Chart(alt.NamedData("kendall"))
        .mark_line(strokeWidth=2, strokeDash=[6, 3], color=SERIES[1])
        .encode(x=x, y=y),
    ]
    said = _said(fit, "Spearman", [point.spearman for point in fit.points])
    data = {"spearman": spearman, "kendall": kendall, "here": [{"x": fit.here.threshold}]}
    return _drawn(alt.layer(*layers), name, "Correlation with people by threshold", said, data)


def _axes(alt: Any, across: str, up: str | None, top: float | None = None) -> tuple[Any, Any]:
    x = alt.X("x:Q", title=across, axis=ticks_axis(alt, True, 5), scale=alt.Scale(nice=False, zero=False))
    scale = alt.Scale(nice=True) if top is None else alt.Scale(domain=[0, top], nice=False)
    return x, alt.Y("y:Q", title=up, axis=ticks_axis(alt, True, 5, grid=True), scale=scale)


def _mark(alt: Any, rows: str) -> Any:
    """An upright line."""
    return alt.Chart(alt.NamedData(rows)).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="x:Q")


def _rows(points: Sequence[ThresholdPoint], figures: Sequence[Figure | None]) -> list[dict[str, Any]]:
    return [
        {"x": point.threshold, "y": figure.value, "low": figure.low, "high": figure.high}
        for point, figure in zip(points, figures, strict=True)
        if figure is not None and figure.value is not None
    ]


def _rate(point: ThresholdPoint, measure: str) -> Figure | None:
    return None if point.sentence is None else getattr(point.sentence, measure)


def _said(fit: FittedThreshold, what: str, figures: Sequence[Figure | None]) -> str:
    rows = zip(fit.points, figures, strict=True)
    return "; ".join(f"{what} {words.coefficient(f.value)} at {p.threshold:g}" for p, f in rows if f is not None)


def _drawn(chart: Any, name: str, title: str, said: str, data: dict[str, Any]) -> str:
    return draw(chart.properties(width=WIDTH - 50, height=HEIGHT, padding=3), name, title, said, data)
