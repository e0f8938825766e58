"""Labels and clean changes that people check: the rows of the sheet, and what people found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.building import Decision
from reviewgauge.core.errors import one_line
from reviewgauge.core.records import Case, Comment, Origin, findings
from reviewgauge.stages.sampling.audit_table import AUDIT
from reviewgauge.stages.sampling.shares import wilson

SHEET = f"{AUDIT}/labels.csv"
LABEL, CLEAN = "label", "clean"
LABELS_FACT, CLEAN_FACT = "labels_that_hold", "clean_that_hold"  # on every case: "17 of 20"
_CHECKED = re.compile(r"(\d{1,9}) of (\d{1,9})")
_LONGEST_TITLE, _LONGEST_TEXT = 200, 1_500


def from_fix(finding: Sequence[Comment]) -> bool:
    """Whether a finding was made from a fix, in any of its phrasings."""
    return any(one.origin is Origin.FIX for one in finding)


def label_decision(case: Case, finding: Sequence[Comment]) -> Decision:
    """A label as a row of the sheet. The row stays the same while change, lines and fix do."""
    places = [one.span for one in finding if one.span is not None]
    where = "\n".join(f"{span.path}, lines {span.start} to {span.end}" for span in places) or "the change as a whole"
    fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
    shown = f"{one_line(case.change.title, _LONGEST_TITLE)}\n{where}\nfix {fix}"
    return Decision(item=case.id, by=LABEL, decided=LABEL, shown=shown, reason=finding[0].body[:_LONGEST_TEXT])


def clean_decision(case: Case) -> Decision:
    """A clean change as a row of the sheet."""
    shown = one_line(case.change.title, _LONGEST_TITLE)
    reason = "no fix spoke about it while it was watched"
    return Decision(item=case.id, by=CLEAN, decided=CLEAN, shown=shown, reason=reason)


def decisions_of(case: Case, kind: str) -> Iterator[Decision]:
    """The rows that a case may give."""
    if kind == LABEL:
        yield from (label_decision(case, finding) for finding in findings(case.references) if from_fix(finding))
    elif case.clean:
        yield clean_decision(case)


class PeopleFound(NamedTuple):
    """`words`, such as "17 of 20", and the share with the ends of its interval."""

    words: str
    ends: tuple[float, float, float]


def people_found(cases: Iterable[Case], fact: str) -> PeopleFound | None:
    """How many of the drawn labels, or clean changes, hold, as each case says; None where nobody checked."""
    stated = next((str(case.facts[fact]) for case in cases if fact in case.facts), "")
    if not (found := _CHECKED.fullmatch(stated)):
        return None
    right, n = int(found[1]), int(found[2])
    interval = wilson(right, n) if right <= n else None
    return PeopleFound(stated, (right / n, *interval)) if interval else None
