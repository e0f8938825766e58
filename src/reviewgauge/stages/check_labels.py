"""Draw labels and clean changes for people to check, and take in what they marked: confirmed, or out of the benchmark.

Source: this project (docs/guides/build.md#check-labels-by-hand); the interval is Wilson's, as of every audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.building import RESULTS, BuildContext, Candidate, CardSection, Decision
from reviewgauge.core.errors import one_line
from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Comment, Origin, findings
from reviewgauge.core.shares import CLEAN_FACT, LABELS_FACT, wilson
from reviewgauge.stages.sampling.audit import NOBODY, Checked, Drawn, checked, draw, write_drawn
from reviewgauge.stages.sampling.audit_table import AUDIT, read_marks, read_table

SHEET = f"{AUDIT}/labels.csv"
LABEL, CLEAN = "label", "clean"
_LONGEST_TITLE, _LONGEST_TEXT = 200, 1_500


@dataclass(frozen=True)
class CheckLabels(Stage):
    """Draws `n` labels that come from fixes, and half as many clean changes, into `audit/labels.csv` of the build.

    People write `y` or `n` into its column `correct`, or into a copy of their own, `audit/labels-NAME.csv`. The next
    build takes that in: a label that most raters confirm is *confirmed*, one that they refuse leaves the benchmark, as
    does a clean change that is none. The card says how many of the drawn ones hold. With `n=0` earlier marks are read.
    """

    example: ClassVar[str] = "reviewgauge build . --audit 20 -o bench"

    n: Count = 20

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The candidates with the shares that hold. Raises BadInput for a sheet that cannot be read."""
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
        yield from (item.with_facts(facts) for item in items)


def _draw(items: Iterable[Candidate], kind: str, n: int) -> Drawn:
    return draw((decision for item in items for decision in decisions_of(item.case, kind)), n)


def _section(labels: Checked, clean: Checked) -> CardSection:
    text = (
        f"{labels.drawn} of {labels.population} labels and {clean.drawn} of {clean.population} clean changes were "
        f"drawn into {SHEET}."
    )
    text += "" if labels.checked + clean.checked else f" {NOBODY}"
    figures = {**_figures("labels", labels), **_figures("clean changes", clean)}
    return CardSection(by="check_labels", title="Labels checked by people", text=text, figures=figures)


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


# --- the rows of the sheet, and what people found ---------------------------------------------------------------------


def from_fix(finding: Sequence[Comment]) -> bool:
    """Whether a finding was made from a fix, in any of its phrasings."""
    return any(one.origin is Origin.FIX for one in finding)


def label_decision(case: Case, finding: Sequence[Comment]) -> Decision:
    """A label as a row of the sheet. The row stays the same while change, lines and fix do."""
    places = [one.span for one in finding if one.span is not None]
    where = "\n".join(f"{span.path}, lines {span.start} to {span.end}" for span in places) or "the change as a whole"
    fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
    shown = f"{one_line(case.change.title, _LONGEST_TITLE)}\n{where}\nfix {fix}"
    return Decision(item=case.id, by=LABEL, decided=LABEL, shown=shown, reason=finding[0].body[:_LONGEST_TEXT])


def clean_decision(case: Case) -> Decision:
    """A clean change as a row of the sheet."""
    shown = one_line(case.change.title, _LONGEST_TITLE)
    reason = "no fix spoke about it while it was watched"
    return Decision(item=case.id, by=CLEAN, decided=CLEAN, shown=shown, reason=reason)


def decisions_of(case: Case, kind: str) -> Iterator[Decision]:
    """The rows that a case may give."""
    if kind == LABEL:
        yield from (label_decision(case, finding) for finding in findings(case.references) if from_fix(finding))
    elif case.clean:
        yield clean_decision(case)
