"""The time, as an object: so that what waits for hours can be tried in no time."""

from __future__ import annotations

import time


class Clock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))
