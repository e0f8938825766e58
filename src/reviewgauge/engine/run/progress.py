"""What long work reports on the way: how far it is, what failed and what it cost."""

from __future__ import annotations

import time

from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Usage
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.chat.client import ChatClient

SYNC_EVERY = 0.25  # seconds between two fsyncs while results stream in


class SyncedProgress:
    """Reports progress on what is on the disk; syncs at most every SYNC_EVERY seconds."""

    def __init__(self, run: RunFolder, total: int, progress: Progress | None) -> None:
        self._run, self._total, self._progress = run, total, progress
        self._done, self._last, self._text = 0, time.monotonic(), ""

    def step(self, text: str) -> None:
        """Count one more appended record."""
        self._done += 1
        self._text = text
        if self._done == self._total or time.monotonic() - self._last >= SYNC_EVERY:
            self.finish()

    def finish(self) -> None:
        """Sync, and report what was appended."""
        self._run.sync()
        self._last = time.monotonic()
        if self._progress is not None and self._text:
            self._progress(self._done, self._total, self._text)
            self._text = ""


def count_failed(failed: int) -> str:
    """`2 failed: `; empty for none."""
    return f"{failed} failed: " if failed else ""


def with_cost(progress: Progress | None, client: ChatClient) -> Progress | None:
    """`progress`, which shows first what the client spent so far."""
    if progress is None:
        return None

    def show(done: int, total: int, what: str) -> None:
        totals = client.budget.totals
        progress(done, total, f"${totals.dollars:.2f} {what}" if totals.calls else what)

    return show


class UsageSum:
    """A sum of usages. Dollars are None when a price is not known, or nothing was called."""

    def __init__(self) -> None:
        self._calls, self._tokens_in, self._tokens_out, self._seconds = 0, 0, 0, 0.0
        self._dollars, self._priced, self._unpriced = 0.0, False, False

    def add(self, usage: Usage) -> None:
        """Add one."""
        self._calls += usage.calls
        self._tokens_in += usage.tokens_in
        self._tokens_out += usage.tokens_out
        self._seconds += usage.seconds
        if usage.dollars is not None:
            self._dollars, self._priced = self._dollars + usage.dollars, True
        elif usage.calls:
            self._unpriced = True

    @property
    def dollars(self) -> float | None:
        """The dollars, if they are known."""
        return round(self._dollars, 10) if self._priced and not self._unpriced else None

    @property
    def usage(self) -> Usage:
        """The sum."""
        return Usage(
            calls=self._calls,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            dollars=self.dollars,
            seconds=round(self._seconds, 3),
        )
