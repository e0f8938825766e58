"""What long work reports on the way: how far it is, what failed and what it cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failure
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import UsageSum

T = TypeVar("T", bound="WorkTotals")
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


def with_cost(progress: Progress | None, client: ChatClient) -> Progress | None:
    """`progress`, which shows first what the client spent so far."""
    if progress is None:
        return None

    def show(done: int, total: int, what: str) -> None:
        totals = client.budget.totals
        progress(done, total, f"${totals.dollars:.2f} {what}" if totals.calls else what)

    return show


class WorkTotals(Record):
    """What one call did to a run: `done` and `failed` by kind, of this call; `skipped` was there before it.

    `failed_before` counts the failures among the skipped, which `retry_failed` would try again. `reasons` has the
    message of the first failure of each kind. `cost` covers this call, failures included, at the price that an answer
    had when it was made; its dollars are None when a price is not known. `stopped` says what ended the call early, and
    `left` how much it left undone.
    """

    done: int = 0
    skipped: int = 0
    failed: Mapping[str, int] = Field(default_factory=dict)
    reasons: Mapping[str, str] = Field(default_factory=dict)
    failed_before: int = 0
    cost: Usage = Usage()
    seconds: float = 0.0
    fake: bool = False
    stopped: str = ""
    left: int = 0


class WorkTally:
    """Counts what one call does, for its WorkTotals."""

    def __init__(self) -> None:
        self.done, self.fake = 0, False
        self.failed: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self.spent = UsageSum()
        self._began = time.monotonic()

    @property
    def trouble(self) -> str:
        """`2 failed: `, for the progress bar; empty for none."""
        return f"{self.failed.total()} failed: " if self.failed else ""

    @property
    def seconds(self) -> float:
        """The time since the call began."""
        return round(time.monotonic() - self._began, 3)

    def fail(self, failure: Failure, kind: str = "") -> None:
        """Count one failure, by default under its own kind."""
        kind = kind or failure.kind.value
        self.failed[kind] += 1
        self.reasons.setdefault(kind, failure.message)

    def totals(self, model: type[T], **more: object) -> T:
        """The totals so far, with further fields."""
        return model(
            done=self.done,
            failed=dict(sorted(self.failed.items())),
            reasons=dict(sorted(self.reasons.items())),
            cost=self.spent.usage,
            seconds=self.seconds,
            fake=self.fake,
            **more,
        )


REMEDY = "write --only failed, or --only case=ID, where * stands for any letters"


@dataclass(frozen=True)
class Selection:
    """`failed`: what failed before, and nothing else. `cases`: ids or patterns (`acme/*`); empty stands for all."""

    failed: bool = False
    cases: tuple[str, ...] = ()

    def takes(self, case: str) -> bool:
        """Whether a case is among those named."""
        return not self.cases or any(case == name or fnmatchcase(case, name) for name in self.cases)

    def check(self, cases: Iterable[str]) -> None:
        """Raise UserError for a name that matches no case."""
        known = list(cases)
        for name in self.cases:
            if name not in known and not any(fnmatchcase(case, name) for case in known):
                raise UserError(
                    f"--only case={name} matches none of the {len(known)} cases", remedy=f"such as {known[0]}"
                )


def parse_only(words: Sequence[str]) -> Selection:
    """The selection that `--only` was given, once or several times. Raises UserError."""
    cases = []
    for word in words:
        what, equals, name = word.partition("=")
        if what == "case" and equals and name:
            cases.append(name)
        elif word != "failed":
            raise UserError(f"--only {word} is unknown", remedy=REMEDY)
    return Selection("failed" in words, tuple(cases))
