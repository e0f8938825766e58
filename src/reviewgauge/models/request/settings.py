"""How a verb wants its calls made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ChatSettings:
    """The settings of calls. None of them changes an answer, so none is part of a call's key.

    `budget` is in dollars, of which `spent` are gone. `in_flight`, `requests_per_minute` and
    `tokens_per_minute` hold per endpoint. `prices` is a file that overrides the shipped prices. `replay` is a file or
    run folder of recorded calls: then nothing else answers. `rehearsal`: the fake model answers in this process, so
    that calls can be counted before they are made (`--dry-run`); nothing is cached or recorded. `patience`: seconds
    of the first wait after a failed try; it doubles. `offline`: no endpoint is called, also by a client that is opened
    within this one; for files from others, which may name any address.
    """

    cache: bool = True
    in_flight: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    budget: float | None = None
    spent: float = 0.0
    prices: Path | None = None
    replay: Path | None = None
    rehearsal: bool = False
    patience: float = 1.0
    offline: bool = False
