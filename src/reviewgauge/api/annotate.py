"""The verbs of `reviewgauge annotate`. Only this file of the folder needs the libraries of the extra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from reviewgauge.analysis.claim_shares import corrected_claims
from reviewgauge.analysis.point_labels import Report, points_of_run
from reviewgauge.annotation.growing import next_version, pool
from reviewgauge.annotation.growing.unmatched import read_unmatched
from reviewgauge.annotation.items import ProjectData, audit_folder, audit_items, audit_marks, make_items, report_items
from reviewgauge.annotation.label_import import import_labels
from reviewgauge.annotation.labels import labels_csv, labels_jsonl, labels_of, write_sheets
from reviewgauge.annotation.live import live_agreement
from reviewgauge.annotation.new_project import make_project
from reviewgauge.annotation.pages.app import open_service
from reviewgauge.annotation.schemas.schema import Parts, Schema, load_schema, shipped_schemas
from reviewgauge.annotation.store.database import Database, unavailable
from reviewgauge.annotation.store.owner import audit_log
from reviewgauge.annotation.store.projects import Project, find_project, status
from reviewgauge.api.resolve import dataset_label, find_dataset, labelled
from reviewgauge.core.building import Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_named
from reviewgauge.core.labels import Label, SubjectKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.annotation import AnnotateResult, AuditLog, GrowResult, PoolResult, ProjectStatus
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.engine.build.folder import read_decisions
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.metrics.points import Points

RECORDED = "recorded"


def annotate(
    database: str | Path,
    cases: Sequence[Case],
    reviews: Iterable[Review] = (),
    decisions: Iterable[Decision] = (),
    *,
    schema: str | Path | Schema,
    labels: Sequence[Label] = (),
    seed: int = 0,
    **options: Any,
) -> AnnotateResult:
    """Make a project in `database`, a file or the URL of a PostgreSQL; `annotate serve` shows it to people.

    `schema` is a shipped one by name, a TOML file, or a Schema. `options`: `project` is its name, "main" by default;
    `raters` and `batch` default to what the schema says; `limit` draws so many items. With `labels` the project holds
    what they judge, with these judgements. `gold` is a file of labels that says the right answers about some items:
    `training` of them teach every rater, the others are mixed in. All raters judge the first `pilot` items before the
    others open. `repo` is a clone with the commits of the changes, for the lines around their hunks. Raises UserError.
    """
    wanted = schema if isinstance(schema, Schema) else load_schema(schema)
    limit = None if labels or options.get("gold") else options.get("limit")
    data = make_items(wanted, cases, reviews, decisions, limit=limit, seed=seed)
    return make_project(database, wanted, data, labels, **options)


@contextmanager
def store(where: str, *, create: bool = False) -> Iterator[Database]:
    """The store of a verb. Raises UserError."""
    with Database.open(where, create=create) as found:
        try:
            yield found
        except SQLAlchemyError as error:
            raise unavailable(error) from None


@contextmanager
def project_in(where: str, name: str | None) -> Iterator[tuple[Database, Project]]:
    """The store and the project of a verb. Raises UserError."""
    with store(where) as database:
        yield database, find_project(database, name)


def serve(where: str, project: str | None, say: Callable[[str], None], **at: Any) -> None:
    """Serve a project until Ctrl-C; `say` is told the link."""
    with project_in(where, project) as (database, found):
        service = open_service(database, found, **at)
        say(service.link)
        service.run()


def project_status(where: str, project: str | None) -> ProjectStatus:
    """How far a project is, with the agreement of batches that are over."""
    with project_in(where, project) as (database, found):
        return status(database, found).model_copy(update={"agreement": live_agreement(database, found, None)})


def export(where: str, project: str | None, out: str) -> AnnotateResult:
    """Write the labels of a project into a file, or the sheets of a build's folder."""
    folder = Path(out).is_dir()
    if Path(out).suffix not in (".csv", ".jsonl") and not folder:
        raise UserError(f"{out} is neither a .csv nor a .jsonl file", remedy="or the folder whose audit was checked")
    with project_in(where, project) as (database, found):
        labels = labels_of(database, found, None)
    if folder:
        sheets = write_sheets(out, labels)
        return AnnotateResult(did="\n".join(map(str, sheets)), count=len(sheets))
    text = labels_csv(labels) if out.endswith(".csv") else labels_jsonl(labels)
    write_named(Path(out), text.encode())
    return AnnotateResult(did=f"{len(labels):,} labels in {out}", count=len(labels))


def import_file(where: str, project: str | None, labels: str) -> AnnotateResult:
    """Add the judgements of a file of labels."""
    with project_in(where, project) as (database, found):
        done = import_labels(database, found, Path(labels))
    known = f", {done.known:,} were there already" if done.known else ""
    return AnnotateResult(did=f"{done.judgements:,} judgements of {done.labels:,} labels{known}", count=done.judgements)


