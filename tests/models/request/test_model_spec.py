"""What a model's name may look like, and what it is not taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.models import providers
from reviewgauge.models.request import model_spec
from reviewgauge.models.request.model_spec import address_of, load_provider, parse_model


@pytest.mark.parametrize(
    "rest", ["qwen3@localhost:8000/v1", "qwen3:8b@10.0.0.5/v1", "m@gateway.example", "m@localhost"]
)
def test_an_address_without_its_scheme_is_no_part_of_the_name(rest: str) -> None:
    """It would be asked for at the provider's own address, with the code under review."""
    with pytest.raises(UserError, match="is not an http or https address"):
        parse_model(f"openai:{rest}")


@pytest.mark.parametrize(("rest", "model", "address"), [
    ("claude-sonnet-4@20250514", "claude-sonnet-4@20250514", ""),
    ("@cf/meta/llama-3.1-8b@https://gateway.example/v1", "@cf/meta/llama-3.1-8b", "https://gateway.example/v1"),
    ("@cf/meta/llama-3.1-8b", "@cf/meta/llama-3.1-8b", ""),
    ("meta/llama-3.1:8b@latest", "meta/llama-3.1:8b@latest", ""),
])  # fmt: skip
def test_a_name_may_hold_an_at_itself(rest: str, model: str, address: str) -> None:
    spec = parse_model(f"openai:{rest}")
    assert (spec.model, spec.address) == (model, address)
    assert parse_model(str(spec)) == spec


def test_a_provider_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(providers.__file__).with_name("openai.py").read_text().replace("api.openai.com", "models.example")
    (tmp_path / "house.py").write_text(own)
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    monkeypatch.setattr(model_spec, "PROVIDERS", (*model_spec.PROVIDERS, "house"))
    assert model_spec.is_model("house:large")
    assert load_provider("house").base_url == "https://models.example/v1"
    assert address_of(parse_model("house:large@https://models.example/v1")) == "https://models.example/v1"
