"""Plots that compare the metrics of one dimension, as SVG by Altair. Raise MissingExtra without the extra `plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reviewgauge.core.reports.validity import GradeRow, MetricValidity, Ranking
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
from reviewgauge.views.terminal import figures
from reviewgauge.views.validity import words

Called = Mapping[tuple[str, str, str], str]
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 1])
COLOURS = (*SERIES, INK)  # of the first lines, each with its own dash; the others are grey
ROW, GAP = 18, 13  # pixels between rows of a forest, and at least between two line names
TICKS = 4


# --- forest --------------------------------------------------------------------------------------------------------


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
        _texts(alt, "head", align="right", baseline="bottom", fontSize=11, color=MUTED).encode(
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
            known = figures.defined(f.low) and figures.defined(f.high)
            shown = words.coefficient(f.value) + (" fake" if metric.fake else "")
            rows.append(
                {
                    "at": len(rows),
                    "name": cut(label if number == 0 else f"· {part.rows.name}", room),
                    "main": number == 0,
                    "v": f.value if figures.defined(f.value) else None,
                    "low": f.low if known else None,
                    "high": f.high if known else None,
                    "shown": shown,
                    "n": figures.count(f.n),
                    "text": f"{label} on {part.rows.name} {words.with_bounds(f)}",
                }
            )
    return rows


def _reach(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The ends of an axis of correlations: all intervals and 0, in steps of .1."""
    values = [0.0, *(row[key] for row in rows for key in ("v", "low", "high") if row[key] is not None)]
    low, high = min(values), max(values)
    return max(-1.0, -(int(-low * 10 + 0.999) / 10)), min(1.0, max(0.2, int(high * 10 + 0.999) / 10))


# --- sensitivity ---------------------------------------------------------------------------------------------------


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
    return {
        "line": at,
        "colour": COLOURS[at] if at < len(COLOURS) else GRID,
        "dash": at % len(DASHES) if at < len(COLOURS) else 0,
    }


def _coloured(alt: Any, rows: str, mark: str, **look: Any) -> Any:
    """Marks in the colour given in each of the named rows."""
    chart = getattr(alt.Chart(alt.NamedData(rows)), f"mark_{mark}")(**look)
    return chart.encode(color=alt.Color("colour:N", scale=None))


def _lines(alt: Any, rows: str, **look: Any) -> Any:
    dashes = alt.Scale(domain=list(range(len(DASHES))), range=list(DASHES))
    chart = _coloured(alt, rows, "line", strokeWidth=2, **look)
    return chart.encode(
        detail=alt.Detail("line:N"),
        order=alt.Order("x:Q"),
        strokeDash=alt.StrokeDash("dash:O", scale=dashes, legend=None),
    )


def _span(metric: MetricValidity) -> float:
    return max(r.maximum for r in metric.grades) - min(r.minimum for r in metric.grades)


def on_range(metric: MetricValidity, value: float | None) -> float | None:
    """The position of a score between the lowest (0) and the highest (1) of the metric."""
    if value is None or not figures.defined(value) or _span(metric) <= 0:
        return None
    return (value - min(r.minimum for r in metric.grades)) / _span(metric)


def _on_range(metric: MetricValidity, row: GradeRow, shift: float) -> dict[str, Any]:
    low, high = on_range(metric, row.mean.low), on_range(metric, row.mean.high)
    both = low is not None and high is not None
    return {
        "x": row.grade + shift,
        "y": on_range(metric, row.mean.value),
        "low": max(0.0, low) if low is not None and both else None,
        "high": min(1.0, high) if high is not None and both else None,
    }


def _describe_means(metric: MetricValidity) -> str:
    means = [(row.grade, on_range(metric, row.mean.value)) for row in metric.grades]
    return ", ".join(f"{words.coefficient(mean)} at {words.grade(grade)}" for grade, mean in means)


def spread(places: Sequence[float], height: float, gap: float = GAP) -> list[float]:
    """Ascending positions, moved at least `gap` apart and not beyond `height`, in pixels."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    beyond = height
    for at in range(len(moved) - 1, -1, -1):
        moved[at] = min(moved[at], beyond)
        beyond = moved[at] - gap
    return moved


# --- ranking -------------------------------------------------------------------------------------------------------


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
    for at in range(len(systems) - 1, -1, -1):  # the first is drawn last, on top
        places = [people[systems[at]], *(_rank(r, systems[at]) for _, r in ranked)]
        rows += [{"x": column, "y": rank} | _look(at) for column, rank in enumerate(places) if rank is not None]
    last = {p.system: p.metric_rank for p in ranked[-1][1].systems} if ranked and not numbered else {}
    heads = ["people", *(str(n) if numbered else text for n, (text, _) in enumerate(ranked, 1))]
    tops = [{"x": n, "y": 0.5, "t": cut(h, max(48.0, inner / columns - 6))} for n, h in enumerate(heads)]
    names = {"baseline": "middle", "fontSize": 11, "color": INK}
    layers = [
        _lines(alt, "rows", interpolate="monotone").encode(x=x, y=y),
        _coloured(alt, "rows", "point", filled=True, size=46, opacity=1).encode(x=x, y=y),
        _texts(alt, "first", align="right", dx=-9, **names).encode(x=x, y=y),
        _texts(alt, "last", align="left", dx=9, **names).encode(x=x, y=y),
        _texts(alt, "tops", align="center", baseline="bottom", dy=-6, fontSize=11, color=MUTED).encode(x=x, y=y),
    ]
    padding = {"left": side + 12, "right": right + 4, "top": 24, "bottom": 4}
    chart = alt.layer(*layers).properties(width=inner, height=height, padding=padding, autosize="none")
    description = "; ".join(f"{text}: {_describe_ranks(r)}" for text, r in ranked)
    ends = {"first": _rank_names(people, 0, side), "last": _rank_names(last, columns, side)}
    data = {"rows": rows, "tops": tops, **ends}
    return draw(chart, name, "Ranks of the systems by people and by each metric", description, data)


def _rank(ranking: Ranking, system: str) -> float | None:
    return next((p.metric_rank for p in ranking.systems if p.system == system), None)


def _describe_ranks(ranking: Ranking) -> str:
    return ", ".join(f"{p.system} {p.metric_rank:g} (people {p.human_rank:g})" for p in ranking.systems)


def _texts(alt: Any, rows: str, **look: Any) -> Any:
    return alt.Chart(alt.NamedData(rows)).mark_text(**look).encode(text=alt.Text("t:N"))


def _rank_names(ranks: Mapping[str, float], column: int, room: float) -> list[dict[str, Any]]:
    """Names beside their ranks; names of equal ranks are below each other."""
    ordered = sorted(ranks.items(), key=lambda pair: pair[1])
    places = spread([rank for _, rank in ordered], max(len(ordered), *ranks.values(), 1), gap=0.6)
    return [{"x": column, "y": y, "t": cut(s, room)} for (s, _), y in zip(ordered, places, strict=True)]
