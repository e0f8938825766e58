"""A paper's values in the place of ours: beside them where both exist, as rows of their own where ours do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewgauge.core.document import Table, Value
from reviewgauge.core.study import Published

NOT_RUN = "(published)"
ROUNDING = 0.011  # of two means that are printed with two digits


def with_published(table: Table, published: Published | None, *, elsewhere: str = "", baseline: str = "") -> Table:
    """The table with a paper's values. `elsewhere`: the data that ours are on, where it is not the paper's.

    `baseline` is the row that gains are over. A row is named by its texts, joined by a comma.
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
    notes += [*wrong_totals(published), *wrong_gains(published, baseline)]
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
    units = [next((row[at].unit for row in table.rows if row[at].value is not None), "share") for at in _places(table)]
    texts = [Value(text=f"{name} {NOT_RUN}"), *(Value(text="") for _ in range(table.names - 1))]
    cells = [
        Value(published=_scaled(values[column], unit, published), unit=unit) if column in values else Value(text="")
        for column, unit in zip(table.titles[table.names :], units, strict=True)
    ]
    return (*texts, *cells)


def _places(table: Table) -> range:
    return range(table.names, len(table.columns))


def _scaled(value: float, unit: str, published: Published) -> float:
    if not published.percent:
        return value
    return value / {"share": 100, "gain": 100, "share²": 100**2}.get(unit, 1)


def wrong_totals(published: Published) -> Iterator[str]:
    """The rows of a paper's table whose weighted slices do not give the total that it prints."""
    if not published.weights or not published.total:
        return
    whole = sum(published.weights.values())
    for name, values in published.values.items():
        if published.total not in values or not published.weights.keys() <= values.keys():
            continue
        mean = sum(weight * values[column] for column, weight in published.weights.items()) / whole
        if round(abs(mean - values[published.total]), 9) > 0.05 * (1 if published.percent else 0.01):
            yield (
                f"the paper contradicts itself: {name}: its slices, weighted, give {mean:.2f}, and its total is "
                f"{values[published.total]:.2f}"
            )


def wrong_gains(published: Published, baseline: str) -> Iterator[str]:
    """The gains of a paper's table that its own means do not give."""
    for name, values in published.values.items():
        measure = name.rpartition(", ")[0]  # of several in one table: `pass@3, Base`
        base = published.values.get(f"{measure}, {baseline}" if measure else baseline, {})
        for column in values:
            group, colon, what = column.partition(": ")
            mean = f"{group}: mean"
            if what != "gain" or not colon or mean not in values or not base.get(mean):
                continue
            gain = 100 * (values[mean] / base[mean] - 1)
            if abs(gain - values[column]) > ROUNDING * 100 / base[mean]:
                yield (
                    f"the paper contradicts itself: {name}: {values[mean]:g} over {base[mean]:g} is a gain of "
                    f"{gain:.2f}%, and {values[column]:.2f}% is printed"
                )
