"""Several votes on one pair into one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from reviewgauge.core.errors import one_line
from reviewgauge.core.results import Verdict, Vote

Agree = Literal["majority", "mean"]
Table = Sequence[Sequence[Verdict | None]]
_REASON = 300  # characters of a model's reasoning that a verdict repeats; its vote keeps all of it


class Cast(NamedTuple):
    """One vote, and the probability of a yes that it stands for."""

    vote: Vote
    chance: float

    @property
    def yes(self) -> bool:
        """Which way it went."""
        return self.vote.value is True


def chance(same: bool, confidence: float | None) -> float:
    """The probability of a yes behind an answer. No answer falls on the other side for want of confidence."""
    sure = 1.0 if confidence is None else max(0.5, confidence)
    return sure if same else 1.0 - sure


def agreed(cast: Sequence[Cast], agree: Agree) -> Verdict:
    """The verdict of at least one vote. Its probability is the mean of their chances.

    `majority`: the same where more than half say so; the probability is held on that side of one half. `mean`: the
    same where the mean is above one half; at one half, as the majority. A tie is a no. `unsure`: they do not agree.
    """
    yes, many = sum(one.yes for one in cast), len(cast)
    mean = round(sum(one.chance for one in cast) / many, 6)
    most = 2 * yes > many
    if agree == "majority":
        same, mean = most, max(0.5, mean) if most else min(0.5, mean)
    else:
        same = mean > 0.5 or (mean == 0.5 and most)
    if many == 1:
        said = cast[0].vote.reason or ""
        reason = f"{'yes' if same else 'no'}" if said.strip().lower() in ("yes", "no", "") else one_line(said, _REASON)
    else:
        reason = f"{yes} of {many} say yes"
    votes = tuple(one.vote for one in cast)
    return Verdict(probability=mean, same=same, unsure=yes not in (0, many), reason=reason, votes=votes)
