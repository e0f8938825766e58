"""All tables of a study, in the order of its file; one that cannot be made is named, and the others are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from reviewgauge.analysis.study.ablation import ablation_table
from reviewgauge.analysis.study.attempts import attempts_table
from reviewgauge.analysis.study.comparisons import comparisons_table
from reviewgauge.analysis.study.cost import cost_table
from reviewgauge.analysis.study.distribution import distribution_table
from reviewgauge.analysis.study.leaderboard import leaderboard_table
from reviewgauge.analysis.study.material import Material, titled
from reviewgauge.analysis.study.overlap import TIMES, overlap_tables
from reviewgauge.analysis.study.published import with_published
from reviewgauge.analysis.study.slices import slices_table
from reviewgauge.analysis.study.validity import validity_table
from reviewgauge.core.document import Table
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.study import TableEntry

Builder = Callable[[TableEntry, Material, str, str], Table]
_BUILDERS: Mapping[str, Builder] = {
    "leaderboard": leaderboard_table,
    "comparisons": comparisons_table,
    "ablation": ablation_table,
    "slices": slices_table,
    "distribution": distribution_table,
    "attempts": attempts_table,
    "cost": cost_table,
}


def study_tables(
    entries: Sequence[TableEntry],
    materials: Mapping[str, Material],
    reports: Mapping[str, ValidityReport],
    elsewhere: bool = False,
) -> tuple[list[Table], list[Trouble]]:
    """(the tables, what could not be made). `reports` are of the benchmarks that were validated.

    `elsewhere`: the study is run on other data than its paper's.
    """
    tables: list[Table] = []
    troubles: list[Trouble] = []
    for entry in entries:
        known = reports if entry.kind == "validity" else materials
        there = [name for name in entry.benchmarks or materials if name in known]
        if not entry.benchmarks and entry.kind != "validity":
            there = [name for name in there if _fits(entry, materials[name])] or there
        for name in there:
            called = titled(entry, materials[name], len(there) > 1)
            try:
                for table in _made(entry, materials[name], reports.get(name), *called):
                    beside = entry.published if _stands_in(entry, table, called[0]) else None
                    other = materials[name].dataset if elsewhere else ""
                    tables.append(with_published(table, beside, elsewhere=other, baseline=entry.baseline))
            except UserError as error:
                troubles.append(Trouble(benchmark=name, what=f"table {called[0]}", why=str(error)))
    return tables, troubles


def _stands_in(entry: TableEntry, table: Table, name: str) -> bool:
    """Whether the published values of an entry are this table's: of an overlap, rows that are numbers count finders."""
    if entry.kind != "overlap" or entry.published is None:
        return table.name == name
    rows = entry.published.values
    return table.name.endswith(TIMES) == bool(rows and all(row.isdecimal() for row in rows))


def _fits(entry: TableEntry, material: Material) -> bool:
    """Whether a benchmark is measured with what the table names."""
    return all(material.has(word) for word in (entry.metric, *entry.metrics))


def _made(
    entry: TableEntry, material: Material, report: ValidityReport | None, name: str, title: str
) -> Iterator[Table]:
    if entry.kind == "validity":
        if report is not None:
            yield validity_table(entry, report, name, title)
    elif entry.kind == "overlap":
        yield from overlap_tables(entry, material, name, title)
    else:
        yield _BUILDERS[entry.kind](entry, material, name, title)
