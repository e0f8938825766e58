"""Draw a sample from every stratum: by repository, language, domain, size, period or any other fact.

Sources: ContextCRBench (arXiv:2511.07017), 3.3: four periods, in each 30 entries of nine languages, as many merged as
unmerged ones (`by=('period', 'language'), periods=('2022-01-01', '2023-01-01', '2024-01-01'), per_cell=30,
balance='verdict'`). AACR-Bench (arXiv:2601.19494), section 3 and appendix: 200 by repository, domain and size
(`by=('repo', 'domain', 'size'), total=200`); how its 200 are shared out among the strata it does not say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Task
from reviewgauge.core.trust import Word
from reviewgauge.stages.sampling.draws import check_day, day_of, draw, draw_key, value_of

Cell = tuple[str, ...]
Member = tuple[str, int]  # (id, position)


@dataclass(frozen=True)
class Stratify(Stage):
    """Draw `per_cell` of each stratum, or `total` in all, shared out in proportion to the strata.

    `by` are facts; `repo` is the repository, `verdict` whether a change can be merged, `period` the part of time
    between the dates `periods`, by the fact `created`. `balance` names a fact of which each value is drawn as often in
    every stratum; one that lacks a value gives none. Entries of `locate` and `comment` are all unmerged: their verdict
    is not balanced. A case that does not state a fact is dropped.
    """

    example: ClassVar[str] = 'stratify(by=("language",), per_cell=2)'

    by: tuple[Word, ...] = ("language",)
    per_cell: int = 0
    total: int = 0
    balance: Word = ""
    periods: tuple[Word, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.by or (self.per_cell > 0) == (self.total > 0) or min(self.per_cell, self.total) < 0:
            raise ValueError("stratify needs by and one of per_cell and total: stratify(by=('language',), per_cell=30)")
        for text in self.periods:
            check_day("periods", text)
        if list(self.periods) != sorted(set(self.periods)):
            raise ValueError("stratify needs periods in the order of time")
        if ("period" in self.by) != bool(self.periods):
            raise ValueError("stratify by period needs periods, such as ('2022-01-01', '2023-01-01'), and the reverse")
        if self.balance == "verdict" and self.per_cell % 2:
            raise ValueError("stratify cannot balance an odd per_cell by verdict")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        cells: dict[Cell, dict[str, list[Member]]] = defaultdict(lambda: defaultdict(list))
        unstated: dict[int, str] = {}
        for position, item in enumerate(items):
            cell = self._cell(item.case)
            outcome = "" if not self.balance or self._one_sided(item.case) else value_of(item.case, self.balance)
            missing = cell if isinstance(cell, str) else self.balance if outcome is None else ""
            if missing:
                unstated[position] = missing
            else:
                cells[tuple(cell)][str(outcome)].append((item.id, position))
        drawn = self._draw(cells)
        chosen = {position for members in drawn.values() for position in members}
        for position, item in enumerate(items):
            if position in chosen:
                yield item
            elif position in unstated:
                yield self.drop(item.id, f"does not state {unstated[position]}")
            else:
                yield self.drop(item.id, "not drawn")
        context.report(self._section(cells, drawn))

    def _one_sided(self, case: Case) -> bool:
        return self.balance == "verdict" and case.change.task in (Task.LOCATE, Task.COMMENT)

    def _cell(self, case: Case) -> Cell | str:
        """The stratum of a case, or the fact that it does not state."""
        found: list[str] = []
        for name in self.by:
            value = day_of(case) if name == "period" else value_of(case, name)
            if value is None:
                return "created" if name == "period" else name
            found.append(self._period(str(value)) if name == "period" else str(value))
        return tuple(found)

    def _period(self, created: str) -> str:
        at = bisect_right(self.periods, created)
        if at == 0:
            return f"before {self.periods[0]}"
        return f"from {self.periods[at - 1]}" + (f" to before {self.periods[at]}" if at < len(self.periods) else "")

    def _draw(self, cells: Mapping[Cell, Mapping[str, Sequence[Member]]]) -> dict[Cell, list[int]]:
        values = {value for outcomes in cells.values() for value in outcomes} or {""}
        if self.balance == "verdict" and values != {""}:
            values = {"True", "False"}
        each = max(len(values), 1)
        room = {cell: each * min(len(outcomes.get(value, ())) for value in values) for cell, outcomes in cells.items()}
        if self.per_cell:
            quota = dict.fromkeys(cells, self.per_cell)
        else:
            quota = allocate_quota(self.total, room, self.seed, each)
        return {
            cell: [
                position
                for value in sorted(values)
                for position in draw(
                    self.seed, (*cell, value), outcomes.get(value, ()), min(quota[cell], room[cell]) // each
                )
            ]
            for cell, outcomes in cells.items()
        }

    def _section(
        self, cells: Mapping[Cell, Mapping[str, Sequence[Member]]], drawn: Mapping[Cell, Sequence[int]]
    ) -> CardSection:
        rows, short = [], 0
        for cell in sorted(cells):
            there = sum(map(len, cells[cell].values()))
            lacking = max(self.per_cell - len(drawn[cell]), 0)
            short += lacking > 0
            counts = ", ".join(f"{value or 'all'} {len(members)}" for value, members in sorted(cells[cell].items()))
            rows.append((*cell, there, len(drawn[cell]), lacking, *([counts] if self.balance else [])))
        text = f"{sum(map(len, drawn.values()))} drawn from {len(cells)} strata."
        if short:
            text += f" {short} of them have fewer than the {self.per_cell} asked for, and give what they can."
        elif self.total and sum(map(len, drawn.values())) < self.total:
            text += f" There are no {self.total} to draw."
        columns = (*self.by, "there", "drawn", "short by", *([f"of each {self.balance}"] if self.balance else []))
        return CardSection(by="stratify", title="Strata", text=text, columns=columns, rows=tuple(rows))


def allocate_quota(total: int, room: Mapping[Cell, int], seed: int, step: int = 1) -> dict[Cell, int]:
    """How many of `total` each stratum gives, never more than it has, in steps of `step` (to be balanced).

    In proportion, by the largest remainders (Hamilton's method); ties go by the seed. The sum is `total`, rounded down
    to a step, or all there is.
    """
    left = min(total, sum(room.values())) // step
    units = {cell: count // step for cell, count in room.items()}
    whole = sum(units.values()) or 1
    given = {cell: count * left // whole for cell, count in units.items()}
    ordered = sorted(units, key=lambda cell: (-(units[cell] * left % whole), draw_key(seed, "lot", *cell), cell))
    for cell in ordered[: left - sum(given.values())]:
        given[cell] += 1
    return {cell: count * step for cell, count in given.items()}
