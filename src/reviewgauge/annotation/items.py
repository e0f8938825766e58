"""The items of a project, made from cases and reviews: what is shown, without who wrote it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from reviewgauge.analysis.point_labels import HIT, Report, draw_reports, points_to_judge
from reviewgauge.annotation.code import texts_of
from reviewgauge.annotation.schemas.schema import Gold, Parts, Schema
from reviewgauge.core.base import Id, Prose, Record, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span, findings
from reviewgauge.metrics.points import Points
from reviewgauge.repo.syntax.languages import case_language


class ShownText(Record):
    """A comment, a claim or a reference as raters see it: its place and words, never its author, system or id."""

    body: Prose
    span: Span | None = None
    quote: Text | None = None


class Exhibit(Record):
    """Something to look at beside the change: what a model was shown, or the fix that a label was made from."""

    title: Prose
    text: Text = ""
    files: tuple[ChangedFile, ...] = ()


class Item(Record):
    """One thing to judge. `parts` are the subjects of the questions about parts, beside `part_texts` in order.

    `part_kinds` say of each which questions are about it, where they are of several kinds.
    """

    subject: Subject
    parts: tuple[Subject, ...] = ()
    part_texts: tuple[ShownText, ...] = ()
    part_kinds: tuple[str, ...] = ()
    comments: tuple[ShownText, ...] = ()
    references: tuple[ShownText, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    language: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each part, empty where there is only one."""
        return self.part_kinds or ("",) * len(self.parts)


class ProjectData(Record):
    """The changes of a project by their case's id, and its items in the order of their numbers.

    `batches` are (name, size) where they are given; `places` says how many judge an item, by its place in `items`,
    where that is not what the project says. The first `training` items teach every rater, by the right answers that
    `gold` knows; the next `pilot` items are a batch that all raters judge before the others open.
    `texts` are the changed files of a case after its change, where its repository is at hand.
    """

    changes: dict[Id, Change]
    items: tuple[Item, ...]
    batches: tuple[tuple[str, int], ...] = ()
    gold: dict[int, Gold] = Field(default_factory=dict)
    training: int = 0
    pilot: int = 0
    places: dict[int, int] = Field(default_factory=dict)
    texts: dict[Id, dict[str, str]] = Field(default_factory=dict)


def make_items(
    schema: Schema, cases: Sequence[Case], reviews: Iterable[Review] = (), *, limit: int | None = None, seed: int = 0
) -> ProjectData:
    """Every item of these cases and reviews in a drawn order, at most `limit`. Raises UserError where there is none."""
    said: dict[str, list[Review]] = {}
    for review in reviews:
        said.setdefault(review.case, []).append(review)
    found = [item for case in cases for item in _of_case(schema, case, said.get(case.id, []))]
    if not found:
        raise UserError(
            f"there is nothing to judge by the schema {schema.name!r}: it asks about each {_needs(schema)}",
            remedy="name a run, or a data set with recorded reviews" if _needs_reviews(schema) else "choose another",
        )
    random.Random(seed).shuffle(found)  # systems interleave, so that a rater cannot tell them by their order
    kept = found[:limit]
    wanted = {item.subject.case for item in kept}
    cases = [case for case in cases if case.id in wanted]
    changes = {case.id: shown_change(case.change) for case in cases}
    return ProjectData(changes=changes, items=tuple(kept), texts=texts_of({case.id: case.change for case in cases}))


def _needs_reviews(schema: Schema) -> bool:
    return schema.unit in (SubjectKind.REVIEW, SubjectKind.PAIR)


def _needs(schema: Schema) -> str:
    return schema.unit.value + (f" with {schema.parts}" if schema.parts is not Parts.NONE else "")


def shown_change(change: Change) -> Change:
    """The change without what tells of its answers or of this machine."""
    return change.model_copy(update={"git": None, "snippets": (), "url": None})


