"""Drop changes whose change-points are all trivial: words of the code and its layout.

Source: SWR-Bench (arXiv:2509.01494), section III-A, step 4: people "filter out Change-PRs containing only trivial
changes (e.g., simple documentation typos, minor formatting)", which its next section calls "PRs with only trivial
change-points". They read each; here the type of a point decides until people did (`build --labels`), so a comment that
says something wrong counts as trivial as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.trust import Word
from reviewgauge.judges.classes.classes import TYPES, change_type, functional

UNTYPED = "(no type)"
TRIVIAL = "trivial"  # in `Comment.extra`: what people say, who decide over the type


@dataclass(frozen=True)
class DropTrivialPoints(Stage):
    """Drop where the type of every reference is of `types` (SWR-Bench's Table I). Clean changes pass.

    By default E.1.1, comments and names, and E.2, layout. `extract_points` gives references their types. The card
    counts the types before and after, as Figure 3 does.
    """

    types: tuple[Word, ...] = ("E.1.1", "E.2")

    def __post_init__(self) -> None:
        unknown = [name for name in self.types if name not in TYPES]
        if unknown or not self.types:
            raise ValueError(f"drop_trivial_points needs types of {', '.join(TYPES)}, not {unknown or 'none'}")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for item in items:
            types = [change_type(comment.category) or UNTYPED for comment in item.case.references]
            before.update(types)
            for result in self.each(item, context):
                after.update(types if isinstance(result, Candidate) else ())
                yield result
        context.report(_section(before, after))

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        if item.case.clean:
            yield item
            return
        found = [change_type(comment.category) for comment in item.case.references]
        judged = [comment.extra.get(TRIVIAL) for comment in item.case.references]
        trivial = [name in self.types if mark is None else mark for name, mark in zip(found, judged, strict=True)]
        if any(name is not None and not only for name, only in zip(found, trivial, strict=True)):
            yield item
        elif not found:
            yield self.drop(item.id, "no change-point, and not known to be clean")
        elif None in found:
            yield self.drop(item.id, "a change-point without a type")
        else:
            yield self.drop(item.id, "only trivial change-points", ", ".join(sorted({name or "" for name in found})))


def _section(before: Counter[str], after: Counter[str]) -> CardSection:
    """How many change-points of each type came in and were kept."""
    rows: list[tuple[str | int | float | None, ...]] = []
    groups: list[tuple[str, tuple[str, ...]]] = [(f"{code} {kind.name}", (code,)) for code, kind in TYPES.items()]
    groups += [(UNTYPED, (UNTYPED,)), ("functional (F)", tuple(filter(functional, TYPES)))]
    for name, codes in groups:
        counts = [(sum(own[code] for code in codes), own.total()) for own in (before, after)]
        if counts[0][0]:
            rows.append((name, *(cell for n, of in counts for cell in (n, round(n / of, 4) if of else None))))
    return CardSection(
        by="drop_trivial_points",
        title="Types of change-points",
        text="Before and after this filter, as in SWR-Bench's Figure 3: there under 15% were functional, then 31.8%.",
        columns=("type", "before", "share before", "after", "share after"),
        rows=tuple(rows),
    )
