"""Draws decisions of a stage for people to check, and reads their marks: `audit/<stage>.csv` of a build's folder.

The draw takes the decisions with the smallest hashes, so it does not depend on their order, and changes little when
the source grows. Rows are in the order of their hashes: a person who begins at the top and stops anywhere has checked
a random sample.

Source: ContextCRBench (arXiv:2511.07017), 2.3.3, has three people mark 300 decisions on their own, and compares the
model with what most of them say.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.building import CardSection, Decision
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.shares import margin, wilson
from reviewgauge.stages.sampling.audit_table import (
    AUDIT,
    CONSENSUS,
    AuditRow,
    Marks,
    Table,
    read_marks,
    read_table,
    write_table,
)

NOBODY = "Nobody has checked one yet: write y or n into its column correct and build again."
RIGHT = "right"  # the dimension of a decision's labels; in a table the column `correct`
MOST_VALUES = 12  # different decisions that are counted one by one; free texts are not


class Drawn(NamedTuple):
    """The draw: its decisions by id, the smallest hash first; and of how many they are, by what was decided."""

    decisions: Mapping[str, Decision]
    population: int
    decided: Counter[str] | None


class Checked(NamedTuple):
    """What people say of a draw. `skipped`: blank rows above one that is not; `split`: rows that raters differ in."""

    population: int
    drawn: int
    checked: int
    right: int
    skipped: int
    split: int

    @property
    def words(self) -> str:
        """`17 of 20`; empty where nobody checked one."""
        return f"{self.right} of {self.checked}" if self.checked else ""


def audit_stage(
    folder: Path, by: str, decisions: Iterable[Decision], n: int, into: Path | None = None
) -> CardSection | None:
    """Draw `n` of the decisions of the stage `by` into its table; a section with what people found there so far.

    The new table is written below `into`. With `n` 0 nothing is drawn and an earlier draw is read again; None where
    there was none. Raises BadInput for a table that cannot be read.
    """
    path = table_path(folder, by)
    table = read_table(path)
    if not n and not table.rows:
        return None
    drawn = draw(decisions, n or len(table.rows))
    if n:
        write_drawn(table, drawn.decisions, table_path(into or folder, by))
    return _section(by, path.name, drawn, read_marks(path))


def write_drawn(table: Table, drawn: Mapping[str, Decision], path: Path) -> None:
    """Write a table with the rows of these decisions, where it lacks any; nothing that people wrote is lost."""
    rows = []
    for name, one in drawn.items():
        before = table.rows.get(name, AuditRow(name))
        rows.append(before._replace(shown=one.shown, decided=one.decided, reason=one.reason))
    rows += [row for row in table.rows.values() if row.id not in drawn and row.filled]
    if {row.id for row in rows} != set(table.rows):
        write_table(path, rows, table.more)


def audit_labels(table: Path) -> list[Label]:
    """What each rater of a table says of each decision, as labels of `yes` and `no`. Raises BadInput."""
    marks = read_marks(table)
    said = [(row, rater, mark) for row, own in marks.by_row.items() for rater, mark in own.items()]
    said += [(row, CONSENSUS, mark) for row, mark in marks.agreed.items()]
    return [
        Label(
            subject=Subject(kind=SubjectKind.CHANGE, case=row),
            rater=rater,
            dimension=RIGHT,
            value="yes" if mark else "no",
            consensus=rater == CONSENSUS,
        )
        for row, rater, mark in said
    ]


def check_tables(folder: Path) -> None:
    """Read every table that people may have written in, so that a build fails early on a mark that cannot be read.

    Raises BadInput, UserError.
    """
    for path in sorted((folder / AUDIT).glob("*.csv")):
        read_table(path)


def table_path(folder: Path, by: str) -> Path:
    """The table of a stage: one per stage and setting, as a recipe may use a stage twice."""
    name = re.sub(r"[^\w.-]", "_", by.partition("(")[0], flags=re.ASCII).strip("._")[:80] or "stage"
    return folder / AUDIT / (f"{name}-{content_id(by, length=6)}.csv" if "(" in by else f"{name}.csv")


def draw(decisions: Iterable[Decision], n: int, seed: int = 0) -> Drawn:
    """The `n` decisions with the smallest hashes; the stream is read once and not held."""
    heap: list[tuple[int, str]] = []  # the largest hash on top
    kept: dict[str, Decision] = {}
    decided: Counter[str] | None = Counter()
    population = 0
    for decision in decisions:
        population += 1
        if decided is not None:
            decided[decision.decided] += 1
            decided = decided if len(decided) <= MOST_VALUES else None
        name = decision_id(decision)
        rank = _rank(name, seed)
        if name in kept or (len(heap) >= n and rank >= -heap[0][0]):
            continue
        heapq.heappush(heap, (-rank, name))
        kept[name] = decision
        if len(heap) > n:
            del kept[heapq.heappop(heap)[1]]
    ordered = [name for _, name in sorted(heap, reverse=True)]
    return Drawn({name: kept[name] for name in ordered}, population, decided)


def decision_id(decision: Decision) -> str:
    """The decision's id, made from its content. The letter keeps a spreadsheet from reading a number or a date."""
    return "x" + content_id(decision.by, decision.item, decision.shown, decision.decided)


