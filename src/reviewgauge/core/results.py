"""Results: failures, drops, matchings, scores and outcomes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from reviewgauge.core.base import Fact, Id, Record, Share, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Claim, Review, Usage


class FailureKind(StrEnum):
    """What kind of failure it was."""

    NETWORK = "network"
    REFUSAL = "refusal"
    UNREADABLE = "unreadable"
    BUDGET = "budget"  # of tokens or of money
    TIMEOUT = "timeout"
    REQUEST = "request"  # the endpoint refuses the request: a parameter, the length, the key
    CRASH = "crash"


class Failure(Record):
    """A failure, in place of a value. It is never counted as zero."""

    kind: FailureKind
    message: Text
    raw: Text | None = None


class Failed(UserError):
    """An error that becomes a Failure record.

    `stops`: the next item would fail on it too (a wrong key, a spent budget, an endpoint that is down). Then the run
    ends, and the same command goes on with the rest.
    """

    def __init__(
        self, kind: FailureKind, problem: str, *, remedy: str = "", raw: str | None = None, stops: bool = False
    ) -> None:
        super().__init__(problem, remedy=remedy)
        self.kind, self.raw, self.stops = kind, raw, stops

    @property
    def failure(self) -> Failure:
        """Its record, with the remedy in the message; NUL characters in `raw` are replaced, as records refuse them."""
        raw = None if self.raw is None else self.raw.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        return Failure(kind=self.kind, message=str(self), raw=raw)


class Drop(Record):
    """Something was left out, by whom and why. Reasons are counted; particulars go into `detail`."""

    item: str
    by: str
    reason: str
    detail: str = ""


class Vote(Record):
    """One answer behind a verdict: a model's, a recorded one or a trial's."""

    rater: str
    value: Fact
    confidence: Share | None = None
    reason: Text | None = None


class Verdict(Record):
    """What a judge says of a (comment, reference) pair: the probability that they raise the same thing.

    `same` is the judge's own decision; None means that it was not decided (recorded judges store no verdict for
    some pairs). `unsure` marks a probability in the judge's unsure band.
    """

    probability: Share
    same: bool | None = None
    unsure: bool = False
    reason: str = ""
    votes: tuple[Vote, ...] = ()


class CommentState(StrEnum):
    """Every comment of a review is exactly one of these."""

    MATCHED = "matched"
    UNSURE = "unsure"
    DUPLICATE = "duplicate"
    NEUTRAL = "neutral"
    FALSE = "false"


class Pair(Record):
    """The evidence on one (comment, reference) pair, each axis apart.

    `distance` is the gap in lines between the two spans (0: they overlap), None when one has no lines or the
    files or sides differ. `located` says whether the location rule holds; None: there was no place to check.
    `weighed` is the verdict's probability after the place was weighed in, where that was done.
    """

    comment: Id
    reference: Id
    located: bool | None = None
    same_path: bool | None = None
    same_side: bool | None = None
    distance: int | None = None
    verdict: Verdict | None = None
    weighed: Share | None = None


class CommentOutcome(Record):
    """How one comment counted, against which reference group, and why. `rejected`: known to be wrong.

    `probability` is the probability that it raises the one finding that assignment gives it; 0 where it gives none. By
    execution it is 1 for a comment whose edits repair a finding, 0 for one whose edits do not, None where none ran.
    `unsure`: it counts as that probability, and not as right or wrong.
    """

    comment: Id
    state: CommentState
    group: Id | None = None
    rejected: bool = False
    probability: Share | None = None
    unsure: bool = False
    reason: str = ""

    @property
    def credit(self) -> float:
        """What it counts as: 1 for right, 0 for wrong, else the probability that it is right."""
        return (self.probability or 0.0) if self.unsure else float(self.state is CommentState.MATCHED)


class GroupOutcome(Record):
    """Whether one finding (a group of phrasings, named by its first reference) was hit, by whom, and why not.

    `probability` is the probability that the review contains the finding, after assignment; an `unsure` one counts as
    that, whether hit or not. `nearest` is the comment that came closest to a missed finding.
    """

    group: Id
    members: tuple[Id, ...]
    hit: bool
    comments: tuple[Id, ...] = ()
    nearest: Id | None = None
    probability: Share | None = None
    unsure: bool = False
    reason: str = ""

    @property
    def credit(self) -> float:
        """What it counts as: 1 for hit, 0 for missed, else the probability that the review contains it."""
        return (self.probability or 0.0) if self.unsure else float(self.hit)


class Matching(Record):
    """One review matched with one case. Every comment and every reference group occurs exactly once.

    `pairs` keeps the evidence behind each outcome, not the whole matrix. `broken` names the accounting identities
    that a published variant breaks, in words.
    """

    policy: str
    comments: tuple[CommentOutcome, ...] = ()
    groups: tuple[GroupOutcome, ...] = ()
    line_hits: int = 0  # comments placed on a finding's lines, one-to-one, whatever they say
    pairs: tuple[Pair, ...] = ()
    broken: tuple[str, ...] = ()


class Link(Record):
    """How alike a sentence of a review and a claim are, from -1 to 1; both are counted from 0 in their `Coverage`.

    `paired`: where each sentence and each claim counts in one pair at most, this is a pair that counts.
    """

    sentence: Annotated[int, Field(ge=0)]
    claim: Annotated[int, Field(ge=0)]
    similarity: float
    paired: bool = False


class Coverage(Record):
    """Which sentences of a review speak about which claims on the change.

    `links` hold the closest claim of each sentence and the closest sentence of each claim; a link counts where its
    similarity is above the `threshold`, if there is one. Where some are `paired`, those are all that count.
    """

    claims: tuple[Claim, ...] = ()
    sentences: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    threshold: float | None = None


Parts = Mapping[str, float]
NOT_STATED = "(not stated)"  # the slice of what does not say, so that slices add up to the whole


class Bounds(Record):
    """The parts that a missing measurement would have had at worst and at best."""

    worst: Parts
    best: Parts


class Score(Record):
    """One measurement of one (case, review) by one metric: its parts, or a Failure, or neither (does not apply).

    `parts` are additive: the metric's `combine` makes measures out of their sums. `facets` hold the parts of the
    subsets of a case that can be sliced by (`category` -> `security` -> parts). `pins` name what the metric rests
    on beyond its signature (judge weights, library versions). `of` is the outcome that was measured, by the first 16
    hex digits of the SHA-256 of its line: a review that was changed since is not the one that this score is about.
    `votes` are the answers behind a grade: the model, its trial, and the raw answer as the reason.
    """

    case: Id
    system: Id
    attempt: Annotated[int, Field(ge=1)] = 1
    metric: str
    benchmark: str
    parts: Parts | None = None
    facets: Mapping[str, Mapping[str, Parts]] = Field(default_factory=dict)
    failure: Failure | None = None
    reason: str = ""
    bounds: Bounds | None = None
    matching: Matching | None = None
    coverage: Coverage | None = None
    votes: tuple[Vote, ...] = ()
    pins: Mapping[str, str] = Field(default_factory=dict)
    usage: Usage = Usage()
    fake: bool = False
    of: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Which review it is about: its case, its system and its attempt."""
        return self.case, self.system, self.attempt


class Outcome(Record):
    """One line of a run's reviews: what one system did on one case in one attempt, or how it failed.

    `usage` is what a failure cost; a review has its own.
    """

    case: Id
    system: Id
    attempt: Annotated[int, Field(ge=1)] = 1
    review: Review | None = None
    failure: Failure | None = None
    usage: Usage = Usage()

    @property
    def key(self) -> tuple[str, str, int]:
        """Which review it is about: its case, its system and its attempt."""
        return self.case, self.system, self.attempt

    @property
    def digest(self) -> str:
        """What a score of this outcome carries: the first 16 hex digits of the SHA-256 of its line."""
        return hashlib.sha256(self.to_line()).hexdigest()[:16]
