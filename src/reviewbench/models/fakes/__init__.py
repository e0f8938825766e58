"""The rules of the fake model, one file a task: the opening words that name the task, and the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from reviewbench.models.messages import Request


class Rule(NamedTuple):
    """How the fake model answers one task. `opening` are words that only this task's prompts hold."""

    task: str
    opening: str
    reply: Callable[[Request], str]


RULES: tuple[Rule, ...] = ()
