"""What tests of the forge client say as a forge, and the tokens that they ask with."""

from __future__ import annotations

import json
from collections.abc import Mapping

from scripted_endpoint import Asked, Say

TOKEN = "ghp_a_secret_that_must_stay_one"
OTHER = "ghp_another_secret_of_the_same_kind"


def say(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Say:
    """An answer in JSON."""
    return Say(json.dumps(value).encode(), status, headers or {})


def bearer(asked: Asked) -> str:
    """The token that a request came with."""
    return asked.headers.get("authorization", "").removeprefix("Bearer ")
