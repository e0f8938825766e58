"""Labels and clean changes that people check: the rows of the sheet, the marks of its raters, and what they say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.building import Decision
from reviewgauge.core.errors import BadInput, one_line
from reviewgauge.core.records import Case, Comment, Origin, findings
from reviewgauge.stages.sampling.audit import Drawn, decision_id
from reviewgauge.stages.sampling.audit_table import AUDIT, CONSENSUS, AuditRow, read_table
from reviewgauge.stages.sampling.shares import wilson

SHEET = f"{AUDIT}/labels.csv"
PAGE = f"{AUDIT}/labels.html"
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


@dataclass(frozen=True)
class Marks:
    """What people wrote: for each row the marks by rater. A rater's own sheet is `labels-NAME.csv`.

    `agreed`: what they said of a row together, from `labels-consensus.csv`.
    """

    by_row: Mapping[str, Mapping[str, bool]]
    agreed: Mapping[str, bool] = field(default_factory=dict)

    @property
    def raters(self) -> list[str]:
        """The names of those who marked anything."""
        return sorted({rater for marks in self.by_row.values() for rater in marks})

    def verdict(self, row: str) -> bool | None:
        """What raters agreed on, else what most say of a row; None without a mark, and where they are split."""
        if row in self.agreed:
            return self.agreed[row]
        marks = Counter(self.by_row.get(row, {}).values())
        return None if marks[True] == marks[False] else marks[True] > marks[False]

    def split(self, rows: Sequence[str]) -> int:
        """How many of the rows were marked and have no majority."""
        return sum(bool(self.by_row.get(row)) and self.verdict(row) is None for row in rows)


def read_marks(folder: Path) -> Marks:
    """The marks in the sheets of a build's folder. Raises BadInput for one that cannot be read, or is nobody's own."""
    found: dict[str, dict[str, bool]] = {}
    sheets = {"labels.csv": folder / SHEET}
    for path in sorted((folder / AUDIT).glob("labels-*.csv")):
        rater = path.stem.removeprefix("labels-").strip().casefold()
        if not rater or rater in sheets:
            raise BadInput(path.name, "is not the sheet of one rater more", remedy="name it labels-NAME.csv")
        sheets[rater] = path
    agreed: dict[str, bool] = {}
    for rater, path in sheets.items():
        for name, row in read_table(path).rows.items():
            if row.correct is not None and rater == CONSENSUS:
                agreed[name] = row.correct
            elif row.correct is not None:
                found.setdefault(name, {})[rater] = row.correct
    return Marks(found, agreed)


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


@dataclass(frozen=True)
class Held:
    """How many of the checked rows of one kind hold. `split`: raters disagree; those rows count as not checked."""

    population: int
    drawn: int
    checked: int
    right: int
    split: int

    @property
    def words(self) -> str:
        """`17 of 20`; empty where nobody checked one."""
        return f"{self.right} of {self.checked}" if self.checked else ""

    def figures(self, name: str) -> Mapping[str, Fact]:
        """The figures for the card."""
        found: dict[str, Fact] = {name: self.population, f"{name} drawn": self.drawn, f"{name} checked": self.checked}
        if interval := wilson(self.right, self.checked):
            found |= {
                f"{name} that hold": self.right,
                f"share of {name} that hold": round(self.right / self.checked, 6),
                f"share of {name} that hold, low": round(interval[0], 6),
                f"share of {name} that hold, high": round(interval[1], 6),
            }
        return found | ({f"{name} on which raters are split": self.split} if self.split else {})


def held(drawn: Drawn, marks: Marks) -> Held:
    """The marks on the rows of a draw. Others do not count: nobody drew them by chance."""
    rows = list(drawn.decisions)
    verdicts = [marks.verdict(row) for row in rows]
    checked = [verdict for verdict in verdicts if verdict is not None]
    return Held(drawn.population, len(rows), len(checked), sum(checked), marks.split(rows))


def sheet_row(decision: Decision, before: AuditRow | None) -> AuditRow:
    """The row of a decision, with what a person wrote into it."""
    row = AuditRow(decision_id(decision), decision.shown, decision.decided, decision.reason)
    return row if before is None else row._replace(correct=before.correct, written=before.written)
