"""The words of code that are searched for: names as a whole, and the parts of names in camelCase or snake_case."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"[^\W\d]\w*")
_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_LONGEST = 100  # characters of a name; what is longer is data


def code_words(text: str) -> list[str]:
    """Every word of `text` in order, in lower case; a name of several parts is followed by them. Numbers are none."""
    return [word for name in _NAME.findall(text) for word in words_of(name)]


@lru_cache(maxsize=200_000)
def words_of(name: str) -> tuple[str, ...]:
    """`getUserId` is `getuserid`, `get`, `user`, `id`."""
    if len(name) > _LONGEST:
        return ()
    return tuple(dict.fromkeys([name.lower(), *(part.lower() for part in _BREAK.split(name) if part)]))
