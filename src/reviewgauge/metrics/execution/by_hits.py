"""A metric beside which stands what `hits` says of the same review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Matching
from reviewgauge.core.trust import PluginSpec
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.matching.match import LocationRule


@dataclass(frozen=True)
class ByHits(Metric):
    """`judge`, `location` and `tolerance` as in `hits`."""

    judge: PluginSpec = "lexical"
    location: LocationRule = "hint"
    tolerance: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError where `hits` would."""
        assert self.hits

    @cached_property
    def hits(self) -> Hits:
        """The metric that says which findings a review hit."""
        return Hits(judge=self.judge, location=self.location, tolerance=self.tolerance)

    @property
    def estimate_note(self) -> str:
        """The judge's label, such as "offline estimate"."""
        return self.hits.estimate_note

    @property
    def models(self) -> tuple[str, ...]:
        """The judge's models."""
        return self.hits.models

    @property
    def reads_labels(self) -> bool:
        """Whether the judge reads labels."""
        return self.hits.reads_labels

    def pins(self) -> Mapping[str, str]:
        """The judge's pins."""
        return self.hits.pins()

    def agreement(self, case: Case, review: Review, matching: Matching) -> dict[str, float]:
        """On how many findings `hits` says the same."""
        said = self.hits.parts(case, review) if matching.groups else ""
        if isinstance(said, str) or said.matching is None:
            return {}
        hit = {name: group.hit for group in said.matching.groups for name in group.members}
        same = sum(hit[group.group] == group.hit for group in matching.groups)
        return {"compared": float(len(matching.groups)), "same": float(same)}
