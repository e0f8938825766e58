"""Does a reviewer tell an injected defect from the same change without it? Sensitivity, false alarms and d′.

Sources: Green and Swets, Signal Detection Theory and Psychophysics (1966), for d′; Hautus, Corrections for extreme
proportions and their biasing effects on estimated values of d′, Behavior Research Methods 27 (1995), for the log-linear
correction. Twins as the place where false alarms are counted are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reviewgauge.core.protocols import Aggregate, Measured
from reviewgauge.core.records import ARM, Arm, Case, Comment, Review, Task, findings
from reviewgauge.core.results import Bounds, CommentOutcome, CommentState, Matching
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.execution.by_hits import ByHits
from reviewgauge.metrics.matching.counts import Facet, add_parts
from reviewgauge.metrics.matching.place import ChangedLines

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

_PLACES = {Arm.DEFECT: "defects", Arm.TWIN: "twins", Arm.SAFE: "safes"}  # what is counted on each arm: places
_TOLD = {Arm.DEFECT: "found", Arm.TWIN: "alarms", Arm.SAFE: "safe_alarms"}  # and those where the defect is told
_STATES = (CommentState.MATCHED, CommentState.UNSURE, CommentState.DUPLICATE, CommentState.NEUTRAL, CommentState.FALSE)


@dataclass(frozen=True)
class Twins(ByHits):
    """`d_prime`: how far the rate of defects that are told apart stands above the rate of alarms on their twins.

    A case with a defect and its twin without it are measured alike, each planted place by itself: is there a comment
    that says what is wrong there, by `judge`, `tolerance` and `location` as in `hits`? On the defect it is found
    (`sensitivity`), on the twin a `false_alarm`, on an edit of the same kind that does no harm a `safe_alarm`. Who does
    not look at the difference has the same rate on both, and a d′ of 0; 1 is fair, 3 nearly perfect. The `line_`
    measures look at the place alone, whatever a comment says, and `alarms_per_change` counts all comments on those
    lines of a twin.
    """

    example: ClassVar[str] = "reviewgauge build . -o twins --recipe injected"

    headline: ClassVar[str] = "d_prime"
    facets: ClassVar[Sequence[str]] = ("operator", "made", "category", "severity", "needs")
    units: ClassVar[Mapping[str, str]] = {
        "d_prime": "standard deviations",
        "line_d_prime": "standard deviations",
        "alarms_per_change": "comments per change",
    }
    curved: ClassVar[frozenset[str]] = frozenset({"d_prime", "line_d_prime"})
    lower_is_better: ClassVar[frozenset[str]] = frozenset(
        {"false_alarm", "safe_alarm", "line_false_alarm", "alarms_per_change"}
    )

    def unmeasurable(self, case: Case) -> str:
        """Only a case of a benchmark with twins can be measured."""
        if case.change.task is not Task.REVIEW:
            return f"the task is {case.change.task}, not review"
        if case.facts.get(ARM) not in list(Arm):
            return "neither a planted defect nor its twin: build --recipe injected makes such cases"
        return "" if planted(case) else f"the {case.facts[ARM]} does not say where a defect was planted"

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The counts of one review of a defect or a twin."""
        if reason := self.unmeasurable(case):
            return reason
        arm = Arm(str(case.facts[ARM]))
        parts = dict.fromkeys((_PLACES[arm], _TOLD[arm], f"line_{_TOLD[arm]}"), 0.0)
        facets: dict[str, Facet] = {name: {} for name in self.facets}
        measured: list[Measured] = []
        for place in planted(case):  # one by one: else several on one twin would compete, and those on defects never
            one = self.hits.parts(case.model_copy(update={"references": place, "neutral": (), "rejected": ()}), review)
            if isinstance(one, str):
                return one
            found = {
                _PLACES[arm]: 1.0,
                _TOLD[arm]: one.parts["hit"],
                f"line_{_TOLD[arm]}": one.parts.get("line_hits", 0.0),
            }
            for name, number in found.items():
                parts[name] += number
            for name, value in _facts(place):
                add_parts(facets[name], value, found)
            measured.append(one)
        if arm is Arm.TWIN:
            parts |= {"twin_changes": 1.0, "line_comments": float(self._on_places(case, review))}
        for name in ("pairs", "asked"):
            if name in measured[0].parts:
                parts[name] = sum(one.parts[name] for one in measured)
        return Measured(
            parts=parts,
            facets=facets,
            matching=_joined([one.matching for one in measured if one.matching is not None], arm),
            fake=any(one.fake for one in measured),
        )

    def _on_places(self, case: Case, review: Review) -> int:
        """The number of comments on planted lines."""
        lines = ChangedLines(case.change.files)
        known = [one for place in planted(case) for one in place]
        return sum(
            lines.tells_where(comment.span) and any(locate(comment, one, self.tolerance).located for one in known)
            for comment in review.comments
            if comment.span is not None
        )

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Every total is summed over the cases first; a d′ needs places of both kinds."""
        total, ratio = aggregate.total, aggregate.ratio
        found, defects, alarms, twins = (total(name) for name in ("found", "defects", "alarms", "twins"))
        measures = {
            "d_prime": _d_prime(found, defects, alarms, twins),
            "sensitivity": ratio(found, defects),
            "false_alarm": ratio(alarms, twins),
            "safe_alarm": ratio(total("safe_alarms"), total("safes")),
            "alarms_per_change": ratio(total("line_comments"), total("twin_changes")),
            "line_d_prime": _d_prime(total("line_found"), defects, total("line_alarms"), twins),
            "line_sensitivity": ratio(total("line_found"), defects),
            "line_false_alarm": ratio(total("line_alarms"), twins),
        }
        if "pairs" in aggregate.names:
            measures["asked"] = ratio(total("asked"), total("pairs"))
        return measures

    def bounds(self, case: Case) -> Bounds:
        """At worst a defect is missed and a twin alarmed about, at best the reverse."""
        if self.unmeasurable(case):
            return Bounds(worst={}, best={})
        arm, many = Arm(str(case.facts[ARM])), float(len(planted(case)))
        shared = {_PLACES[arm]: many, **({"twin_changes": 1.0} if arm is Arm.TWIN else {})}
        told = (_TOLD[arm], f"line_{_TOLD[arm]}", *(("line_comments",) if arm is Arm.TWIN else ()))
        none, every = dict.fromkeys(told, 0.0), dict.fromkeys(told, many)
        worst, best = (none, every) if arm is Arm.DEFECT else (every, none)
        return Bounds(worst=shared | worst, best=shared | best)


def planted(case: Case) -> list[tuple[Comment, ...]]:
    """What is known about each planted place: the finding on a defect, the same as a false one on its twin."""
    return findings(case.references if case.facts.get(ARM) == Arm.DEFECT else case.rejected)


def _facts(place: Sequence[Comment]) -> Iterator[tuple[str, str | None]]:
    """Facets and their values, of the defect that is or would be there."""
    one = place[0]
    for name in ("operator", "made"):
        value = one.extra.get(name)
        yield name, value if isinstance(value, str) else None
    for name in ("category", "severity", "needs"):
        stated = getattr(one, name)
        yield name, None if stated is None else str(stated)


def _joined(matchings: Sequence[Matching], arm: Arm) -> Matching | None:
    """The evidence on all places of a case as one; of a comment, the place that it fits best.

    Of comments on other lines nobody knows whether they are right; what tells a defect where none is, is wrong.
    """
    if not matchings:
        return None
    best: dict[str, CommentOutcome] = {}
    for outcome in (outcome for one in matchings for outcome in one.comments):
        before = best.setdefault(outcome.comment, outcome)
        if _STATES.index(outcome.state) < _STATES.index(before.state):
            best[outcome.comment] = outcome
    return Matching(
        policy=matchings[0].policy,
        comments=tuple(_counted(outcome, arm) for outcome in best.values()),
        groups=tuple(group for one in matchings for group in one.groups),
        line_hits=sum(one.line_hits for one in matchings),
        pairs=tuple(pair for one in matchings for pair in one.pairs),
    )


def _counted(outcome: CommentOutcome, arm: Arm) -> CommentOutcome:
    if outcome.state is CommentState.FALSE:
        return outcome.model_copy(update={"state": CommentState.NEUTRAL})
    if arm is Arm.DEFECT or outcome.state is CommentState.UNSURE:
        return outcome
    return outcome.model_copy(update={"state": CommentState.FALSE, "rejected": True, "group": None})


def _d_prime(hits: Numbers, defects: Numbers, alarms: Numbers, twins: Numbers) -> Numbers:
    """z(H) - z(F), half a place added to either count and one to either total, so that 0 and 1 have a z."""
    from scipy.special import ndtri

    found: Numbers = ndtri((hits + 0.5) / (defects + 1)) - ndtri((alarms + 0.5) / (twins + 1))
    return np.where((defects > 0) & (twins > 0), found, np.nan)
