"""Put on the card how alike the changed and the clean cases are that are left here; every case passes.

Source: SWR-Bench (arXiv:2509.01494), Table II, which shows commits, files and lines of both kinds in the final
benchmark. `resample` tells of its own matches; what is drawn or dropped after it can upset them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.trust import Word
from reviewgauge.stages.sampling.balance import (
    COLUMNS,
    FAR,
    MEANING,
    TRAITS,
    UNKNOWN,
    Unit,
    balance,
    changed_and_clean,
    left,
    telling,
    worst,
)


@dataclass(frozen=True)
class ReportBalance(Stage):
    """Compare `features` of the two kinds. Put it last. A case that does not state one of them is only counted."""

    features: tuple[Word, ...] = TRAITS

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("report_balance needs features")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        yield from items
        changed, clean, reasons = changed_and_clean((item.case for item in items), self.features)
        unknown = sum(reason == UNKNOWN for reason in reasons.values())
        context.report(self._section(changed, clean, unknown, len(reasons) - unknown))

    def _section(self, changed: list[Unit], clean: list[Unit], unknown: int, unstated: int) -> CardSection:
        found = balance(self.features, changed, clean)
        text = f"{len(changed)} changed and {len(clean)} clean cases are in the benchmark. "
        unmatched = abs(len(changed) - len(clean))
        if unmatched:
            kind = "changed" if len(changed) > len(clean) else "clean"
            text += (
                f"{unmatched} {kind} cases have no counterpart: a reviewer that always says the same is right oftener. "
            )
        if unknown or unstated:
            text += f"Not counted: {unknown} of which nobody knows, {unstated} that do not state all of these facts. "
        warnings: tuple[str, ...] = ()
        if largest := worst(found):
            text += f"The largest difference is {largest}. {left(found)}"
            if any(one.smd is None or abs(one.smd) > FAR for one in found) or telling(found):
                warnings = (
                    f"the benchmark's changed and clean cases differ by {largest}: a reviewer gains by counting",
                )
        figures = {"changed": len(changed), "clean": len(clean), "unmatched": unmatched}
        rows = tuple(one.row() for one in found)
        return CardSection(
            by="report_balance",
            title="Balance of the benchmark",
            text=text + MEANING,
            columns=("fact", *COLUMNS),
            rows=rows,
            figures=figures,
            warnings=warnings,
        )
