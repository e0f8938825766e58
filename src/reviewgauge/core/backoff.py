"""How long to wait before something is asked again."""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Mapping


def backoff(tries: int, patience: float) -> float:
    """Seconds to wait after so many tries: exponential with full jitter, capped at 60 times the base `patience`."""
    return random.uniform(0, patience * min(60.0, 2.0 ** min(tries - 1, 9)))


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that an answer asks to wait, by retry-after-ms or Retry-After (a number or a date); None: it does not.

    The names of `headers` are in lower case. A date is compared with `now`, by default the clock of this machine.
    """
    exact = _seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or not value:
        return seconds
    at = http_date(value)
    return None if at is None else max(0.0, at - (time.time() if now is None else now))


def http_date(value: str | None) -> float | None:
    """Seconds since 1970 of a date as HTTP writes it; None for anything else."""
    try:
        return email.utils.parsedate_to_datetime(value).timestamp() if value else None
    except (ValueError, OverflowError):
        return None


def _seconds(value: str | None) -> float | None:
    try:
        seconds = float(value) if value else math.nan
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
