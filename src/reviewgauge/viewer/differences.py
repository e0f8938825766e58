"""What one system found that another did not: on the same changes, with both systems' words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewgauge.core.records import Case, Comment, Severity, findings
from reviewgauge.core.results import CommentState, GroupOutcome, Matching
from reviewgauge.core.stored import Lazy
from reviewgauge.datasets.martian import FALSE, SAME
from reviewgauge.viewer.rows import ChangeRow, Kind, Told, state_of
from reviewgauge.viewer.selection import Selection
from reviewgauge.views.report.reasons import in_words

WORST_FIRST = {str(severity): at for at, severity in enumerate(Severity)}
WRONG = ("false", "rejected")  # states of a comment that matches nothing


@dataclass(frozen=True)
class Side:
    """One system on one change."""

    matching: Matching
    comments: Mapping[str, Comment]

    @property
    def groups(self) -> Mapping[str, GroupOutcome]:
        """What became of each finding."""
        return {one.group: one for one in self.matching.groups}

    @property
    def false(self) -> int:
        """The number of its comments that match nothing."""
        return sum(state_of(one) in WRONG for one in self.matching.comments)

    def said(self, ids: Sequence[str | None]) -> Comment | None:
        """The first comment of these; a point of one (`comment#2`) is the comment."""
        names = (one.partition("#")[0] for one in ids if one is not None)
        return next((self.comments[name] for name in names if name in self.comments), None)


@dataclass(frozen=True)
class OnlyOne:
    """A finding that one of two systems alone hit; `nearest` is what the other said closest to it, `reason` why not.

    `sure`: the judge was, of both.
    """

    finding: Comment
    by_first: bool
    comment: Comment | None
    nearest: Comment | None
    reason: str
    sure: bool


@dataclass(frozen=True)
class Differing:
    """One change on which two systems differ, in findings or in the number of false comments."""

    number: int
    case: Case
    found: Sequence[OnlyOne]
    false: tuple[int, int]

    @property
    def lead(self) -> int:
        """By how many findings, less false comments, the first is ahead."""
        return sum(1 if one.by_first else -1 for one in self.found) - self.false[0] + self.false[1]


@dataclass(frozen=True)
class Narrowing:
    """Which findings that one of two systems alone hit are shown, and in which order their changes come.

    `side`: gained (by the first) or lost. `order`: by severity, category, gained or lost, else those with a finding
    first.
    """

    side: str = ""
    severity: str = ""
    category: str = ""
    order: str = ""

    def fits(self, kind: Kind, *, gained: bool) -> bool:
        """Whether a finding is shown."""
        fitting = self.side in ("", "gained" if gained else "lost")
        return fitting and self.severity in ("", kind.severity) and self.category in ("", kind.category)

    @property
    def narrows(self) -> bool:
        """Whether anything is left out."""
        return bool(self.side or self.severity or self.category)


ALL = Narrowing()


def differences(chosen: Selection, first: str, second: str, narrowing: Narrowing = ALL) -> Sequence[Differing]:
    """The changes on which two systems differ, each read when it is asked for; of attempts the first is shown.

    Without another order those with a finding that one alone hit come first, and of each the largest difference.
    """
    places: dict[int, tuple[object, ...]] = {}
    for number, one, two in _both(chosen, first, second):
        gained, lost = _alone(chosen.rows[number - 1], one, two, narrowing)
        if gained or lost or (one.false != two.false and not narrowing.narrows):
            kinds = [*gained.values(), *lost.values()]
            lead = len(gained) - len(lost) - one.false + two.false
            first_of = {
                "gained": -len(gained),
                "lost": -len(lost),
                "severity": min((WORST_FIRST.get(kind.severity, len(WORST_FIRST)) for kind in kinds), default=99),
                "category": min((kind.category or "~" for kind in kinds), default="~~"),
            }
            places[number] = first_of.get(narrowing.order, not kinds), -abs(lead), number

    def read(number: int) -> Differing:
        case, kinds = chosen.case(number), chosen.rows[number - 1].kinds
        one, two = (_side(chosen, case, system) for system in (first, second))
        found = [
            each
            for each in _only_one(case, one, two)
            if narrowing.fits(kinds.get(each.finding.id, Kind("", "")), gained=each.by_first)
        ]
        return Differing(number, case, found, (one.false, two.false))

    return Lazy.of(sorted(places, key=places.__getitem__), read)


def found_alone(
    chosen: Selection, first: str, second: str, narrowing: Narrowing = ALL
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of the findings that are shown, how many the first of two systems alone hit, and how many of them surely.

    Then the same of the second.
    """
    counts = Counter[tuple[int, bool]]()
    for number, one, two in _both(chosen, first, second):
        for side, alone in enumerate(_alone(chosen.rows[number - 1], one, two, narrowing)):
            counts.update((side, name not in one.unsure | two.unsure) for name in alone)
    gained, lost = ((counts[side, True] + counts[side, False], counts[side, True]) for side in (0, 1))
    return gained, lost


