"""What an export is given and what it says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.data_card import Card
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import Plugin
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun


@dataclass(frozen=True, eq=False)
class Material:
    """A benchmark (`run` is None) or a run. `card` is its data set's; None where that cannot be known.

    `scored` has each metric of the run, whole; empty where nothing was measured.
    """

    label: str
    card: Card | None
    cases: Sequence[Case]
    run: RunFolder | None = None
    scored: Sequence[ScoredRun] = ()

    @property
    def is_own(self) -> bool:
        """Whether it is of no data set that has a licence, so that its user decides who gets it."""
        return self.card is None or self.card in (read_card("jsonl"), read_card("hugging_face"))


class Written(Record):
    """What was written: so many of each thing, and what was left out, with the reason. `hint` says what reads it."""

    counts: Mapping[str, int] = Field(default_factory=dict)
    left_out: tuple[Drop, ...] = ()
    hint: str = ""


class Export(Plugin):
    """Writes a benchmark or a run as another tool reads it."""

    kind = "exports"
    takes: ClassVar[frozenset[str]] = frozenset({"run"})  # of "run" and "benchmark"

    @abstractmethod
    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        """Write it to `out`, a path where nothing is yet. Raises UserError for what cannot be written."""
