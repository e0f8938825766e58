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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.building import CardSection, Decision
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.stages.sampling.audit_table import AUDIT, CONSENSUS, AuditRow, read_table, sheets_of, write_table
from reviewgauge.stages.sampling.shares import margin, wilson

SEED = 0  # of the draws
MOST_VALUES = 12  # different decisions that are counted one by one; free texts are not


class Drawn(NamedTuple):
    """The draw: its decisions by id, the smallest hash first; and of how many they are, by what was decided."""

    decisions: Mapping[str, Decision]
    population: int
    decided: Counter[str] | None


class CheckedDecisions(NamedTuple):
    """Counts of people's marks. `skipped`: rows of the draw that are blank above one that is not."""

    checked: int
    right: int
    skipped: int


def audit_stage(
    folder: Path, by: str, decisions: Iterable[Decision], n: int, into: Path | None = None
) -> CardSection | None:
    """Draw `n` of the decisions of the stage `by` into its table; a section with what people found there so far.

    The new table is written below `into`. With `n` 0 nothing is drawn and an earlier draw is read again; None where
    there was none. Marks and notes that people wrote are never changed, also where their decision is no longer drawn
    or no longer made. Raises BadInput for a table that cannot be read.
    """
    path = folder / AUDIT / file_name(by)
    table = read_table(path)
    if not n and not table.rows:
        return None
    drawn = draw(decisions, n or len(table.rows), SEED)
    if n:
        rows = [_row(name, decision, table.rows.get(name)) for name, decision in drawn.decisions.items()]
        rows += [row for row in table.rows.values() if row.id not in drawn.decisions and row.filled]
        if {row.id for row in rows} != set(table.rows):
            write_table((into or folder) / AUDIT / path.name, rows, table.more)
    sheets = {rater: {name: row.correct for name, row in rows.items()} for rater, rows in sheets_of(path).items()}
    agreed = sheets.pop(CONSENSUS, {})
    raters = list(sheets.values())
    said = {name: [own[name] for own in raters if own.get(name) is not None] for name in table.rows}
    counts = {name: _majority(said[name]) if agreed.get(name) is None else agreed[name] for name in table.rows}
    checked = {name: row._replace(correct=counts[name]) for name, row in table.rows.items()}
    section = _section(by, f"{AUDIT}/{path.name}", drawn, found_by_people(drawn, checked), checked)
    counted = "what they agreed on together counts, else what most say" if agreed else "what most say counts"
    return _with_raters(section, [said[name] for name in drawn.decisions if name in said], len(raters), counted)


def _majority(marks: Sequence[bool | None]) -> bool | None:
    """What most raters say; None of a tie, or where nobody says anything."""
    right = sum(mark is True for mark in marks)
    return None if 2 * right == len(marks) else 2 * right > len(marks)


def _with_raters(section: CardSection, said: Sequence[Sequence[bool | None]], raters: int, counted: str) -> CardSection:
    """The section with how often several raters say the same of a decision; as it is of a single one."""
    if raters < 2:
        return section
    several = [marks for marks in said if len(marks) == raters]
    alike = sum(len(set(marks)) == 1 for marks in several)
    text = f" {raters} raters all marked {len(several):,} of them and agree on {alike:,}; {counted}."
    figures = {**section.figures, "raters": raters, "marked by all": len(several), "alike": alike}
    return section.model_copy(update={"text": section.text + text, "figures": figures})


def audit_labels(table: Path, dimension: str) -> list[Label]:
    """What each rater of a table says of each decision, as labels of `yes` and `no`. Raises BadInput."""
    found = []
    for rater, rows in sheets_of(table).items():
        said = {name: "yes" if row.correct else "no" for name, row in rows.items() if row.correct is not None}
        for name, word in said.items():
            subject = Subject(kind=SubjectKind.CHANGE, case=name)
            together = rater == CONSENSUS
            found.append(Label(subject=subject, rater=rater, dimension=dimension, value=word, consensus=together))
    return found


