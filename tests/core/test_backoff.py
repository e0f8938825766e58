"""What an answer asks to wait, in the forms of Retry-After."""

from __future__ import annotations

import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.backoff import backoff, http_date, retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("nan", None), ("inf", None), ("soon", None), ("", None)],
)
def test_a_number_of_seconds(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({}) is None


def test_a_date_is_held_against_the_clock_that_is_given() -> None:
    at = 1_700_000_000.0
    date = email.utils.formatdate(at, usegmt=True)
    assert http_date(date) == at
    assert retry_after({"retry-after": date}, now=at - 30) == 30
    assert retry_after({"retry-after": date}, now=at + 30) == 0
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25


@given(st.integers(1, 10_000), st.floats(0, 100))
def test_waits_stay_below_sixty_first_waits(tries: int, patience: float) -> None:
    assert 0 <= backoff(tries, patience) <= 60 * patience
