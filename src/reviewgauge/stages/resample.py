"""Match clean changes to changed ones in size, so that a reviewer cannot tell them apart by counting lines.

Source: SWR-Bench (arXiv:2509.01494), step 3: clean pull requests are resampled until their lines, files and commits
look like those of changed ones. The paper does not say how; its Table II still shows 4.05 against 3.25 commits. Here it
is matching without replacement on log-scaled, standardised numbers (Stuart, Statistical Science 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.trust import Word
from reviewgauge.stages.sampling.balance import (
    CELLS,
    COLUMNS,
    MEANING,
    TRAITS,
    Balance,
    Unit,
    balance,
    changed_and_clean,
    left,
    match,
    telling,
    worst,
)
from reviewgauge.stages.sampling.draws import draw_key


@dataclass(frozen=True)
class Resample(Stage):
    """Keep `ratio` clean changes for each changed one: those whose facts `features` come closest.

    By default these are the lines, files and functions of product code and the commits: lock files, tests and
    documentation make a change large without giving it more to find.
    A change is clean when its verdict says so and it has no reference, changed when it has references or a verdict
    against it. `exact` are facts that a match must share. `caliper` is the largest distance of a match in standard
    deviations (0: any). `pairs` also drops changed cases that found fewer than `ratio` matches. The sum of distances is
    as small as it can be; over 25 million pairs each changed case, by the seed, takes the nearest that is left.
    """

    example: ClassVar[str] = 'resample(features=("changed_lines", "changed_files"))'

    features: tuple[Word, ...] = TRAITS
    ratio: float = 1.0
    exact: tuple[Word, ...] = ()
    caliper: float = 0.0
    pairs: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.features or not 0 < self.ratio < float("inf") or not self.caliper >= 0:
            raise ValueError("resample needs features, a ratio above 0 and a caliper of 0 or more")
        if self.pairs and self.ratio != int(self.ratio):
            raise ValueError("resample in pairs needs a whole ratio, such as 1 or 2")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        changed, clean, reasons = changed_and_clean((item.case for item in items), self.features, self.exact)
        matches, unmatched, method = self._match_all(changed, clean)
        for unit in clean:
            if unit.position not in matches:
                reasons[unit.position] = "no matched changed case"
        reasons |= {unit.position: "no matched clean case" for unit in changed if unit.position in unmatched}
        for position, item in enumerate(items):
            if position in reasons:
                yield self.drop(item.id, reasons[position])
            else:
                yield item
        kept = [[unit for unit in units if unit.position not in reasons] for units in (changed, clean)]
        context.report(self._section(((changed, clean), (kept[0], kept[1])), len(unmatched), method))

    def _match_all(self, changed: Sequence[Unit], clean: Sequence[Unit]) -> tuple[dict[int, int], set[int], str]:
        """(position of a clean case -> that of its changed case, changed cases left out of the pairs, the method)."""
        unmatched: set[int] = set()
        while True:
            matches, method = self._match([unit for unit in changed if unit.position not in unmatched], clean)
            found = Counter(matches.values())
            lacking = [u for u in changed if u.position not in unmatched and found[u.position] < self.ratio]
            if not self.pairs or not lacking:
                return matches, unmatched, method
            lacking.sort(key=lambda unit: (found[unit.position], draw_key(self.seed, "lot", unit.id), unit.position))
            none = sum(not found[unit.position] for unit in lacking)  # those with some may get what others leave
            unmatched |= {unit.position for unit in lacking[: none or (len(lacking) + 1) // 2]}

    def _match(self, changed: Sequence[Unit], clean: Sequence[Unit]) -> tuple[dict[int, int], str]:
        """(position of a clean case -> position of its changed case, the method)."""
        ordered = sorted(changed, key=lambda unit: (draw_key(self.seed, "lot", unit.id), unit.id, unit.position))
        pool = sorted(clean, key=lambda unit: (draw_key(self.seed, "pool", unit.id), unit.id, unit.position))
        count = round(self.ratio * len(ordered))
        wanted = [ordered[n % len(ordered)] for n in range(count)] if ordered else []
        optimal = len(wanted) * len(pool) <= CELLS
        found = match(wanted, pool, self.caliper, optimal)
        return {pool[b].position: wanted[a].position for a, b in found}, "optimal" if optimal else "nearest"

    def _section(
        self, groups: Sequence[tuple[Sequence[Unit], Sequence[Unit]]], unmatched: int, method: str
    ) -> CardSection:
        before, after = (balance(self.features, changed, clean) for changed, clean in groups)
        rows = [found.row("before") for found in before] + [found.row("after") for found in after]
        changed, clean = groups[1]
        short = max(round(self.ratio * len(changed)) - len(clean), 0)
        text = f"{len(clean)} clean for {len(changed)} changed cases, by {method} matching. "
        if unmatched:
            text += (
                f"{unmatched} changed cases are out, unmatched: those that stay are the ones that clean ones are like. "
            )
        if short:
            text += f"{short} fewer than the ratio {self.ratio:g} asks for: there are no more that match. "
        if largest := worst(after):
            text += f"The largest difference that is left is {largest}. "
        text += left(after)
        figures = {"changed": len(changed), "clean": len(clean), "unmatched": unmatched or short}
        columns = ("fact", "when", *COLUMNS)
        return CardSection(
            by="resample",
            title="Balance",
            text=text + MEANING,
            columns=columns,
            rows=tuple(rows),
            figures=figures,
            warnings=_apart(after),
        )


def _apart(found: Sequence[Balance]) -> tuple[str, ...]:
    """Which facts still tell changed cases from clean ones, and what helps; of a handful of cases nothing is said."""
    unlike = [
        f"{one.name} (AUC {one.auc:.2f}, mean {one.mean_changed:,.4g} against {one.mean_clean:,.4g})"
        for one in telling(found)
    ]
    if not unlike:
        return ()
    return (
        f"changed and clean cases could not be made alike in {' and '.join(unlike)}: a reviewer gains by going by it. "
        "resample with caliper=0.25 and pairs=True leaves out the changed ones that no clean one matches",
    )
