from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline.lexical_fit import count_documents

from reviewgauge.models.text.idf import load_idf
from reviewgauge.models.text.lexical import FEATURES, dice, features, profile, shared_words

WORDS = st.sampled_from(
    ["null", "cache", "`user_id`", "not", "race", "12", "the", "getUser", "missing", "7", "a", "typo"]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=80))


def named(one: str, other: str) -> dict[str, float]:
    return dict(zip(FEATURES, features(profile(one), profile(other)), strict=True))


def test_there_are_24_features() -> None:
    assert len(FEATURES) == len(set(FEATURES)) == 24 == len(features(profile("a"), profile("b")))


@given(TEXTS, TEXTS)
def test_every_feature_is_finite_and_bounded(one: str, other: str) -> None:
    found = named(one, other)
    assert all(math.isfinite(value) and value >= 0 for value in found.values())
    for name in ("word_cosine", "bigram_cosine", "char_cosine", "coverage_of_reference", "idf_dice", "concept_overlap"):
        assert found[name] <= 1 + 1e-9


@given(st.permutations(["cache", "user_id", "stale", "never", "invalidated", "after", "writes"]))
def test_word_order_moves_only_the_bigrams(words: list[str]) -> None:
    reference = "the cache is never invalidated"
    one, other = (
        named("cache user_id stale never invalidated after writes", reference),
        named(" ".join(words), reference),
    )
    # which five of equally rare words are the top five depends on their order
    changed = {name for name in FEATURES if one[name] != pytest.approx(other[name], abs=1e-9)}
    assert changed <= {"bigram_cosine", "top_of_comment"}


def test_equal_texts_have_every_similarity_at_its_best() -> None:
    found = named("the cache keeps stale rows of user_id", "the cache keeps stale rows of user_id")
    for name in ("word_cosine", "bigram_cosine", "char_cosine", "coverage_of_comment", "top_of_reference", "idf_dice"):
        assert found[name] == pytest.approx(1)
    assert found["conflicting_identifiers"] == 0


def test_identifiers_that_differ_conflict() -> None:
    assert named("`alpha_one` leaks", "`beta_two` leaks")["conflicting_identifiers"] == 1
    assert named("`alpha_one` leaks", "something leaks")["conflicting_identifiers"] == 0


def test_a_rare_shared_word_weighs_more_than_a_common_one() -> None:
    assert named("zygote", "zygote thing")["largest_shared_idf"] > named("code", "code thing")["largest_shared_idf"]


def test_dice_by_hand() -> None:
    # {null, check, row} and {null, row, cache, stale}: 2 * 2 / (3 + 4)
    assert dice("null checks of the rows", "null row, cached and stale") == pytest.approx(4 / 7)
    assert dice("", "") == dice("the", "the") == 0


def test_shared_words_are_rarest_first() -> None:
    assert shared_words(profile("zygote code null"), profile("code zygote"))[0] == "zygot"


def test_the_shipped_table_holds_about_a_thousand_stems_and_no_numbers() -> None:
    table, _ = load_idf("words")
    assert 900 <= len(table.idf) <= 1100
    assert max(table.idf.values()) <= table.unseen
    assert not any(word.isdigit() for word in table.idf)


def test_counting_documents_by_hand() -> None:
    table, unseen, n = count_documents(["null row", "null", "null", "cache"])
    assert n == 3  # the repeated text counts once
    assert table["null"] == pytest.approx(math.log(4 / 3), abs=0.005)
    assert unseen == table["cach"] == pytest.approx(math.log(2), abs=0.005)
