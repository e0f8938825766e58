"""Where the calls of a model go: the address in its spec, in the environment, or the provider's own."""

from __future__ import annotations

import os
from typing import NamedTuple

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.request.model_spec import ModelSpec, holds_more, is_address


class BaseUrl(NamedTuple):
    """The environment variable that names another endpoint, and the provider's own."""

    variable: str
    official: str


OPENAI = BaseUrl("OPENAI_BASE_URL", "https://api.openai.com/v1")
ANTHROPIC = BaseUrl("ANTHROPIC_BASE_URL", "https://api.anthropic.com")


def address_of(spec: ModelSpec) -> str:
    """The spec's address, or the one in the environment, or "": the provider's own. Raises Failed for a broken one."""
    if spec.address or spec.provider == "fake":
        return spec.address
    variable, official = ANTHROPIC if spec.provider == "anthropic" else OPENAI
    given = os.environ.get(variable, "").strip().rstrip("/")
    if given in ("", official):
        return ""
    if not is_address(given) or holds_more(given) or "?" in given:
        raise Failed(
            FailureKind.REQUEST,
            f"{variable} is not an http or https address of host and path: {given}",
            remedy=f"export {variable}=https://HOST/v1, or unset it",
            stops=True,
        )
    return given
