"""Texts as numbers: the commonest pieces of words, marks and line breaks, which join to the text again.

A piece holds the blank before it, so that code and prose come out as they were written, but for runs of blanks.
Identifiers are cut before capitals and at underscores, so that most of an unknown name is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

PAD, START, END, UNKNOWN = range(4)
FIRST = 4  # the number of the first piece
RARE = 2  # a piece that occurs less often than this is left out
_PIECE = re.compile(r" ?[^\W_][^\W_A-Z]*| ?[^\w\s]|_|\n")


def pieces(text: str) -> list[str]:
    """The pieces of a text, in order."""
    return _PIECE.findall(text)


class Vocabulary:
    """Pieces and their numbers; the commonest first."""

    def __init__(self, known: Sequence[str]) -> None:
        self.pieces = tuple(known)
        self._numbers = {piece: number for number, piece in enumerate(self.pieces, FIRST)}

    @classmethod
    def learn(cls, texts: Iterable[str], most: int) -> Vocabulary:
        """The `most` commonest pieces of the texts; of equally common ones the first by the alphabet."""
        counts = Counter(piece for text in texts for piece in pieces(text))
        ranked = sorted(counts, key=lambda piece: (-counts[piece], piece))
        return cls([piece for piece in ranked[:most] if counts[piece] >= RARE])

    def __len__(self) -> int:
        return FIRST + len(self.pieces)

    def encode(self, text: str, longest: int) -> list[int]:
        """The numbers of the first `longest` pieces of a text."""
        return [self._numbers.get(piece, UNKNOWN) for piece in pieces(text)[:longest]]

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of these pieces."""
        return "".join(self.pieces[number - FIRST] for number in numbers if number >= FIRST).strip()
