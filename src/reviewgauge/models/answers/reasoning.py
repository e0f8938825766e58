"""What every reader of answers begins with: the answer without its reasoning, and the error that they raise."""

from __future__ import annotations

import re

_THOUGHT = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"\s*<({_THOUGHT})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</({_THOUGHT})>", re.IGNORECASE)
_ANY = re.compile(rf"</?(?:{_THOUGHT})>", re.IGNORECASE)


class Unreadable(ValueError):
    """An answer that cannot be read without guessing. Its text is the reason, fit to be told to the model."""


def without_reasoning(text: str) -> str:
    """The answer after the reasoning that it begins with; what looks like reasoning further on is part of it.

    Some endpoints put the opening tag into the prompt, so that only the closing one comes back.
    """
    while (opened := _OPEN.match(text)) is not None:
        closed = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        if closed is None:
            raise Unreadable("the reasoning does not end, and no answer follows it")
        text = text[closed.end() :]
    if (closed := _CLOSE.search(text)) is not None and _ANY.search(text, 0, closed.start()) is None:
        text = text[closed.end() :]
    if not text.strip():
        raise Unreadable("the answer is empty")
    return text.strip()


def plain(text: str) -> str:
    """The answer where a word or a number is expected: there no reasoning may be left, wherever it stands."""
    text = without_reasoning(text)
    if _ANY.search(text) is not None:
        raise Unreadable("reasoning stands within the answer")
    return text
