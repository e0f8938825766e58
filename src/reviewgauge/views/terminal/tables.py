"""Terminal tables: records in, rich renderables out. They fit 100 columns, and say less on 80.

Text from data is written without control characters and never read as markup. Nothing rests on colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.protocols import Card
from reviewgauge.core.reports.leaderboard import ComparisonTable, DoctorReport, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.core.specs import CatalogueEntry
from reviewgauge.views.terminal import figures
from reviewgauge.views.terminal.answer import answer, found

WIDE = 96  # columns from which on every interval is shown
NARROW, SLIM, TINY = 78, 60, 36  # below these: no secondary readings, the headline alone, no interval
SHORT = {"comments_per_change": "c/chg", "clean_left_alone": "clean", "precision": "precision", "f1": "F1"}
EXTRAS = ("comments_per_change", "noise", "clean_left_alone", "unsure")
LINT_SHOWN = 20
BOUNDS_SHOWN = 6
NAMED = 4  # more systems than this with one remark are counted, not named


def plain(text: str, limit: int = 300, style: str = "") -> Text:
    """Text from data: on one line, no control or escape characters, never read as markup."""
    return Text(one_line(text, limit), style=style)


@dataclass(frozen=True)
class Fitted:
    """A renderable that is built for the columns at hand."""

    build: Callable[[int], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Called by rich."""
        yield self.build(options.max_width)


def bare_table(title: str = "") -> Table:
    """A table without lines."""
    table = Table(title=Text(title) if title else None, title_justify="left", title_style="bold", box=None)
    table.padding = (0, 1, 0, 0)
    table.pad_edge = False
    return table


def number_column(table: Table, name: str) -> None:
    """A column that is never broken or cut."""
    table.add_column(Text(name), justify="right", no_wrap=True)


def _name(system: SystemSummary) -> Text:
    name = plain(system.system, 500)
    if system.fake:
        name.append(" (fake)", style="bold yellow")
    return name


def _figure(system: SystemSummary, reading: str, with_interval: bool, gap: str = "") -> Text:
    e = figures.estimate(system, reading)
    bounds = figures.interval(e.low, e.high, e.unit, gap) if with_interval else ""
    return Text(f"{figures.number(e.value, e.unit)} {bounds}".rstrip())


def _coverage(system: SystemSummary) -> Text:
    text = Text(f"{system.scored}/{system.cases}")
    if system.failed:
        text.append(f" {system.failed}!", style="bold red")
    return text


def notes_below(*lines: str) -> RenderableType:
    """Small print; a line that begins with `!` is a warning."""
    shown = [plain(line, 1000, style="dim" if not line.startswith("!") else "yellow") for line in lines if line]
    return Group(*shown)


# --- leaderboard ---------------------------------------------------------------------------------------------------


def leaderboard(board: Leaderboard, comparisons: ComparisonTable | None = None) -> RenderableType:
    """The leaderboard, headline first, with coverage beside every score and what it rests on below."""
    return Fitted(lambda width: _leaderboard(board, comparisons, width))


