"""What a build adds to the check of labels by people: the page beside the sheet, and how well the raters agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reviewgauge.analysis.stats.agreement import ALPHA, COHEN, FLEISS, PERCENT, Table, coefficients
from reviewgauge.core.base import Fact
from reviewgauge.core.building import RESULTS
from reviewgauge.core.files import write_whole
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.records import Case
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.labels_to_check import LabelToCheck, labels_of
from reviewgauge.stages.check_labels import DRAWN
from reviewgauge.stages.sampling.audit_table import read_table
from reviewgauge.stages.sampling.label_checks import (
    PAGE,
    SHEET,
    Marks,
    read_marks,
)
from reviewgauge.views.label_page import label_page

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
            known |= {row.id: row for row in labels_of(case, context.folder, days)}
    results = context.folder / RESULTS
    sheet = results / SHEET if (results / SHEET).exists() else context.folder / SHEET
    order = [known[name] for name in read_table(sheet).rows if name in known]
    page = label_page(order, Path(SHEET).name)
    write_whole(results / PAGE, page.encode())
    figures = agreement_figures(read_marks(context.folder))
    for section in [one for one in context.sections if one.title == TITLE and figures]:
        context.report(section.model_copy(update={"figures": {**section.figures, **figures}}))


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
