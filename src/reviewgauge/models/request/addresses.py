"""Endpoints: one per model spec, each with the limits, retries and circuit breaker of its address."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.request.model_spec import ModelSpec, holds_more, is_address

if TYPE_CHECKING:
    pass
from reviewgauge.models.providers.endpoints import _dialect


def address_of(spec: ModelSpec) -> str:
    """Where a model's calls go: the spec's address, or the one in the environment, or ""; then it is the provider's."""
    if spec.address or spec.provider == "fake":
        return spec.address
    protocol = _dialect(spec.provider)
    given = os.environ.get(protocol.ADDRESS, "").strip().rstrip("/")
    if given in ("", protocol.OFFICIAL):
        return ""
    if not is_address(given) or holds_more(given) or "?" in given:
        raise Failed(
            FailureKind.REQUEST,
            f"{protocol.ADDRESS} is no http or https address of host and path: {given}",
            remedy=f"export {protocol.ADDRESS}=https://HOST/v1, or unset it",
            stops=True,
        )
    return given
