"""What verbs print: results to standard output, progress and notes to standard error."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