def check_tables(folder: Path) -> None:
    """Read every table that people may have written in, so that a build fails early on a mark that cannot be read.

    Raises BadInput, UserError.
    """
    for path in sorted((folder / AUDIT).glob("*.csv")):
        read_table(path)


def file_name(by: str) -> str:
    """The name of a stage's table: one per stage and setting, as a recipe may use a stage twice."""
    name = re.sub(r"[^\w.-]", "_", by.partition("(")[0], flags=re.ASCII).strip("._")[:80] or "stage"
    return f"{name}-{content_id(by, length=6)}.csv" if "(" in by else f"{name}.csv"


def draw(decisions: Iterable[Decision], n: int, seed: int) -> Drawn:
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


def found_by_people(drawn: Drawn, rows: Mapping[str, AuditRow]) -> CheckedDecisions:
    """Counts over the marked rows of the draw."""
    marks = [rows[name].correct if name in rows else None for name in drawn.decisions]
    last = max((at for at, mark in enumerate(marks) if mark is not None), default=-1)
    return CheckedDecisions(
        checked=sum(mark is not None for mark in marks),
        right=sum(mark is True for mark in marks),
        skipped=sum(mark is None for mark in marks[: last + 1]),
    )


# --- on the card ---------------------------------------------------------------------------------------------------


def _row(name: str, decision: Decision, before: AuditRow | None) -> AuditRow:
    fresh = AuditRow(id=name, shown=decision.shown, decided=decision.decided, reason=decision.reason)
    if before is None:
        return fresh
    return fresh._replace(correct=before.correct, written=before.written)


def _section(by: str, where: str, drawn: Drawn, found: CheckedDecisions, rows: Mapping[str, AuditRow]) -> CardSection:
    figures: dict[str, Fact] = {"decisions": drawn.population, "drawn": len(drawn.decisions), "checked": found.checked}
    interval = wilson(found.right, found.checked, drawn.population)
    widest = margin(found.checked, drawn.population)
    if interval is not None and widest is not None:
        figures |= {
            "right": found.right,
            "accuracy": round(found.right / found.checked, 6),
            "margin": round(widest, 6),
            "low": round(interval[0], 6),
            "high": round(interval[1], 6),
        }
    counted = sorted((drawn.decided or {}).items(), key=lambda item: (-item[1], item[0]))
    return CardSection(
        by=by,
        title=f"Audit of {by.partition('(')[0]}",
        text=" ".join(_sentences(where, drawn, found, rows)),
        columns=("decided", "decisions") if counted else (),
        rows=tuple(counted),
        figures=figures,
    )


def _sentences(where: str, drawn: Drawn, found: CheckedDecisions, rows: Mapping[str, AuditRow]) -> Sequence[str]:
    sentences = [f"{len(drawn.decisions):,} of {drawn.population:,} decisions were drawn into {where}."]
    if not drawn.population:
        return ["The model decided nothing in this build."]
    if not found.checked:
        sentences.append("Nobody has checked one yet: write y or n into its column correct and build again.")
        return sentences
    share, interval = found.right / found.checked, wilson(found.right, found.checked, drawn.population)
    widest = margin(found.checked, drawn.population)
    assert interval is not None and widest is not None
    sentences.append(
        f"People checked {found.checked:,} and found {found.right:,} right: {share:.2%}, with a margin of at most "
        f"{widest:.2%} at 95% confidence (Wilson's interval: {interval[0]:.2%} to {interval[1]:.2%})."
    )
    if found.skipped:
        sentences.append(
            f"{found.skipped:,} rows above a checked one were left blank: if they were the hard ones, the figure is "
            "too good."
        )
    if idle := sum(row.correct is not None and name not in drawn.decisions for name, row in rows.items()):
        sentences.append(
            f"{idle:,} checked rows do not count: their decision is no longer drawn, or was not made again."
        )
    return sentences
