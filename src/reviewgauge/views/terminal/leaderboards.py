"""Leaderboards, slices and comparisons for the terminal, and the answer that they give in one or two sentences.

Tables fit 100 columns and say less on 80.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.leaderboard import (
    Across,
    Comparison,
    ComparisonTable,
    Leaderboard,
    SliceSummary,
    SystemSummary,
)
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import (
    NARROW,
    SLIM,
    TINY,
    Fitted,
    WholeTable,
    bare_table,
    notes_below,
    number_column,
    plain,
)

WIDE = 96  # columns for all intervals
SHORT = {
    "comments_per_change": "c/chg",
    "clean_left_alone": "clean",
    "line_recall": "on line",
    "augmented_precision": "aug. P",
    "augmented_recall": "aug. R",
}
BOUNDS_SHOWN = 6  # bounded differences
NAMED = 4  # more systems than this are counted, not named
ENOUGH = 3  # systems from which on their variance is shown
ALPHA = 0.05


def _name(system: SystemSummary) -> Text:
    name = plain(system.system, 500)
    if system.fake:
        name.append(" (fake)", style="bold yellow")
    return name


def _figure(system: SystemSummary, measure: str, with_interval: bool, gap: str = "") -> Text:
    e = figures.estimate(system, measure)
    bounds = figures.interval(e.low, e.high, e.unit, gap) if with_interval else ""
    return Text(f"{figures.number(e.value, e.unit)} {bounds}".rstrip())


def _extra(board: Leaderboard, system: SystemSummary, measure: str) -> Text:
    if measure == figures.RANGE:
        return Text(figures.unsure_range(system))
    return _figure(system, measure, False)


def _coverage(system: SystemSummary) -> Text:
    text = Text(f"{system.scored}/{system.cases}")
    if system.failed:
        text.append(f" {system.failed}!", style="bold red")
    return text


# --- leaderboard ---------------------------------------------------------------------------------------------------


def leaderboard(
    board: Leaderboard, comparisons: ComparisonTable | None = None, explain: bool | None = False
) -> RenderableType:
    """The leaderboard, headline first, with coverage beside every score; the answer, and the most serious caveat.

    `explain` adds what the columns say, the settings, and every caveat; None leaves the caveat out, too.
    """
    return Fitted(lambda width: _leaderboard(board, comparisons, width, explain))


def _leaderboard(
    board: Leaderboard, comparisons: ComparisonTable | None, width: int, explain: bool | None
) -> RenderableType:
    if not board.systems:
        return Text("no system was scored")
    table = _board(board, width, width >= WIDE)
    if table.least > width:
        table = _board(board, width, False)
    first, *more = [*_caveats(board), ""]
    if explain:
        lines = [*_explained(board), first, *more]
    else:
        lines = [f"{first} (and {len(more) - 1} more: --explain)" if len(more) > 1 else first]
    below = [Text(""), notes_below(*lines)] if any(lines) and explain is not None else []
    return Group(table, Text(""), plain(answer(board, comparisons), 1000, "bold"), *below)


def _board(board: Leaderboard, width: int, intervals: bool) -> WholeTable:
    """The table; with `intervals` of every main measure, else of the headline alone."""
    table = bare_table()
    known = figures.measures(board)
    main = known[:3] if {"precision", "recall"} & set(known) else [board.headline]
    extras = [r for r in figures.EXPLAINED if r in known] or [r for r in known if r not in main][:4]
    if width < NARROW:
        extras = []
    if width < SLIM:
        main = main[:1]
    table.add_column("system", overflow="fold", min_width=min(12, width // 3), max_width=max(16, width - 78))
    for measure in (*main, *extras):
        number_column(table, one_line(SHORT.get(measure, figures.column(measure)), 14))
    number_column(table, "scored")
    ranked = sorted(board.systems, key=lambda system: system.baseline)
    for before, system in zip([None, *ranked], ranked, strict=False):
        if system.baseline and before and not before.baseline:
            table.add_row(Text("baselines:", "dim"))
        shown = [_figure(system, r, intervals or (r == board.headline and width >= TINY)) for r in main]
        table.add_row(_name(system), *shown, *(_extra(board, system, r) for r in extras), _coverage(system))
    return table


def _explained(board: Leaderboard) -> list[str]:
    """What the columns say, and the settings behind the figures."""
    changes = f"{figures.scored_of(board)} changes, {board.clusters} clusters by {board.clustered_by}"
    resampled = f"{figures.percent(board.level)} intervals from {board.resamples:,} resamples, seed {board.seed}"
    lines = [
        f"n = {changes}; {resampled}",
        f"{board.label or board.metric} on {board.dataset}, benchmark {figures.short_hash(board.benchmark)}; "
        f"all systems were scored on {board.common} changes",
    ]
    known = figures.measures(board)
    told = [f"{SHORT.get(r, figures.column(r))}: {words}" for r, words in figures.EXPLAINED.items() if r in known]
    if told:
        lines.append("; ".join([*told, "–: undefined; 2!: 2 failed"]))
    lines += [_across(one) for one in board.across if one.measure == board.headline and one.systems >= ENOUGH]
    return lines + [f"{one_line(s.system, 60)}: {text}" for s in board.systems if (text := figures.spread_words(s))]


def _caveats(board: Leaderboard) -> list[str]:
    """What limits the figures, the most serious first."""
    lines = []
    failing: dict[str, list[str]] = {}
    for s in board.systems:
        if s.failed or s.missing or s.not_applicable:
            failing.setdefault(_kinds(s, board.headline), []).append(s.system)
    if failing:
        names = {k: ", ".join(own) if len(own) <= NAMED else f"{len(own)} systems" for k, own in failing.items()}
        text = "; ".join(f"{systems}: {kinds}" for kinds, systems in names.items())
        lines.append(f"! not scored (never counted as 0): {text}")
    lines += [f"! {warning}" for warning in (*board.warnings, board.estimate_note) if warning]
    return lines + [f"! {count} reviews break an identity: {words}" for words, count in board.broken.items()]


def _across(one: Across) -> str:
    mean, deviation = figures.number(one.mean, one.unit), figures.number(one.variance**0.5, one.unit)
    return f"across {one.systems} systems: mean {mean}, SD {deviation} {figures.label(one.measure)}"


def _kinds(system: SystemSummary, measure: str) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in system.failures.items())
    counts = {
        "failed" + (f" ({kinds})" if kinds else ""): system.failed,
        "not applicable": system.not_applicable,
        "missing": system.missing,
    }
    parts = [f"{n} {what}" for what, n in counts.items() if n]
    e = figures.estimate(system, measure)
    if system.failed and figures.defined(e.worst) and figures.defined(e.best):  # missing cases have no bounds
        bounds = f"{figures.number(e.worst, e.unit)} to {figures.number(e.best, e.unit)}"
        parts.append(f"{figures.label(measure)} {bounds} with the failed as worst and best")
    return ", ".join(parts)


def slices(board: Leaderboard) -> RenderableType:
    """The headline of every system on every slice, one table per fact."""
    if not board.slices:
        return Text("no slices were requested")
    parts: list[RenderableType] = []
    for fact, values in groupby(board.slices, key=lambda s: s.fact):
        parts += [Fitted(_slice_builder(board, fact, list(values))), Text("")]
    note = f"{figures.percent(board.level)} intervals; n below each name; –: undefined"
    return Group(*parts, notes_below(note, f"! {board.estimate_note}" if board.estimate_note else ""))


def _slice_builder(board: Leaderboard, fact: str, values: Sequence[SliceSummary]) -> Callable[[int], RenderableType]:
    def build(width: int) -> RenderableType:
        room = max(1, (width - 25) // 14)
        return Group(
            *(
                _slice_table(board, fact, measure, values[at : at + room], at == 0)
                for measure in figures.slice_measures(board, values)
                for at in range(0, len(values), room)
            )
        )

    return build


def _slice_table(board: Leaderboard, fact: str, measure: str, values: Sequence[SliceSummary], first: bool) -> Table:
    kind = "changes that have any" if values[0].facet else "changes"
    title = f"{figures.label(measure)} by {figures.label(fact)} (n counts {kind})"
    table = bare_table(one_line(title, 80) if first else "")
    table.add_column("system", overflow="fold", min_width=12, max_width=24)
    for value in values:
        header = plain(value.value, 12)
        table.add_column(header.append(f"\nn={value.n}"), justify="right", no_wrap=True)
    for system in board.systems:
        cells = []
        for value in values:
            row = next((s for s in value.systems if s.system == system.system), None)
            cells.append(_figure(row, measure, True) if row else Text(figures.UNDEFINED))
        table.add_row(_name(system), *cells)
    return table


# --- comparisons ---------------------------------------------------------------------------------------------------


def comparison(table: ComparisonTable) -> RenderableType:
    """Paired comparisons: difference with interval, p, Holm's p, and the detectable difference."""
    return Fitted(lambda width: _comparison(table, width))


