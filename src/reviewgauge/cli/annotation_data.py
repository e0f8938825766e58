"""What `annotate init` is given: a data set, a run, the audit of a build; and the labels that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reviewgauge.analysis.corrected_claims import corrected_claims
from reviewgauge.api.points_study import points_of_run
from reviewgauge.api.resolve import find_dataset
from reviewgauge.core.errors import NothingRecorded, UserError
from reviewgauge.core.labels import Label, SubjectKind
from reviewgauge.core.records import Case, Review
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST

if TYPE_CHECKING:
    from reviewgauge.core.reports.annotation import AnnotateResult

RECORDED = "recorded"


class Material(NamedTuple):
    """Cases, reviews of them, and the labels that came with them."""

    cases: Sequence[Case]
    reviews: Sequence[Review]
    labels: Sequence[Label]


def make_from(
    database: str, source: str, files: str | None, *, schema: str | None, labels: str | None, **options: Any
) -> AnnotateResult:
    """Make a project of what `source` is. Raises UserError."""
    from reviewgauge.annotation.annotate import annotate, make_project
    from reviewgauge.annotation.audits import audit_folder, audit_items, audit_marks
    from reviewgauge.annotation.schemas.schema import Parts, load_schema

    is_run = (Path(source) / MANIFEST).is_file()
    is_audit = files is None and not is_run and audit_folder(source) is not None
    if not (schema or is_audit or is_run):
        material(source, files)  # a slip in its name is said first
    wanted = load_schema(schema or ("audit" if is_audit else "reports" if is_run and _has_points(source) else _none()))
    seed = options.pop("seed")
    if is_audit and (wanted.name == "audit" or source.endswith(".csv")):
        data = audit_items(wanted, source, limit=options.pop("limit"))
        return make_project(database, wanted, data, labels=_chosen(labels, audit_marks(source)), **options)
    if is_run and wanted.parts is Parts.POINTS:
        with RunFolder.open(source) as run:
            data = _report_items(wanted, run, limit=options.pop("limit"), seed=seed)
        return make_project(database, wanted, data, labels=_chosen(labels, ()), **options)
    found = material(source, files)
    chosen, cases = _chosen(labels, found.labels), found.cases
    if wanted.parts is Parts.CLAIMS and wanted.unit is SubjectKind.REVIEW and labels and Path(labels).is_file():
        cases = corrected_claims(cases, chosen)
        chosen = [label for label in chosen if label.subject.kind is not SubjectKind.CLAIM]
    return annotate(database, cases, found.reviews, schema=wanted, labels=chosen, seed=seed, **options)


def _none() -> str:
    from reviewgauge.annotation.schemas.schema import shipped_schemas

    raise UserError("--schema is required: what is asked", remedy=f"{', '.join(shipped_schemas())}, or a .toml file")


def _has_points(source: str) -> bool:
    with RunFolder.open(source) as run:
        return any(reports for _, reports in points_of_run(run))


def _report_items(schema: Any, run: RunFolder, *, limit: int | None, seed: int) -> Any:
    from reviewgauge.annotation.reports import report_items

    scored = [entry for entry in points_of_run(run) if entry[1]]
    if not scored:
        raise UserError("the run has no scores of points", remedy="reviewgauge score RUN 'points(model=...)'")
    reviews = {(one.case, one.system, one.attempt): one for one in _reviews(run)}
    return report_items(schema, *scored[0], run.cases_by_id(), reviews, limit=limit, seed=seed)


def _reviews(run: RunFolder) -> list[Review]:
    return [outcome.review for outcome in run.outcomes() if outcome.review is not None]


def material(source: str, files: str | None) -> Material:
    """What a run or a data set holds. Raises UserError."""
    if (Path(source) / MANIFEST).is_file():
        with RunFolder.open(source) as run:
            cases = list(run.cases())
            return Material(cases, _reviews(run), [label for case in cases for label in case.labels])
    dataset = find_dataset(source, files)
    cases = list(dataset.cases())
    labels = [label for case in cases for label in case.labels]
    try:
        reviews, recorded = dataset.recorded()
    except NothingRecorded:
        return Material(cases, [], labels)
    unique = {label.to_line(): label for label in (*labels, *recorded)}
    return Material(cases, list(reviews), list(unique.values()))


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
