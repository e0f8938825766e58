"""What a build adds to the check of labels by people: the page beside the sheet, and how well the raters agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from reviewgauge.analysis.stats.agreement import ALPHA, COHEN, FLEISS, PERCENT, Table, coefficients
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.records import Case, ChangedFile, findings
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.history.later_commits import LaterCommits, later_commits
from reviewgauge.stages.check_labels import DRAWN
from reviewgauge.stages.sampling.audit import decision_id, read_table
from reviewgauge.stages.sampling.label_checks import (
    PAGE,
    SHEET,
    Marks,
    clean_decision,
    from_fix,
    label_decision,
    read_marks,
)
from reviewgauge.views.label_page import LabelToCheck, label_page

TITLE = "Labels checked by people"


def finish_label_audit(context: BuildFolder, days: float) -> None:
    """Write the page, and put the raters' agreement on the card, where the build had labels checked.

    The page shows what touched the lines of a clean change within `days`.
    """
    drawn = context.folder / DRAWN
    if not drawn.is_file():
        return
    known: dict[str, LabelToCheck] = {}
    with drawn.open("rb") as stream:
        for number, line in lines(stream, drawn.name):
            case = parse_record(Case, line, drawn.name, number)
            known |= {row.id: row for row in _rows(case, context.folder, days)}
    order = [known[name] for name in read_table(context.folder / SHEET).rows if name in known]
    page = label_page(order, Path(SHEET).name)
    write_whole(context.folder / PAGE, page.encode())
    figures = agreement_figures(read_marks(context.folder))
    for section in [one for one in context.sections if one.title == TITLE and figures]:
        context.report(section.model_copy(update={"figures": {**section.figures, **figures}}))


def _rows(case: Case, folder: Path, days: float) -> Iterator[LabelToCheck]:
    """Every row that a case may have in the sheet."""
    if case.clean:
        yield LabelToCheck(
            decision_id(clean_decision(case)), case, later=_later(case, folder, days), head_title=_title(case, folder)
        )
    for finding in findings(case.references):
        if not from_fix(finding):
            continue
        fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
        message, files = "", tuple[ChangedFile, ...]()
        if case.change.git is not None and fix:
            repository = Repository(folder / case.change.git)
            try:
                message = repository.run("show", "-s", "--format=%B", "--end-of-options", fix).decode(
                    "utf-8", "replace"
                )
                files = repository.changed_files(f"{fix}^", fix, LARGEST_FILE)
            except UserError:
                pass
        message = message.strip() or finding[0].body
        yield LabelToCheck(
            decision_id(label_decision(case, finding)), case, finding, fix, message, files, None, _title(case, folder)
        )


def _title(case: Case, folder: Path) -> str:
    """The title of the commit at the head of a change, as its author wrote it."""
    change = case.change
    if change.git is None or not change.head:
        return ""
    try:
        found = Repository(folder / change.git).run("show", "-s", "--format=%s", "--end-of-options", change.head)
    except UserError:
        return ""
    return found.decode("utf-8", "replace").strip()


def _later(case: Case, folder: Path, days: float) -> LaterCommits | None:
    change = case.change
    if change.git is None or not change.head:
        return None
    try:
        return later_commits(Repository(folder / change.git), change.head, change.files, days)
    except UserError:
        return None


def agreement_figures(marks: Marks) -> dict[str, Fact]:
    """The agreement of the raters, over the rows that at least two of them marked; empty where there are none."""
    raters, rows = marks.raters, sorted(marks.by_row)
    values = [[float(marks.by_row[row].get(rater, np.nan)) for row in rows] for rater in raters]
    table = Table(np.array(values).reshape(len(raters), len(rows)), (0.0, 1.0), names=("n", "y"), raters=raters)
    if table.undefined:
        return {}
    measures = [PERCENT, COHEN if len(raters) == 2 else FLEISS, ALPHA["nominal"]]
    (found,) = coefficients([(table, measures)])
    figures: dict[str, Fact] = {"rows with two raters or more": table.items}
    for one in found:
        value = one.figure.value
        figures[f"agreement of the raters: {one.name}"] = one.figure.reason if value is None else round(value, 4)
    return figures
