"""The claims of a change: `offline_claims` without a model, `model_claims` with one."""

from __future__ import annotations

from reviewgauge.claims.change import change_claims
from reviewgauge.claims.merge import merged
from reviewgauge.core.records import Change, Claim


def offline_claims(change: Change) -> tuple[Claim, ...]:
    """What the change does, by its syntax, and what static analysers find where its code is at hand."""
    return merged(change_claims(change))
