"""Leave out injected defects of operators of which every defect is found by the diff alone.

Source: ours. `find_by_diff` notes who finds which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, Arm
from reviewgauge.stages.find_by_diff import ANALYSERS, FOUND, MODEL
from reviewgauge.stages.sampling.draws import Row

FEWEST = 5  # defects, below which an operator is not called easy

Defects = Sequence[Mapping[str, bool]]  # of one operator: by whom each was looked for, and whether it was found


@dataclass(frozen=True)
class DropEasy(Stage):
    """An operator is easy when each of its defects, at least 5, was found by somebody; `easy` keeps them.

    The card shows for each operator how many were found, and by whom.
    """

    easy: bool = False

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        found: defaultdict[str, list[Mapping[str, bool]]] = defaultdict(list)
        for item in items:
            if looked := _looked(item):
                found[looked[0]].append(looked[1])
        easy = {name for name, defects in found.items() if _is_easy(defects)}
        gone: set[str] = set()
        for item in items:
            looked = _looked(item)
            if looked and looked[0] in easy and not self.easy:
                gone |= {one.id for one in item.case.references}
                yield self.drop(item.id, "its operator's defects are all found by the diff alone", looked[0])
            elif not gone.isdisjoint(one.id for one in item.case.rejected):
                yield self.drop(item.id, "the harmless edit to a defect that is left out")
            else:
                yield _bare(item)
        context.report(_section(found, easy, "kept" if self.easy else "left out"))


def _looked(item: Candidate) -> tuple[str, Mapping[str, bool]] | None:
    """The operator of a defect, and by whom it was looked for and found."""
    if item.case.facts.get(ARM) == Arm.DEFECT:
        for one in item.case.references:
            match one.extra.get(FOUND):
                case dict(found):
                    return str(one.extra.get("operator")), {name: bool(value) for name, value in found.items()}
    return None


def _is_easy(defects: Defects) -> bool:
    return len(defects) >= FEWEST and all(any(found.values()) for found in defects)


def _bare(item: Candidate) -> Candidate:
    """The case without the note, which the benchmark does not hold."""
    bare = tuple(
        one.model_copy(update={"extra": {name: value for name, value in one.extra.items() if name != FOUND}})
        for one in item.case.references
    )
    return item.with_case(references=bare) if bare else item


def _section(found: Mapping[str, Defects], easy: Iterable[str], fate: str) -> CardSection:
    rows: list[Row] = [
        (name, len(defects), _of(defects, ANALYSERS), _of(defects, MODEL), f"easy: {fate}" if name in easy else "")
        for name, defects in sorted(found.items())
    ]
    return CardSection(
        by="drop_easy",
        title="Found by the diff alone",
        text=(
            "Defects that are found without the repository: static analysers report something on their lines that they "
            "do not report without the defect, or a model that saw the diff alone named their place. Where nobody "
            "looked, a dash stands."
        ),
        columns=("operator", "defects", "by analysers", "by the model", ""),
        rows=tuple(rows),
    )


def _of(defects: Defects, who: str) -> str | None:
    looked = [found[who] for found in defects if who in found]
    return f"{sum(looked)} of {len(looked)}" if looked else None
