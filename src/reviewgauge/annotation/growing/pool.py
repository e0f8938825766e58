"""`reviewgauge annotate pool`: the unmatched comments of runs become the items of a project, once each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.growing.next_version import CORRECT, NO, YES, PoolDecision, check_changes, judge_pool
from reviewgauge.annotation.growing.unmatched import Pooled, Unmatched, read_pool, write_pool
from reviewgauge.annotation.items import Item, ProjectData, project_data, shown_text
from reviewgauge.annotation.schemas.schema import ITEM, Parts, Schema, load_schema
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import Project, add_items, create_project, find_project
from reviewgauge.annotation.store.tables import projects
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind
from reviewgauge.core.records import Case, Comment, findings
from reviewgauge.core.reports.annotation import PoolResult
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.repo.syntax.languages import case_language
from reviewgauge.stages.merge_same import MergeSame

SCHEMA = "findings"
MOST_PHRASINGS = 8  # that an item shows; a reviewer that says one thing on every line makes several
MOST_COMPARED = 150  # comments, pair by pair, so that it ends in a minute


class Finding(NamedTuple):
    """What becomes an item: comments that say the same, the first of which is judged, and what may say it already.

    `known` are references of the case and findings that were pooled before.
    """

    comments: Sequence[Pooled]
    known: Sequence[Comment]


def pool(
    database: Database,
    unmatched: Unmatched,
    *,
    project: str = "main",
    schema: Schema | None = None,
    raters: int | None = None,
    batch: int | None = None,
    seed: int = 0,
) -> PoolResult:
    """Make a project of what runs say that matches no reference; an existing one gets what is new.

    Comments on one hunk that say the same, by the offline judge, become one item. Raises UserError.
    """
    found = _project(database, project, schema, unmatched, raters=raters, batch=batch)
    with database.reading() as connection:
        before = read_pool(connection, found.id)
        check_changes(connection, found.id, unmatched.cases)
    again = {n: before[n].said_by_more(one.sources) for n, one in unmatched.comments.items() if n in before}
    apart = [one.pooled.name for one in judge_pool(database, found) if one.fate is PoolDecision.APART]
    new = [*_findings(unmatched, before), *(Finding([{**before, **again}[name]], []) for name in apart)]
    random.Random(seed).shuffle(new)  # what one system says does not come in a row
    items = [_item(unmatched.cases.get(one.comments[0].case), one, found.schema_) for one in new]
    data = project_data(items, unmatched.cases.values())
    with database.writing() as connection:
        connection.execute(sql.select(projects.c.id).where(projects.c.id == found.id).with_for_update())
        if read_pool(connection, found.id) != before:
            raise UserError("somebody else is pooling into this project", remedy="run the command again")
        for one in again.values():
            write_pool(connection, found.id, one)
        for item, finding in zip(add_items(connection, found, data), new, strict=True):
            for part, comment in enumerate(finding.comments, ITEM):
                write_pool(connection, found.id, comment.model_copy(update={"item": item, "part": part}))
        database.log(connection, None, "pool", runs=unmatched.runs, items=len(items))
    return PoolResult(
        counts=dict(sorted(unmatched.counts.items())),
        distinct=len(unmatched.comments),
        known=len(again),
        items=len(items),
        raters=found.raters,
    )


def _project(
    database: Database, name: str, schema: Schema | None, unmatched: Unmatched, *, raters: int | None, batch: int | None
) -> Project:
    """The project of this name, made where there is none. Raises UserError where it is about something else."""
    with database.reading() as connection:
        known = connection.execute(sql.select(projects.c.id).where(projects.c.name == name)).first()
    if known is not None:
        if schema or raters or batch:
            raise UserError(
                f"the project {name!r} is there already",
                remedy="leave out --schema, --raters and --batch, or name another --project",
            )
        found = find_project(database, name)
        check_schema(found.schema_)
        return found
    if not unmatched.comments:
        raise UserError("there is nothing to judge: these runs say nothing that is unmatched", remedy="name others")
    wanted = schema or load_schema(SCHEMA)
    check_schema(wanted)
    wanted = wanted if batch is None else wanted.model_copy(update={"batch": batch})
    return create_project(database, name, wanted, ProjectData(changes={}, items=()), raters=raters)


def check_schema(schema: Schema) -> None:
    """Raise UserError for questions that do not tell a right comment from a wrong one."""
    question = schema.question(CORRECT)
    options = {option.value for option in question.options} if question is not None else set()
    if schema.unit is not SubjectKind.COMMENT or not {YES, NO} <= options:
        raise UserError(
            f"the schema {schema.name!r} does not ask whether a comment is correct, yes or no",
            remedy=f"{SCHEMA}, or one with a question {CORRECT!r} about each comment; --project makes another project",
        )


def _findings(unmatched: Unmatched, before: Mapping[str, Pooled]) -> Iterator[Finding]:
    """The comments that are new to the project, those together that say the same."""
    here: dict[str, list[Pooled]] = {}
    fresh = [one for one in unmatched.comments.values() if one.name not in before]
    for one in [one for one in before.values() if one.part == ITEM] + fresh:
        here.setdefault(one.case, []).append(one)
    parts = []
    for name, own in here.items():
        own.sort(key=lambda one: _place(one.comment))
        for part in (own[start : start + MOST_COMPARED] for start in range(0, len(own), MOST_COMPARED)):
            if any(one.name not in before for one in part):
                alone = {"references": tuple(one.comment for one in part), "neutral": (), "rejected": ()}
                parts.append(unmatched.cases[name].model_copy(update=alone))
    merged, _ = apply_stages(parts, [MergeSame()])
    for case in merged:
        references = unmatched.cases[case.id].references
        for group in findings(case.references):
            new = [unmatched.comments[one.id] for one in group if one.id not in before]
            near = {name for one in new for name in unmatched.near[one.name]}
            nearest = [one for one in group if one.id in before] + [one for one in references if one.id in near]
            known = list({one.id: one for one in nearest}.values())
            for start in range(0, len(new), MOST_PHRASINGS):  # very many phrasings: do they say the same as the first?
                first = [new[0].comment] if start else []
                yield Finding(new[start : start + MOST_PHRASINGS], [*first, *known[:MOST_PHRASINGS]])


def _place(comment: Comment) -> tuple[str, int, str]:
    span = comment.span
    return (span.path, span.start or 0, comment.id) if span else ("", 0, comment.id)


def _item(case: Case | None, finding: Finding, schema: Schema) -> Item:
    """The item of a finding; without `case` anybody may get it."""
    first, *others = (one.comment for one in finding.comments)
    name, of_case = first.id, finding.comments[0].case
    pair = partial(Subject, kind=SubjectKind.PAIR, case=of_case)
    parts = [(pair(comment=one.id, reference=name), one) for one in others]
    parts += [(pair(comment=name, reference=one.id), one) for one in finding.known]
    if schema.parts is not Parts.PHRASINGS:
        parts = []
    return Item(
        subject=Subject(kind=SubjectKind.COMMENT, case=of_case, reference=name),
        parts=tuple(subject for subject, _ in parts),
        part_texts=tuple(shown_text(one) for _, one in parts),
        comments=(shown_text(first),),
        language=(case_language(case) or "") if case else "",
    )
