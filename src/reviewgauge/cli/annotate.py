"""`reviewgauge annotate`: people judge in a browser; make a project, serve it, and get the labels."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.cli.annotation_data import make_from
from reviewgauge.cli.options import WholeHelp, from_option, json_option, seed_option
from reviewgauge.cli.output import emit, note
from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.files import write_named
from reviewgauge.core.records import Case
from reviewgauge.core.reports.annotation import AnnotateResult, AuditLine, AuditLog, ProjectStatus
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.views.terminal.growth import grown_lines, pool_lines

if TYPE_CHECKING:
    from reviewgauge.annotation.store.database import Database

NEEDS = ("sqlalchemy", "argon2", "starlette", "uvicorn", "pygments")
project_option = click.option("--project", help="Which project, where the store holds several.")


def check_extra() -> None:
    """Raise MissingExtra where the libraries are not installed."""
    if any(find_spec(name) is None for name in NEEDS):
        raise MissingExtra("the annotation service", "annotate")


@contextmanager
def store(where: str, *, create: bool = False) -> Iterator[Database]:
    """The store of a verb. Raises MissingExtra, UserError."""
    check_extra()
    from sqlalchemy.exc import SQLAlchemyError

    from reviewgauge.annotation.store.database import Database, unavailable

    with Database.open(where, create=create) as found:
        try:
            yield found
        except SQLAlchemyError as error:
            raise unavailable(error) from None


@click.group("annotate", cls=WholeHelp, no_args_is_help=True)
def command() -> None:
    """Let people judge in a browser: reviews, comments, claims, change-points or matches, blind, by several raters.

    DATABASE is a file, or the URL of a PostgreSQL: postgresql://USER@HOST/NAME.
    """


@command.command("init")
@click.argument("database")
@click.argument("data")
@from_option
@click.option("--schema", help="What is asked: grade, quality, ... or a TOML file. [default: as DATA says]")
@click.option("--project", default="main", show_default=True, help="The name of the new project.")
@click.option("--raters", type=click.IntRange(1, 50), help="How many judge each item. [default: as the schema says]")
@click.option("--batch", type=click.IntRange(min=1), help="Items of a batch. [default: as the schema says]")
@click.option("--limit", type=click.IntRange(min=1), help="Draw so many items.")
@click.option("--repo", type=click.Path(exists=True, file_okay=False), help="A clone, for the lines around hunks.")
@click.option("--labels", help="Put in labels: `recorded` for those of DATA, one of their rounds, or a file.")
@click.option("--gold", type=click.Path(exists=True, dir_okay=False), help="Labels of some items: their right answers.")
@click.option(
    "--training", type=click.IntRange(min=0), help="So many of those teach every rater. [default: half, to 5]"
)
@click.option("--pilot", default=0, type=click.IntRange(min=0), help="All judge so many items before the others open.")
@seed_option
@json_option
def init_command(
    database: str,
    data: str,
    source: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Make a project in DATABASE from DATA: a data set, a JSON lines file of cases, a run, or a build's audit."""
    check_extra()
    made = make_from(database, data, source, **options)
    emit(made, as_json, lambda: [made.did, *made.notes, f"next: reviewgauge annotate serve {database}"])


@command.command("serve")
@click.argument("database")
@project_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on (default: a free one).")
@click.option("--url", default="", help="The address that a team opens, such as https://annotate.example.org.")
def serve_command(database: str, project: str | None, host: str, port: int, url: str) -> None:
    """Serve the pages until Ctrl-C: for you alone, or with --url for a team with accounts."""
    with store(database) as opened:
        from reviewgauge.annotation.service import open_service
        from reviewgauge.annotation.store.projects import find_project

        service = open_service(opened, find_project(opened, project), host=host, port=port, url=url)
        click.echo(f"open {service.link}")
        note("Ctrl-C ends it; what was saved stays")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        service.run()


@command.command("status")
@click.argument("database")
@project_option
@json_option
def status_command(database: str, project: str | None, as_json: bool) -> None:
    """Show how far a project is, when it will be done, and who needs calibration in batches that are over."""
    with store(database) as opened:
        from reviewgauge.annotation.live import forecast, live_agreement
        from reviewgauge.annotation.store.projects import find_project, status

        chosen = find_project(opened, project)
        found = status(opened, chosen)
        more = {"forecast": forecast(opened, chosen, found), "agreement": live_agreement(opened, chosen, None)}
        found = found.model_copy(update=more)
    emit(found, as_json, lambda: _status_lines(found))


def _status_lines(found: ProjectStatus) -> str:
    lines = [f"{found.name} ({found.schema_name}): {found.done:,} of {found.items:,} items are done"]
    for one in found.batches:
        words = f"{one.judgements:,} of {one.wanted:,} judgements"
        if one.waiting:
            words += f", {one.waiting:,} items wait for a discussion or an expert"
        called = f" ({one.name})" if one.name else ""
        lines.append(f"batch {one.number}{called}: {words}, {one.done:,} of {one.items:,} items done")
    if found.forecast is not None:
        day = datetime.fromtimestamp(found.forecast.ends, UTC)
        lines.append(f"{found.forecast.left:,} judgements are left, until about {day:%d %B %Y}: {found.forecast.basis}")
    lines += found.agreement.advice if found.agreement is not None else ()
    return "\n".join(lines)


