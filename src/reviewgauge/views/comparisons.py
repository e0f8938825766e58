"""Paired comparisons as a table, and whether a difference was found."""

from __future__ import annotations

from collections.abc import Iterable

from reviewgauge.core.document import Column, Table, Value
from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable
from reviewgauge.views import figures
from reviewgauge.views.values import or_dash

BOUNDS_SHOWN = 6  # bounded differences: more are counted
ALPHA = 0.05
DETECTABLE = "the smallest true difference that these changes show with 80% power"


def comparison_table(table: ComparisonTable) -> Table:
    """Paired comparisons: difference with interval, p, Holm's p, and the smallest detectable difference."""
    moved = any(c.worst != c.best for c in table.comparisons)
    columns = (
        Column(key="first - second", kind="name", priority=0),
        Column(key="measure", kind="text", priority=2),
        *(Column(key=key, kind="figure", priority=4) for key in ("first", "second")),
        Column(key="difference", short="diff", kind="difference", priority=0),
        Column(key="p", kind="figure", priority=2),
        Column(key="p (Holm)", short="Holm p", kind="figure"),
        Column(key="smallest detectable difference", short="detectable", help=DETECTABLE, kind="figure", priority=2),
        *([Column(key="worst to best", kind="range", priority=5)] if moved else []),
        Column(key="n", kind="figure", priority=3),
    )
    corrected = f", corrected over {table.corrected} comparisons (Holm)," if table.corrected > 1 else ""
    tests = "; ".join(dict.fromkeys(c.test for c in table.comparisons))
    level = figures.percent(table.comparisons[0].level) if table.comparisons else "95%"
    lines = [
        f"* found: p{corrected} is under .05, and the interval leaves out 0. Intervals at {level}, "
        f"{table.resamples:,} resamples clustered by {table.clustered_by}, seed {table.seed}",
        f"detectable: {DETECTABLE}",
        f"test: {tests}" if tests else "",
        f"{table.label or table.metric} on {table.dataset}, benchmark {figures.short_hash(table.benchmark)}",
        f"! {table.estimate_note}" if table.estimate_note else "",
        *(f"! {warning}" for warning in table.warnings),
        *_bounded(table),
        *dict.fromkeys(_told_apart(c) for c in table.comparisons),
    ]
    return Table(
        name="comparison",
        title="",
        columns=columns,
        rows=tuple(_compared(c, moved) for c in table.comparisons),
        strong=tuple((at, 4) for at, c in enumerate(table.comparisons) if found(c)),
        shown=1_000_000,
        notes=tuple(line for line in lines if line),
    )


def _compared(c: Comparison, moved: bool) -> tuple[Value, ...]:
    return (
        Value(text=f"{c.first} - {c.second}"),
        Value(text=figures.label(c.measure)),
        or_dash(c.first_value, c.unit),
        or_dash(c.second_value, c.unit),
        or_dash(c.difference, c.unit, low=c.low, high=c.high, n=c.n),
        or_dash(c.p, "p"),
        or_dash(c.p_holm, "p"),
        or_dash(c.detectable, c.unit),
        *([Value(low=c.worst, high=c.best, unit=c.unit)] if moved and c.worst is not None else [Value()] * moved),
        Value(value=float(c.n), unit="count"),
    )


def _told_apart(c: Comparison) -> str:
    """McNemar's test in words; empty where there is none."""
    if (m := c.mcnemar) is None:
        return ""
    test = f"{m.only_first} by {c.first} alone, {m.only_second} by {c.second} alone"
    exact = f", exact {figures.p_clause(m.p)}" if m.p is not None else ""
    return f"McNemar: of {m.pairs} defects, {test}, are told from their twin{exact}"


def _bounded(table: ComparisonTable) -> Iterable[str]:
    bounded = [c for c in table.comparisons if c.worst != c.best]
    if len(bounded) > BOUNDS_SHOWN:
        yield f"! failures move {len(bounded)} of these differences; --json has each one's worst and best"
        return
    for c in bounded:
        if figures.defined(c.worst) and figures.defined(c.best):
            span = f"{figures.signed(c.worst, c.unit)} to {figures.signed(c.best, c.unit)}"
            what = f"{c.first} - {c.second}, {figures.label(c.measure)}"
            yield f"! {what}: {span} with failures counted as worst and best"


def p_of(c: Comparison) -> float | None:
    """The p-value that decides: the corrected one where several comparisons were made."""
    return c.p_holm if c.p_holm is not None else c.p


def found(c: Comparison) -> bool:
    """Whether the difference was found: its p-value, corrected where several were made, is under 5%.

    Its interval leaves out 0, too: on a few changes, and of curved measures, the two may disagree.
    """
    p, around = p_of(c), c.low is not None and c.high is not None and c.low <= 0 <= c.high
    return p is not None and p < ALPHA and not around
