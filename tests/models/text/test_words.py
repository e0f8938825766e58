from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.models.text.lexical import GROUPS, concepts
from reviewgauge.models.text.words import STOP_WORDS, identifiers, negations, numbers, stem, tokens


def test_camel_and_snake_case_split_and_digits_part() -> None:
    assert tokens("getUserId user_name HTTPServer utf8") == [
        *("get", "user", "id", "user", "nam", "http", "serv", "utf", "8")
    ]


def test_forms_of_a_word_share_a_stem() -> None:
    for family in (
        ("validate", "validates", "validated", "validation", "validating"),
        ("cache", "caches", "cached", "caching"),
        ("query", "queries"),
        ("concurrent", "concurrently", "concurrency"),
        ("inconsistent", "inconsistency", "inconsistently"),
        ("class", "classes"),
    ):
        assert len({stem(word) for word in family}) == 1, family


def test_stems_keep_unlike_words_apart() -> None:
    assert len({stem(word) for word in ("null", "name", "race", "leak", "test", "type", "cache", "catch")}) == 8


def test_markup_fences_and_links_are_no_words() -> None:
    assert tokens("<details>\n```python\nx\n```\n![badge](http://a/b.png) https://example.org/word </details>") == ["x"]


def test_identifiers_ignore_case_and_underscores() -> None:
    assert identifiers("userId and user_id, `plain`, call(), the plain word") == {"userid", "plain", "call"}


def test_numbers_and_negations() -> None:
    assert numbers("line 12 of v2, 3.5 times") == {"12", "3.5"}
    assert negations("it doesn't check, never did") == 2


def test_a_cjk_character_is_a_word() -> None:
    assert len(tokens("空指针")) == 3


def test_concepts_join_different_words() -> None:
    assert concepts(tokens("possible NPE")) & concepts(tokens("nil dereference")) == {"null"}
    assert len(GROUPS) > 20
    assert not concepts(STOP_WORDS)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for word in tokens(text):
        assert word
    identifiers(text), numbers(text), negations(text)


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)
