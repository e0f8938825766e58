"""Scores on two versions of a benchmark: old, new and difference in one row."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.versions import SystemVersions, VersionTable
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain


def versions(table: VersionTable) -> RenderableType:
    """A row for each system and measure, and what each found of the new findings."""
    grid = bare_table()
    grid.add_column("system", overflow="fold", min_width=12, max_width=34)
    grid.add_column("measure")
    for name in ("old", "new", "diff", "interval", "n", "new found", "own"):
        number_column(grid, name)
    for system in table.systems:
        for at, one in enumerate(system.figures):
            first = at == 0
            grid.add_row(
                _name(system) if first else "",
                one_line(figures.label(one.measure), 20),
                figures.number(one.old, one.unit),
                figures.number(one.new, one.unit),
                figures.signed(one.difference, one.unit),
                figures.interval(one.low, one.high, one.unit, "") or figures.UNDEFINED,
                str(one.n),
                f"{system.found} of {table.new_findings}" if first else "",
                str(system.own) if first else "",
            )
    old, new = figures.short_hash(table.old_benchmark), figures.short_hash(table.new_benchmark)
    gained = f"! {table.newly_measured:,} changes can be measured only now, and are in no figure here"
    lines = [
        f"old: {table.label or table.metric} on {table.old_dataset}, benchmark {old}; new: {table.new_dataset}, {new}",
        "diff: new - old on the n changes measured in both; new found: of the findings that only the new version has; "
        "own: those that a comment of its own became",
        f"95% intervals from {table.resamples:,} resamples clustered by {table.clustered_by}, seed {table.seed}",
        f"! {table.estimate_note}" if table.estimate_note else "",
        gained if table.newly_measured else "",
        *(f"! {warning}" for warning in table.warnings),
    ]
    return Group(grid, Text(""), notes_below(*lines))


def _name(system: SystemVersions) -> Text:
    return plain(system.system, 500).append(" (fake)" if system.fake else "")
