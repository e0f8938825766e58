"""Judgements as Labels, for JSON lines and CSV: what was exported gives the same judgements when it is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sql

from reviewgauge.annotation.items import Item, folder_of_audit
from reviewgauge.annotation.schemas.schema import ITEM, Question, QuestionKind, Schema
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import CONSENSUS, Account, account_names
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DISCUSSION, INDEPENDENT, Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.tables import batches, items
from reviewgauge.core.base import content_id
from reviewgauge.core.document import Plain
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import MISSING_CLAIM, Label, Scale, Subject, SubjectKind
from reviewgauge.stages.sampling.audit import RIGHT
from reviewgauge.stages.sampling.audit_table import CONSENSUS as CONSENSUS_COPY
from reviewgauge.stages.sampling.audit_table import AuditRow, Table, name_of_copy, read_table, tables_of, write_table
from reviewgauge.views.csv import to_csv

COLUMNS = (
    *("case", "system", "attempt", "comment", "reference", "claim", "rater", "dimension", "value"),
    *("batch", "round", "reason", "seconds", "consensus", "at", "guidelines", "written_by"),
)
WORDS = "in words"  # the value of a label whose answer is a text: a column of values holds no texts


def labels_of(database: Database, project: Project, reader: Account | None, *, over: bool = False) -> list[Label]:
    """All labels of a project in the order of its items. `reader` is an owner, or None: the command line.

    With `over` those of batches whose independent round is. Raises NotYours.
    """
    with database.reading() as connection:
        judged = votes.everything(connection, reader, project.id, over=over)
        names = account_names(connection)
        known = {id_: (item, batch) for id_, item, batch in project_items(connection, project.id)}
    found: list[Label] = []
    for one in judged:
        item, batch = known[one.item]
        found += _labels(project.schema_, item, one, names[one.rater], batch)
    return found


def scales_of(schema: Schema) -> dict[str, Scale]:
    """The scale of each dimension that has one."""
    kept = [one for one in schema.questions if one.kind is QuestionKind.SCALE]
    return {one.dimension: Scale(low=one.low, high=one.high, meaning=one.text) for one in kept}


def _labels(schema: Schema, item: Item, one: Judgement, name: str, batch: str) -> Iterator[Label]:
    together = one.round == DISCUSSION
    rater = CONSENSUS if together else name
    for number, answer in enumerate(one.answers):
        question = schema.question(answer.dimension)
        label = Label(
            subject=item.subject if answer.part == ITEM else item.parts[answer.part],
            rater=rater,
            dimension=answer.dimension,
            value=answer.value if question is None else question.label_value(answer.value),
            round=None if one.round == INDEPENDENT else one.round,  # so that it is compared with what models said
            batch=batch,
            reason=one.reason or None,
            seconds=one.seconds,
            consensus=one.round != INDEPENDENT,
            at=one.at,
            guidelines=one.guidelines,
            written_by=name if together else None,
        )
        if question is not None and question.kind is QuestionKind.LIST:
            added = {
                "subject": _added(item.subject, content_id(rater, one.round, number)),
                "dimension": _claim_dimension(schema, question),
                "value": MISSING_CLAIM,
                "reason": str(answer.value),
            }
            label = label.model_copy(update=added)
        elif question is not None and question.kind is QuestionKind.TEXT:
            label = label.model_copy(update={"value": WORDS, "reason": str(answer.value)})
        yield label


def _added(subject: Subject, name: str) -> Subject:
    kind = SubjectKind.LINK if subject.system else SubjectKind.CLAIM
    return subject.model_copy(update={"kind": kind, "claim": f"new-{name}"})


def _claim_dimension(schema: Schema, question: Question) -> str:
    """The dimension of a claim that is added: that of the claims which are judged."""
    return next((one.dimension for one in schema.questions if one.each), question.dimension)


def labels_csv(labels: Iterable[Label]) -> str:
    """Labels as the table that docs/guides/people.md describes."""
    return to_csv(COLUMNS, (_row(label) for label in labels))


def labels_jsonl(labels: Iterable[Label]) -> str:
    """Labels as JSON lines."""
    return "".join(label.to_line().decode() for label in labels)


def _row(label: Label) -> Sequence[Plain]:
    s = label.subject
    return (
        *(s.case, s.system, s.attempt if s.system else None, s.comment, s.reference, s.claim),
        *(label.rater, label.dimension, label.value, label.batch, label.round, label.reason, label.seconds),
        *("true" if label.consensus else None, label.at, label.guidelines, label.written_by),
    )


def project_items(connection: sql.Connection, project: int) -> list[tuple[int, Item, str]]:
    """(id, item, name or number of its batch) in order."""
    columns = (items.c.id, items.c.item, batches.c.number, batches.c.name)
    query = sql.select(*columns).join(batches, batches.c.id == items.c.batch)
    rows = connection.execute(query.where(items.c.project == project).order_by(items.c.number)).all()
    return [(row.id, Item.model_validate(row.item), row.name or str(row.number)) for row in rows]


# --- the sheets of a build's audit ------------------------------------------------------------------------------------


def write_sheets(folder: str | Path, labels: Iterable[Label]) -> list[Path]:
    """Write what each rater said into their copies of the audit's tables, which the next build reads.

    What raters agreed on together, or an expert decided, goes into the copy `consensus`. Marks that a copy holds of
    other rows stay. Raises UserError where no label is about a row.
    """
    by_rater: dict[str, dict[str, Label]] = {}
    names: dict[str, str] = {}
    for label in labels:
        if label.dimension == RIGHT and label.subject.kind is SubjectKind.CHANGE:
            name = CONSENSUS_COPY if label.consensus else name_of_copy(label.rater)
            if not label.consensus and names.setdefault(name, label.rater) != label.rater:
                raise UserError(f"{label.rater!r} and {names[name]!r} would have one sheet", remedy="export to a .csv")
            by_rater.setdefault(name, {})[label.subject.case] = label
    written: list[Path] = []
    for table in tables_of(folder_of_audit(folder)):
        drawn = read_table(table)
        for rater, said in by_rater.items():
            if not said.keys().isdisjoint(drawn.rows):
                path = table.with_name(f"{table.stem}-{rater}.csv")
                before = read_table(path)
                write_table(path, list(_marked(drawn, before, said)), before.more)
                written.append(path)
    if not written:
        raise UserError(
            f"no label of the project is about a row of {folder}'s audit", remedy="-o FILE.csv, for build --labels"
        )
    return written


def _marked(drawn: Table, before: Table, said: Mapping[str, Label]) -> Iterator[AuditRow]:
    """The rows of a rater's copy: those of the table with their marks, then what the copy holds beside."""
    for name, row in drawn.rows.items():
        label, old = said.get(name), before.rows.get(name)
        if label is not None:
            mark = {"correct": "y" if label.value == "yes" else "n", "note": label.reason or ""}
            yield row._replace(written={**(old.written if old else {}), **mark})
        else:
            yield row._replace(written=old.written if old else {})
    yield from (row for name, row in before.rows.items() if name not in drawn.rows)
