"""Reports that `points` read, as items: is each known point hit, and of which type and how severe is each listed one.

Source: SWR-Bench (arXiv:2509.01494), RQ1: 100 reports drawn at random. Raters see the report and the points, not what
a model said of them; their labels stand beside the model's in `agree` and `validate`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from reviewgauge.analysis.point_labels import HIT, Report, draw_reports, points_to_judge
from reviewgauge.annotation.code import texts_of
from reviewgauge.annotation.items import Item, ProjectData, ShownText, shown_change, shown_text
from reviewgauge.annotation.schemas.schema import Parts, Schema
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind
from reviewgauge.core.records import Case, Review, findings
from reviewgauge.metrics.points import Points
from reviewgauge.repo.syntax.languages import case_language


def report_items(
    schema: Schema,
    metric: Points,
    reports: Sequence[Report],
    cases: Mapping[str, Case],
    reviews: Mapping[tuple[str, str, int], Review],
    *,
    limit: int | None = None,
    seed: int = 0,
) -> ProjectData:
    """The reports, or `limit` of them drawn at random as `agree --sheets` draws them. Raises UserError."""
    if schema.parts is not Parts.POINTS or schema.unit is not SubjectKind.REVIEW:
        raise UserError(f"the schema {schema.name!r} does not ask about points", remedy="--schema reports")
    drawn = draw_reports(reports, min(limit or len(reports), len(reports)), seed)
    items = [_item(metric, report, cases[report.case], reviews[report.key]) for report in drawn]
    random.Random(seed).shuffle(items)  # systems interleave, so that a rater cannot tell them by their order
    changes = {report.case: shown_change(cases[report.case].change) for report in drawn}
    texts = texts_of({report.case: cases[report.case].change for report in drawn})
    return ProjectData(changes=changes, items=tuple(item for item in items if item.parts), texts=texts)


def _item(metric: Points, report: Report, case: Case, review: Review) -> Item:
    known = {group[0].id: group for group in findings(case.references)}
    texts: dict[str, tuple[str, ShownText]] = {}
    for claim, dimension, _, text in points_to_judge(metric, report):
        if dimension == HIT:
            first = shown_text(known[claim][0])
            body = "\nIn other words: ".join(one.body for one in known[claim])
            texts[claim] = "known", first.model_copy(update={"body": body})
        else:
            texts[claim] = "listed", ShownText(body=text)
    about = {"case": report.case, "system": report.system, "attempt": report.attempt}
    return Item(
        subject=Subject(kind=SubjectKind.REVIEW, **about),
        parts=tuple(Subject(kind=SubjectKind.LINK, claim=claim, **about) for claim in texts),
        part_texts=tuple(text for _, text in texts.values()),
        part_kinds=tuple(kind for kind, _ in texts.values()),
        comments=tuple(shown_text(one) for one in review.comments),
        language=case_language(case) or "",
    )
