"""`reviewbench list`: what there is."""

from __future__ import annotations

from collections.abc import Sequence

import click

from reviewbench.cli._output import emit, json_option
from reviewbench.core.base import Record
from reviewbench.core.plugins import Entry, catalogue

KINDS = ("datasets", "stages", "reviewers", "metrics", "formats", "judges")


class CatalogueLine(Record):
    """One plug-in: its kind, its name, and the first line of its docstring."""

    kind: str
    name: str
    summary: str


def list_plugins(kind: str | None = None) -> Sequence[CatalogueLine]:
    """The catalogue, of one kind or of all. Imports no plug-in."""
    kinds = (kind,) if kind else KINDS
    return [CatalogueLine(kind=e.kind, name=e.name, summary=e.summary) for k in kinds for e in catalogue(k)]


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the data sets, reviewers, metrics, formats and judges, or those of one KIND."""
    lines = list_plugins(kind)

    def show() -> object:
        from reviewbench.views import tables

        return tables.catalogue([Entry(line.kind, line.name, line.summary) for line in lines])

    emit(lines, as_json, show)
