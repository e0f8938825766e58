"""What a check of a judge found, for the terminal. `--json` has every figure."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewbench.core.judging import JudgeReport
from reviewbench.views.judge_words import Section, footnotes, gate_line, headline, sections
from reviewbench.views.tables import NARROW, Fitted, bare_table, notes_below, number_column, plain


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
        keep = [
            at for at, head in enumerate(section.head) if at < 3 or width >= NARROW or head in ("kappa", "corrected")
        ]
        table = bare_table(section.title)
        table.add_column(Text(section.head[keep[0]]), overflow="fold", min_width=12)
        for at in keep[1:]:
            number_column(table, section.head[at])
        for row in section.rows:
            table.add_row(plain(row[0], 200), *(Text(row[at]) for at in keep[1:]))
        return Group(*([table] if section.rows else [plain(section.title, 200, "bold")]), notes_below(*section.notes))

    return Fitted(build)
