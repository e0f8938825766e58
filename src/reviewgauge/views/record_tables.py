"""Any result as tables: a row a record, a table for each list in it, columns called as the record's fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from reviewgauge.core.base import Record
from reviewgauge.core.document import Column, Table, Value
from reviewgauge.views.figures import visible

Cells = dict[str, Value]
WHOLE = "result"  # the table of what a result says of itself
_EMPTY = (Value(), Value(fake=True))


def record_tables(result: Record | Sequence[Record]) -> Iterator[Table]:
    """The tables of a result, or of several alike; one within another is called `metrics_grades`.

    A row begins with what names the record that it belongs to: its texts and its first field. A column that is empty
    in every row is left out.
    """
    rows: dict[str, list[Cells]] = {}
    for one in [result] if isinstance(result, Record) else result:
        yield from _add(rows, "", one, {})
    for name, table in rows.items():
        said: dict[str, list[Value]] = {}
        for key, one in (cell for row in table for cell in row.items()):
            said.setdefault(key, []).extend([] if one in _EMPTY else [one])
        columns = tuple(
            Column(key=key, kind="text" if all(one.text for one in own) else "value")
            for key, own in said.items()
            if own
        )
        cells = tuple(tuple(row.get(column.key, Value()) for column in columns) for row in table)
        yield Table(name=name, title=name.replace("_", ", "), columns=columns, rows=cells)


def _add(rows: dict[str, list[Cells]], path: str, record: Record, above: Cells) -> Iterator[Table]:
    """Add a record's row and those of the lists in it; what is a table already is given as it is."""
    own, inner = _split(record)
    last = path.rpartition("_")[2]
    own = {f"{last} {key}" if key in above else key: one for key, one in own.items()}
    rows.setdefault(path or WHOLE, []).append({**above, **own})
    naming = [field for at, (field, one) in enumerate(record) if path and (at == 0 or isinstance(one, str))]
    names = {key: own[key] for field in naming if (key := field.replace("_", " ")) in own}
    for name, items in inner.items():
        where = f"{path}_{name}" if path else name
        for item in items:
            if isinstance(item, Table):
                yield item
            elif isinstance(item, Record):
                yield from _add(rows, where, item, {**above, **names})
            else:
                cells = {f"{name} {at}": _cell(one) for at, one in enumerate(item, 1)}
                rows.setdefault(where, []).append({**above, **names, **cells})


def _split(record: Record, before: str = "") -> tuple[Cells, dict[str, tuple[Record | tuple[object, ...], ...]]]:
    """(the cells of its row, the lists that are tables of their own)."""
    own: Cells = {}
    inner: dict[str, tuple[Record | tuple[object, ...], ...]] = {}
    for field, value in record:
        key = before + field.replace("_", " ")
        if isinstance(value, Record) and not isinstance(value, Value):
            cells, lists = _split(value, f"{key} ")
            own |= cells
            inner |= {f"{field}_{name}": items for name, items in lists.items()}
        elif isinstance(value, tuple) and any(isinstance(one, Record | tuple) for one in value):
            inner[field] = value
        elif field not in ("fake", "schema_version"):
            own[key] = _cell(value)
    if getattr(record, "fake", False):
        own = {key: one.model_copy(update={"fake": True}) for key, one in own.items()}
    return own, inner


def _cell(value: object) -> Value:
    match value:
        case Value():
            return value.model_copy(update={part: visible(getattr(value, part)) for part in ("text", "reason", "unit")})
        case None:
            return Value()
        case bool():
            return Value(text="yes" if value else "no")
        case int() | float():
            return Value(value=value, unit="") if isfinite(value) else Value()
        case Mapping():
            return Value(text=visible("; ".join(f"{name}: {one}" for name, one in value.items())))
        case tuple():
            return Value(text=visible("; ".join(map(str, value))))
    return Value(text=visible(str(value)))
