"""Sums of what answers cost."""

from __future__ import annotations

import threading

from reviewgauge.core.records import Usage
from reviewgauge.models.request.messages import Answer


class UsageSum:
    """The sum of the usage of answers. Safe for several threads.

    `calls` may exceed `answers`: a call that came back empty is made again. `dollars` is the sum of those whose price
    was known, `unpriced` the number of the others. `fake`: a fake model gave one of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.answers = self.calls = self.tokens_in = self.tokens_out = self.unpriced = 0
        self.dollars = self.seconds = 0.0
        self.fake = False

    def add(self, answer: Answer) -> None:
        """One more answer, at its cost when it was made."""
        usage = answer.usage
        with self._lock:
            self.answers += 1
            self.calls += usage.calls
            self.tokens_in += usage.tokens_in
            self.tokens_out += usage.tokens_out
            self.seconds += usage.seconds
            self.dollars += usage.dollars or 0.0
            self.unpriced += usage.dollars is None
            self.fake = self.fake or answer.fake

    @property
    def usage(self) -> Usage:
        """The sum as a record; its dollars are None where one price is not known, or nothing was added."""
        with self._lock:
            return Usage(
                calls=self.calls,
                tokens_in=self.tokens_in,
                tokens_out=self.tokens_out,
                dollars=round(self.dollars, 10) if self.calls and not self.unpriced else None,
                seconds=round(self.seconds, 6),
            )
