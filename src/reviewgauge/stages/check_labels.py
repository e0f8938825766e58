"""Draw labels and clean changes for people to check, and take in what they marked: confirmed, or out of the benchmark.

Source: this project (docs/guides/build.md#check-labels-by-hand); the interval is Wilson's, as of every audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.building import RESULTS, BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Comment, Tier, findings
from reviewgauge.core.results import Drop
from reviewgauge.stages.sampling.audit import Checked, Drawn, checked, decision_id, draw, write_drawn
from reviewgauge.stages.sampling.audit_table import Marks, read_marks, read_table
from reviewgauge.stages.sampling.label_checks import (
    CLEAN,
    CLEAN_FACT,
    LABEL,
    LABELS_FACT,
    SHEET,
    clean_decision,
    decisions_of,
    from_fix,
    label_decision,
)
from reviewgauge.stages.sampling.shares import wilson

_NOT_A_DEFECT, _NOT_CLEAN = "a person found that its label does not hold", "a person found that it is not clean"


@dataclass(frozen=True)
class CheckLabels(Stage):
    """Draws `n` labels that come from fixes, and half as many clean changes, into `audit/labels.csv` of the build.

    People write `y` or `n` into its column `correct`, or into a copy of their own, `audit/labels-NAME.csv`. The next
    build takes that in: a label that most raters confirm is *confirmed*, one that they refuse leaves the benchmark, as
    does a clean change that is none. The card says how many of the drawn ones hold. With `n=0` earlier marks are read.
    """

    example: ClassVar[str] = "reviewgauge build . --audit 20 -o bench"

    n: int = 20

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("n must be a number of labels, 0 to draw none")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The candidates after what people said of them. Raises BadInput for a sheet that cannot be read."""
        marks, table = read_marks(context.folder / SHEET), read_table(context.folder / SHEET)
        kinds = [row.decided for row in table.rows.values()]
        labels = _draw(items, LABEL, self.n or kinds.count(LABEL))
        clean = _draw(items, CLEAN, (self.n + 1) // 2 or kinds.count(CLEAN))
        if self.n:
            chosen = sorted({**labels.decisions, **clean.decisions}.items())
            write_drawn(table, dict(chosen), context.folder / RESULTS / SHEET)
        found = checked(labels, marks), checked(clean, marks)
        context.report(_section(*found))
        facts = {name: one.words for name, one in zip((LABELS_FACT, CLEAN_FACT), found, strict=True) if one.words}
        for item in items:
            yield from self._checked(item, marks, facts)

    def _checked(self, item: Candidate, marks: Marks, facts: Mapping[str, Fact]) -> Iterator[Candidate | Drop]:
        """The candidate with its labels confirmed, and a drop for each that was refused."""
        case = item.case
        if case.clean:
            refused = marks.verdict(decision_id(clean_decision(case))) is False
            yield self.drop(item.id, _NOT_CLEAN) if refused else item.with_facts(facts)
            return
        kept, refusals = _sorted(case, marks)
        if refusals and not kept:
            yield self.drop(item.id, _NOT_A_DEFECT)
            return
        for name in refusals:
            yield self.drop(f"{item.id}: {name}", _NOT_A_DEFECT)
        yield item.with_case(references=tuple(kept)).with_facts(facts)


def _draw(items: Iterable[Candidate], kind: str, n: int) -> Drawn:
    return draw((decision for item in items for decision in decisions_of(item.case, kind)), n)


def _sorted(case: Case, marks: Marks) -> tuple[list[Comment], list[str]]:
    """The references that stay, those that a person confirmed with their tier, and the ids of refused findings."""
    kept: list[Comment] = []
    refusals: list[str] = []
    for finding in findings(case.references):
        verdict = marks.verdict(decision_id(label_decision(case, finding))) if from_fix(finding) else None
        if verdict is False:
            refusals.append(finding[0].id)
        else:
            kept += [_confirmed(one) for one in finding] if verdict else finding
    return kept, refusals


def _confirmed(reference: Comment) -> Comment:
    """The reference, confirmed unless tests say more."""
    return reference if reference.tier is Tier.VERIFIED else reference.model_copy(update={"tier": Tier.CONFIRMED})


def _section(labels: Checked, clean: Checked) -> CardSection:
    sentences = [
        f"{labels.drawn} of {labels.population} labels and {clean.drawn} of {clean.population} clean changes were "
        f"drawn into {SHEET}."
    ]
    if not labels.checked + clean.checked:
        sentences.append("Nobody has checked one yet: write y or n into its column correct and build again.")
    figures = {**_figures("labels", labels), **_figures("clean changes", clean)}
    return CardSection(by="check_labels", title="Labels checked by people", text=" ".join(sentences), figures=figures)


def _figures(name: str, one: Checked) -> Mapping[str, Fact]:
    found: dict[str, Fact] = {name: one.population, f"{name} drawn": one.drawn, f"{name} checked": one.checked}
    if interval := wilson(one.right, one.checked):
        found |= {
            f"{name} that hold": one.right,
            f"share of {name} that hold": round(one.right / one.checked, 6),
            f"share of {name} that hold, low": round(interval[0], 6),
            f"share of {name} that hold, high": round(interval[1], 6),
        }
    return found | ({f"{name} on which raters are split": one.split} if one.split else {})
