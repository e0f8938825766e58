"""`reviewgauge annotate`: people judge in a browser; make a project, serve it, and get the labels."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from reviewgauge.cli.options import WholeHelp, from_option, json_option, seed_option
from reviewgauge.cli.output import emit, note
from reviewgauge.core.building import DecisionKind
from reviewgauge.core.errors import MissingExtra
from reviewgauge.core.reports.annotation import AnnotateResult, AuditLine, GrowResult, PoolResult, ProjectStatus

NEEDS = ("sqlalchemy", "argon2", "starlette", "uvicorn", "pygments")
project_option = click.option("--project", help="Which project, where the store holds several.")


def verbs() -> Any:
    """The module that does it. Raises MissingExtra where its libraries are not installed."""
    if any(find_spec(name) is None for name in NEEDS):
        raise MissingExtra("the annotation service", "annotate")
    return import_module("reviewgauge.api.annotate")


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
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in DecisionKind]),
    help="Of a build: what models decided of this kind; may be given again.",
)
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
def init_command(database: str, data: str, source: str | None, as_json: bool, **options: Any) -> None:
    """Make a project in DATABASE from DATA: a data set, a JSON lines file of cases, a run, or a build's audit."""
    made: AnnotateResult = verbs().make_from(database, data, source, **options)
    emit(made, as_json, lambda: [made.did, *made.notes, f"next: reviewgauge annotate serve {database}"])


@command.command("serve")
@click.argument("database")
@project_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on (default: a free one).")
@click.option("--url", default="", help="The address that a team opens, such as https://annotate.example.org.")
def serve_command(database: str, project: str | None, **at: Any) -> None:
    """Serve the pages until Ctrl-C: for you alone, or with --url for a team with accounts."""

    def say(link: str) -> None:
        click.echo(f"open {link}")
        note("Ctrl-C ends it; what was saved stays")

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    verbs().serve(database, project, say, **at)


@command.command("status")
@click.argument("database")
@project_option
@json_option
def status_command(database: str, project: str | None, as_json: bool) -> None:
    """Show how far a project is, and who needs calibration in batches that are over."""
    found: ProjectStatus = verbs().project_status(database, project)
    emit(found, as_json, lambda: _status_lines(found))


def _status_lines(found: ProjectStatus) -> str:
    lines = [f"{found.name} ({found.schema_name}): {found.done:,} of {found.items:,} items are done"]
    for one in found.batches:
        words = f"{one.judgements:,} of {one.wanted:,} judgements"
        if one.waiting:
            words += f", {one.waiting:,} items wait for a discussion or an expert"
        called = f" ({one.name})" if one.name else ""
        lines.append(f"batch {one.number}{called}: {words}, {one.done:,} of {one.items:,} items done")
    lines += found.agreement.advice if found.agreement is not None else ()
    return "\n".join(lines)


@command.command("export")
@click.argument("database")
@project_option
@click.option("-o", "--out", required=True, help="A .csv or .jsonl file; of an audit, the folder of the benchmark.")
@json_option
def export_command(database: str, project: str | None, out: str, as_json: bool) -> None:
    """Write the labels of a project, for agree, validate, build and annotate import."""
    _emit(verbs().export(database, project, out), as_json)


@command.command("import")
@click.argument("database")
@click.argument("labels", type=click.Path(exists=True, dir_okay=False))
@project_option
@json_option
def import_command(database: str, labels: str, project: str | None, as_json: bool) -> None:
    """Add the judgements of a file of LABELS to a project, all of them or none."""
    _emit(verbs().import_file(database, project, labels), as_json)


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
    made: PoolResult = verbs().pool_runs(database, runs, metric, schema, options)
    known = f", {made.known:,} were there already" if made.known else ""
    lines = [
        f"{sum(made.counts.values()):,} comments: {_counted(made.counts)}",
        f"{made.distinct:,} distinct ones{known}: {made.items:,} items, for {made.raters} raters each",
        f"next: reviewgauge annotate serve {database}",
    ]
    emit(made, as_json, lambda: lines)


@command.command("grow")
@click.argument("database")
@click.argument("data")
@from_option
@project_option
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False), help="The folder of the next version.")
@json_option
def grow_command(database: str, data: str, source: str | None, project: str | None, out: str, as_json: bool) -> None:
    """Write the next version of DATA: the same cases with what people accepted and rejected of a pool, or of DATA.

    DATA is what was reviewed: a data set, a JSON lines file of cases, a run folder, or the version before.
    """
    grown: GrowResult = verbs().grow(database, project, data, source, out)
    made = f": {grown.references:,} new findings, {grown.phrasings:,} other phrasings, {grown.rejected:,} known wrong"
    pooled = [
        f"{sum(grown.findings.values()):,} findings were pooled: {_counted(grown.findings)}",
        f"{sum(grown.comments.values()):,} comments: {_counted(grown.comments)}",
    ]
    lines = [
        *([_counted(grown.said)] if grown.said else pooled),
        f"version {grown.version} in {grown.folder}{'' if grown.said else made}",
        f"benchmark {grown.benchmark[:12]}, before {grown.before[:12]}",
    ]
    emit(grown, as_json, lambda: lines)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "none"


@command.command("audit")
@click.argument("database")
@json_option
def audit_command(database: str, as_json: bool) -> None:
    """Show who did what and when: logins, invitations, what was taken and judged, never an answer."""
    found = verbs().log_of(database)
    emit(found, as_json, lambda: [_audit_line(one) for one in found.lines], whole_lines=True)


def _audit_line(one: AuditLine) -> str:
    when = datetime.fromtimestamp(one.at, UTC).isoformat(" ", "seconds").removesuffix("+00:00")
    detail = ", ".join(f"{name} {value}" for name, value in one.detail.items() if value != "")
    return f"{when}  {one.account or '-'}  {one.action}" + (f": {detail}" if detail else "")


def _emit(result: AnnotateResult, as_json: bool) -> None:
    emit(result, as_json, lambda: result.did)
