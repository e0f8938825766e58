"""The rows of the list of changes: what became of the findings and comments of each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.records import ARM, Arm, Case, findings
from reviewgauge.core.results import CommentOutcome, Score
from reviewgauge.engine.run.scored_run import ScoredRun


class Told(NamedTuple):
    """What became of the findings, by their groups, and the number of comments that match nothing."""

    hit: frozenset[str]
    missed: frozenset[str]
    false: int
    unsure: frozenset[str] = frozenset()  # of both


class Kind(NamedTuple):
    """How a finding was classified; empty where it was not."""

    severity: str
    category: str


@dataclass(frozen=True)
class ChangeRow:
    """One change in the list: what each system's comments count as, by its number; `told` of its first attempt."""

    number: int  # from 1, its part of an address
    id: str
    title: str
    repo: str
    facts: Mapping[str, Fact]
    findings: int
    clean: bool
    states: Mapping[int, Counter[str]] = field(default_factory=dict)
    failed: tuple[int, ...] = ()
    told: Mapping[int, Told] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)  # of each finding, by its group


def rows_of(run: ScoredRun, systems: list[str]) -> list[ChangeRow]:
    """A row for each change of a run, with what these systems' comments count as."""
    return list(change_rows(run.cases, run.scores, systems))


def change_rows(cases: Sequence[Case], scores: Sequence[Score], systems: Sequence[str]) -> Iterator[ChangeRow]:
    """A row for each case, in their order, with what the scores say of these systems."""
    index = {system: at for at, system in enumerate(systems)}
    states: dict[str, dict[int, Counter[str]]] = {}
    told: dict[str, dict[int, Told]] = {}
    failed: dict[str, set[int]] = {}
    sound = {case.id for case in cases if case.facts.get(ARM) in (Arm.TWIN, Arm.SAFE)}  # nothing is to be found there
    for score in scores:
        at = index.get(score.system)
        if at is None:
            continue
        if score.failure is not None:
            failed.setdefault(score.case, set()).add(at)
        if score.matching is not None:
            own = states.setdefault(score.case, {}).setdefault(at, Counter())
            own.update(map(state_of, score.matching.comments))
            groups = () if score.case in sound else score.matching.groups
            own.update("hit" if group.hit else "missed" for group in groups)
            hit, missed = (
                frozenset(group.group for group in groups if group.hit is is_hit) for is_hit in (True, False)
            )
            false = sum(state_of(one) in ("false", "rejected") for one in score.matching.comments)
            unsure = frozenset(group.group for group in groups if group.unsure)
            told.setdefault(score.case, {}).setdefault(at, Told(hit, missed, false, unsure))
    for number, case in enumerate(cases, 1):
        known = findings(case.references)
        yield ChangeRow(
            number,
            case.id,
            case.change.title or case.id,
            case.change.repo,
            case.facts,
            len(known),
            case.clean,
            states.get(case.id, {}),
            tuple(sorted(failed.get(case.id, ()))),
            told.get(case.id, {}),
            {one.id: Kind(str(one.severity or ""), str(one.category or "")) for one, *_ in known},
        )


def state_of(outcome: CommentOutcome) -> str:
    """The state of a comment as pages name it."""
    return "rejected" if outcome.rejected else str(outcome.state)
