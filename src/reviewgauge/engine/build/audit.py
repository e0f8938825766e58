"""Draws decisions of a stage for people to check, and reads what they found: `audit/<stage>.csv` of a build's folder.

The draw takes the decisions with the smallest hashes, so it does not depend on their order, and a source that grows
changes it as little as can be. Rows stand in the order of their hashes: whoever begins at the top and stops anywhere
has checked a random sample.

Sources: Wilson, Probable inference, JASA 22 (1927); Cochran, Sampling Techniques (1977), sections 2.6 and 4.4, for
the correction of a finite population and the margin of a share that is not known.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.building import CardSection, Decision
from reviewgauge.engine.build.audit_table import AuditRow, read_table, write_table

AUDIT = "audit"
LEVEL = 0.95
MOST_VALUES = 12  # different decisions that are counted one by one; free texts are not


class Drawn(NamedTuple):
    """The draw: its decisions by id, the smallest hash first; and of how many they are, by what was decided."""

    decisions: Mapping[str, Decision]
    population: int
    decided: Counter[str] | None


class CheckedDecisions(NamedTuple):
    """What people found. `skipped`: rows of the draw that were left blank above one that was not."""

    checked: int
    right: int
    skipped: int


def audit_stage(folder: Path, by: str, decisions: Iterable[Decision], n: int, seed: int) -> CardSection | None:
    """Draw `n` of the decisions of the stage `by` into its table, and say what people found there so far.

    With `n` 0 nothing is drawn: what an earlier draw found is read again; None where there was none. Marks and notes
    that people wrote are never changed, also where their decision is no longer drawn or no longer made. Raises
    BadInput for a table that cannot be read.
    """
    path = folder / AUDIT / file_name(by)
    table = read_table(path)
    if not n and not table.rows:
        return None
    drawn = draw(decisions, n or len(table.rows), seed)
    if n:
        rows = [_row(name, decision, table.rows.get(name)) for name, decision in drawn.decisions.items()]
        rows += [row for row in table.rows.values() if row.id not in drawn.decisions and row.filled]
        if {row.id for row in rows} != set(table.rows):
            write_table(path, rows, table.more)
    return _section(by, f"{AUDIT}/{path.name}", drawn, found_by_people(drawn, table.rows), table.rows)


def check_tables(folder: Path) -> None:
    """Read every table that people may have written in, so that a mark nobody can read is told before a build begins.

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
    """Made from what was decided about what. The letter keeps a spreadsheet from taking it for a number or a date."""
    return "x" + content_id(decision.by, decision.item, decision.shown, decision.decided)


def _rank(name: str, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\x1f{name}".encode()).digest()[:8])


def found_by_people(drawn: Drawn, rows: Mapping[str, AuditRow]) -> CheckedDecisions:
    """Counts over the rows of the draw that are marked."""
    marks = [rows[name].correct if name in rows else None for name in drawn.decisions]
    last = max((at for at, mark in enumerate(marks) if mark is not None), default=-1)
    return CheckedDecisions(
        checked=sum(mark is not None for mark in marks),
        right=sum(mark is True for mark in marks),
        skipped=sum(mark is None for mark in marks[: last + 1]),
    )


# --- how sure one can be -------------------------------------------------------------------------------------------


def margin(n: int, population: int | None = None, share: float = 0.5, level: float = LEVEL) -> float | None:
    """Half the width of the usual interval of a share found in `n` of `population` (None: as good as endless).

    With a share of one half it is the largest that it can be, whatever is found: the margin of error that is stated
    with the size of a sample. None of no sample; 0 where all were looked at.
    """
    if n < 1:
        return None
    return _z(level) * math.sqrt(share * (1 - share) / n) * math.sqrt(_left_over(n, population))


def wilson(right: int, n: int, population: int | None = None, level: float = LEVEL) -> tuple[float, float] | None:
    """Wilson's interval of a share; `n` counts for as many as it would take in an endless population. None of none."""
    if n < 1:
        return None
    share, left = right / n, _left_over(n, population)
    if left == 0:
        return share, share
    size, square = n / left, _z(level) ** 2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = _z(level) / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _left_over(n: int, population: int | None) -> float:
    """The correction of the variance for a population that ends: 1 of an endless one, 0 where all were looked at."""
    if population is None:
        return 1.0
    return 0.0 if n >= population else (population - n) / (population - 1)


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


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
        text=" ".join(_words(where, drawn, found, rows)),
        columns=("decided", "decisions") if counted else (),
        rows=tuple(counted),
        figures=figures,
    )


def _words(where: str, drawn: Drawn, found: CheckedDecisions, rows: Mapping[str, AuditRow]) -> Sequence[str]:
    said = [f"{len(drawn.decisions):,} of {drawn.population:,} decisions were drawn into {where}."]
    if not drawn.population:
        return ["The model decided nothing in this build."]
    if not found.checked:
        said.append("Nobody has checked one yet: write y or n into its column correct and build again.")
        return said
    share, interval = found.right / found.checked, wilson(found.right, found.checked, drawn.population)
    widest = margin(found.checked, drawn.population)
    assert interval is not None and widest is not None
    said.append(
        f"People checked {found.checked:,} and found {found.right:,} right: {share:.2%}, with a margin of at most "
        f"{widest:.2%} at 95% confidence (Wilson's interval: {interval[0]:.2%} to {interval[1]:.2%})."
    )
    if found.skipped:
        said.append(
            f"{found.skipped:,} rows above a checked one were left blank: if they were the hard ones, the figure is "
            "too good."
        )
    if idle := sum(row.correct is not None and name not in drawn.decisions for name, row in rows.items()):
        said.append(f"{idle:,} checked rows do not count: their decision is no longer drawn, or was not made again.")
    return said