def _comparison(table: ComparisonTable, width: int) -> RenderableType:
    grid = bare_table()
    grid.add_column("first - second", overflow="fold", min_width=min(14, width // 3), max_width=max(20, width - 66))
    names = ["measure", "diff", "interval", "p", "Holm p", "detectable", "n"]
    shown = names if width >= NARROW else ["diff", "interval", "Holm p"] if width >= TINY else ["diff"]
    for name in shown:
        number_column(grid, name)
    for c in table.comparisons:
        pair = plain(c.first, 500).append(" - ").append(plain(c.second, 500))
        sure = found(c)
        cells = {
            "measure": Text(one_line(figures.label(c.measure), 12)),
            "diff": Text(figures.signed(c.difference, c.unit) + ("*" if sure else ""), style="bold" if sure else ""),
            "interval": Text(figures.interval(c.low, c.high, c.unit, "") or figures.UNDEFINED),
            "p": Text(figures.p_value(c.p)),
            "Holm p": Text(figures.p_value(c.p_holm)),
            "detectable": Text(figures.number(c.detectable, c.unit)),
            "n": Text(str(c.n)),
        }
        grid.add_row(pair, *(cells[name] for name in shown))
    many = table.corrected
    corrected = f", corrected over {many} comparisons (Holm)," if many > 1 else ""
    tests = "; ".join(dict.fromkeys(c.test for c in table.comparisons))
    level = figures.percent(table.comparisons[0].level) if table.comparisons else "95%"
    lines = [
        f"* found: p{corrected} is under .05. Intervals at {level}, "
        f"{table.resamples:,} resamples clustered by {table.clustered_by}, seed {table.seed}",
        "detectable: the smallest true difference that these changes show with 80% power",
        f"test: {tests}" if tests else "",
        f"{table.label or table.metric} on {table.dataset}, benchmark {figures.short_hash(table.benchmark)}",
        f"! {table.estimate_note}" if table.estimate_note else "",
        *(f"! {warning}" for warning in table.warnings),
        *_bounded(table),
    ]
    return Group(grid, Text(""), notes_below(*lines))


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


# --- the answer ----------------------------------------------------------------------------------------------------


def answer(board: Leaderboard, table: ComparisonTable | None = None) -> str:
    """The result in words: who leads, by how much, and which systems cannot be separated."""
    name = figures.label(board.headline)
    ranked = [s for s in board.systems if figures.defined(figures.estimate(s, board.headline).value)]
    ranked = [s for s in ranked if not s.baseline] or ranked
    if not board.systems:
        return "No system was scored."
    if not ranked:
        return f"{name} is undefined for every system on these changes."
    return "; ".join([*_standing(board, table, ranked), *_never_quiet(ranked)]) + "."


def _standing(board: Leaderboard, table: ComparisonTable | None, ranked: Sequence[SystemSummary]) -> list[str]:
    """Who leads, and who cannot be told from whom."""
    lead = ranked[0]
    if len(ranked) == 1:
        return [_scored(lead, board.headline)]
    tested = [(other, _difference(table, board.headline, lead.system, other.system)) for other in ranked[1:]]
    known = [(other, c) for other, c in tested if c is not None and _p(c) is not None]
    if not known:
        second = figures.estimate(ranked[1], board.headline)
        value = figures.number(second.value, second.unit)
        return [_scored(lead, board.headline), f"{_text_name(ranked[1])} comes next with {value}, which was not tested"]
    beaten = [(other, c) for other, c in known if found(c)]
    tied = [other for other, c in known if not found(c)]
    sentences = []
    if beaten and beaten[0][0] is ranked[1]:
        sentences.append(_leads(lead, *beaten[0]))
        if tied:
            sentences += _cannot_tell(known, [lead, *tied], board.headline)
    else:
        top, name = figures.estimate(lead, board.headline), figures.label(board.headline)
        level = [s for s in ranked if figures.estimate(s, board.headline).value == top.value]
        if len(level) > 1:
            sentences.append(f"{_joined(level, 'and')} score the same, {figures.number(top.value, top.unit)} {name}")
        else:
            sentences.append(f"{_scored(lead, board.headline)} and comes first")
        if tied := [other for other in tied if other not in level]:
            sentences += _cannot_tell(known, [lead, *tied], board.headline)
        if beaten:
            sentences.append(_leads(lead, *beaten[0]))
    return sentences


def _never_quiet(ranked: Sequence[SystemSummary]) -> list[str]:
    """Who comments on every clean change."""
    noisy = [s for s in ranked if s.parts.get("clean") and not s.parts.get("clean_quiet")]
    verb = "leaves" if len(noisy) == 1 else "leave"
    return [f"{_joined(noisy, 'and')} {verb} no clean change alone"] if noisy else []


def _text_name(system: SystemSummary) -> str:
    return f"{system.system} (fake)" if system.fake else system.system


def _changes(n: int) -> str:
    return f"{n} change" if n == 1 else f"{n} changes"


def _scored(system: SystemSummary, measure: str) -> str:
    e = figures.estimate(system, measure)
    figure = f"{figures.number(e.value, e.unit)} {figures.label(measure)} {figures.interval(e.low, e.high, e.unit)}"
    return f"{_text_name(system)} scores {figure.rstrip()} on {_changes(e.n)}"


def _joined(systems: Sequence[SystemSummary], word: str) -> str:
    names = [_text_name(s) for s in systems]
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _leads(lead: SystemSummary, other: SystemSummary, c: Comparison) -> str:
    size = figures.number(None if c.difference is None else abs(c.difference), c.unit)
    low, high = c.low, c.high
    if c.difference is not None and c.difference < 0 and low is not None and high is not None:
        low, high = -high, -low
    figure = f"{size} {figures.label(c.measure)} {figures.interval(low, high, c.unit)}".rstrip()
    holm = " (Holm)" if c.p_holm is not None and c.p_holm != c.p else ""
    return f"{_text_name(lead)} leads {_text_name(other)} by {figure}, {figures.p_clause(_p(c))}{holm}"


def _cannot_tell(
    known: Sequence[tuple[SystemSummary, Comparison]], systems: Sequence[SystemSummary], measure: str
) -> Iterator[str]:
    """Who cannot be told from whom; and whether any system reaches the smallest difference that would show."""
    changes = _changes(known[0][1].n)
    yield f"{changes} cannot tell {_text_name(systems[0])} from {_joined(systems[1:], 'or')}"
    best, gaps = figures.estimate(systems[0], measure), [c.detectable for s, c in known if s in systems]
    needed = min((gap for gap in gaps if gap is not None), default=0.0)
    if best.unit == "share" and needed > (best.value or 0.0):
        short = f"{figures.number(needed)} {figures.label(measure)} is the least that would show"
        yield f"{short}, and no system has more than {figures.number(best.value)}: this benchmark cannot decide"


def _difference(table: ComparisonTable | None, measure: str, first: str, second: str) -> Comparison | None:
    comparisons = [c for c in table.comparisons if c.measure == measure] if table else []
    return next((c for c in comparisons if {c.first, c.second} == {first, second}), None)


def _p(c: Comparison) -> float | None:
    return c.p_holm if c.p_holm is not None else c.p


def found(c: Comparison) -> bool:
    """Whether the difference was found: its p-value, corrected where several were made, is under 5%."""
    p = _p(c)
    return p is not None and p < ALPHA
