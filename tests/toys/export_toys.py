"""Exports that write what they were given."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.protocols import Progress
from reviewgauge.core.specs import short_spec
from reviewgauge.exports.writing.export import Export, Material, Written


@dataclass(frozen=True)
class Counts(Export):
    """A file of counts."""

    takes: ClassVar[frozenset[str]] = frozenset({"run", "benchmark"})

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        metrics = [short_spec(one.metric) for one in given.scored]
        found = {"label": given.label, "cases": len(given.cases), "run": given.run is not None, "metrics": metrics}
        out.write_text(json.dumps(found))
        return Written(counts={"cases": len(given.cases)})


@dataclass(frozen=True)
class CountsRuns(Counts):
    """The same, of runs alone."""

    takes: ClassVar[frozenset[str]] = frozenset({"run"})
