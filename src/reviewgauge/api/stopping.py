"""How verbs end early: Ctrl-C finishes what is in flight, and what would break every further item ends the run."""

from __future__ import annotations

from reviewgauge.core.plugin import Plugin
from reviewgauge.core.protocols import Progress
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.models.chat.client import ChatClient


def executor_for(plugin: Plugin, workers: int | None, in_flight: int, otherwise: int) -> Executor:
    """Threads enough to keep the door busy where `plugin` asks a model, else `otherwise` workers."""
    count = workers or (in_flight if plugin.models else otherwise)
    return Threads(count) if count > 1 or plugin.models else Serial()


def with_bill(progress: Progress | None, door: ChatClient) -> Progress | None:
    """`progress` with what the door spent so far in front of its words."""
    if progress is None:
        return None

    def say(done: int, total: int, what: str) -> None:
        totals = door.budget.totals
        progress(done, total, f"${totals.dollars:.2f} {what}" if totals.calls else what)

    return say
