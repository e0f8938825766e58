"""Building blocks of terminal tables, and the tables of doctor, catalogue and data cards.

They fit 100 columns and show less on 80. Text from data has no control characters and is never read as markup; colour
is never the only sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.doctor import DoctorReport
from reviewgauge.core.reports.plugin_info import PluginInfo
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.core.specs import CatalogueEntry
from reviewgauge.views import figures

NARROW, SLIM, TINY = 78, 60, 36  # below these: no secondary measures, the headline alone, no interval
LINT_SHOWN = 20


def plain(text: str, limit: int = 300, style: str = "") -> Text:
    """Text from data: on one line, no control or escape characters, never read as markup."""
    return Text(one_line(hide_secrets(text), limit), style=style)


@dataclass(frozen=True)
class Fitted:
    """A renderable that is built for the available width."""

    build: Callable[[int], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Called by rich."""
        yield self.build(options.max_width)


class WholeTable(Table):
    """A table whose numbers are never cut: where they need more columns than there are, its lines are longer."""

    @property
    def least(self) -> int:
        """The columns that it needs."""
        kept = [column for column in self.columns if column.no_wrap]
        numbers = sum(max(map(_cells, (column.header, *column.cells))) for column in kept)
        return numbers + sum(column.min_width or 1 for column in self.columns if not column.no_wrap) + len(self.columns)

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        squeezed = self.least - sum((column.min_width or 1) - 1 for column in self.columns if not column.no_wrap)
        yield from super().__rich_console__(console, options.update_width(max(options.max_width, squeezed)))


def _cells(text: RenderableType) -> int:
    return cell_len(text.plain if isinstance(text, Text) else str(text))


def bare_table(title: str = "") -> WholeTable:
    """A table without lines."""
    table = WholeTable(title=Text(title) if title else None, title_justify="left", title_style="bold", box=None)
    table.padding = (0, 1, 0, 0)
    table.pad_edge = False
    return table


def number_column(table: Table, name: str) -> None:
    """Add a column that is never wrapped or cut."""
    table.add_column(Text(name), justify="right", no_wrap=True)


def notes_below(*lines: str) -> RenderableType:
    """Notes in small print; lines that begin with `!` are warnings."""
    shown = [plain(line, 1000, style="dim" if not line.startswith("!") else "yellow") for line in lines if line]
    return Group(*shown)


# --- doctor, catalogue, card ---------------------------------------------------------------------------------------


def doctor(report: DoctorReport) -> RenderableType:
    """The checks, with the smallest failing case of each, and the lint of the data."""
    table = bare_table()
    table.add_column("", no_wrap=True)
    table.add_column("check", overflow="fold", max_width=26)
    table.add_column("expected", overflow="fold")
    table.add_column("found", overflow="fold")
    marks = {True: Text("ok", style="green"), False: Text("FAILS", style="bold red"), None: Text("untried")}
    for check in report.checks:
        what = plain(check.found, 400)
        for more in (f"case {check.case}" if check.case and check.ok is False else "", check.detail):
            if more:
                what.append("\n").append(plain(more, 400, "dim"))
        table.add_row(marks[check.ok], plain(check.name), plain(check.expected), what)
    outcomes = Counter(check.ok for check in report.checks)
    counts = f"{outcomes[True]} hold, {outcomes[False]} fail, {outcomes[None]} untried"
    head = plain(
        f"{report.dataset}: {report.cases} cases, benchmark {figures.short_hash(report.benchmark)}; "
        f"metrics: {', '.join(report.metrics) or 'none'}",
        600,
    )
    why = [check.name for check in report.checks if check.ok is False]
    why += dict.fromkeys(f"lint {one.rule} ({one.level})" for one in report.lint if one.level == "error")
    bad = f"cannot be trusted as it is, by {', '.join(map(one_line, why[:3]))}{' ...' if why[3:] else ''}"
    verdict = Text("can be trusted as far as these checks go" if report.ok else bad)
    verdict.stylize("bold green" if report.ok else "bold red")
    if report.ok and report.mostly_untried:
        verdict = Text(f"no verdict on {', '.join(report.mostly_untried)}: most checks are untried", "bold yellow")
    if report.ok and not outcomes[True]:
        verdict = Text("no check could be tried", "bold yellow")
    checks = Text(f"{len(report.checks)} checks: {counts}: ").append(verdict)
    return Group(head, Text(""), table, Text(""), *map(plain, report.limits), _lint(report), checks)


def _lint(report: DoctorReport) -> RenderableType:
    if not report.lint:
        return Text("lint: no findings")
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
    return Group(*parts[:-1]) if parts else Text("no entries")


def plugin(found: PluginInfo) -> RenderableType:
    """What a plug-in is, its parameters, and what it needs."""
    parts: list[RenderableType] = [plain(f"{found.kind}/{found.name}", style="bold")]
    parts += [plain(" ".join(text.split()), 4000) for text in found.text.split("\n\n")]
    if found.parameters:
        table = bare_table()
        table.add_column("parameter", no_wrap=True)
        for name in ("default", "type"):
            table.add_column(name, overflow="fold")
        for one in found.parameters:
            table.add_row(plain(one.name), plain(one.default or "must be given"), plain(one.type))
        parts += [Text(""), table]
    parts += [Text(""), *(plain(f"needs {need}") for need in found.needs)]
    return Group(*parts)


def usage(example: str, also: Sequence[str] = ()) -> list[str]:
    """A command to try, and how to ask for others of the same name."""
    return [f"$ {example}", *(f"also: reviewgauge info {one}" for one in also)]


def card(card: Card, counts: Mapping[str, int], notes: Sequence[str] = ()) -> RenderableType:
    """A data set's card, with the counts of the files at hand beside those of the official version."""
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
