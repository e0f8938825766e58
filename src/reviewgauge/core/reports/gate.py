"""What `gate` reports: a candidate compared with a baseline."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from reviewgauge.core.base import Record
from reviewgauge.core.results import CommentState


class GateVerdict(StrEnum):
    """The verdict that the interval of the difference allows."""

    NOT_WORSE = "not worse"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"


class GateCase(Record):
    """What one case adds to the candidate's measure.

    `gain` is the candidate's measure less what it would be if it had done on this case as the baseline did, in the
    measure's unit, better counted upwards; None where one of the two is undefined. `unstable`: some attempt of the one
    against some attempt of the other says the opposite; None with a single attempt each.
    """

    case: str
    gain: float | None
    outcome: Literal["won", "lost", "tied", "undefined"]
    unstable: bool | None = None


class GateCheck(Record):
    """One measure of a gate, as the fields of `Gate`, with its own verdict.

    A `guard` is checked without being named: it is worse only where the whole interval lies past the margin.
    """

    measure: str
    label: str
    unit: str
    lower_is_better: bool
    margin: float
    guard: bool = False
    candidate_value: float | None
    baseline_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    low_if_worst: float | None = None
    needed: int | None = None
    verdict: GateVerdict
    reason: str


class GateFinding(Record):
    """A finding that one of the two systems hit and the other did not: `place` is its path and line.

    `comment` is what the system that hit it said.
    """

    case: str
    place: str
    text: str
    comment: str = ""


class GateComment(Record):
    """A comment that only one of the two systems made, and that hits no known finding. `state`: what it counts as."""

    case: str
    place: str
    text: str
    state: CommentState


class ChangedComments(Record):
    """What one of two systems alone hit or said; the fields of `Gate`."""

    lost: tuple[GateFinding, ...] = ()
    gained: tuple[GateFinding, ...] = ()
    comments_lost: tuple[GateComment, ...] = ()
    comments_gained: tuple[GateComment, ...] = ()


class Gate(GateCheck):
    """Paired non-inferiority of `candidate` against `baseline`. `verdict` is the worst one of the `checks`.

    The other figures are those of the first check: `difference` = candidate - baseline on the `n` cases that both were
    scored on, with its interval at `level`. `failed` counts cases that the baseline was scored on, and on which the
    candidate failed or has no review; `low_if_worst` is the lower end (the upper one where lower is better) with those
    counted as worst. `needed` is about how many clusters would tell, were the difference to stay. `lost` are the
    findings that only the baseline hit, `gained` those that only the candidate did; `comments_lost` and
    `comments_gained` are the comments beside them, about no known finding.
    """

    schema_version: Literal[1] = 1
    metric: str
    candidate: str
    baseline: str
    level: float
    n: int
    of: int
    clusters: int
    clustered_by: str
    attempts: tuple[int, int]
    failed: int = 0
    checks: tuple[GateCheck, ...] = ()
    cases: tuple[GateCase, ...] = ()
    lost: tuple[GateFinding, ...] = ()
    gained: tuple[GateFinding, ...] = ()
    comments_lost: tuple[GateComment, ...] = ()
    comments_gained: tuple[GateComment, ...] = ()
    dataset: str
    benchmark: str
    resamples: int
    seed: int
    fake: bool = False
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()

    def count(self, outcome: str) -> int:
        """How many cases were won, lost, tied or undefined."""
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def unstable(self) -> int | None:
        """How many cases are unstable across attempts; None where every case was tried once."""
        return None if max(self.attempts) < 2 else sum(case.unstable is True for case in self.cases)
