"""Scores on two versions of a benchmark: old, new and difference in one row."""

from __future__ import annotations

from collections.abc import Iterator

from reviewgauge.core.document import Column, Document, Table, Value
from reviewgauge.core.reports.versions import SystemVersions, VersionTable
from reviewgauge.views import figures
from reviewgauge.views.leaderboard import note
from reviewgauge.views.values import or_dash


def versions_document(table: VersionTable) -> Document:
    """A row for each system and measure, and what each found of the new findings."""
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
    return Document(blocks=(_table(table), *(note(line) for line in lines if line)))


def _table(table: VersionTable) -> Table:
    return Table(
        name="versions",
        title="",
        columns=(
            Column(key="system", kind="name", priority=0),
            Column(key="measure", kind="name", priority=0),
            *(Column(key=key, kind="figure", priority=0) for key in ("old", "new")),
            Column(key="diff", kind="difference", priority=0),
            Column(key="n", kind="figure", priority=2),
            Column(key="new found", kind="of"),
            Column(key="own", kind="figure"),
        ),
        rows=tuple(row for system in table.systems for row in _rows(system, table.new_findings)),
        shown=1_000_000,
    )


def _rows(system: SystemVersions, new_findings: int) -> Iterator[tuple[Value, ...]]:
    """The name and what was found stand in the first row of a system."""
    for at, one in enumerate(system.comparisons):
        found = Value(value=system.found, n=new_findings, unit="count"), Value(value=system.own, unit="count")
        yield (
            Value() if at else Value(text=system.system, fake=system.fake),
            Value(text=figures.label(one.measure)),
            or_dash(one.second_value, one.unit),
            or_dash(one.first_value, one.unit),
            or_dash(one.difference, one.unit, low=one.low, high=one.high, n=one.n),
            Value(value=one.n, unit="count"),
            *((Value(), Value()) if at else found),
        )
