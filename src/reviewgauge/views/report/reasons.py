"""Reasons of a matching as people read them: ids of findings and comments become their first words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from reviewgauge.core.records import Comment

MOST = 70  # characters of a text that stands for its id


def first_words(known: Iterable[Comment]) -> dict[str, str]:
    """The beginning of each text, by its id."""
    return {one.id: _beginning(" ".join(one.body.split())) for one in known}


def in_words(reason: str, words: Mapping[str, str]) -> str:
    """The reason with words in the place of ids; those without words are left out."""
    if not words:
        return reason
    ids = "|".join(re.escape(one) for one in sorted(words, key=len, reverse=True))

    def put(found: re.Match[str]) -> str:
        lead, text = found[1], words[found[2]]
        return f"{lead}“{text}”" if text else "" if lead.startswith("closest") else lead

    said = re.sub(rf"(^|: |may raise |credited for |closest comment )({ids})(?=, |: |; |$)", put, reason)
    return said.replace(": , ", ": ").lstrip(":, ").removesuffix(": ")


def _beginning(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST].rsplit(' ', 1)[0]} …"
