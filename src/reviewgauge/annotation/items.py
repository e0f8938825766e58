"""The items of a project, made from cases and reviews, reports, or a build's audit: what is shown, not who wrote it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from reviewgauge.analysis.point_labels import HIT, Report, draw_reports, points_to_judge
from reviewgauge.annotation.schemas.schema import Gold, Parts, Schema
from reviewgauge.core.base import Id, Prose, Record, Text
from reviewgauge.core.building import Decision, DecisionKind
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, findings
from reviewgauge.engine.build.folder import CASES, DECISIONS, read_decisions
from reviewgauge.metrics.points import Points
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, later_commits
from reviewgauge.repo.syntax.languages import case_language
from reviewgauge.stages.check_labels import SHEET, clean_decision, from_fix, label_decision
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.sampling.audit import audit_labels, decision_id, draw
from reviewgauge.stages.sampling.audit_table import (
    AUDIT,
    AuditRow,
    read_table,
    tables_of,
)
from reviewgauge.views.changes.code import ShownText, texts_of

MOST_DRAWN = 100_000  # decisions of a build, where nobody says how many


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
    schema: Schema,
    cases: Sequence[Case],
    reviews: Iterable[Review] = (),
    decisions: Iterable[Decision] = (),
    *,
    limit: int | None = None,
    seed: int = 0,
) -> ProjectData:
    """Every item of these cases and reviews in a drawn order, at most `limit`. Raises UserError where there is none.

    Beside a change with its references stands what the `decisions` of its build were made from.
    """
    evidence: dict[str, list[Exhibit]] = {}
    for one in decisions if schema.parts is Parts.REFERENCES else ():
        if one.kind in (DecisionKind.COMMENT, DecisionKind.CLEAN):
            evidence.setdefault(one.item, []).append(Exhibit(title=f"What led to: {one.decided}", text=one.shown))
    said: dict[str, list[Review]] = {}
    for review in reviews:
        said.setdefault(review.case, []).append(review)
    found = [item for case in cases for item in _of_case(schema, case, said.get(case.id, []))]
    if not found:
        raise UserError(
            f"there is nothing to judge by the schema {schema.name!r}: it asks about each {_needs(schema)}",
            remedy="name a run, or a data set with recorded reviews" if _needs_reviews(schema) else "choose another",
        )
    found = [one.model_copy(update={"exhibits": tuple(evidence.get(one.subject.case, ()))}) for one in found]
    random.Random(seed).shuffle(found)  # systems interleave, so that a rater cannot tell them by their order
    return project_data(found[:limit], cases)


def project_data(items: Sequence[Item], cases: Iterable[Case]) -> ProjectData:
    """These items with the changes among `cases` that they are about, and the files of those at hand."""
    wanted = {item.subject.case for item in items}
    changes = {case.id: case.change for case in cases if case.id in wanted}
    shown = {name: shown_change(change) for name, change in changes.items()}
    return ProjectData(changes=shown, items=tuple(items), texts=texts_of(changes))


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
        whole = schema.parts in (Parts.NONE, Parts.PHRASINGS) or (schema.parts is Parts.REFERENCES and case.clean)
        if not whole and not parts and any(question.each for question in schema.questions):
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
        proposals = [one for one in case.neutral if one.same_as is None]  # the others say the same
        for one in (*case.references, *proposals):
            yield Subject(kind=unit, case=case.id, reference=one.id), [one], ()
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
    reports = [one for one in reports if points_to_judge(metric, one.matching)]
    drawn = draw_reports(reports, min(limit or len(reports), len(reports)), seed)
    items = [_of_report(metric, report, cases[report.case], reviews[report.key]) for report in drawn]
    random.Random(seed).shuffle(items)  # systems interleave, so that a rater cannot tell them by their order
    return project_data(items, cases.values())


def _of_report(metric: Points, report: Report, case: Case, review: Review) -> Item:
    known = {group[0].id: group for group in findings(case.references)}
    texts: dict[str, tuple[str, ShownText]] = {}
    for claim, dimension, _, text in points_to_judge(metric, report.matching):
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


# --- the audit of a build --------------------------------------------------------------------------------------------


def audit_folder(source: str | Path) -> Path | None:
    """The folder of the build whose audit `source` is: the folder itself, its `audit`, or a table there.

    A build whose models decided something has one, also before anything is drawn.
    """
    path = Path(source)
    if path.suffix == ".csv" and path.parent.name == AUDIT:
        return path.parent.parent if path in tables_of(path.parent.parent) else None
    folder = path.parent if path.name == AUDIT else path
    return folder if tables_of(folder) or (folder / DECISIONS).is_file() else None


def audit_items(
    schema: Schema, source: str | Path, *, limit: int | None = None, kinds: Collection[str] = ()
) -> ProjectData:
    """Every row of an audit, in the order of the tables, which is random: at most `limit` of each. Raises UserError.

    With `kinds`, and where nothing was drawn, the decisions of the build that people can overrule, or `limit` of them:
    those of the `kinds` about changes of the benchmark, and about comments that a model took out.
    """
    folder = folder_of_audit(source)
    if schema.unit is not SubjectKind.CHANGE or any(question.each for question in schema.questions):
        raise UserError(f"the schema {schema.name!r} does not ask about rows of an audit", remedy="--schema audit")
    if kinds or not tables_of(folder):
        return _decisions_to_check(folder, kinds or list(DecisionKind), limit)
    tables = _tables(source)
    known = _labels_to_check(folder) if folder / SHEET in tables else {}
    changes: dict[str, Change] = {}
    items: list[Item] = []
    for table in tables:
        for row in list(read_table(table).rows.values())[:limit]:
            subject = Subject(kind=SubjectKind.CHANGE, case=row.id)
            if row.id in known:
                case, finding = known[row.id]
                changes[row.id] = shown_change(case.change)
                references, language = tuple(map(shown_text, finding)), case_language(case) or ""
                beside = tuple(_fix(case, finding, folder) if finding else _later(case, folder))
                items.append(Item(subject=subject, references=references, exhibits=beside, language=language))
            else:
                changes[row.id] = Change(repo=table.stem, title=f"A decision of {table.stem}")
                items.append(Item(subject=subject, exhibits=tuple(_decision(row))))
    if not items:
        raise UserError(f"nothing was drawn into {folder / AUDIT}", remedy="reviewgauge build ... --audit 20")
    return ProjectData(changes=changes, items=tuple(items))


def _decisions_to_check(folder: Path, kinds: Collection[str], limit: int | None) -> ProjectData:
    """Decisions of these kinds, drawn as an audit draws them, beside the change."""
    cases = {case.id: case for case in _cases(folder)}
    decisions = (one for one in read_decisions(folder) if one.kind in kinds)
    decisions = (one for one in decisions if one.item in cases or one.kind is DecisionKind.COMMENT)
    drawn = draw(decisions, limit or MOST_DRAWN).decisions
    if not drawn:
        there = ", ".join(sorted({one.kind for one in read_decisions(folder) if one.kind}))
        raise UserError(f"no model decided anything of these kinds in {folder}", remedy=f"there is: {there or 'none'}")
    unknown = Change(repo=folder.name, title="A change that left the benchmark")
    changes = {
        name: shown_change(cases[one.item].change) if one.item in cases else unknown for name, one in drawn.items()
    }
    rows = [(name, AuditRow(name, one.shown, one.decided, one.reason)) for name, one in drawn.items()]
    made = (Item(subject=Subject(kind=SubjectKind.CHANGE, case=n), exhibits=tuple(_decision(row))) for n, row in rows)
    return ProjectData(changes=changes, items=tuple(made))


def audit_marks(source: str | Path) -> list[Label]:
    """What raters wrote into the tables of an audit already."""
    return [label for table in _tables(source) for label in audit_labels(table)]


def _tables(source: str | Path) -> list[Path]:
    path = Path(source)
    return [path] if path.suffix == ".csv" else tables_of(folder_of_audit(source))


def folder_of_audit(source: str | Path) -> Path:
    """The folder of the build whose audit `source` is. Raises UserError."""
    folder = audit_folder(source)
    if folder is None:
        raise UserError(f"{source} holds no audit", remedy="reviewgauge build ... --audit 20")
    return folder


def _labels_to_check(folder: Path) -> dict[str, tuple[Case, Sequence[Comment]]]:
    """The case and the finding (none of a clean change) of each row; one that left the benchmark has none any more."""
    found: dict[str, tuple[Case, Sequence[Comment]]] = {}
    for case in _cases(folder):
        if case.clean:
            found[decision_id(clean_decision(case))] = case, ()
        made = (finding for finding in findings(case.references) if from_fix(finding))
        found |= {decision_id(label_decision(case, finding)): (case, finding) for finding in made}
    return found


def _cases(folder: Path) -> Iterator[Case]:
    if (folder / CASES).is_file():
        with (folder / CASES).open("rb") as stream:
            for number, line in lines(stream, CASES):
                yield parse_record(Case, line, CASES, number)


def _fix(case: Case, finding: Sequence[Comment], folder: Path) -> Iterator[Exhibit]:
    """The fix that a label was made from."""
    fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
    message, files = "", tuple[ChangedFile, ...]()
    if case.change.git is not None and fix:
        repository = Repository(folder / case.change.git)
        with suppress(UserError):
            said = repository.run("show", "-s", "--format=%B", "--end-of-options", fix)
            message = said.decode("utf-8", "replace").strip()
            files = repository.changed_files(f"{fix}^", fix, LARGEST_FILE)
    yield Exhibit(title="Could a reviewer have raised on the marked lines what this fix mended?")
    yield Exhibit(title=f"The fix {fix[:12]}", text=message or finding[0].body, files=files)


def _later(case: Case, folder: Path) -> Iterator[Exhibit]:
    """What came after a clean change."""
    yield Exhibit(title="Is there nothing in this change that a reviewer has to raise?")
    change = case.change
    if change.git is not None and change.head:
        with suppress(UserError):
            found = later_commits(Repository(folder / change.git), change.head, change.files, FromGit.clean_days)
            shown = [f"{one.id} {one.day} {one.title}" + (f" ({one.why})" if one.why else "") for one in found.commits]
            none = "None. A defect may have been mended in other lines."
            title = f"Commits that touched its lines or name it until {found.until}"
            yield Exhibit(title=title, text="\n".join(shown) or none)


def _decision(row: AuditRow) -> Iterator[Exhibit]:
    yield Exhibit(title="What was shown", text=row.shown)
    yield Exhibit(title=f"What was decided: {row.decided}", text=row.reason)
