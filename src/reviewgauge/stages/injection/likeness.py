"""How like real changes the cases of pairs are in size: what plants go into is not every change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.records import ARM, Arm, Case, Side
from reviewgauge.repo.diff.diffs import changed_lines, count_changed, hunk_count
from reviewgauge.stages.sampling.draws import Row


def likeness_section(made: Iterable[Candidate], recent: Iterable[Candidate]) -> CardSection:
    """Medians of the changes with a defect, of their twins, and of all recent changes that were considered."""
    cases = [one.case for one in made]
    groups = (
        ("with a defect", [case for case in cases if case.facts[ARM] == Arm.DEFECT]),
        ("twins", [case for case in cases if case.facts[ARM] == Arm.TWIN]),
        ("all recent changes", [one.case for one in recent]),
    )
    return CardSection(
        by="add_twins",
        title="How like real changes they are",
        text=(
            "Medians. Such defects do not show how a reviewer sees a bad design, a missing feature, or a broken "
            "convention: only what one small edit can break."
        ),
        columns=("changes", "n", "changed lines", "hunks", "share of added lines"),
        rows=tuple(_row(name, group) for name, group in groups),
    )


def _row(name: str, cases: Sequence[Case]) -> Row:
    sizes = [count_changed(case.change.files) for case in cases]
    added = [sum(len(changed_lines(file, Side.NEW)) for file in case.change.files) for case in cases]
    shares = [part / whole for part, whole in zip(added, sizes, strict=True) if whole]
    hunks = [hunk_count(case.change) or 0 for case in cases]
    return name, len(cases), *(round(median(of), 3) if of else None for of in (sizes, hunks, shares))
