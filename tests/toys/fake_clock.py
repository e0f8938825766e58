"""A clock that waits by going forward: what waits for hours is tried in no time."""

from __future__ import annotations

from reviewgauge.repo.forge.replies import Clock


class LeapingClock(Clock):
    """`slept` holds each wait in seconds."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now, self.slept = now, list[float]()

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += max(0.0, seconds)