@command.command("export")
@click.argument("database")
@project_option
@click.option("-o", "--out", required=True, help="A .csv or .jsonl file; of an audit, the folder of the benchmark.")
@json_option
def export_command(database: str, project: str | None, out: str, as_json: bool) -> None:
    """Write the labels of a project, for agree, validate, build and annotate import."""
    if Path(out).suffix not in (".csv", ".jsonl") and not Path(out).is_dir():
        raise UserError(f"{out} is neither a .csv nor a .jsonl file", remedy="or the folder whose audit was checked")
    with store(database) as opened:
        from reviewgauge.annotation.audits import write_sheets
        from reviewgauge.annotation.labels import labels_csv, labels_jsonl, labels_of
        from reviewgauge.annotation.store.projects import find_project

        labels = labels_of(opened, find_project(opened, project), None)
        if Path(out).is_dir():
            sheets = write_sheets(out, labels)
            emit_result("\n".join(map(str, sheets)), len(sheets), as_json)
            return
        text = labels_csv(labels) if out.endswith(".csv") else labels_jsonl(labels)
    write_named(Path(out), text.encode())
    emit_result(f"{len(labels):,} labels in {out}", len(labels), as_json)


@command.command("import")
@click.argument("database")
@click.argument("labels", type=click.Path(exists=True, dir_okay=False))
@project_option
@json_option
def import_command(database: str, labels: str, project: str | None, as_json: bool) -> None:
    """Add the judgements of a file of LABELS to a project, all of them or none."""
    with store(database) as opened:
        from reviewgauge.annotation.label_import import import_labels
        from reviewgauge.annotation.store.projects import find_project

        done = import_labels(opened, find_project(opened, project), Path(labels))
    known = f", {done.known:,} were there already" if done.known else ""
    emit_result(f"{done.judgements:,} judgements of {done.labels:,} labels{known}", done.judgements, as_json)


@command.command("pool")
@click.argument("database")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--metric", help="The metric that says what is unmatched, where a run has several.")
@click.option("--project", default="main", show_default=True, help="The project, which is made where there is none.")
@click.option("--schema", help="The questions of a new project. [default: findings]")
@click.option("--raters", type=click.IntRange(1, 50), help="How many judge each item. [default: as the schema says]")
@click.option("--batch", type=click.IntRange(min=1), help="Items of a batch. [default: as the schema says]")
@seed_option
@json_option
def pool_command(
    database: str, runs: Sequence[str], metric: str | None, schema: str | None, as_json: bool, **options: Any
) -> None:
    """Let people judge what scored RUNS say that matches no reference: each distinct comment once.

    A project that is there already gets what is new.
    """
    check_extra()
    from reviewgauge.annotation.growing.pool import check_schema, pool
    from reviewgauge.annotation.growing.unmatched import read_unmatched
    from reviewgauge.annotation.schemas.schema import load_schema

    questions = None if schema is None else load_schema(schema)
    if questions is not None:
        check_schema(questions)  # before a store is made
    unmatched = read_unmatched(runs, metric)
    with store(database, create=True) as opened:
        made = pool(opened, unmatched, schema=questions, **options)
    emit(made, as_json, lambda: [*pool_lines(made), f"next: reviewgauge annotate serve {database}"])


@command.command("grow")
@click.argument("database")
@click.argument("data")
@from_option
@project_option
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False), help="The folder of the next version.")
@json_option
def grow_command(database: str, data: str, source: str | None, project: str | None, out: str, as_json: bool) -> None:
    """Write the next version of DATA: the same cases with what people accepted and rejected of a pool.

    DATA is what was reviewed: a data set, a JSON lines file of cases, a run folder, or the version before.
    """
    with store(database) as opened:
        from reviewgauge.annotation.growing.next_version import grow
        from reviewgauge.annotation.store.projects import find_project

        cases, name = cases_of(data, source)
        grown = grow(opened, find_project(opened, project), cases, out=out, name=name, before=data)
    emit(grown, as_json, lambda: grown_lines(grown))


@command.command("audit")
@click.argument("database")
@json_option
def audit_command(database: str, as_json: bool) -> None:
    """Show who did what and when: logins, invitations, what was taken and judged, never an answer."""
    with store(database) as opened:
        from reviewgauge.annotation.store.owner import audit_log

        found = AuditLog(lines=tuple(audit_log(opened)))
    emit(found, as_json, lambda: [_audit_line(one) for one in found.lines], whole_lines=True)


def _audit_line(one: AuditLine) -> str:
    when = datetime.fromtimestamp(one.at, UTC).isoformat(" ", "seconds").removesuffix("+00:00")
    detail = ", ".join(f"{name} {value}" for name, value in one.detail.items() if value != "")
    return f"{when}  {one.account or '-'}  {one.action}" + (f": {detail}" if detail else "")


@command.command("backup")
@click.argument("database")
@click.argument("file", type=click.Path(dir_okay=False))
@json_option
def backup_command(database: str, file: str, as_json: bool) -> None:
    """Copy DATABASE, a file, into a new FILE while it is served. For a PostgreSQL use pg_dump."""
    with store(database) as opened:
        size = opened.backup(Path(file))
    emit_result(f"{size:,} bytes in {file}", size, as_json)


def emit_result(did: str, count: int, as_json: bool) -> None:
    """Print what a verb did."""
    emit(AnnotateResult(did=did, count=count), as_json, lambda: did)


def cases_of(source: str, files: str | None) -> tuple[Sequence[Case], str]:
    """The cases of a run or a data set, and its name."""
    if (Path(source) / MANIFEST).is_file():
        with RunFolder.open(source) as run:
            return list(run.cases()), run.manifest.dataset
    dataset = find_dataset(source, files)
    return list(dataset.cases()), dataset_label(dataset)
