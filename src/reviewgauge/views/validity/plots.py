"""Plots of the metrics of one dimension, together and alone, as SVG by Altair, each with a text description.

They raise MissingExtra without the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from reviewgauge.core.reports.validity import Calibrated, GradeRow, MetricValidity, Sweep
from reviewgauge.views import figures
from reviewgauge.views.report.plots import (
    ACCENT,
    GRID,
    INK,
    LETTER,
    MUTED,
    NAME_WIDTH,
    PAPER,
    SERIES,
    WIDE_ENOUGH,
    cut,
    draw,
    load_altair,
    ticks_axis,
)
from reviewgauge.views.validity import words

Called = Mapping[tuple[str, str, str], str]
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 1])
COLOURS = (*SERIES, INK)  # of the first lines, each with its own dash; the others are grey
_GREY: dict[str, Any] = {"fontSize": 11, "color": MUTED}
ROW, GAP = 18, 13  # pixels between rows of a forest, and at least between two line names


def forest(metrics: Sequence[MetricValidity], called: Called, name: str, width: int) -> str:
    """Spearman with its interval for every metric and row set, n beside each."""
    alt = load_altair()
    rows = _forest_rows(metrics, called, NAME_WIDTH if width > WIDE_ENOUGH else NAME_WIDTH * 0.75)
    low, high = _reach(rows)
    side = max((len(row["name"]) for row in rows), default=1) * LETTER
    inner = max(80, int(width - side - 122))
    base = alt.Chart(alt.NamedData("rows"))
    y = alt.Y("at:O", scale=alt.Scale(domain=list(range(len(rows)))), title=None, axis=None)
    scale = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("v:Q", title=None, scale=scale, axis=ticks_axis(alt, True, TICKS, grid=True))
    aside = [("name", -8, "right"), ("shown", inner + 8, "left"), ("n", inner + 108, "right")]
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color=MUTED, strokeWidth=1)
    layers = [
        zero.encode(x=alt.X("v:Q", scale=scale)),
        base.mark_rule(color=ACCENT, strokeWidth=2.5, opacity=0.55).encode(y=y, x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        *(
            base.transform_filter(f"datum.main == {main}")
            .mark_point(filled=True, fill=fill, stroke=ACCENT, strokeWidth=1.5, size=50, opacity=1)
            .encode(y=y, x=x)
            for main, fill in (("true", ACCENT), ("false", PAPER))
        ),
        *(
            base.mark_text(align=align, baseline="middle", color=INK, fontSize=11).encode(
                y=y, x=alt.value(place), text=alt.Text(f"{field}:N")
            )
            for field, place, align in aside
        ),
        _texts(alt, "head", align="right", baseline="bottom", **_GREY).encode(
            x=alt.value(inner + 108), y=alt.value(-4)
        ),
    ]
    padding = {"left": int(side) + 12, "right": 112, "top": 18, "bottom": 24}
    height = max(1, len(rows)) * ROW
    chart = alt.layer(*layers).properties(width=inner, height=height, padding=padding, autosize="none")
    description = "; ".join(f"{row['text']}, n {row['n']}" for row in rows)
    data = {"rows": rows, "zero": [{"v": 0}], "head": [{"t": "n"}]}
    return draw(chart, name, "Spearman correlation with people, every metric and row set", description, data)


def _forest_rows(metrics: Sequence[MetricValidity], called: Called, room: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for metric in metrics:
        label = called[words.key(metric)]
        for number, part in enumerate(metric.correlations):
            f = part.spearman
            row = {
                "at": len(rows),
                "name": cut(label if number == 0 else f"· {part.rows.name}", room),
                "main": number == 0,
                "v": f.value if figures.defined(f.value) else None,
                "shown": words.coefficient(f.value) + (" fake" if metric.fake else ""),
                "n": figures.count(f.n),
                "text": f"{label} on {part.rows.name} {words.with_bounds(f)}",
            }
            rows.append(row | _interval(f.low, f.high))
    return rows


def _interval(low: float | None, high: float | None) -> dict[str, float | None]:
    """The ends of an interval, None unless both are defined."""
    both = figures.defined(low) and figures.defined(high)
    return {"low": low if both else None, "high": high if both else None}


def _reach(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The ends of an axis of correlations: all intervals and 0, in steps of .1."""
    values = [0.0, *(row[key] for row in rows for key in ("v", "low", "high") if row[key] is not None)]
    low, high = min(values), max(values)
    return max(-1.0, -(int(-low * 10 + 0.999) / 10)), min(1.0, max(0.2, int(high * 10 + 0.999) / 10))


