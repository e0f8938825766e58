"""The curve of `reviewgauge curve` for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import Comparison
from reviewgauge.views.terminal import figures
from reviewgauge.views.terminal.leaderboards import SHORT
from reviewgauge.views.terminal.tables import NARROW, Fitted, bare_table, notes_below, number_column

_BESIDE = ("precision", "recall", "comments_per_change")  # the headline


def curve_table(curve: Curve) -> RenderableType:
    """One line a number of attempts, first by votes, then by the model; comparisons and settings below."""
    return Fitted(lambda width: _table(curve, width))


def _table(curve: Curve, width: int) -> RenderableType:
    known = {e.reading for point in curve.points for e in point.summary.estimates}
    readings = [curve.headline, *(name for name in _BESIDE if name in known and name != curve.headline)]
    table = bare_table()
    table.add_column("put together by")
    for name in ("n", "subsets", *(SHORT.get(r, figures.label(r)) for r in readings), "scored"):
        number_column(table, name)
    for point in curve.points:
        shown = [_figure(point, r, width >= NARROW and r != "comments_per_change") for r in readings]
        by = {"alone": "(one attempt)", "votes": "votes", "model": one_line(curve.model, 40)}[point.by]
        failed = f" {point.summary.failed}!" if point.summary.failed else ""
        table.add_row(
            Text(by),
            str(point.n),
            str(point.subsets),
            *shown,
            f"{point.summary.scored}/{point.summary.cases}{failed}",
        )
    votes = f"{curve.least} votes" if curve.least else "more than half of the votes"
    below = notes_below(
        f"{curve.stored} attempts of {', '.join(curve.systems)}; {votes} keep a finding, compared by {curve.judge}",
        f"{curve.label or curve.metric} on {curve.dataset}, benchmark {figures.short_hash(curve.benchmark)}; "
        f"{curve.clusters} clusters by {curve.clustered_by}; {curve.resamples:,} resamples, seed {curve.seed}",
        *(f"! {warning}" for warning in (curve.estimate_note, *curve.warnings) if warning),
    )
    pairs = curve.comparisons.comparisons if curve.comparisons is not None else ()
    return Group(table, Text(""), *(Text(_compared(one), style="bold") for one in pairs), Text(""), below)


def _compared(one: Comparison) -> str:
    bounds = figures.interval(one.low, one.high, one.unit)
    difference = f"{figures.signed(one.difference, one.unit)} {bounds}".rstrip()
    name = figures.label(one.reading)
    return f"{one.first} less {one.second}: {difference} {name}, {figures.p_clause(one.p_holm)} (Holm)"


def _figure(point: CurvePoint, reading: str, with_interval: bool) -> Text:
    found = figures.estimate(point.summary, reading)
    bounds = figures.interval(found.low, found.high, found.unit) if with_interval else ""
    return Text(f"{figures.number(found.value, found.unit)} {bounds}".rstrip())
