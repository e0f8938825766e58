"""`calls.jsonl`: the model calls of a run, for replay and for its cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from reviewgauge.engine.run.journal import Journal
from reviewgauge.models.cache.recorded_calls import CALLS, RecordedCalls, read_calls
from reviewgauge.models.request.messages import Answer, Call


class CallLog:
    """The calls of one run. Safe for several threads. The file is made with the first call.

    A paid call is always written. An answer from a cache is written once, and again only if it differs from the one on
    record: the last line under a key is the answer that was used.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / CALLS
        self._journal = Journal(self.path, Call)
        self._lock = threading.Lock()
        self._open = self._unsynced = False
        self._before: RecordedCalls | None = None
        self._now: dict[str, Answer] = {}

    def append(self, call: Call, *, ours: bool = False) -> None:
        """Record one call; it is with the operating system when this returns, and on the disk after `sync`.

        `ours`: the answer came from a cache, and this run paid for it before it was killed.
        """
        with self._lock:
            if not self._open:
                self._begin()
            if not call.paid:
                if self._holds(call):
                    return
                call = call.model_copy(update={"paid": ours})
            self._journal.write(call, sync=False)
            self._now[call.key] = call.answer
            self._unsynced = True

    def _begin(self) -> None:
        self._journal.open_for_writing()
        self._before = RecordedCalls(self.path)
        self._open = True

    def _holds(self, call: Call) -> bool:
        if call.key in self._now:
            return self._now[call.key] == call.answer
        assert self._before is not None
        recorded = self._before.get(call.key)
        return recorded is not None and recorded.answer == call.answer

    def read(self) -> Iterator[Call]:
        """The calls, oldest first; none where there is no file."""
        if self.path.exists():
            yield from read_calls(self.path)

    def spent(self) -> float:
        """Dollars paid, as far as the prices were known."""
        return sum(call.answer.usage.dollars or 0.0 for call in self.read() if call.paid)

    def sync(self) -> None:
        """Put on the disk what was appended."""
        if self._unsynced:
            self._unsynced = False
            self._journal.sync()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._before is not None:
                self._before.close()
            self._journal.close()
            self._before, self._open = None, False