def pool_runs(
    where: str, runs: Sequence[str], metric: str | None, schema: str | None, options: dict[str, Any]
) -> PoolResult:
    """Pool what runs say that matches no reference."""
    questions = None if schema is None else load_schema(schema)
    if questions is not None:
        pool.check_schema(questions)  # before a store is made
    unmatched = read_unmatched(runs, metric)
    with store(where, create=True) as database:
        return pool.pool(database, unmatched, schema=questions, **options)


def grow(where: str, project: str | None, data: str, files: str | None, out: str) -> GrowResult:
    """Write the next version of a benchmark."""
    with project_in(where, project) as (database, found):
        if (Path(data) / MANIFEST).is_file():
            with RunFolder.open(data) as run:
                cases, name = list(run.cases()), run.manifest.dataset
        else:
            dataset = find_dataset(data, files)
            cases, name = list(dataset.cases()), dataset_label(dataset)
        return next_version.grow(database, found, cases, out=out, name=name, before=data)


def log_of(where: str) -> AuditLog:
    """Who did what and when."""
    with store(where) as database:
        return AuditLog(lines=tuple(audit_log(database)))


# --- what `init` is given: a data set, a run, the audit of a build; and the labels that are there already ------------


def make_from(
    database: str, source: str, files: str | None, *, schema: str | None, labels: str | None, **options: Any
) -> AnnotateResult:
    """Make a project of what `source` is. Raises UserError."""
    is_run = (Path(source) / MANIFEST).is_file()
    is_audit = files is None and not is_run and audit_folder(source) is not None
    if not (schema or is_audit or is_run):
        _material(source, files)  # a slip in its name is said first
    word = schema or ("audit" if is_audit else "reports" if is_run and _points(source) else "")
    word = word or next((name for name in shipped_schemas() if name == source), "")  # a data set's own codebook
    if not word:
        raise UserError(
            "--schema is required: what is asked", remedy=f"{', '.join(shipped_schemas())}, or a .toml file"
        )
    wanted, seed, kinds = load_schema(word), options.pop("seed"), options.pop("kinds", ())
    if is_audit and (wanted.name == "audit" or source.endswith(".csv")):
        data = audit_items(wanted, source, limit=options.pop("limit"), kinds=kinds)
        return make_project(database, wanted, data, _chosen(labels, audit_marks(source)), **options)
    if kinds:
        raise UserError("--kind is for the decisions of a build", remedy="name its folder, and no other --schema")
    if is_run and wanted.parts is Parts.POINTS:
        data = _reports(wanted, source, limit=options.pop("limit"), seed=seed)
        return make_project(database, wanted, data, _chosen(labels, ()), **options)
    cases, reviews, recorded = _material(source, files)
    chosen = _chosen(labels, recorded)
    if wanted.parts is Parts.CLAIMS and wanted.unit is SubjectKind.REVIEW and labels and Path(labels).is_file():
        cases = corrected_claims(cases, chosen)
        chosen = [label for label in chosen if label.subject.kind is not SubjectKind.CLAIM]
    decisions = read_decisions(Path(source))
    return annotate(database, cases, reviews, decisions, schema=wanted, labels=chosen, seed=seed, **options)


def _points(source: str) -> list[tuple[Points, list[Report]]]:
    with RunFolder.open(source) as run:
        return [entry for entry in points_of_run(run) if entry[1]]


def _reports(schema: Schema, source: str, *, limit: int | None, seed: int) -> ProjectData:
    scored = _points(source)
    if not scored:
        raise UserError("the run has no scores of points", remedy="reviewgauge score RUN 'points(model=...)'")
    with RunFolder.open(source) as run:
        reviews = {(one.case, one.system, one.attempt): one for one in _reviews(run)}
        return report_items(schema, *scored[0], run.cases_by_id(), reviews, limit=limit, seed=seed)


def _reviews(run: RunFolder) -> list[Review]:
    return [outcome.review for outcome in run.outcomes() if outcome.review is not None]


def _material(source: str, files: str | None) -> tuple[Sequence[Case], Sequence[Review], Sequence[Label]]:
    """The cases of a run or a data set, the reviews of them, and the labels that came with them. Raises UserError."""
    if (Path(source) / MANIFEST).is_file():
        with RunFolder.open(source) as run:
            cases = list(run.cases())
            return cases, _reviews(run), [label for case in cases for label in case.labels]
    return labelled(find_dataset(source, files))


def _chosen(wanted: str | None, recorded: Sequence[Label]) -> list[Label]:
    """The labels that `--labels` names: a file's, the recorded ones, or those of one of their rounds."""
    if wanted is None:
        return []
    rounds = list(dict.fromkeys(label.round for label in recorded if label.round))
    if Path(wanted).is_file() and wanted not in rounds:
        return list(read_label_file(Path(wanted)).labels)
    study = [label for label in recorded if label.round is None]
    found = [label for label in recorded if label.round == wanted]
    found = (study or list(recorded)) if wanted == RECORDED else found
    if not found:
        known = f"--labels: {', '.join([RECORDED, *rounds])}, or a file" if recorded else "name a file of labels"
        raise UserError(f"there are no labels {wanted!r}", remedy=known)
    return found
