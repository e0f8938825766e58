"""What `doctor` reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record


class ProbeCheck(Record):
    """A check of a benchmark and a metric, and the smallest case that fails it."""

    name: str
    expected: str
    found: str
    ok: bool | None  # None: could not be tried on this data, `found` says why
    case: str | None = None
    detail: str = ""
    metric: str = ""  # its spec; part of `name` where several metrics were tried


class LintFinding(Record):
    """Something odd in the data itself."""

    level: Literal["error", "warning", "note"]
    rule: str
    case: str
    item: str = ""
    message: str


class DoctorReport(Record):
    """What `doctor` reports. `limits` are sentences on what no reviewer can help: unsure comments, wrong labels."""

    schema_version: Literal[1] = 1
    dataset: str
    benchmark: str
    cases: int
    metrics: tuple[str, ...]
    checks: tuple[ProbeCheck, ...] = ()
    limits: tuple[str, ...] = ()
    lint: tuple[LintFinding, ...] = ()
    lint_counts: Mapping[str, int] = Field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether no check failed and the data has no error."""
        return all(check.ok is not False for check in self.checks) and not any(f.level == "error" for f in self.lint)

    @property
    def mostly_untried(self) -> tuple[str, ...]:
        """The metrics of which most checks could not be tried: what was found says too little for a verdict."""
        tried = {name: [c.ok is not None for c in self.checks if c.metric == name] for name in self.metrics}
        return tuple(name for name, known in tried.items() if 2 * sum(known) < len(known))
