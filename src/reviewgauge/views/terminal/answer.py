"""The answer in one or two sentences: who leads, by how much, how sure, and what cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable, Leaderboard, SystemSummary
from reviewgauge.views.terminal import figures

ALPHA = 0.05
NAMED = 4  # more systems than this in one sentence are counted, not named


def answer(board: Leaderboard, table: ComparisonTable | None = None) -> str:
    """What the leaderboard says, in words. Only differences that were tested are called differences."""
    name = figures.label(board.headline)
    ranked = [s for s in board.systems if figures.defined(figures.estimate(s, board.headline).value)]
    if not board.systems:
        return "No system was scored."
    if not ranked:
        return f"{name} is undefined for every system on these changes."
    lead = ranked[0]
    if len(ranked) == 1:
        return f"{_scored(lead, board.headline)}."
    tested = [(other, _difference(table, board.headline, lead.system, other.system)) for other in ranked[1:]]
    known = [(other, c) for other, c in tested if c is not None and _p(c) is not None]
    if not known:
        second = figures.estimate(ranked[1], board.headline)
        value = figures.number(second.value, second.unit)
        said = f"{_scored(lead, board.headline)}; {_name(ranked[1])} comes next with {value}"
        return f"{said}. The difference was not tested."
    beaten = [(other, c) for other, c in known if _found(c)]
    tied = [other for other, c in known if not _found(c)]
    sentences = []
    if beaten and beaten[0][0] is ranked[1]:
        sentences.append(_leads(lead, *beaten[0]))
        rest = _tied_behind(ranked, table, board.headline)
        if tied:
            sentences.append(_cannot_tell(known[0][1].n, [lead, *tied]))
        elif rest:
            sentences.append(_cannot_tell(known[0][1].n, rest))
    else:
        level = [s for s in ranked if _value(s, board.headline) == _value(lead, board.headline)]
        if len(level) > 1:
            sentences.append(_level(level, board.headline))
        else:
            sentences.append(f"{_scored(lead, board.headline)} and comes first")
        tied = [other for other in tied if other not in level]
        sentences.append(_cannot_tell(known[0][1].n, [lead, *tied]) if tied else "")
        if beaten:
            sentences.append(_leads(lead, *beaten[0]))
    return "; ".join(s for s in sentences if s) + "."


def _name(system: SystemSummary) -> str:
    return f"{system.system} (fake)" if system.fake else system.system


def _scored(system: SystemSummary, reading: str) -> str:
    e = figures.estimate(system, reading)
    bounds = figures.interval(e.low, e.high, e.unit)
    changes = f"{e.n} change" + ("" if e.n == 1 else "s")
    figure = " ".join(t for t in (figures.number(e.value, e.unit), figures.label(reading), bounds) if t)
    return f"{_name(system)} scores {figure} on {changes}"


def _value(system: SystemSummary, reading: str) -> float | None:
    return figures.estimate(system, reading).value


def _level(systems: Sequence[SystemSummary], reading: str) -> str:
    """Several systems with the very same value: none of them comes first."""
    e = figures.estimate(systems[0], reading)
    return f"{_joined(systems, 'and')} score the same, {figures.number(e.value, e.unit)} {figures.label(reading)}"


def _joined(systems: Sequence[SystemSummary], word: str) -> str:
    names = [_name(s) for s in systems]
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _leads(lead: SystemSummary, other: SystemSummary, c: Comparison) -> str:
    size = figures.number(abs(c.difference) if c.difference is not None else None, c.unit)
    low, high = c.low, c.high
    if c.difference is not None and c.difference < 0:
        low, high = (None if high is None else -high), (None if c.low is None else -c.low)
    figure = " ".join(t for t in (size, figures.label(c.reading), figures.interval(low, high, c.unit)) if t)
    holm = " (Holm)" if c.p_holm is not None and c.p_holm != c.p else ""
    return f"{_name(lead)} leads {_name(other)} by {figure}, {figures.p_clause(_p(c))}{holm}"


def _cannot_tell(n: int, systems: Sequence[SystemSummary]) -> str:
    return f"{n} change{'' if n == 1 else 's'} cannot tell {_name(systems[0])} from {_joined(systems[1:], 'or')}"


def _tied_behind(ranked: Sequence[SystemSummary], table: ComparisonTable | None, reading: str) -> list[SystemSummary]:
    """The first system behind the leader that is not told from the next one, and all it is not told from."""
    for at in range(1, len(ranked) - 1):
        tied = []
        for other in ranked[at + 1 :]:
            c = _difference(table, reading, ranked[at].system, other.system)
            if c is not None and _p(c) is not None and not _found(c):
                tied.append(other)
        if tied:
            return [ranked[at], *tied]
    return []


def _difference(table: ComparisonTable | None, reading: str, first: str, second: str) -> Comparison | None:
    for c in table.comparisons if table else ():
        if c.reading == reading and {c.first, c.second} == {first, second}:
            return c
    return None


def _p(c: Comparison) -> float | None:
    return c.p_holm if c.p_holm is not None else c.p


def _found(c: Comparison) -> bool:
    p = _p(c)
    return p is not None and p < ALPHA


def found(c: Comparison) -> bool:
    """Whether the difference was found: its p-value, corrected where several were made, is under 5%."""
    return _found(c)
