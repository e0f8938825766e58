"""All tables of a study, in the order of its file; one that cannot be made is named, and the others are made.

A paper's values in the place of ours: beside them where both exist, as rows of their own where ours do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reviewgauge.analysis.study.leaderboard import attempts_table, comparisons_table, cost_table, leaderboard_table
from reviewgauge.analysis.study.material import Material, metric_named
from reviewgauge.analysis.study.reviews import TIMES, distribution_table, overlap_tables
from reviewgauge.analysis.study.slices import ablation_table, slices_table
from reviewgauge.analysis.study.validity import validity_table
from reviewgauge.core.document import Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.study import Published, TableEntry

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
NOT_RUN = "(published)"


def with_published(table: Table, published: Published | None, *, elsewhere: str = "") -> Table:
    """The table with a paper's values. `elsewhere`: the data that ours are on, where it is not the paper's.

    A row is named by its texts, joined by a comma.
    """
    if published is None:
        return table
    left = dict(published.values)
    rows = []
    for row in table.rows:
        values = left.pop(", ".join(cell.text for cell in row[: table.names]), None)
        rows.append(row if values is None else _beside(table, row, values, published))
    rows += [_alone(table, name, v, published) for name, v in left.items() if v.keys() & set(table.titles)]
    notes = [f"published: {published.source}" + (f"; {published.note}" if published.note else "")]
    if elsewhere:
        notes.append(f"the published figures are on the paper's own data, ours on {elsewhere}: they do not compare")
    return table.model_copy(update={"rows": tuple(rows), "source": published.source, "notes": (*table.notes, *notes)})


def _beside(
    table: Table, row: tuple[Value, ...], values: Mapping[str, float], published: Published
) -> tuple[Value, ...]:
    return tuple(
        cell.model_copy(update={"published": _scaled(values[column], cell.unit, published)})
        if column in values
        else cell
        for column, cell in zip(table.titles, row, strict=True)
    )


def _alone(table: Table, name: str, values: Mapping[str, float], published: Published) -> tuple[Value, ...]:
    row = [Value(text=f"{name} {NOT_RUN}"), *[Value(text="")] * (table.names - 1)]
    for at, column in list(enumerate(table.titles))[table.names :]:
        unit = next((row[at].unit for row in table.rows if row[at].value is not None), "share")
        known = column in values
        row.append(Value(published=_scaled(values[column], unit, published), unit=unit) if known else Value(text=""))
    return tuple(row)


def _scaled(value: float, unit: str, published: Published) -> float:
    if not published.percent:
        return value
    return value / {"share": 100, "gain": 100, "share²": 100**2}.get(unit, 1)


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
            words = (entry.metric, *entry.metrics)
            there = [
                name for name in there if all(metric_named(materials[name].metrics, word) for word in words)
            ] or there
        for name in there:
            several, title = len(there) > 1, entry.title or entry.kind
            called = f"{entry.label}-{name}" if several else entry.label
            title = f"{title} ({name})" if several else title
            try:
                for table in _made(entry, materials[name], reports.get(name), called, title):
                    beside = entry.published if _stands_in(entry, table, called) else None
                    other = materials[name].dataset if elsewhere else ""
                    tables.append(with_published(table, beside, elsewhere=other))
            except UserError as error:
                troubles.append(Trouble(benchmark=name, what=f"table {called}", why=str(error)))
    return tables, troubles


def _stands_in(entry: TableEntry, table: Table, name: str) -> bool:
    """Whether the published values of an entry are this table's: of an overlap, rows that are numbers count finders."""
    if entry.kind != "overlap" or entry.published is None:
        return table.name == name
    rows = entry.published.values
    return table.name.endswith(TIMES) == bool(rows and all(row.isdecimal() for row in rows))


def _made(
    entry: TableEntry, material: Material, report: ValidityReport | None, name: str, title: str
) -> Iterable[Table]:
    if entry.kind == "validity":
        return [] if report is None else [validity_table(entry, report, name, title)]
    if entry.kind == "overlap":
        return overlap_tables(entry, material, name, title)
    return [_BUILDERS[entry.kind](entry, material, name, title)]
