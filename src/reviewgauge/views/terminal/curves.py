"""The curve of `reviewgauge compare --attempts` for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import Comparison
from reviewgauge.views import figures
from reviewgauge.views.leaderboard import SHORT
from reviewgauge.views.terminal.tables import NARROW, Fitted, bare_table, notes_below, number_column, plain

_BESIDE = ("precision", "recall", "comments_per_change")  # the headline


def curve_table(curve: Curve) -> RenderableType:
    """One line a number of attempts, first by votes, then by the model; comparisons and settings below."""
    return Fitted(lambda width: _table(curve, width))


def measures_of(curve: Curve) -> Sequence[str]:
    """The measures that are shown, the headline first."""
    known = {e.measure for point in curve.points for e in point.summary.estimates}
    return [curve.headline, *(name for name in _BESIDE if name in known and name != curve.headline)]


def name_of(curve: Curve, point: CurvePoint) -> str:
    """What put the attempts of a point together."""
    return {"alone": "(one attempt)", "votes": "votes", "model": one_line(curve.model, 40)}[point.by]


def compared(one: Comparison) -> str:
    """A comparison as a sentence."""
    bounds = figures.interval(one.low, one.high, one.unit)
    difference = f"{figures.signed(one.difference, one.unit)} {bounds}".rstrip()
    tested = f"{figures.label(one.measure)}, {figures.p_clause(one.p_holm)} (Holm)"
    return f"{one.first} less {one.second}: {difference} {tested}"


def footnotes(curve: Curve) -> Iterator[str]:
    """What the figures rest on; warnings begin with `!`."""
    votes = f"{curve.least} votes" if curve.least else "more than half of the votes"
    yield f"{curve.stored} attempts of {', '.join(curve.systems)}; {votes} keep a finding, compared by {curve.judge}"
    yield (
        f"{curve.label or curve.metric} on {curve.dataset}, benchmark {figures.short_hash(curve.benchmark)}; "
        f"{curve.clusters} clusters by {curve.clustered_by}; {curve.resamples:,} resamples, seed {curve.seed}"
    )
    yield from (f"! {warning}" for warning in (curve.estimate_note, *curve.warnings) if warning)


def _table(curve: Curve, width: int) -> RenderableType:
    measures = measures_of(curve)
    table = bare_table()
    table.add_column("put together by")
    for name in ("n", "subsets", *(SHORT.get(r, figures.label(r)) for r in measures), "scored"):
        number_column(table, name)
    for point in curve.points:
        shown = [_figure(point, r, width >= NARROW and r != "comments_per_change") for r in measures]
        failed = f" {point.summary.failed}!" if point.summary.failed else ""
        scored = f"{point.summary.scored}/{point.summary.cases}{failed}"
        table.add_row(Text(name_of(curve, point)), str(point.n), str(point.subsets), *shown, scored)
    pairs = curve.comparisons.comparisons if curve.comparisons is not None else ()
    sentences = (plain(compared(one), style="bold") for one in pairs)
    return Group(table, Text(""), *sentences, Text(""), notes_below(*footnotes(curve)))


def _figure(point: CurvePoint, measure: str, with_interval: bool) -> Text:
    found = figures.estimate(point.summary, measure)
    bounds = figures.interval(found.low, found.high, found.unit) if with_interval else ""
    return Text(f"{figures.number(found.value, found.unit)} {bounds}".rstrip())
