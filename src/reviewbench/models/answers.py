"""Strict reading of model answers: a value where the answer is unambiguous, `Unreadable` with the reason where not."""

from __future__ import annotations


class Unreadable(ValueError):
    """An answer that cannot be read without guessing. Its text is the reason, fit to be told to the model."""


def yes_no(text: str) -> bool:
    """True for yes, False for no."""
    word = text.strip().strip(".*\"'`").lower()
    if word not in ("yes", "no"):
        raise Unreadable("answer with yes or no, and nothing else")
    return word == "yes"
