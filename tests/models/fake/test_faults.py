"""The words of --fail: what they mean, and that they are read strictly."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import UserError
from reviewgauge.models.fake.faults import read_faults, share_of


def drawn(words: str, calls: int = 10, seed: int = 0) -> list[str]:
    faults = read_faults(words, seed)
    return [faults.draw(number, 1, "") for number in range(1, calls + 1)]


def test_shares_hold_in_the_long_run_and_repeat_exactly() -> None:
    words = "429:0.2,timeout:0.05,truncate:0.1"
    counts = Counter(drawn(words, 10_000))
    assert 1_880 < counts["429"] < 2_120
    assert 430 < counts["timeout"] < 570
    assert 910 < counts["truncate"] < 1_090
    assert drawn(words, 500) == drawn(words, 500)
    assert drawn(words, 500) != drawn(words, 500, seed=1)


def test_rules_by_count() -> None:
    assert drawn("500:first=2", 4) == ["500", "500", "", ""]
    assert drawn("drop:every=3", 7) == ["", "", "drop", "", "", "drop", ""]
    each = read_faults("503:each=1")
    assert [each.draw(9, times, "") for times in (1, 2, 3)] == ["503", "", ""]


def test_rules_by_words() -> None:
    faults = read_faults("overflow:when=def main")
    assert faults.draw(1, 1, "x = 1\ndef main(): ...") == "overflow"
    assert faults.draw(1, 1, "x = 1") == ""


def test_a_rule_by_count_goes_before_the_shares() -> None:
    assert drawn("empty,500:first=1", 3) == ["500", "empty", "empty"]


def test_settings() -> None:
    faults = read_faults("429:0.5,retry-after=2.5,slow=7")
    assert (faults.retry_after, faults.slow) == (2.5, 7)
    assert read_faults("").retry_after is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("429:2", "'2' is not a number from 0 to 1"),
        ("429:", "'' is not a number"),
        ("429:nan", "'nan' is not a number"),
        ("429:first=0", "'0' is not a number"),
        ("429:first=1.5", "expected a share"),
        ("429:last=1", "expected a share"),
        ("429:when=", "expected a share"),
        ("sabotage", "unknown fault 'sabotage'"),
        ("299:0.1", "unknown fault '299'"),
        ("retry-after=-1", "not a number from 0"),
        ("429:0.6,500:0.6", "add up to 1.2"),
    ],
)
def test_bad_words(words: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_faults(words)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(words: str) -> None:
    try:
        read_faults(words).draw(1, 1, words)
    except UserError as error:
        assert error.problem


@given(st.text())
def test_a_share_is_a_share(text: str) -> None:
    assert 0 <= share_of(text) < 1
    assert share_of(text) == share_of(text)