def _of_case(schema: Schema, case: Case, reviews: Sequence[Review]) -> Iterator[Item]:
    shown = tuple(shown_text(one) for one in case.references) if schema.shows_references else ()
    for subject, comments, finding in _subjects(schema.unit, case, reviews):
        parts = list(_parts(schema.parts, case, subject))
        if (
            schema.parts not in (Parts.NONE, Parts.PHRASINGS)
            and not parts
            and any(question.each for question in schema.questions)
        ):
            continue
        yield Item(
            subject=subject,
            parts=tuple(part for part, _ in parts),
            part_texts=tuple(text for _, text in parts),
            comments=tuple(shown_text(one) for one in comments),
            references=tuple(shown_text(one) for one in finding) if finding else shown,
            language=case_language(case) or "",
        )


def _subjects(
    unit: SubjectKind, case: Case, reviews: Sequence[Review]
) -> Iterator[tuple[Subject, Sequence[Comment], Sequence[Comment]]]:
    """(subject, the comments that it is about, the finding that they may raise)."""
    if unit is SubjectKind.CHANGE:
        yield Subject(kind=unit, case=case.id), (), ()
    elif unit is SubjectKind.COMMENT and not reviews:
        for reference in case.references:
            yield Subject(kind=unit, case=case.id, reference=reference.id), [reference], ()
    elif unit is SubjectKind.CLAIM:
        for claim in case.claims:
            yield Subject(kind=unit, case=case.id, claim=claim.id), [Comment(id=claim.id, body=claim.body)], ()
    for review in reviews if unit not in (SubjectKind.CHANGE, SubjectKind.CLAIM) else ():
        of_review = Subject(kind=SubjectKind.REVIEW, case=case.id, system=review.system, attempt=review.attempt)
        if unit is SubjectKind.REVIEW:
            yield of_review, review.comments, ()
        for comment in review.comments if unit in (SubjectKind.COMMENT, SubjectKind.PAIR) else ():
            about = of_review.model_copy(update={"kind": unit, "comment": comment.id})
            if unit is SubjectKind.COMMENT:
                yield about, [comment], ()
                continue
            for finding in findings(case.references):
                yield about.model_copy(update={"reference": finding[0].id}), [comment], finding


def _parts(parts: Parts, case: Case, subject: Subject) -> Iterator[tuple[Subject, ShownText]]:
    """The parts of an item: claims (with the review: whether it addresses them), or the points of a change."""
    if parts is Parts.CLAIMS:
        kind = SubjectKind.LINK if subject.system else SubjectKind.CLAIM
        for claim in case.claims:
            yield subject.model_copy(update={"kind": kind, "claim": claim.id}), ShownText(body=claim.body)
    elif parts is Parts.REFERENCES:
        for finding in findings(case.references):
            found = subject.model_copy(update={"kind": SubjectKind.COMMENT, "reference": finding[0].id})
            yield found, shown_text(finding[0])


def shown_text(comment: Comment) -> ShownText:
    """What raters see of a comment."""
    return ShownText(body=comment.body, span=comment.span, quote=comment.quote)


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
    """Reports that `points` read, or `limit` of them drawn at random: which known points are hit, and what is listed.

    Raters see the report and the points, not what a model said of them. Source: SWR-Bench (arXiv:2509.01494), RQ1: 100
    reports drawn at random. Raises UserError.
    """
    if schema.parts is not Parts.POINTS or schema.unit is not SubjectKind.REVIEW:
        raise UserError(f"the schema {schema.name!r} does not ask about points", remedy="--schema reports")
    drawn = draw_reports(reports, min(limit or len(reports), len(reports)), seed)
    items = [_of_report(metric, report, cases[report.case], reviews[report.key]) for report in drawn]
    random.Random(seed).shuffle(items)  # systems interleave, so that a rater cannot tell them by their order
    changes = {report.case: shown_change(cases[report.case].change) for report in drawn}
    texts = texts_of({report.case: cases[report.case].change for report in drawn})
    return ProjectData(changes=changes, items=tuple(item for item in items if item.parts), texts=texts)


def _of_report(metric: Points, report: Report, case: Case, review: Review) -> Item:
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
