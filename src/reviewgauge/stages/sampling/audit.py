"""Draws decisions of a stage for people to check, and reads their marks: `audit/<stage>.csv` of a build's folder.

The draw takes the decisions with the smallest hashes, so it does not depend on their order, and changes little when
the source grows. Rows are in the order of their hashes: a person who begins at the top and stops anywhere has checked
a random sample.

Sources: Wilson, Probable inference, JASA 22 (1927); Cochran, Sampling Techniques (1977), sections 2.6 and 4.4, for
the correction of a finite population and the margin of a share that is not known. ContextCRBench (arXiv:2511.07017),
2.3.3, has three people mark 300 decisions on their own, and compares the model with what most of them say.

People and spreadsheets write the table: it is read strictly, and written so that nothing in it runs.
"""

from __future__ import annotations

import csv
import hashlib
import heapq
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from reviewgauge.core.base import Fact, content_id, escape_cell
from reviewgauge.core.building import CardSection, Decision
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_within, write_whole
from reviewgauge.core.labels import Label, Subject, SubjectKind

AUDIT = "audit"
CONSENSUS = "consensus"  # the name of the copy that holds what raters agreed on together: it decides, and is no rater's
_Z = NormalDist().inv_cdf(0.975)  # of a 95% interval
_SETTING = re.compile(r"[0-9a-f]{6}(-.*)?")  # how the table of another setting of the stage goes on
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


def audit_stage(folder: Path, by: str, decisions: Iterable[Decision], n: int, seed: int) -> CardSection | None:
    """Draw `n` of the decisions of the stage `by` into its table; a section with what people found there so far.

    With `n` 0 nothing is drawn and an earlier draw is read again; None where there was none. Marks and notes
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


def sheets_of(path: Path) -> dict[str, Mapping[str, AuditRow]]:
    """The rows by rater: the table, and its copies `STAGE-NAME.csv` that other people marked. Raises BadInput.

    The rater of the table itself is called `first`. A copy without a mark counts for nobody.
    """
    found = {"first": read_table(path).rows}
    for copy in sorted(path.parent.glob(f"{path.stem}-*.csv")):
        rater = copy.stem.removeprefix(f"{path.stem}-").strip().casefold()
        if rater == "first":
            raise BadInput(copy.name, "has the name of the first rater", remedy="choose another name")
        if not _SETTING.fullmatch(rater):
            found[rater] = read_table(copy).rows
    return {rater: rows for rater, rows in found.items() if any(row.correct is not None for row in rows.values())}


def tables_of(folder: Path) -> list[Path]:
    """The tables of a build's audit, without the copies that raters marked."""
    found = sorted((folder / AUDIT).glob("*.csv"))
    copies = {copy for table in found for copy in found if _is_copy(copy, table)}
    return [path for path in found if path not in copies]


def _is_copy(path: Path, table: Path) -> bool:
    rest = path.stem.removeprefix(f"{table.stem}-")
    return rest != path.stem and not _SETTING.fullmatch(rest)


def name_of_copy(rater: str) -> str:
    """What a rater's copies are called after `STAGE-`, so that they are read as theirs."""
    name = re.sub(r"[^\w .-]", "_", rater.strip().casefold()).strip(". ") or "rater"
    return f"{name}_" if _SETTING.fullmatch(name) or name in ("first", CONSENSUS, "labels.csv") else name


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


# --- intervals -------------------------------------------------------------------------------------------


def margin(n: int, population: int | None = None, share: float = 0.5) -> float | None:
    """Half the width of the usual interval of a share found in `n` of `population` (None: infinite).

    With a share of one half it is the largest possible: the margin of error that is stated with the size of a sample.
    None without a sample; 0 where all were checked.
    """
    if n < 1:
        return None
    return _Z * math.sqrt(share * (1 - share) / n) * math.sqrt(_left_over(n, population))


def wilson(right: int, n: int, population: int | None = None) -> tuple[float, float] | None:
    """Wilson's interval of a share, corrected for a finite population. None without a sample."""
    if n < 1:
        return None
    share, left = right / n, _left_over(n, population)
    if left == 0:
        return share, share
    size, square = n / left, _Z**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = _Z / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size**2))
    return max(0.0, middle - half) if right else 0.0, min(1.0, middle + half) if right < n else 1.0


