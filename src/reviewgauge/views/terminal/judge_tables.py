"""What a check of a judge found, for the terminal. `--json` has every figure."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.views.terminal.judge_words import Section, footnotes, gate_line, headline, sections
from reviewgauge.views.terminal.tables import Fitted, bare_table, notes_below, number_column, plain

FIRST = 12  # the least columns of characters that the first column, of words, has
MAIN, MAIN_FIRST = ("kappa", "corrected"), 2  # what is shown where not all fits: these, and the first columns


def judge_report(report: JudgeReport) -> RenderableType:
    """Every section, the gate, and how the figures were made."""
    parts: list[RenderableType] = [plain(headline(report), 500, "bold"), Text("")]
    for section in sections(report):
        parts += [_table(section), Text("")]
    if line := gate_line(report):
        parts += [plain(line, 500, "bold"), Text("")]
    return Group(*parts, notes_below(*footnotes(report)))


def _table(section: Section) -> RenderableType:
    def build(width: int) -> RenderableType:
        keep = _kept(section, width)
        table = bare_table(section.title)
        table.add_column(Text(section.head[0]), overflow="fold", min_width=FIRST)
        for at in keep:
            number_column(table, section.head[at])
        for row in section.rows:
            table.add_row(plain(row[0], 200), *(Text(row[at]) for at in keep))
        return Group(*([table] if section.rows else [plain(section.title, 200, "bold")]), notes_below(*section.notes))

    return Fitted(build)


def _kept(section: Section, width: int) -> list[int]:
    """The columns that fit beside the first one; a figure is never cut. The main ones come first, the last ones go."""
    order = sorted(range(1, len(section.head)), key=lambda at: (section.head[at] not in MAIN and at > MAIN_FIRST, at))
    room = width - FIRST
    kept = []
    for at in order:
        room -= 1 + max(len(cell) for cell in (section.head[at], *(row[at] for row in section.rows)))
        if room < 0:
            break
        kept.append(at)
    return sorted(kept)
