"""Plots of one metric as SVG by Altair, each with a text description. Raise MissingExtra without the extra `plots`."""

from __future__ import annotations

from typing import Any

from reviewgauge.core.reports.validity import Calibrated, GradeRow, MetricValidity, ReliabilityPoint, Sweep
from reviewgauge.views.report.plots import ACCENT, INK, MUTED, PAPER, SERIES, draw, load_altair, ticks_axis
from reviewgauge.views.terminal import figures
from reviewgauge.views.validity import words

TICKS = 4
HEIGHT = 190  # pixels of a small figure
CAPTIONS = (("grade", 188), ("n", 203), ("median", 218))  # the lines under the violins, in pixels from the top


# --- scores by grade -----------------------------------------------------------------------------------------------


def violins(metric: MetricValidity, name: str, width: int) -> str:
    """The scores of each human grade: their density, range, quartiles and median."""
    alt = load_altair()
    rows = metric.grades
    inner = max(width - 62, 46 * len(rows))
    step = inner / max(1, len(rows))
    low, high = min((r.minimum for r in rows), default=0.0), max((r.maximum for r in rows), default=1.0)
    high = high if high > low else low + 1
    y = alt.Y(
        "y:Q", title=None, scale=alt.Scale(domain=[low, high], nice=False),
        axis=ticks_axis(alt, metric.unit == "share", TICKS, grid=True),
    )  # fmt: skip
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, inner], nice=False), axis=None)
    centres = [step * (at + 0.5) for at in range(len(rows))]
    shapes = [point for row, centre in zip(rows, centres, strict=True) for point in _bean(row, centre, step * 0.42)]
    marks = [_five(row, centre, step, metric.unit) for row, centre in zip(rows, centres, strict=True)]
    area, base = alt.Chart(alt.NamedData("shapes")), alt.Chart(alt.NamedData("marks"))
    flat = base.transform_filter("datum.flat")
    layers = [
        area.mark_area(orient="horizontal", fill=ACCENT, fillOpacity=0.25, stroke=ACCENT, strokeWidth=1).encode(
            x=x, x2=alt.X2("x2:Q"), y=y, detail=alt.Detail("grade:N")
        ),
        base.mark_rule(color=ACCENT, strokeWidth=1).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_rule(color=ACCENT, strokeWidth=5).encode(x=x, y=alt.Y("q1:Q"), y2=alt.Y2("q3:Q")),
        base.mark_point(filled=True, fill=PAPER, stroke=INK, strokeWidth=1.5, size=44, opacity=1).encode(
            x=x, y=alt.Y("median:Q")
        ),
        flat.mark_rule(color=ACCENT, strokeWidth=3).encode(
            x=alt.X("left:Q", axis=None), x2=alt.X2("right:Q"), y=alt.Y("median:Q")
        ),
        *(
            base.mark_text(baseline="top", fontSize=11, color=colour, fontWeight=weight).encode(
                x=x, y=alt.value(place), text=alt.Text(f"{field}:N")
            )
            for field, place, colour, weight in (
                ("grade", 188, INK, "bold"),
                ("n", 203, MUTED, "normal"),
                ("shown", 218, INK, "normal"),
            )
        ),
        *_captions(alt),
    ]
    padding = {"left": 54, "right": 8, "top": 6, "bottom": 54}
    chart = alt.layer(*layers).properties(width=inner, height=180, padding=padding, autosize="none")
    description = "; ".join(_describe_bean(row, metric.unit) for row in rows)
    data = {"shapes": shapes, "marks": marks} | {text: [{"t": text}] for text, _ in CAPTIONS}
    return draw(chart, name, "Scores by human grade", description, data)


def _captions(alt: Any) -> list[Any]:
    """The captions at the left of the text lines under a plot."""
    return [
        alt.Chart(alt.NamedData(text))
        .mark_text(baseline="top", align="right", fontSize=11, color=MUTED)
        .encode(x=alt.value(-6), y=alt.value(place), text=alt.Text("t:N"))
        for text, place in CAPTIONS
    ]


def _bean(row: GradeRow, centre: float, half: float) -> list[dict[str, Any]]:
    """The outline of one grade within its range of scores, `half` wide on each side where it is densest."""
    inside = [(score, d) for score, d in row.density if row.minimum <= score <= row.maximum]
    top = max((d for _, d in inside), default=0.0)
    if top <= 0:
        return []
    return [
        {"grade": row.grade, "y": score, "x": centre - half * d / top, "x2": centre + half * d / top}
        for score, d in inside
    ]


