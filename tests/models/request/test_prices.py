"""Prices are looked up by name and place, and a bad table of one's own is named, with line and field."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.models.request.prices import dollars, open_prices, shipped_prices


def cost(spec: str, tokens_in: int = 1_000_000, tokens_out: int = 1_000_000, own: Path | None = None) -> float | None:
    entry = open_prices(own).facts(parse_model(spec)).price
    return None if entry is None else dollars(entry.cost(tokens_in, tokens_out))


def test_the_shipped_table_is_dated_in_the_past_and_prices_are_plausible() -> None:
    table = shipped_prices()
    assert table.date is not None
    assert "price" in table.source
    for name, entry in table.models.items():
        day = entry.date or table.date
        assert day < date(2026, 11, 20), name
        assert 0 < entry.input < entry.output < 200, name
        assert entry.cutoff is None or entry.cutoff < day, name
        assert (entry.provider is None) == (name == "fake"), name


@pytest.mark.parametrize(("spec", "price"), [
    ("openai:gpt-5", 11.25), ("openai:gpt-5-2025-08-07", 11.25),
    ("openai:gpt-5?reasoning=low", 11.25),
    ("openai:gpt-5@https://api.openai.com/v1", 11.25),
    ("anthropic:claude-sonnet-4-5-20250929", 18.0),
    ("anthropic:claude-sonnet-4-5-latest", 18.0),
    ("openai:gpt-4o", 12.5),
    ("openai:gpt-4o-2024-05-13", 20.0),  # a dated name with a price of its own
    ("openai:fake@http://127.0.0.1:8000/v1", 5.0),
    ("anthropic:fake@http://127.0.0.1:8000", 5.0),
    ("fake:rules", 5.0),
])  # fmt: skip
def test_a_model_is_found_by_its_name_with_or_without_its_date(spec: str, price: float) -> None:
    assert cost(spec) == pytest.approx(price)


@pytest.mark.parametrize("spec", [
    "openai:gpt-5@http://gateway.example/v1",  # the same name elsewhere is another bill
    "openai:gpt-5@http://localhost:8000/v1",
    "anthropic:gpt-5", "openai:gpt-5-ultra", "openai:gpt-50",
])  # fmt: skip
def test_a_price_is_never_guessed(spec: str) -> None:
    assert cost(spec) is None


def test_an_endpoint_that_the_environment_names_is_another_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")
    assert cost("openai:gpt-5") is None
    assert cost("anthropic:claude-sonnet-4-5") == 18.0


def test_the_cut_off_belongs_to_the_model_wherever_it_runs() -> None:
    here, there = (
        open_prices().facts(parse_model(f"openai:gpt-4.1{place}")) for place in ("", "@http://gateway.example/v1")
    )
    assert here.cutoff == there.cutoff == date(2024, 6, 1)
    assert here.price_of == shipped_prices().date
    assert there.price is None


def test_a_long_prompt_costs_more_where_the_vendor_says_so() -> None:
    assert cost("openai:gpt-5.5", 272_000, 0) == pytest.approx(0.272 * 5)
    assert cost("openai:gpt-5.5", 272_001, 0) == pytest.approx(0.272001 * 10)


def test_a_table_of_ones_own_goes_first_and_holds_for_any_address(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    entries = {
        "gpt-5": {"input": 2, "output": 0.5},
        "qwen3": {"input": 1, "output": 1, "cutoff": "2025-01-31"},
        "qwen3@http://b.example/v1": {"input": 3, "output": 3},
    }
    own.write_text(json.dumps({"date": "2026-01-01", "models": entries}))
    assert cost("openai:gpt-5", own=own) == cost("openai:gpt-5@http://gateway.example/v1", own=own) == 2.5
    assert cost("openai:qwen3@http://a.example/v1", own=own) == 2
    assert cost("openai:qwen3@http://b.example/v1", own=own) == 6
    assert cost("openai:gpt-5-mini", own=own) == 2.25
    facts = open_prices(own).facts(parse_model("openai:qwen3@http://a.example/v1"))
    assert (facts.cutoff, facts.price_of) == (date(2025, 1, 31), date(2026, 1, 1))


def test_the_environment_names_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "prices.json"
    own.write_text('{"models": {"qwen3": {"input": 1, "output": 1}}}')
    monkeypatch.setenv("REVIEWGAUGE_PRICES", str(own))
    assert cost("openai:qwen3@http://a.example/v1") == 2


@pytest.mark.parametrize(("text", "said"), [
    ("{", "is not valid JSON"),
    ('{"models": {"x": {"input": 1}}}', "field models.x.output: is missing"),
    ('{"models": {"x": {"input": -1, "output": 1}}}', "field models.x.input"),
    ('{"models": {"x": {"input": "1", "output": 1}}}', "field models.x.input"),
    ('{"models": {"x": {"input": 1, "output": 1, "per": "token"}}}', "field models.x.per: is not a field"),
    ('{"models": {"x": {"input": 1, "output": 1, "long_over": 9}}}', "belong together"),
    ('{"x": {"input": 1, "output": 1}}', "field models: is missing"),
])  # fmt: skip
def test_a_table_that_is_none_is_named_with_its_field(text: str, said: str, tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    own.write_text(text)
    with pytest.raises(BadInput) as caught:
        open_prices(own)
    assert str(own) in str(caught.value)
    assert said in str(caught.value)


def test_a_table_that_is_not_there_is_an_error_and_not_the_shipped_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        open_prices(tmp_path / "none.json")
