"""Pass@k: is a line that deserves the comment among the first k that the reviewer points at?

Source: ContextCRBench (arXiv:2511.07017), line-level defect localization, and its official evaluator: only the first
commented line is right, and a marker that the hunk does not have is put right (`variant="published"`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Change, Review, Span, Task
from reviewgauge.core.results import Bounds
from reviewgauge.repo.diff.positions import DiffRow, find_row, hunk_rows

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

NO_PLACE = "no reference names a line of the change"
NO_RANKING = "the review ranks no lines"


@dataclass(frozen=True)
class PassAtK(Metric):
    """Share of changes where one of the first `k` ranked lines is right, for each k in `ks`.

    A line is a line of the diff: an unchanged one is the same whether it was named by its old or its new number, and
    two answers that name one line are one answer. By default any commented line is right, and a line that the diff
    does not show counts as wrong. `variant="published"`: only the first commented line is right, and such a line is
    read as the one with the same old number, else the same new number, else the nearest old, else the nearest new;
    repeats take up places in the ranking. `outside` is the share of the answers' lines that the diff does not show. An
    empty ranking finds nothing on a change to locate; elsewhere, and in a review that says something else, it is not
    measured.
    """

    example: ClassVar[str] = (
        'reviewgauge review sample \'prompt(model="fake:example", preset="contextcrbench_locate")\' '
        "--stage 'split_hunks(task=\"locate\")' -o runs/lines && reviewgauge score runs/lines pass_at_k"
    )

    ks: tuple[int, ...] = (1, 3, 5, 10)
    variant: Literal["", "published"] = ""

    headline: ClassVar[str] = "pass@1"

    def __post_init__(self) -> None:
        if not self.ks or any(k < 1 for k in self.ks) or 1 not in self.ks:
            raise ValueError("ks must be positive whole numbers, 1 among them")

    def unmeasurable(self, case: Case) -> str:
        """Without a commented line in the diff there is nothing to find."""
        return "" if self._right(case) else NO_PLACE

    def parts(self, case: Case, review: Review) -> Measured | str:
        """1 or 0 for each k."""
        right = self._right(case)
        if not right:
            return NO_PLACE
        if not review.ranked_lines and (
            case.change.task is not Task.LOCATE or review.comments or review.verdict is not None
        ):
            return NO_RANKING
        found = [self._row(case.change, span) for span in review.ranked_lines]
        ranked = found if self.variant else _without_repeats(found)
        parts = {f"pass@{k}": float(any(row in right for row in ranked[:k] if row is not None)) for k in self.ks}
        outside = sum(not _is_shown(case.change, span) for span in review.ranked_lines)
        return Measured(parts={**parts, "lines": len(found), "outside": outside}, fake=review.fake)

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The means, and the share of answered lines that do not exist."""
        shares = {f"pass@{k}": aggregate.ratio(aggregate.total(f"pass@{k}"), aggregate.count) for k in self.ks}
        return {**shares, "outside": aggregate.ratio(aggregate.total("outside"), aggregate.total("lines"))}

    def bounds(self, case: Case) -> Bounds | None:
        """At worst never found, at best named first."""
        if not self._right(case):
            return None
        names = [f"pass@{k}" for k in self.ks]
        same = {"lines": 0.0, "outside": 0.0}
        return Bounds(worst={**dict.fromkeys(names, 0.0), **same}, best={**dict.fromkeys(names, 1.0), **same})

    def _right(self, case: Case) -> Sequence[DiffRow]:
        """The lines that deserve the comment, as rows of the diff, in the order of the file."""
        rows = dict.fromkeys(
            row
            for reference in case.references
            if (span := reference.span) is not None and span.start is not None
            for row in hunk_rows(case.change, span)
        )
        ordered = sorted(rows)
        return ordered[:1] if self.variant else ordered

    def _row(self, change: Change, span: Span) -> DiffRow | None:
        return find_row(change, span, repair=bool(self.variant))


def _without_repeats(found: Sequence[DiffRow | None]) -> list[DiffRow | None]:
    """The first of several equal rows; every line that is not there keeps a place of its own."""
    seen: set[DiffRow] = set()
    kept: list[DiffRow | None] = []
    for row in found:
        if row is None or row not in seen:
            kept.append(row)
        if row is not None:
            seen.add(row)
    return kept


def _is_shown(change: Change, span: Span) -> bool:
    return find_row(change, span, repair=False) is not None
