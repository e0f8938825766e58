"""How many of a reviewer's posted comments did people act on, beyond what would have changed anyway?

Source: this project, on what `collect_reviews` recorded of a forge (docs/guides/build.md); the signals are GitHub's:
lines changed by a later commit, threads resolved, answers, thumbs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.trust import Word

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

SIGNALS = ("changed", "resolved", "answered", "thumbed")
_SHORTEST = 1 / 60  # hours; what comes within a minute counts as a minute, so that logarithms stay finite


@dataclass(frozen=True)
class Adopted(Metric):
    """`adopted`: the share of comments with one of the signals in `counts`; `base`: the share of uncommented places of
    the same hunks that changed anyway; `lift`: adopted less base, over the comments that have both.

    The signals are `changed` (a later commit of the pull request changed the commented lines), `resolved`, `answered`
    (by another person) and `thumbed` (+1). Only `changed` is what the base rate is a rate of, so it alone counts unless
    told otherwise; each signal has its own measure. A comment with an unknown outcome is in no share. `comments` is
    per pull request. `hours` is the mean time from the push to the first comment on it, `typical_hours` the geometric
    mean, which one review after a month does not move.
    """

    example: ClassVar[str] = "reviewgauge review bench recorded -o runs/bots && reviewgauge score runs/bots adopted"

    counts: tuple[Word, ...] = ("changed",)

    headline: ClassVar[str] = "lift"
    units: ClassVar[Mapping[str, str]] = {
        "comments": "comments per pull request",
        "hours": "hours",
        "typical_hours": "hours",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"hours", "typical_hours", "thumbs_down"})
    signed: ClassVar[frozenset[str]] = frozenset({"lift"})

    def __post_init__(self) -> None:
        if not self.counts or set(self.counts) - set(SIGNALS):
            raise ValueError(f"counts must name some of {', '.join(SIGNALS)}, got {', '.join(self.counts) or 'none'}")

    @property
    def estimate_note(self) -> str:
        """A warning to show beside the figures."""
        return "adoption is not correctness"

    def parts(self, case: Case, review: Review) -> Measured | str:
        """Counts over the comments that stand on lines."""
        adoptions = [adoption for comment in review.comments if (adoption := _adoption(comment)) is not None]
        if review.comments and not adoptions and not any(_hours(comment) is not None for comment in review.comments):
            return "its comments do not say what became of them: stage collect_reviews records that"
        parts = {"comments": float(len(review.comments)), "pulls": _share_of_pull(review)}
        hours = [found for comment in review.comments if (found := _hours(comment)) is not None]
        if hours:
            first = max(min(hours), _SHORTEST)
            parts |= {"first": 1.0, "hours": first, "log_hours": math.log(first)}
        for adoption in adoptions:
            for name, value in self._one(adoption).items():
                parts[name] = parts.get(name, 0.0) + value
        return Measured(parts=parts, fake=review.fake)

    def _one(self, adoption: Mapping[str, object]) -> dict[str, float]:
        """The parts of one comment."""
        known = {name: _signal(adoption, name) for name in SIGNALS}
        found: dict[str, float] = {"told": 1.0, "thumbs_down": float(_count(adoption, "thumbs_down") > 0)}
        for name, value in known.items():
            if value is not None:
                found |= {f"{name}_known": 1.0, name: float(value)}
        counted = [known[name] for name in self.counts]
        acted = True if any(counted) else None if None in counted else False
        if acted is None:
            return found
        found |= {"judged": 1.0, "acted": float(acted)}
        places = _count(adoption, "base_lines")
        if places > 0:
            base = min(1.0, _count(adoption, "base_changed") / places)
            found |= {"paired": 1.0, "paired_acted": float(acted), "paired_base": base}
        return found

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Shares over all comments; see the class."""
        total, ratio = aggregate.total, aggregate.ratio
        return {
            "adopted": ratio(total("acted"), total("judged")),
            "base": ratio(total("paired_base"), total("paired")),
            "lift": ratio(total("paired_acted") - total("paired_base"), total("paired")),
            **{name: ratio(total(name), total(f"{name}_known")) for name in SIGNALS},
            "thumbs_down": ratio(total("thumbs_down"), total("told")),
            "comments": ratio(total("comments"), total("pulls")),
            "hours": ratio(total("hours"), total("first")),
            "typical_hours": np.exp(ratio(total("log_hours"), total("first"))),
        }


def _adoption(comment: Comment) -> Mapping[str, object] | None:
    found = comment.extra.get("adoption")
    return found if isinstance(found, dict) else None


def _signal(adoption: Mapping[str, object], name: str) -> bool | None:
    if name == "thumbed":
        return _count(adoption, "thumbs_up") > 0
    found = adoption.get(name)
    return found if isinstance(found, bool) else None


def _count(adoption: Mapping[str, object], name: str) -> float:
    found = adoption.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else 0.0


def _hours(comment: Comment) -> float | None:
    """Hours from the push to the comment."""
    found = comment.extra.get("after_push")
    return found / 3600 if isinstance(found, int | float) and not isinstance(found, bool) else None


def _share_of_pull(review: Review) -> float:
    """1 / the number of states of its pull request that this reviewer looked at, so that they add up to one."""
    try:
        looks = json.loads(review.trace or "{}").get("looks")
    except (ValueError, AttributeError, RecursionError):
        looks = None
    return 1.0 / looks if isinstance(looks, int) and looks > 0 else 1.0
