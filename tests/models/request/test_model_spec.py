"""What a model's name may look like, and what it is not taken for."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.models.request.model_spec import parse_model


@pytest.mark.parametrize(
    "rest", ["qwen3@localhost:8000/v1", "qwen3:8b@10.0.0.5/v1", "m@gateway.example", "m@localhost"]
)
def test_an_address_without_its_scheme_is_no_part_of_the_name(rest: str) -> None:
    """It would be asked for at the provider's own address, with the code under review."""
    with pytest.raises(UserError, match="is not an http or https address"):
        parse_model(f"openai:{rest}")


@pytest.mark.parametrize(
    ("rest", "model", "address"),
    [
        ("claude-sonnet-4@20250514", "claude-sonnet-4@20250514", ""),
        ("@cf/meta/llama-3.1-8b@https://gateway.example/v1", "@cf/meta/llama-3.1-8b", "https://gateway.example/v1"),
        ("@cf/meta/llama-3.1-8b", "@cf/meta/llama-3.1-8b", ""),
        ("meta/llama-3.1:8b@latest", "meta/llama-3.1:8b@latest", ""),
    ],
)
def test_a_name_may_hold_an_at_itself(rest: str, model: str, address: str) -> None:
    spec = parse_model(f"openai:{rest}")
    assert (spec.model, spec.address) == (model, address)
    assert parse_model(str(spec)) == spec
