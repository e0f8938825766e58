"""When two texts are the same text."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal


class _Punctuation(dict[int, str]):
    """A table for `str.translate` that takes out what Unicode calls punctuation, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = "" if unicodedata.category(character).startswith("P") else character
        self[code] = kept
        return kept


_PUNCTUATION = _Punctuation()


@dataclass(frozen=True)
class Rule:
    """Turns a text into what is compared: equal results are the same text."""

    variant: Literal["", "raw"] = ""
    ignore_case: bool = False
    ignore_punctuation: bool = False

    def __post_init__(self) -> None:
        """Refuse combinations that contradict each other."""
        if self.variant == "raw" and (self.ignore_case or self.ignore_punctuation):
            raise ValueError("variant='raw' compares texts as they are: leave ignore_case and ignore_punctuation out")

    def __call__(self, text: str) -> str:
        """The text as it is compared. Where nothing but punctuation was said, the punctuation is compared."""
        if self.variant == "raw":
            return text
        if self.ignore_punctuation:
            text = text.translate(_PUNCTUATION).strip() or text
        if self.ignore_case:
            text = text.casefold()
        return " ".join(text.split())