def _five(row: GradeRow, centre: float, step: float, unit: str) -> dict[str, Any]:
    return {
        "x": centre, "left": centre - step * 0.3, "right": centre + step * 0.3, "low": row.minimum, "q1": row.q1,
        "median": row.median.value, "q3": row.q3, "high": row.maximum, "flat": row.minimum == row.maximum,
        "grade": words.grade(row.grade), "n": figures.count(row.n), "shown": words.score(row.median.value, unit),
    }  # fmt: skip


def _describe_bean(row: GradeRow, unit: str) -> str:
    where = f"grade {words.grade(row.grade)}, n {figures.count(row.n)}"
    if row.minimum == row.maximum:
        return f"{where}: all scores are {words.score(row.minimum, unit)}"
    ends = f"{words.score(row.minimum, unit)} to {words.score(row.maximum, unit)}"
    return f"{where}: median {words.score(row.median.value, unit)}, {ends}"


# --- reliability and thresholds ------------------------------------------------------------------------------------


def reliability(found: Calibrated, name: str, width: int) -> str:
    """The mean human value by predicted value, beside the line of perfect calibration."""
    alt = load_altair()
    points = [p for p in found.reliability if figures.defined(p.observed.value)]
    rows = [_observed(p) for p in points]
    ends = [value for row in rows for value in row.values() if value is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    edge = (high - low) * 0.04 or 0.5
    low, high = low - edge, high + edge
    axis = alt.Axis(tickCount=TICKS, format="~g", grid=False, titleFontWeight="normal")
    scale = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("x:Q", title="predicted", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="people, mean", scale=scale, axis=axis)
    diagonal, base = alt.Chart(alt.NamedData("diagonal")), alt.Chart(alt.NamedData("rows"))
    layers = [
        diagonal.mark_line(color=MUTED, strokeDash=[3, 3], strokeWidth=1).encode(x=x, y=y),
        base.mark_rule(color=ACCENT, strokeWidth=2, opacity=0.5).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_line(color=ACCENT, strokeWidth=1, opacity=0.6).encode(x=x, y=y),
        base.mark_point(filled=True, color=ACCENT, size=46, opacity=1).encode(x=x, y=y),
    ]
    chart = alt.layer(*layers).properties(width=width - 54, height=HEIGHT, padding=3)
    description = "; ".join(
        f"predicted {figures.number(p.predicted, '')}: people {figures.number(p.observed.value, '')}, "
        f"n {figures.count(p.observed.n)}"
        for p in points
    )
    data: dict[str, list[dict[str, Any]]] = {
        "rows": [*rows],
        "diagonal": [{"x": low, "y": low}, {"x": high, "y": high}],
    }
    return draw(chart, name, f"Reliability of the {found.method} calibration", description, data)


def _observed(point: ReliabilityPoint) -> dict[str, float | None]:
    f = point.observed
    both = figures.defined(f.low) and figures.defined(f.high)
    return {"x": point.predicted, "y": f.value, "low": f.low if both else None, "high": f.high if both else None}


def sweep(found: Sweep, unit: str, name: str, width: int) -> str:
    """Precision (dashed), recall (dotted) and F1 (solid) along the threshold, with the best F1 marked."""
    alt = load_altair()
    x = alt.X(
        "x:Q", title="threshold", axis=ticks_axis(alt, unit == "share", TICKS), scale=alt.Scale(nice=False, zero=False)
    )
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=ticks_axis(alt, True, 5, grid=True))
    looks: list[tuple[str, dict[str, Any]]] = [
        ("precision", {"strokeDash": [6, 3], "color": SERIES[1]}),
        ("recall", {"strokeDash": [2, 2], "color": SERIES[2]}),
        ("f1", {"color": ACCENT}),
    ]
    points = sorted(found.points, key=lambda p: p.threshold)
    layers, data = [], {}
    for reading, look in looks:
        rates = [(p.threshold, getattr(p, reading)) for p in points]
        data[reading] = [{"x": threshold, "y": rate} for threshold, rate in rates if rate is not None]
        layers.append(alt.Chart(alt.NamedData(reading)).mark_line(strokeWidth=2, **look).encode(x=x, y=y))
    description = f"AUC {words.with_bounds(found.auc)}"
    if found.best is not None:
        data["best"] = [{"x": found.best.threshold, "y": found.best.f1}]
        best = alt.Chart(alt.NamedData("best"))
        layers.append(best.mark_point(filled=True, color=ACCENT, size=60, opacity=1).encode(x=x, y=y))
        description += f"; best F1 {words.coefficient(found.best.f1)} from {words.score(found.best.threshold, unit)} on"
    chart = alt.layer(*layers).properties(width=width - 40, height=HEIGHT, padding=3)
    title = f"Precision, recall and F1 of separating {words.grade(found.cut)} and above from the rest"
    return draw(chart, name, title, description, data)
