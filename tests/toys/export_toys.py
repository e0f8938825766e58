"""Exports that write what they were given."""

from __future__ import annotations

import json
import os
import signal
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


@dataclass(frozen=True)
class CountsBroken(Counts):
    """A folder that breaks off half-way."""

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        out.mkdir()
        super().write(given, out / "half")
        raise RuntimeError("no more")


@dataclass(frozen=True)
class CountsKilled(Counts):
    """The same, of which nothing is left to clean up."""

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        out.mkdir()
        super().write(given, out / "half")
        os.kill(os.getpid(), signal.SIGKILL)
        return Written()