def _rank(name: str, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\x1f{name}".encode()).digest()[:8])


def checked(drawn: Drawn, marks: Marks) -> Checked:
    """The marks on the rows of a draw. Others do not count: nobody drew them by chance."""
    verdicts = [marks.verdict(name) for name in drawn.decisions]
    last = max((at for at, verdict in enumerate(verdicts) if verdict is not None), default=-1)
    return Checked(
        population=drawn.population,
        drawn=len(verdicts),
        checked=len(verdicts) - verdicts.count(None),
        right=verdicts.count(True),
        skipped=verdicts[: last + 1].count(None),
        split=sum(marks.verdict(name) is None and bool(marks.by_row.get(name)) for name in drawn.decisions),
    )


# --- on the card ---------------------------------------------------------------------------------------------------


def _section(by: str, table: str, drawn: Drawn, marks: Marks) -> CardSection:
    found = checked(drawn, marks)
    idle = sum(marks.verdict(name) is not None for name in marks.by_row if name not in drawn.decisions)
    figures: dict[str, Fact] = {"decisions": found.population, "drawn": found.drawn, "checked": found.checked}
    interval = wilson(found.right, found.checked, found.population)
    if interval is not None:
        figures |= {
            "right": found.right,
            "accuracy": round(found.right / found.checked, 6),
            "margin": round(margin(found.checked, found.population) or 0.0, 6),
            "low": round(interval[0], 6),
            "high": round(interval[1], 6),
        }
    counted = sorted((drawn.decided or {}).items(), key=lambda item: (-item[1], item[0]))
    return CardSection(
        by=by,
        title=f"Audit of {by.partition('(')[0]}",
        text=" ".join(_sentences(f"{AUDIT}/{table}", found, figures, idle)),
        columns=("decided", "decisions") if counted else (),
        rows=tuple(counted),
        figures=figures,
    )


def _sentences(where: str, found: Checked, figures: Mapping[str, Fact], idle: int) -> Iterator[str]:
    if not found.population:
        yield "The model decided nothing in this build."
        return
    yield f"{found.drawn:,} of {found.population:,} decisions were drawn into {where}."
    if not found.checked:
        yield NOBODY
        return
    yield (
        f"People checked {found.checked:,} and found {found.right:,} right: {figures['accuracy']:.2%}, with a margin "
        f"of at most {figures['margin']:.2%} at 95% confidence (Wilson's interval: {figures['low']:.2%} to "
        f"{figures['high']:.2%})."
    )
    if found.skipped:
        yield (
            f"{found.skipped:,} rows above a checked one were left blank: if they were the hard ones, the figure is "
            "too good."
        )
    if idle:
        yield f"{idle:,} checked rows do not count: their decision is no longer drawn, or was not made again."
