"""The one door to chat models: every call is cached, limited, retried, counted, recorded and replayable.

Plug-ins are synchronous and hold a model's spec. They call `chat_model(spec)` when they need it and `ask`. Behind it
one event loop in a background thread runs the providers' async clients. A verb opens a `Door` with its settings
(budget, limits, cache, replay) and `with` it; without one, a door with default settings is opened.

    with Door(ChatSettings(budget=5.0)) as door, counted() as tally:
        answer = chat_model("openai:gpt-5").ask(Request(messages=(user("Say yes."),)))
    tally.usage.dollars

What can go wrong is a `Failed` with a kind and a remedy; it `stops` where the next call would fail on it too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ChatSettings:
    """How a verb wants its calls made. None of it changes an answer, so none of it is part of a call's key.

    `budget` in dollars, `spent` what of it was spent before. `in_flight`, `requests_per_minute` and
    `tokens_per_minute` hold per endpoint. `prices` is a file that overrides the shipped prices. `replay` is a file or
    run folder of recorded calls: then nothing else answers. `rehearsal`: the fake model answers in this process, so
    that calls can be counted before they are made (`--dry-run`); nothing is cached or recorded. `patience`: seconds
    of the first wait after a failed try; it doubles. `offline`: no endpoint is called, also by a door that is opened
    behind this one; for files from others, which may name any address.
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
