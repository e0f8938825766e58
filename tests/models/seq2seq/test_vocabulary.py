from __future__ import annotations

import pytest

from reviewgauge.models.seq2seq.vocabulary import FIRST, UNKNOWN, Vocabulary, pieces


@pytest.mark.parametrize(
    "text",
    ["Why not `getValue(x_1)`?", "+    return self.HTTPServer\n-x", "día, 日本語: naïve", "", "a\n\nb"],
)
def test_pieces_join_to_the_text_but_for_runs_of_blanks(text: str) -> None:
    joined = "".join(pieces(text))
    assert joined.split() == text.split()
    assert joined.replace(" ", "") == text.replace(" ", "")


def test_identifiers_are_cut_at_capitals_and_underscores() -> None:
    assert pieces(" getValue(max_size)") == [" get", "Value", "(", "max", "_", "size", ")"]


def test_the_commonest_pieces_are_known_and_rare_ones_are_not() -> None:
    words = Vocabulary.learn(["the cat", "the dog", "the dog once"], 3)
    assert words.pieces == ("the", " dog")
    assert len(words) == FIRST + 2
    assert words.encode("the cat dog", 10) == [FIRST, UNKNOWN, FIRST + 1]
    assert words.encode("the dog dog", 2) == [FIRST, FIRST + 1]
    assert words.decode([FIRST, UNKNOWN, FIRST + 1, 0, 2]) == "the dog"
    assert Vocabulary.learn(["b a", "a b", "a b"], 1).pieces == (" b",)
    assert Vocabulary(words.pieces).encode("the dog", 9) == words.encode("the dog", 9)