def _left_over(n: int, population: int | None) -> float:
    """The correction of the variance for a finite population: 1 for an infinite one, 0 where all were checked."""
    if population is None:
        return 1.0
    return 0.0 if n >= population else (population - n) / (population - 1)


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


# --- the table ---------------------------------------------------------------------------------------------------

COLUMNS = ("id", "shown", "decided", "reason", "correct", "note")
_YES = {"y", "yes", "true", "1", "right", "correct"}
_NO = {"n", "no", "false", "0", "wrong", "incorrect"}
_DELIMITERS = (",", ";", "\t")
LONGEST = 30_000  # characters of a cell; spreadsheets take no more than 32,767
LARGEST = 256 * 1024 * 1024  # bytes of a table


class AuditRow(NamedTuple):
    """One decision. `written`: what people wrote into the columns that are theirs, as they wrote it."""

    id: str
    shown: str = ""
    decided: str = ""
    reason: str = ""
    correct: bool | None = None
    written: Mapping[str, str] = {}

    @property
    def filled(self) -> bool:
        """Whether a person wrote anything into it."""
        return any(cell.strip() for cell in self.written.values())


class Table(NamedTuple):
    """The rows by their ids, in the table's order, and the names of columns that people added."""

    rows: Mapping[str, AuditRow]
    more: Sequence[str] = ()


def read_table(path: Path) -> Table:
    """The table in a file; an empty one where there is no file. Raises BadInput that names line and column."""
    if not path.exists():
        return Table({})
    head, lines = _cells(path)
    more = [name for name in head if name and name not in COLUMNS]
    rows: dict[str, AuditRow] = {}
    for number, cells in lines:
        found = dict(zip(head, [*cells, *[""] * (len(head) - len(cells))], strict=False))
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(head) :]):
            raise BadInput(path.name, "has more cells than the heading has columns", record=number)
        name = found["id"].strip()
        if not name:
            raise BadInput(path.name, "is empty", record=number, field="id", remedy="leave this column as it was")
        written = {column: found.get(column, "") for column in ("correct", "note", *more)}
        shown, decided, reason = (found.get(column, "") for column in ("shown", "decided", "reason"))
        row = AuditRow(name, shown, decided, reason, _mark(written["correct"], path, number), written)
        if name in rows and rows[name].written != written:
            raise BadInput(path.name, f"{name} occurs twice, with different marks", record=number, field="id")
        rows[name] = row
    return Table(rows, more)


def _cells(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and (line, cells) of each row below."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(path.name, f"is larger than {LARGEST:,} bytes")
        text = read_within(path).decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(path.name, f"is not UTF-8 (byte {error.start + 1})", remedy="save it as CSV UTF-8") from None
    for delimiter in _DELIMITERS:
        lines = _table_rows(path, text, delimiter)
        head = [name.strip().lower() for name in next(lines, (0, []))[1]]
        if {"id", "correct"} <= set(head):
            if twice := next((name for name in head if name and head.count(name) > 1), ""):
                raise BadInput(path.name, f"has two columns {twice}", record=1, remedy="remove one")
            return head, lines
    remedy = "leave its first line as it was"
    raise BadInput(path.name, "has no columns id and correct", record=1, remedy=remedy)


def _table_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise BadInput(path.name, f"cannot be read: {error}", record=reader.line_num) from None


def _mark(cell: str, path: Path, number: int) -> bool | None:
    """True or False for what a person marked, None for a blank."""
    word = cell.strip().lower()
    if not word:
        return None
    if word not in _YES | _NO:
        remedy = "y for right, n for wrong, nothing where you cannot tell"
        raise BadInput(
            path.name, f"{cell.strip()[:40]!r} is neither y nor n", record=number, field="correct", remedy=remedy
        )
    return word in _YES


def write_table(path: Path, rows: Sequence[AuditRow], more: Sequence[str] = ()) -> None:
    """Write the table whole, for spreadsheets too. Raises UserError where the machine would not take it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *more))
    for row in rows:
        own = [row.written.get(column, "") for column in ("correct", "note", *more)]
        writer.writerow([row.id, *map(_cell, (row.shown, row.decided, row.reason)), *own])
    write_whole(path, out.getvalue().encode("utf-8-sig", "replace"))


def _cell(text: str) -> str:
    """A text that a spreadsheet shows and does not run, and a terminal prints and does not obey."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n(cut: {len(text) - LONGEST:,} more characters)"
    return escape_cell(text)
