"""docs/reference/models.md and guides/models.md: their limits are the code's, and they explain every failure."""

from __future__ import annotations

import re
from pathlib import Path

from reviewgauge.core.results import FailureKind
from reviewgauge.models.request.model_spec import parse_model

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MODELS = (REFERENCE / "models.md").read_text(encoding="utf-8")
GUIDE = (REFERENCE.parent / "guides" / "models.md").read_text(encoding="utf-8")


def test_the_names_and_parameters_are_read() -> None:
    spec = parse_model("openai:qwen3@http://localhost:8000/v1?temperature=0.7&top_k=20")
    assert f"by default {spec.max_tokens:,}" in MODELS
    assert f"by default {spec.timeout:.0f}" in MODELS
    for name in ("temperature", "top_p", "top_k", "seed", "reasoning", "max_tokens", "timeout", "json"):
        assert f"| `{name}` |" in MODELS


def test_every_kind_of_failure_is_explained() -> None:
    explained = set(re.findall(r"^\| `(\w+)` \|", GUIDE.split("## When a run breaks")[1], re.MULTILINE))
    assert explained == {kind.value for kind in FailureKind}
