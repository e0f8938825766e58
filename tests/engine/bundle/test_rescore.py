from __future__ import annotations

import pytest

from reviewgauge.engine.bundle.rescore import asks_a_model


@pytest.mark.parametrize(
    ("metric", "asks"),
    [
        ("hits(judge='lexical')", False),
        ("embedding(model='all-MiniLM-L6-v2')", False),
        ("embedding(model='openai:text-embedding-3-small')", True),
        ("embedding(model='openai:m@http://host/v1')", True),
        ("judge(model='anthropic:claude')", True),
        ("my.metric(address='https://example.org')", True),
    ],
)
def test_a_metric_that_calls_somebody_is_known_by_its_signature(metric: str, asks: bool) -> None:
    assert asks_a_model(metric) is asks
