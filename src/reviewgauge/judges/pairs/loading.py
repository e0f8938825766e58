"""From the words that name a judge to the judge: a judge's spec, or a chat model's spec, short for `same_concern`."""

from __future__ import annotations

import re
from functools import lru_cache

from reviewgauge.core.protocols import Judge
from reviewgauge.core.specs import load
from reviewgauge.models.request.model_spec import is_model

_PROVIDER = re.compile(r"\s*\w*:")  # no plug-in's name holds a colon: an unknown provider is named as one


@lru_cache(maxsize=64)
def judge_of(spec: str) -> Judge:
    """The judge that `spec` names; `openai:gpt-5` is `same_concern(model="openai:gpt-5")`."""
    if is_model(spec.strip()) or _PROVIDER.match(spec):
        spec = f"same_concern(model={spec.strip()!r})"
    return load(Judge, spec)
