"""Quality against cost: what a change costs with each contender, and who is on the frontier.

On the frontier is whom no other beats: nobody is as good for less, or better for as much.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Material, by_system, measures_of, summary_cell
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.results import Outcome
from reviewgauge.core.study import TableEntry


def cost_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: dollars a review, the measure, calls and tokens a review, and whether on the frontier."""
    metric = material.metric(entry.metric)
    (measure,) = measures_of(material, metric, entry)
    board = by_system(material.board(metric).systems)
    spent = _spent(material.outcomes)
    rows = []
    for contender in material.chosen(entry):
        quality = summary_cell(board.get(contender.system), measure, contender)
        own = spent.get(contender.system, {})
        unpriced = any(use.dollars is None and use.calls for uses in own.values() for use in uses)
        fake = quality.fake
        dollars = Value(text="price unknown") if unpriced else _mean(material, own, "dollars", "dollars", fake)
        calls, tokens = (_mean(material, own, what, "count", fake) for what in ("calls", "tokens"))
        if contender.trouble or contender.recorded:
            dollars = calls = tokens = Value(text=contender.trouble or "not recorded")
        rows.append([Value(text=contender.name), dollars, quality, calls, tokens])
    lower = measure in metric.lower_is_better
    flags = _frontier([(row[1].value, row[2].value) for row in rows], lower)
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", "dollars a review", measure_label(measure), "calls", "tokens", "frontier")),
        rows=tuple((*row, Value(text=flag)) for row, flag in zip(rows, flags, strict=True)),
        plot=Plot(kind="frontier", columns=(1, 2, 5)) if entry.plot else None,
        provenance=material.provenance(metric),
        notes=(
            "frontier: nobody is as good for less, or better for as much; cost is that of the reviews, not of judges",
            *material.gaps(entry, metric),
        ),
    )


class _Use(NamedTuple):
    """What one review took."""

    attempt: int
    dollars: float | None
    calls: int
    tokens: int


Spent = dict[str, list[_Use]]  # by case, in the order of the attempts


def _spent(outcomes: Sequence[Outcome]) -> dict[str, Spent]:
    found: dict[str, Spent] = defaultdict(lambda: defaultdict(list))
    for one in outcomes:
        use = one.usage if one.review is None else one.review.usage
        tokens = use.tokens_in + use.tokens_out
        insort(found[one.system][one.case], _Use(one.attempt, use.dollars, use.calls, tokens), key=itemgetter(0))
    return found


def _mean(material: Material, spent: Spent, what: str, unit: str, fake: bool) -> Value:
    sums = {
        case: (sum(float(getattr(use, what) or 0.0) for use in uses), float(len(uses))) for case, uses in spent.items()
    }
    return material.ratio_of(sums, unit, fake=fake)


def _frontier(points: Sequence[tuple[float | None, float | None]], lower: bool) -> list[str]:
    """`yes` for the points that no other beats; a dash where a figure is missing."""
    sign = -1.0 if lower else 1.0
    known = [(cost, sign * quality) for cost, quality in points if cost is not None and quality is not None]
    flags = []
    for cost, quality in points:
        if cost is None or quality is None:
            flags.append("–")
            continue
        mine = cost, sign * quality
        beaten = any(c <= mine[0] and q >= mine[1] and (c, q) != mine for c, q in known)
        flags.append("no" if beaten else "yes")
    return flags
