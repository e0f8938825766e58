"""Plots of what thresholds give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewgauge.core.document import Value
from reviewgauge.core.reports.threshold import FittedThreshold, ThresholdPoint
from reviewgauge.views.report.shapes import Frame, steps, svg_of
from reviewgauge.views.validity import words
from reviewgauge.views.validity.plots import RATES

WIDTH, HEIGHT = 326, 190  # pixels
Spots = list[tuple[float, float]]


def links(fit: FittedThreshold, name: str) -> str:
    """Precision (dashed), recall (dotted) and F1 (solid) of links by threshold; upright: the fitted one."""
    frame = _frame([point.threshold for point in fit.points], (0.0, 1.0), "threshold", "")
    frame.upright(fit.here.threshold)
    for measure, (colour, look) in RATES.items():
        found = [None if point.sentence is None else getattr(point.sentence, measure) for point in fit.points]
        frame.path(_spots(fit.points, found), look=look, colour=colour)
    said = _said(fit, "F1", [point.sentence.f1 if point.sentence else None for point in fit.points])
    return _drawn(frame, name, "Precision, recall and F1 of links by threshold", said)


def correlation(fit: FittedThreshold, name: str) -> str:
    """Spearman (solid) and Kendall (dashed) of `rel` with people by threshold, with the interval of Spearman."""
    spearman, kendall = [point.spearman for point in fit.points], [point.kendall for point in fit.points]
    known = [one for one in (*spearman, *kendall) if one is not None]
    ends = [end for one in known for end in (one.value, one.low, one.high) if end is not None]
    frame = _frame([point.threshold for point in fit.points], (min(ends, default=0), max(ends, default=1)), "threshold")
    frame.upright(fit.here.threshold)
    band = [
        (point.threshold, one.low, one.high)
        for point, one in zip(fit.points, spearman, strict=True)
        if one is not None and one.low is not None and one.high is not None
    ]
    outline = [*((at, low) for at, low, _ in band), *((at, high) for at, _, high in reversed(band))]
    frame.area(outline, look='fill="var(--accent)" fill-opacity="0.15" stroke-opacity="0"')
    frame.path(_spots(fit.points, spearman), look=RATES["f1"][1])
    frame.path(_spots(fit.points, kendall), look=RATES["precision"][1], colour="false")
    return _drawn(frame, name, "Correlation with people by threshold", _said(fit, "Spearman", spearman))


def _frame(across: Iterable[float], up: tuple[float, float], title: str, side: str = "") -> Frame:
    values = list(across) or [0.0, 1.0]
    left = 50 if side else 36
    frame = Frame(left, 8, WIDTH - left - 12, HEIGHT, (min(values), max(values)), up)
    frame.grid_up(title=side)
    frame.ticks_across(steps(*frame.across, 5, True), title)
    return frame


def _spots(points: Sequence[ThresholdPoint], found: Sequence[Value | None]) -> Spots:
    return [
        (point.threshold, one.value)
        for point, one in zip(points, found, strict=True)
        if one is not None and one.value is not None
    ]


def _said(fit: FittedThreshold, what: str, found: Sequence[Value | None]) -> str:
    rows = zip(fit.points, found, strict=True)
    return "; ".join(f"{what} {words.coefficient(f.value)} at {p.threshold:g}" for p, f in rows if f is not None)


def _drawn(frame: Frame, name: str, title: str, said: str) -> str:
    return svg_of(name, title, said, (WIDTH, HEIGHT + 44), frame.marks)
