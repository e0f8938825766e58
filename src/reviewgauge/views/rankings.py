"""Whether benchmarks put systems in the same order, as a document."""

from __future__ import annotations

from reviewgauge.core.document import Column, Document, Table, Text, Value, columns_of
from reviewgauge.core.reports.rankings import RankAgreement, Rankings
from reviewgauge.views import figures
from reviewgauge.views.values import note


def rankings_document(found: Rankings) -> Document:
    """The systems on each benchmark, and a sentence on each two benchmarks."""
    columns = [*columns_of("name", "system")]
    columns += [
        Column(key=f"{board.dataset}: {board.measure}", short=figures.label(board.measure)) for board in found.boards
    ]
    rows = tuple(
        (Value(text=system), *(board.estimates[at] for board in found.boards))
        for at, system in enumerate(found.systems)
    )
    lines = [Text(text=_told(found, one), kind="strong") for one in found.agreements]
    notes = [note(f"{one.dataset}: {one.label}, benchmark {figures.short_hash(one.benchmark)}") for one in found.boards]
    return Document(blocks=(Table(name="rankings", title="", columns=tuple(columns), rows=rows), *lines, *notes))


def _told(found: Rankings, one: RankAgreement) -> str:
    names = " and ".join(found.boards[at].dataset for at in (one.first, one.second))
    tau = "" if one.tau is None else f" (Kendall's tau {one.tau:.2f})"
    apart = f", {one.surely} of them with intervals apart on both" if one.opposite else ""
    alike = f"{one.alike} of {one.pairs} pairs of systems in the same order{tau}"
    return f"{names}: {alike}, {one.opposite} in the opposite one{apart}"
