"""`reviewgauge info`: a data set's card, and what the local files hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Card, Dataset


class DatasetInfo(Record):
    """A card with the counts of the local files; `counts` is empty when they are missing, and `missing` says why."""

    schema_version: int = 1
    dataset: str
    card: Card
    counts: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: str = ""


def info(dataset: str | Dataset, source: str | Path | None = None) -> DatasetInfo:
    """The card of a data set, and the counts of the local files under the names that the card uses."""
    found = find_dataset(dataset, source)
    try:
        counts, notes = found.counts(), found.notes()
    except UserError as error:
        if source or found.path:
            raise
        return DatasetInfo(dataset=dataset_label(found), card=found.card, missing=str(error))
    return DatasetInfo(
        dataset=dataset_label(found),
        card=found.card,
        counts=counts,
        notes=(*_of_a_build(found), *(f"{drop.item}: {drop.reason}" for drop in notes)),
    )


def _of_a_build(found: Dataset) -> list[str]:
    """Where to read how a benchmark was built."""
    card = Path(found.path or "", "card.md")
    return [f"made by reviewgauge build: {card} says how, and how sure its labels are"] if card.is_file() else []
