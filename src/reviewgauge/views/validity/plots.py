"""Plots of the metrics of one dimension, together and alone, each with a text description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewgauge.core.reports.validity import GradeRow, MetricValidity, Sweep
from reviewgauge.views import figures
from reviewgauge.views.charts import spread
from reviewgauge.views.shapes import SERIES, Frame, cut, look_of, point, steps, svg_of, text
from reviewgauge.views.validity import words

Called = Mapping[tuple[str, str, str], str]
NAME_WIDTH, WIDE_ENOUGH = 150, 400  # pixels of a name; least width for whole names
TICKS = 4
RATES = {
    "precision": ("false", 'stroke-width="2" stroke-dasharray="6 3"'),
    "recall": ("duplicate", 'stroke-width="2" stroke-dasharray="2 2"'),
    "f1": ("accent", 'stroke-width="2"'),
}
"""The colour of each line, and how it is drawn."""
HEIGHT = 190  # pixels of a small figure


def sensitivity(metrics: Sequence[MetricValidity], called: Called, name: str, width: int) -> str:
    """The mean score by human grade, each metric on its own range from 0 to 1."""
    shown = moving(metrics)
    grades = sorted({row.grade for m in shown for row in m.grades})
    side = NAME_WIDTH if width > WIDE_ENOUGH else NAME_WIDTH * 0.7
    low, high = (grades[0], grades[-1]) if grades else (0.0, 1.0)
    edge = (high - low) / 20
    means = [[(row, on_range(m, row.mean.value)) for row in sorted(m.grades, key=lambda r: r.grade)] for m in shown]
    ends = [on_range(m, end) for m in shown for row in m.grades for end in (row.mean.value, row.mean.high)]
    reached = max((end for end in ends if end is not None), default=1.0)
    top = next((top for top in (0.4, 0.6, 0.8) if reached <= top), 1.0)
    frame = Frame(44, 8, int(width - side - 50), 280, (low - edge, high + edge), (0.0, top))
    frame.grid_up(title="mean score on the metric's range")
    frame.ticks_across([(grade, f"{grade:g}") for grade in grades], "human grade")
    aside = (high - low) * min(1 / 90, 0.07 / max(1, len(shown)))  # so that intervals do not overlap
    names: list[tuple[float, float, str, str]] = []  # (pixel of the last point, of the one before, colour, name)
    for at, (m, line_of) in reversed(list(enumerate(zip(shown, means, strict=True)))):  # the first is drawn on top
        shift = (at - (len(shown) - 1) / 2) * aside
        colour, look = look_of(at)
        spots = [(row.grade + shift, mean) for row, mean in line_of if mean is not None]
        for row, mean in line_of:
            if mean is not None:
                bounds = (on_range(m, row.mean.low), on_range(m, row.mean.high))
                frame.interval(row.grade + shift, *bounds, look='stroke-opacity="0.6"', colour=colour)
        frame.path(spots, look=look, colour=colour)
        for spot in spots:
            frame.point(*spot, radius=3, colour=colour)
        if at < len(SERIES) and len(spots) > 1:
            last = frame.y(spots[-1][1])
            names.append((last, frame.y(spots[-2][1]), colour, cut(called[words.key(m)], side)))
    names.sort()
    places = spread([place - frame.top for place, *_ in names], frame.height)
    right = frame.left + frame.width + 4
    frame.marks += [
        text(right, frame.top + place, label, colour=colour)
        for place, (_, _, colour, label) in zip(places, names, strict=True)
    ]
    said = "; ".join(f"{called[words.key(m)]}: {_describe_means(m)}" for m in shown)
    title = "Mean score by human grade, each metric on its own range"
    return svg_of(name, title, said, (right + side + 2, 328), frame.marks)


def moving(metrics: Sequence[MetricValidity]) -> list[MetricValidity]:
    """The metrics with a sensitivity line: those whose scores and grades differ."""
    return [m for m in metrics if len(m.grades) > 1 and _span(m) > 0]


def _span(metric: MetricValidity) -> float:
    return max(r.maximum for r in metric.grades) - min(r.minimum for r in metric.grades)


def on_range(metric: MetricValidity, value: float | None) -> float | None:
    """The position of a score between the lowest (0) and the highest (1) of the metric."""
    if value is None or not figures.defined(value) or _span(metric) <= 0:
        return None
    return (value - min(r.minimum for r in metric.grades)) / _span(metric)


def _describe_means(metric: MetricValidity) -> str:
    return ", ".join(
        f"{words.coefficient(on_range(metric, row.mean.value))} at {words.grade(row.grade)}" for row in metric.grades
    )


def bump(metrics: Sequence[MetricValidity], called: Called, name: str, width: int, numbered: bool) -> str:
    """The ranks of the systems by people, then by each metric, with people's first systems in colour.

    Columns have the metrics' names, or numbers if `numbered`.
    """
    ranked = [(called[words.key(m)], m.ranking) for m in metrics if m.ranking is not None]
    people = {p.system: p.human_rank for _, r in reversed(ranked) for p in r.systems}
    systems = sorted(people, key=lambda s: people[s])
    side = NAME_WIDTH * (1.4 if width > WIDE_ENOUGH else 0.75)
    right = 8 if numbered else side
    inner, most = int(width - side - right - 16), max([len(systems), *people.values()])
    columns = max(1, len(ranked))
    frame = Frame(side + 12, 24, inner, 22 * most, (0.0, columns), (-most - 0.5, -0.5))  # the first rank on top
    ranks = [people, *({p.system: p.metric_rank for p in r.systems} for _, r in ranked)]
    for at, system in reversed(list(enumerate(systems))):  # the first is drawn last, on top
        colour, look = look_of(at)
        spots = [(float(column), -own[system]) for column, own in enumerate(ranks) if system in own]
        frame.path(spots, look=look, colour=colour)
        for spot in spots:
            frame.point(*spot, radius=3.8, colour=colour)
    frame.marks += _rank_names(frame, people, 0, side)
    frame.marks += _rank_names(frame, ranks[-1], columns, side) if ranked and not numbered else []
    heads = ["people", *(str(n) if numbered else label for n, (label, _) in enumerate(ranked, 1))]
    room = max(48.0, inner / columns - 6)
    frame.marks += [text(frame.x(n), 10, cut(h, room), "middle", colour="muted") for n, h in enumerate(heads)]
    orders = [
        ", ".join(f"{p.system} {p.metric_rank:g} (people {p.human_rank:g})" for p in r.systems) for _, r in ranked
    ]
    said = "; ".join(f"{label}: {order}" for (label, _), order in zip(ranked, orders, strict=True))
    size = (frame.left + inner + right + 4, frame.top + frame.height + 4)
    return svg_of(name, "Ranks of the systems by people and by each metric", said, size, frame.marks)


def _rank_names(frame: Frame, ranks: Mapping[str, float], column: int, room: float) -> Iterator[str]:
    """Names beside their ranks; names of equal ranks are below each other."""
    ordered = sorted(ranks.items(), key=lambda pair: pair[1])
    places = spread([rank for _, rank in ordered], max(len(ordered), *ranks.values(), 1), gap=0.6)
    side, anchor = (-9, "end") if column == 0 else (9, "start")
    for (system, _), place in zip(ordered, places, strict=True):
        yield text(frame.x(column) + side, frame.y(-place), cut(system, room), anchor)


def violins(metric: MetricValidity, name: str, width: int) -> str:
    """The scores of each human grade: their density, range, quartiles and median."""
    rows = metric.grades
    inner = max(width - 62, 46 * len(rows))
    step = inner / max(1, len(rows))
    low, high = min((r.minimum for r in rows), default=0.0), max((r.maximum for r in rows), default=1.0)
    frame = Frame(54, 6, inner, 180, (0.0, inner), (low, high if high > low else low + 1))
    frame.grid_up(share=metric.unit == "share")
    for at, row in enumerate(rows):
        _five(frame, row, step * (at + 0.5), step, metric.unit)
    for place, label in zip(CAPTIONS, ("grade", "n", "median"), strict=True):
        frame.marks.append(text(48, place, label, "end", colour="muted"))
    said = "; ".join(_describe_bean(row, metric.unit) for row in rows)
    return svg_of(name, "Scores by human grade", said, (54 + inner + 8, 240), frame.marks)


CAPTIONS = (200, 215, 230)  # the lines under the violins, in pixels from the top


def _five(frame: Frame, row: GradeRow, centre: float, step: float, unit: str) -> None:
    """The shape, the range, the quartiles and the median of one grade, with its captions."""
    frame.area(bean(row, centre, step * 0.42), look='fill="var(--accent)" fill-opacity="0.25"')
    frame.interval(centre, row.minimum, row.maximum, look="")
    frame.interval(centre, row.q1, row.q3, look='stroke-width="5"')
    middle = row.median.value
    if middle is not None and figures.defined(middle):
        if row.minimum == row.maximum:
            frame.path([(centre - step * 0.3, middle), (centre + step * 0.3, middle)], look='stroke-width="3"')
        ring = 'stroke="var(--ink)" stroke-width="1.5"'
        frame.marks.append(point(frame.x(centre), frame.y(middle), 3.7, colour="paper", look=ring))
    x = frame.x(centre)
    captions = (words.grade(row.grade), figures.count(row.n), words.score(middle, unit))
    looks = (("ink", ' font-weight="bold"'), ("muted", ""), ("ink", ""))
    for place, caption, (colour, look) in zip(CAPTIONS, captions, looks, strict=True):
        frame.marks.append(text(x, place, caption, "middle", colour=colour, look=look))


def bean(row: GradeRow, centre: float, half: float) -> list[tuple[float, float]]:
    """The outline of one grade within its range of scores, `half` wide on each side where it is densest."""
    inside = [(score, d) for score, d in row.density if row.minimum <= score <= row.maximum]
    top = max((d for _, d in inside), default=0.0)
    if top <= 0:
        return []
    left = [(centre - half * d / top, score) for score, d in inside]
    return [*left, *((centre + half * d / top, score) for score, d in reversed(inside))]


def _describe_bean(row: GradeRow, unit: str) -> str:
    where = f"grade {words.grade(row.grade)}, n {figures.count(row.n)}"
    if row.minimum == row.maximum:
        return f"{where}: all scores are {words.score(row.minimum, unit)}"
    ends = f"{words.score(row.minimum, unit)} to {words.score(row.maximum, unit)}"
    return f"{where}: median {words.score(row.median.value, unit)}, {ends}"


def sweep(found: Sweep, unit: str, name: str, width: int) -> str:
    """Precision (dashed), recall (dotted) and F1 (solid) along the threshold, with the best F1 marked."""
    points = sorted(found.points, key=lambda p: p.threshold)
    ends = (points[0].threshold, points[-1].threshold) if points else (0.0, 1.0)
    frame = Frame(34, 8, width - 46, HEIGHT, ends, (0.0, 1.0))
    frame.grid_up()
    frame.ticks_across(steps(*frame.across, TICKS, unit == "share"), "threshold")
    for measure, (colour, look) in RATES.items():
        rates = [(p.threshold, getattr(p, measure)) for p in points]
        frame.path([(at, rate) for at, rate in rates if rate is not None], look=look, colour=colour)
    said = f"AUC {words.with_bounds(found.auc)}"
    if found.best is not None and found.best.f1 is not None:
        frame.point(found.best.threshold, found.best.f1, 4.4)
        said += f"; best F1 {words.coefficient(found.best.f1)} from {words.score(found.best.threshold, unit)} on"
    title = f"Precision, recall and F1 of separating {words.grade(found.cut)} and above from the rest"
    return svg_of(name, title, said, (width, HEIGHT + 44), frame.marks)
