"""`reviewgauge agree`: how far raters agree, humans and models in one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from reviewgauge.analysis.claim_shares import claim_shares
from reviewgauge.analysis.point_labels import labels_of_points
from reviewgauge.analysis.raters import AgreementSettings, LabelFilter, agreement_report
from reviewgauge.api.resolve import dataset_label, find_dataset, labelled
from reviewgauge.api.validation_data import first_record, keep_latest
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.core.specs import names
from reviewgauge.datasets.files.labels import find_labels, read_label_file
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.repo.syntax.languages import case_language


class FoundLabels(NamedTuple):
    """Labels, what to call them, the scales and languages that are known, and what reading them left out."""

    labels: Sequence[Label]
    source: str
    scales: Mapping[str, Scale]
    notes: tuple[str, ...] = ()
    languages: Mapping[str, str] = MappingProxyType({})  # by case


def agree(
    labels: str | Path | Dataset | Sequence[Label],
    *,
    source: str | Path | None = None,
    dimensions: Sequence[str] = (),
    batches: Sequence[str] = (),
    rounds: Sequence[str] = (),
    kinds: Sequence[str] = (),
    nominal: Sequence[str] = (),
    tolerance: float = 1.0,
    resamples: int = 1_000,
    seed: int = 0,
    people: str | Path | None = None,
) -> AgreementReport:
    """Every agreement coefficient of independent labels, by dimension, and the quality of claims that they judge.

    `labels` are labels, a file of them (CSV or JSON lines), a run folder, or a data set with recorded labels, whose
    files are in `source`. `kinds` keeps humans or models. `nominal` names dimensions whose numbers are codes without
    an order. `tolerance` is how far apart numbers still agree. `people` is a file of people's labels on the reviews
    of a run; the models' labels then count on these reviews only.
    """
    found = labels_from(labels, source)
    if people is not None:
        own = read_label_file(Path(people)).labels
        judged = {_review_of(label) for label in own}
        theirs = [label for label in found.labels if _review_of(label) in judged]
        fakes = dict.fromkeys(label.rater for label in theirs if label.rater.startswith("fake:"))
        warned = (f"{rater} is a fake model, whose labels say nothing" for rater in fakes)
        found = found._replace(labels=[*own, *theirs], notes=(*found.notes, *warned))
    chosen = LabelFilter(tuple(dimensions), tuple(batches), tuple(rounds), tuple(kinds))
    report = agreement_report(
        found.labels,
        source=found.source,
        scales=found.scales,
        chosen=chosen,
        settings=AgreementSettings(tolerance, tuple(nominal), resamples, seed),
    )
    wanted = [label for label in found.labels if not chosen.why_not(label)]
    claims = claim_shares(wanted, found.languages, resamples=resamples, seed=seed)
    return report.model_copy(update={"claims": claims, "warnings": (*found.notes, *report.warnings)})


def _review_of(label: Label) -> tuple[str, str | None, int]:
    return label.subject.case, label.subject.system, label.subject.attempt


def labels_from(labels: str | Path | Dataset | Sequence[Label], source: str | Path | None) -> FoundLabels:
    """The labels in a file, a run folder or a data set, or the labels themselves."""
    if isinstance(labels, Sequence) and not isinstance(labels, str):
        return FoundLabels(labels, "labels", {})
    if isinstance(labels, Dataset):
        return _of_dataset(labels, source)
    path, known = Path(labels), str(labels) in names(Dataset.kind)
    if source is None and not known and (path / MANIFEST).is_file():
        return _of_run(path)
    file = find_labels(path) if path.is_dir() else path
    if source is None and not known and file is not None and file.is_file() and "change" not in first_record(file):
        read = read_label_file(file)
        return FoundLabels(read.labels, file.name, {}, tuple(f"{drop.item}: {drop.reason}" for drop in read.notes))
    if file is not None and file.suffix == ".csv":
        raise UserError(f"there is nothing at {file}" if not file.exists() else "--from goes with a data set")
    return _of_dataset(find_dataset(str(labels)), source)


def _of_run(folder: Path) -> FoundLabels:
    run = RunFolder.open(folder)
    try:
        scales = find_dataset(run.manifest.dataset.partition(" | ")[0]).scales()
    except UserError:  # a data set of the user that is gone
        scales = {}
    cases = run.cases()
    labels, notes = keep_latest(label for case in cases for label in case.labels)
    return FoundLabels([*labels, *labels_of_points(run)], folder.resolve().name, scales, notes, _languages(cases))


def _of_dataset(dataset: Dataset, source: str | Path | None) -> FoundLabels:
    found = find_dataset(dataset, source)
    cases, _, own = labelled(found)
    return FoundLabels(own, dataset_label(found), found.scales(), languages=_languages(cases))


def _languages(cases: Iterable[Case]) -> dict[str, str]:
    return {case.id: name for case in cases if (name := case_language(case))}
