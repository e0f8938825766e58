"""The words of `words.toml`: names by which operators know what code does."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_TABLE: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))


@cache
def _pattern(topic: str, name: str) -> re.Pattern[str]:
    return re.compile(_TABLE[topic][name], re.DOTALL)


def says(topic: str, name: str, text: str) -> bool:
    """Whether a text is one of these words."""
    return _pattern(topic, name).fullmatch(text) is not None


def table(topic: str) -> Mapping[str, Any]:
    """A topic that is a table: a word, and what belongs to it."""
    return _TABLE[topic]