def _alone(row: ChangeRow, one: Told, two: Told, narrowing: Narrowing) -> tuple[dict[str, Kind], dict[str, Kind]]:
    """The findings that are shown, with their kinds, of those that the first alone hit, and the second."""
    gained, lost = (
        {name: kind for name in names if narrowing.fits(kind := row.kinds.get(name, Kind("", "")), gained=is_gain)}
        for names, is_gain in ((one.hit & two.missed, True), (two.hit & one.missed, False))
    )
    return gained, lost


def agreed(chosen: Selection, system: str) -> tuple[int, int]:
    """(how often the judge says what a person said of a comment by this system in these runs, of how many times)."""
    same = total = 0
    for case, labels in chosen.people.items():
        states = {
            (score.attempt, one.comment): one
            for score in chosen.scores_of(case, system)
            for one in (score.matching.comments if score.matching is not None else ())
        }
        for label in labels:
            of = label.subject
            one = states.get((of.attempt, of.comment or "")) if of.system == system else None
            if one is None or label.dimension not in (SAME, FALSE):
                continue
            raises = one.state in (CommentState.MATCHED, CommentState.DUPLICATE)
            says = raises and one.group == of.reference if label.dimension == SAME else state_of(one) in WRONG
            total += 1
            same += says is (label.value is True)
    return same, total


def _both(chosen: Selection, first: str, second: str) -> Iterator[tuple[int, Told, Told]]:
    """The changes that both were measured on."""
    at = {system: number for number, system in enumerate(chosen.systems)}
    own, other = at.get(first, -1), at.get(second, -1)
    return ((row.number, row.told[own], row.told[other]) for row in chosen.rows if {own, other} <= row.told.keys())


def _side(chosen: Selection, case: Case, system: str) -> Side:
    matching = next(s.matching for s in chosen.scores_of(case.id, system) if s.matching is not None)
    review = next((o.review for o in chosen.outcomes_of(case.id, system) if o.review is not None), None)
    return Side(matching, {comment.id: comment for comment in review.comments} if review else {})


def _only_one(case: Case, one: Side, two: Side) -> Iterator[OnlyOne]:
    for members in findings(case.references):
        ids = [member.id for member in members]
        own, other = (next((side.groups[i] for i in ids if i in side.groups), None) for side in (one, two))
        if own is None or other is None or own.hit == other.hit:
            continue
        hit, missed, finder, loser = (own, other, one, two) if own.hit else (other, own, two, one)
        reason = in_words(missed.reason, dict.fromkeys(filter(None, (*ids, missed.nearest)), ""))
        sure = not (own.unsure or other.unsure)
        yield OnlyOne(members[0], own.hit, finder.said(hit.comments), loser.said([missed.nearest]), reason, sure)