def sensitivity(metrics: Sequence[MetricValidity], called: Called, name: str, width: int) -> str:
    """The mean score by human grade, each metric on its own range from 0 to 1."""
    alt = load_altair()
    shown = moving(metrics)
    grades = sorted({row.grade for m in shown for row in m.grades})
    side = NAME_WIDTH if width > WIDE_ENOUGH else NAME_WIDTH * 0.7
    inner, height = int(width - side - 50), 280
    low, high = (grades[0], grades[-1]) if grades else (0.0, 1.0)
    edge = (high - low) / 20
    x = alt.X(
        "x:Q", title="human grade", scale=alt.Scale(domain=[low - edge, high + edge], nice=False),
        axis=alt.Axis(values=grades, format="~g", grid=False, titleFontWeight="normal"),
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    ends = []
    aside = (high - low) * min(1 / 90, 0.07 / max(1, len(shown)))  # so that intervals do not overlap
    for at, m in enumerate(shown):
        shift = (at - (len(shown) - 1) / 2) * aside
        line = [_on_range(m, row, shift) | _look(at) for row in sorted(m.grades, key=lambda r: r.grade)]
        line = [point for point in line if point["y"] is not None]
        rows = [*line, *rows]  # the first is drawn last, on top
        if at < len(COLOURS) and len(line) > 1:
            ends.append({"t": cut(called[words.key(m)], side), "from": line[-2]["y"]} | line[-1])
    reached = max((row[key] for row in rows for key in ("y", "high") if row[key] is not None), default=1.0)
    top = next((top for top in (0.4, 0.6, 0.8) if reached <= top), 1.0)
    ends.sort(key=lambda end: (-end["y"], -end["from"]))
    places = spread([height * (1 - end["y"] / top) for end in ends], height)
    texts = [end | {"x": high + edge, "y": top * (1 - place / height)} for end, place in zip(ends, places, strict=True)]
    y_scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("y:Q", title="mean score on the metric's range", scale=y_scale, axis=ticks_axis(alt, True, 5, grid=True))
    layers = [
        _coloured(alt, "rows", "rule", strokeWidth=1, opacity=0.6).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        _lines(alt, "rows").encode(x=x, y=y),
        _coloured(alt, "rows", "point", filled=True, size=28, opacity=1).encode(x=x, y=y),
        _coloured(alt, "texts", "text", align="left", baseline="middle", dx=4, fontSize=11).encode(
            x=x, y=y, text=alt.Text("t:N")
        ),
    ]
    padding = {"left": 44, "right": side + 6, "top": 8, "bottom": 40}
    chart = alt.layer(*layers).properties(width=inner, height=height, padding=padding, autosize="none")
    description = "; ".join(f"{called[words.key(m)]}: {_describe_means(m)}" for m in shown)
    data = {"rows": rows, "texts": texts}
    return draw(chart, name, "Mean score by human grade, each metric on its own range", description, data)


def moving(metrics: Sequence[MetricValidity]) -> list[MetricValidity]:
    """The metrics with a sensitivity line: those whose scores and grades differ."""
    return [m for m in metrics if len(m.grades) > 1 and _span(m) > 0]


def _look(at: int) -> dict[str, Any]:
    """The style of a line: the first few have their own colours and dashes, the others are grey."""
    named = at < len(COLOURS)
    return {"line": at, "colour": COLOURS[at] if named else GRID, "dash": at % len(DASHES) if named else 0}


def _coloured(alt: Any, rows: str, mark: str, **look: Any) -> Any:
    """Marks in the colour given in each of the named rows."""
    chart = getattr(alt.Chart(alt.NamedData(rows)), f"mark_{mark}")(**look)
    return chart.encode(color=alt.Color("colour:N", scale=None))


def _lines(alt: Any, rows: str, **look: Any) -> Any:
    dashes = alt.Scale(domain=list(range(len(DASHES))), range=list(DASHES))
    chart = _coloured(alt, rows, "line", strokeWidth=2, **look)
    dash = alt.StrokeDash("dash:O", scale=dashes, legend=None)
    return chart.encode(detail="line:N", order="x:Q", strokeDash=dash)


def _span(metric: MetricValidity) -> float:
    return max(r.maximum for r in metric.grades) - min(r.minimum for r in metric.grades)


def on_range(metric: MetricValidity, value: float | None) -> float | None:
    """The position of a score between the lowest (0) and the highest (1) of the metric."""
    if value is None or not figures.defined(value) or _span(metric) <= 0:
        return None
    return (value - min(r.minimum for r in metric.grades)) / _span(metric)


def _on_range(metric: MetricValidity, row: GradeRow, shift: float) -> dict[str, Any]:
    low, high = on_range(metric, row.mean.low), on_range(metric, row.mean.high)
    ends = _interval(None if low is None else max(0.0, low), None if high is None else min(1.0, high))
    return {"x": row.grade + shift, "y": on_range(metric, row.mean.value)} | ends


def _describe_means(metric: MetricValidity) -> str:
    return ", ".join(
        f"{words.coefficient(on_range(metric, row.mean.value))} at {words.grade(row.grade)}" for row in metric.grades
    )


def spread(places: Sequence[float], height: float, gap: float = GAP) -> list[float]:
    """Ascending positions, moved at least `gap` apart and not beyond `height`, in pixels."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    down = accumulate(reversed(moved), lambda below, place: min(place, below - gap), initial=height + gap)
    return list(down)[:0:-1]


def bump(metrics: Sequence[MetricValidity], called: Called, name: str, width: int, numbered: bool) -> str:
    """The ranks of the systems by people, then by each metric, with people's first systems in colour.

    Columns have the metrics' names, or numbers if `numbered`.
    """
    alt = load_altair()
    ranked = [(called[words.key(m)], m.ranking) for m in metrics if m.ranking is not None]
    people = {p.system: p.human_rank for _, r in reversed(ranked) for p in r.systems}
    systems = sorted(people, key=lambda s: people[s])
    side = NAME_WIDTH * (1.4 if width > WIDE_ENOUGH else 0.75)
    right = 8 if numbered else side
    inner, most = int(width - side - right - 16), max([len(systems), *people.values()])
    height, columns = int(22 * most), max(1, len(ranked))
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, columns], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0.5, most + 0.5], reverse=True, nice=False), axis=None)
    rows: list[dict[str, Any]] = []
    ranks = [people, *({p.system: p.metric_rank for p in r.systems} for _, r in ranked)]
    for at, system in reversed(list(enumerate(systems))):  # the first is drawn last, on top
        rows += [{"x": column, "y": own[system]} | _look(at) for column, own in enumerate(ranks) if system in own]
    last = ranks[-1] if ranked and not numbered else {}
    heads = ["people", *(str(n) if numbered else text for n, (text, _) in enumerate(ranked, 1))]
    tops = [{"x": n, "y": 0.5, "t": cut(h, max(48.0, inner / columns - 6))} for n, h in enumerate(heads)]
    names = {"baseline": "middle", "fontSize": 11, "color": INK}
    layers = [
        _lines(alt, "rows", interpolate="monotone").encode(x=x, y=y),
        _coloured(alt, "rows", "point", filled=True, size=46, opacity=1).encode(x=x, y=y),
        _texts(alt, "first", align="right", dx=-9, **names).encode(x=x, y=y),
        _texts(alt, "last", align="left", dx=9, **names).encode(x=x, y=y),
        _texts(alt, "tops", align="center", baseline="bottom", dy=-6, **_GREY).encode(x=x, y=y),
    ]
    padding = {"left": side + 12, "right": right + 4, "top": 24, "bottom": 4}
    chart = alt.layer(*layers).properties(width=inner, height=height, padding=padding, autosize="none")
    orders = [
        ", ".join(f"{p.system} {p.metric_rank:g} (people {p.human_rank:g})" for p in r.systems) for _, r in ranked
    ]
    description = "; ".join(f"{text}: {order}" for (text, _), order in zip(ranked, orders, strict=True))
    ends = {"first": _rank_names(people, 0, side), "last": _rank_names(last, columns, side)}
    data = {"rows": rows, "tops": tops, **ends}
    return draw(chart, name, "Ranks of the systems by people and by each metric", description, data)


def _texts(alt: Any, rows: str, **look: Any) -> Any:
    return alt.Chart(alt.NamedData(rows)).mark_text(**look).encode(text=alt.Text("t:N"))


def _rank_names(ranks: Mapping[str, float], column: int, room: float) -> list[dict[str, Any]]:
    """Names beside their ranks; names of equal ranks are below each other."""
    ordered = sorted(ranks.items(), key=lambda pair: pair[1])
    places = spread([rank for _, rank in ordered], max(len(ordered), *ranks.values(), 1), gap=0.6)
    return [{"x": column, "y": y, "t": cut(s, room)} for (s, _), y in zip(ordered, places, strict=True)]


TICKS = 4
HEIGHT = 190  # pixels of a small figure
CAPTIONS = (("grade", 188), ("n", 203), ("median", 218))  # the lines under the violins, in pixels from the top
LINES = (("grade", INK, "bold"), ("n", MUTED, "normal"), ("shown", INK, "normal"))


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
            x=x, x2="x2:Q", y=y, detail="grade:N"
        ),
        base.mark_rule(color=ACCENT, strokeWidth=1).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_rule(color=ACCENT, strokeWidth=5).encode(x=x, y=alt.Y("q1:Q"), y2=alt.Y2("q3:Q")),
        base.mark_point(filled=True, fill=PAPER, stroke=INK, strokeWidth=1.5, size=44, opacity=1).encode(
            x=x, y="median:Q"
        ),
        flat.mark_rule(color=ACCENT, strokeWidth=3).encode(x=alt.X("left:Q", axis=None), x2="right:Q", y="median:Q"),
        *(
            base.mark_text(baseline="top", fontSize=11, color=colour, fontWeight=weight).encode(
                x=x, y=alt.value(place), text=alt.Text(f"{field}:N")
            )
            for (field, colour, weight), (_, place) in zip(LINES, CAPTIONS, strict=True)
        ),
        *(
            _texts(alt, text, baseline="top", align="right", **_GREY).encode(x=alt.value(-6), y=alt.value(place))
            for text, place in CAPTIONS
        ),
    ]
    padding = {"left": 54, "right": 8, "top": 6, "bottom": 54}
    chart = alt.layer(*layers).properties(width=inner, height=180, padding=padding, autosize="none")
    description = "; ".join(_describe_bean(row, metric.unit) for row in rows)
    data = {"shapes": shapes, "marks": marks} | {text: [{"t": text}] for text, _ in CAPTIONS}
    return draw(chart, name, "Scores by human grade", description, data)


def _bean(row: GradeRow, centre: float, half: float) -> list[dict[str, Any]]:
    """The outline of one grade within its range of scores, `half` wide on each side where it is densest."""
    inside = [(score, d) for score, d in row.density if row.minimum <= score <= row.maximum]
    top = max((d for _, d in inside), default=0.0)
    return [
        {"grade": row.grade, "y": score, "x": centre - half * d / top, "x2": centre + half * d / top}
        for score, d in inside
        if top > 0
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


def reliability(found: Calibrated, name: str, width: int) -> str:
    """The mean human value by predicted value, beside the line of perfect calibration."""
    alt = load_altair()
    points = [p for p in found.reliability if figures.defined(p.observed.value)]
    rows = [{"x": p.predicted, "y": p.observed.value} | _interval(p.observed.low, p.observed.high) for p in points]
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
    data: dict[str, list[dict[str, Any]]] = {"rows": [*rows], "diagonal": [{"x": end, "y": end} for end in (low, high)]}
    return draw(chart, name, f"Reliability of the {found.method} calibration", description, data)


def sweep(found: Sweep, unit: str, name: str, width: int) -> str:
    """Precision (dashed), recall (dotted) and F1 (solid) along the threshold, with the best F1 marked."""
    alt = load_altair()
    ticks = ticks_axis(alt, unit == "share", TICKS)
    x = alt.X("x:Q", title="threshold", axis=ticks, scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=ticks_axis(alt, True, 5, grid=True))
    looks: dict[str, dict[str, Any]] = {
        "precision": {"strokeDash": [6, 3], "color": SERIES[1]},
        "recall": {"strokeDash": [2, 2], "color": SERIES[2]},
        "f1": {"color": ACCENT},
    }
    points = sorted(found.points, key=lambda p: p.threshold)
    layers, data = [], {}
    for measure, look in looks.items():
        rates = [(p.threshold, getattr(p, measure)) for p in points]
        data[measure] = [{"x": threshold, "y": rate} for threshold, rate in rates if rate is not None]
        layers.append(alt.Chart(alt.NamedData(measure)).mark_line(strokeWidth=2, **look).encode(x=x, y=y))
    description = f"AUC {words.with_bounds(found.auc)}"
    if found.best is not None:
        data["best"] = [{"x": found.best.threshold, "y": found.best.f1}]
        best = alt.Chart(alt.NamedData("best"))
        layers.append(best.mark_point(filled=True, color=ACCENT, size=60, opacity=1).encode(x=x, y=y))
        description += f"; best F1 {words.coefficient(found.best.f1)} from {words.score(found.best.threshold, unit)} on"
    chart = alt.layer(*layers).properties(width=width - 40, height=HEIGHT, padding=3)
    title = f"Precision, recall and F1 of separating {words.grade(found.cut)} and above from the rest"
    return draw(chart, name, title, description, data)