def _leaderboard(board: Leaderboard, comparisons: ComparisonTable | None, width: int) -> RenderableType:
    table = bare_table()
    known = figures.readings(board)
    main = known[:3] if {"precision", "recall"} & set(known) else [board.headline]
    extras = [r for r in known if r in EXTRAS] if len(main) > 1 else [r for r in known if r not in main][:4]
    if width < NARROW:
        extras = []
    if width < SLIM:
        main = main[:1]
    table.add_column("system", overflow="fold", min_width=min(12, width // 3), max_width=max(16, width - 78))
    for reading in (*main, *extras):
        number_column(table, one_line(SHORT.get(reading, figures.label(reading)), 14))
    number_column(table, "scored")
    for system in board.systems:
        shown = [_figure(system, r, width >= (TINY if r == board.headline else WIDE)) for r in main]
        table.add_row(_name(system), *shown, *(_figure(system, r, False) for r in extras), _coverage(system))
    if not board.systems:
        return Group(Text("no system was scored"), *_footer(board))
    return Group(table, Text(""), plain(answer(board, comparisons), 1000, "bold"), *_footer(board))


def _footer(board: Leaderboard) -> list[RenderableType]:
    changes = f"{figures.scored_of(board)} changes, {board.clusters} clusters by {board.clustered_by}"
    resampled = f"{figures.percent(board.level)} intervals from {board.resamples:,} resamples, seed {board.seed}"
    lines = [
        f"n = {changes}; {resampled}",
        f"{board.label or board.metric} on {board.dataset}, benchmark {figures.short_hash(board.benchmark)}; "
        f"all systems were scored on {board.common} changes",
    ]
    if any(e.reading in EXTRAS for s in board.systems for e in s.estimates):
        lines.append("c/chg: comments per change; clean: share of clean changes left alone; –: undefined; 2!: 2 failed")
    lines += [f"{one_line(s.system, 60)}: {said}" for s in board.systems if (said := figures.spread_words(s))]
    failing: dict[str, list[str]] = {}
    for s in board.systems:
        if s.failed or s.missing or s.not_applicable:
            failing.setdefault(_kinds(s, board.headline), []).append(s.system)
    if failing:
        said = "; ".join(f"{_names(systems)}: {kinds}" for kinds, systems in failing.items())
        lines.append(f"! not scored (never counted as 0): {said}")
    lines += [f"! {board.estimate_note}" if board.estimate_note else ""]
    lines += [f"! {warning}" for warning in board.warnings]
    lines += [f"! {count} reviews break an identity: {words}" for words, count in board.broken.items()]
    return [Text(""), notes_below(*lines)]


def _names(systems: Sequence[str]) -> str:
    return ", ".join(systems) if len(systems) <= NAMED else f"{len(systems)} systems"


def _kinds(system: SystemSummary, reading: str) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in system.failures.items())
    said = [
        f"{system.failed} failed" + (f" ({kinds})" if kinds else "") if system.failed else "",
        f"{system.not_applicable} not applicable" if system.not_applicable else "",
        f"{system.missing} missing" if system.missing else "",
    ]
    e = figures.estimate(system, reading)
    if system.failed and figures.defined(e.worst) and figures.defined(e.best):  # what is missing is bounded by nothing
        bounds = f"{figures.number(e.worst, e.unit)} to {figures.number(e.best, e.unit)}"
        said.append(f"{figures.label(reading)} {bounds} with the failed as worst and best")
    return ", ".join(s for s in said if s)


def slices(board: Leaderboard) -> RenderableType:
    """The headline reading of every system on every slice: one table per fact."""
    groups = [(fact, list(found_)) for fact, found_ in groupby(board.slices, key=lambda s: s.fact)]
    if not groups:
        return Text("no slices were asked for")
    parts: list[RenderableType] = []
    for fact, values in groups:
        parts += [Fitted(_slice_builder(board, fact, values)), Text("")]
    note = f"{figures.percent(board.level)} intervals; n below each name; –: undefined"
    return Group(*parts, notes_below(note, f"! {board.estimate_note}" if board.estimate_note else ""))


def _slice_builder(board: Leaderboard, fact: str, values: Sequence[SliceSummary]) -> Callable[[int], RenderableType]:
    def build(width: int) -> RenderableType:
        room = max(1, (width - 25) // 14)
        blocks = [values[at : at + room] for at in range(0, len(values), room)]
        readings = figures.slice_readings(board, values)
        parts = [
            _slice_table(board, fact, reading, block, number == 0)
            for reading in readings
            for number, block in enumerate(blocks)
        ]
        return Group(*parts)

    return build


def _slice_table(board: Leaderboard, fact: str, reading: str, values: Sequence[SliceSummary], first: bool) -> Table:
    kind = "changes that have any" if values[0].facet else "changes"
    title = f"{figures.label(reading)} by {figures.label(fact)} (n counts {kind})"
    table = bare_table(one_line(title, 80) if first else "")
    table.add_column("system", overflow="fold", min_width=12, max_width=24)
    for value in values:
        header = plain(value.value, 12)
        table.add_column(header.append(f"\nn={value.n}"), justify="right", no_wrap=True)
    for system in board.systems:
        cells = []
        for value in values:
            row = next((s for s in value.systems if s.system == system.system), None)
            cells.append(_figure(row, reading, True) if row else Text(figures.UNDEFINED))
        table.add_row(_name(system), *cells)
    return table


# --- comparisons ---------------------------------------------------------------------------------------------------


def comparison(table: ComparisonTable) -> RenderableType:
    """Paired comparisons: difference with interval, p, Holm's p, and what the benchmark could have found."""
    return Fitted(lambda width: _comparison(table, width))


def _comparison(table: ComparisonTable, width: int) -> RenderableType:
    grid = bare_table()
    grid.add_column("first - second", overflow="fold", min_width=min(14, width // 3), max_width=max(20, width - 66))
    names = ["reading", "diff", "interval", "p", "Holm p", "detectable", "n"]
    shown = names if width >= NARROW else ["diff", "interval", "Holm p"] if width >= TINY else ["diff"]
    for name in shown:
        number_column(grid, name)
    for c in table.comparisons:
        pair = plain(c.first, 500).append(" - ").append(plain(c.second, 500))
        sure = found(c)
        cells = {
            "reading": Text(one_line(figures.label(c.reading), 12)),
            "diff": Text(figures.signed(c.difference, c.unit) + ("*" if sure else ""), style="bold" if sure else ""),
            "interval": Text(figures.interval(c.low, c.high, c.unit, "") or figures.UNDEFINED),
            "p": Text(figures.p_value(c.p)),
            "Holm p": Text(figures.p_value(c.p_holm)),
            "detectable": Text(figures.number(c.detectable, c.unit)),
            "n": Text(str(c.n)),
        }
        grid.add_row(pair, *(cells[name] for name in shown))
    many = len(table.comparisons)
    corrected = f", corrected over {many} comparisons (Holm)," if many > 1 else ""
    tests = "; ".join(dict.fromkeys(c.test for c in table.comparisons))
    level = figures.percent(table.comparisons[0].level) if table.comparisons else "95%"
    lines = [
        f"* found: p{corrected} is under .05. Intervals at {level}, "
        f"{table.resamples:,} resamples clustered by {table.clustered_by}, seed {table.seed}",
        "detectable: the smallest true difference that these changes would have shown with 80% power",
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
            what = f"{c.first} - {c.second}, {figures.label(c.reading)}"
            yield f"! {what}: {span} with failures counted as worst and best"


# --- doctor, catalogue, card ---------------------------------------------------------------------------------------


def doctor(report: DoctorReport) -> RenderableType:
    """What held, what did not, with the smallest case that shows it, and what is odd in the data."""
    table = bare_table()
    table.add_column("", no_wrap=True)
    table.add_column("check", overflow="fold", max_width=26)
    table.add_column("expected", overflow="fold")
    table.add_column("found", overflow="fold")
    for check in report.checks:
        mark = {True: Text("ok", style="green"), False: Text("FAILS", style="bold red"), None: Text("untried")}[
            check.ok
        ]
        what = plain(check.found, 400)
        for more in (f"case {check.case}" if check.case and check.ok is False else "", check.detail):
            if more:
                what.append("\n").append(plain(more, 400, "dim"))
        table.add_row(mark, plain(check.name), plain(check.expected), what)
    failed = sum(check.ok is False for check in report.checks)
    untried = sum(check.ok is None for check in report.checks)
    said = (
        f"{len(report.checks)} checks: {len(report.checks) - failed - untried} hold, {failed} fail, {untried} untried"
    )
    head = plain(
        f"{report.dataset}: {report.cases} cases, benchmark {figures.short_hash(report.benchmark)}; "
        f"metrics: {', '.join(report.metrics) or 'none'}",
        600,
    )
    verdict = Text("can be trusted as far as these checks go" if report.ok else "cannot be trusted as it is")
    verdict.stylize("bold green" if report.ok else "bold red")
    if report.ok and untried == len(report.checks):
        verdict = Text("nothing could be tried, so nothing is known of it", style="bold yellow")
    return Group(head, Text(""), table, Text(""), _lint(report), Text(said + ": ").append(verdict))


def _lint(report: DoctorReport) -> RenderableType:
    if not report.lint:
        return Text("lint: nothing odd in the data")
    table = bare_table("lint")
    for name in ("level", "rule", "where", "what"):
        table.add_column(name, overflow="fold", max_width=34 if name == "where" else None)
    for finding in report.lint[:LINT_SHOWN]:
        where = f"{finding.case} {finding.item}".strip()
        style = {"error": "bold red", "warning": "yellow", "note": ""}[finding.level]
        table.add_row(Text(finding.level, style=style), plain(finding.rule), plain(where), plain(finding.message))
    counts = ", ".join(f"{one_line(rule)} {count}" for rule, count in report.lint_counts.items())
    left = len(report.lint) - LINT_SHOWN
    more = f"{left} more not shown; --json has all" if left > 0 else ""
    return Group(table, notes_below(f"counts: {counts}" if counts else "", more), Text(""))


def catalogue(entries: Iterable[CatalogueEntry]) -> RenderableType:
    """Names and first lines of plug-ins, grouped by kind."""
    parts: list[RenderableType] = []
    for kind, group in groupby(entries, key=lambda entry: entry.kind):
        table = bare_table(one_line(kind))
        table.show_header = False
        table.add_column("name", overflow="fold", min_width=14, max_width=28)
        table.add_column("summary", overflow="fold")
        for entry in group:
            table.add_row(plain(entry.name), plain(entry.summary))
        parts += [table, Text("")]
    return Group(*parts[:-1]) if parts else Text("nothing here")


def card(card: Card, counts: Mapping[str, int], notes: Sequence[str] = ()) -> RenderableType:
    """A data set's card, and what the files at hand hold beside what the official version holds."""
    facts = bare_table()
    facts.show_header = False
    facts.add_column("what", no_wrap=True)
    facts.add_column("value", overflow="fold")
    rows = {
        "origin": card.origin,
        "version": card.version,
        "licence": card.licence,
        "you may": card.may,
        "languages": ", ".join(card.languages),
        "cite": card.citation,
    }
    for name, value in rows.items():
        if value:
            facts.add_row(Text(name, style="dim"), plain(value, 1000))
    parts: list[RenderableType] = [plain(card.title, style="bold"), plain(card.summary, 1000), Text(""), facts]
    if counts or card.expected:
        parts += [Text(""), _counts(card, counts)]
    if card.traps:
        parts += [Text(""), Text("traps", style="bold")]
        parts += [Padding(plain(f"- {trap}", 1000), (0, 0, 0, 1)) for trap in card.traps]
    if notes:
        parts += [Text(""), notes_below(*notes)]
    return Group(*parts)


def _counts(card: Card, counts: Mapping[str, int]) -> Table:
    table = bare_table()
    table.add_column("count", overflow="fold")
    number_column(table, "at hand")
    number_column(table, "official")
    table.add_column("")
    for name in dict.fromkeys([*counts, *card.expected]):
        here, official = counts.get(name), card.expected.get(name)
        differs = here is not None and official is not None and here != official
        shown = [f"{value:,}" if value is not None else figures.UNDEFINED for value in (here, official)]
        table.add_row(plain(name), *(Text(s) for s in shown), Text("differs", style="yellow") if differs else Text(""))
    return table
