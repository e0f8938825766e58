"""The check of a bundle: everything that can be recomputed is, to the first difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reviewgauge.analysis.validity.baselines import BASELINES
from reviewgauge.api.bundle import LABEL_COLUMNS, TableSettings, make_tables, policy_of, without_texts
from reviewgauge.api.resolve import find_dataset, names_dataset
from reviewgauge.api.validate import RESULT, validate
from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_within
from reviewgauge.core.labels import Label
from reviewgauge.core.parsing import parse_json, parse_record
from reviewgauge.core.protocols import Dataset, Metric, Progress, Stage
from reviewgauge.core.records import Case
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import import_named, load_from, load_recorded, parse_spec, short_spec
from reviewgauge.core.trust import FromFile
from reviewgauge.core.version import __version__
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.bundle import compare, rescore
from reviewgauge.engine.bundle.archive import unpack
from reviewgauge.engine.bundle.compare import DIGITS, Contents, Difference, Differs
from reviewgauge.engine.bundle.confined import confined
from reviewgauge.engine.bundle.contents import (
    BUNDLE,
    FORMAT,
    README,
    VALIDITY,
    BundleManifest,
    RunEntry,
    is_recorded,
    versions,
)
from reviewgauge.engine.bundle.rescore import StoredRun, check_withheld
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings as ModelSettings
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.views.markdown import readme
from reviewgauge.views.validity.csv_files import csv_tables

_ORIGIN = FromFile("the bundle")
_LABELS = 4  # columns of a validity table that name a row


class VerifyResult(Record):
    """What the check of a bundle found: the first `difference`, or None where every number came out again.

    Counts are of what was checked. `not_measured` names what was not measured again, and why; `notes` what differs
    without moving a number.
    """

    schema_version: int = 1
    path: str
    content: str
    ok: bool
    difference: Difference | None = None
    files: int = 0
    reviews: int = 0
    scores: int = 0
    figures: int = 0
    not_measured: Mapping[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


def verify(
    file: str | Path,
    *,
    source: Sequence[str | Path] = (),
    tables_only: bool = False,
    digits: int = DIGITS,
    plugins: Sequence[str] = (),
    progress: Progress | None = None,
) -> VerifyResult:
    """Recompute every number of a bundle, without a network, up to the first that differs.

    `source` holds the data whose texts the bundle leaves out: a path, or `RUN=PATH` where several runs lack theirs.
    `tables_only` leaves out measuring again. What is measured again must agree to `digits` digits; on another machine
    vectors of embedding models do not to more than six. `plugins`: code outside the package that the bundle may use.
    Raises UserError for what is not a bundle.
    """
    for spec in plugins:
        import_named(spec)
    path = Path(file)
    with scratch_folder() as temporary:
        folder = temporary / "bundle"
        folder.mkdir()
        found = unpack(path, folder)
        manifest = _read_manifest(path, folder)
        check = _Check(Contents(folder, manifest, found, digits), temporary / "again", tables_only, progress)
        sources = _sources(manifest, source)
        try:
            with confined(), ChatClient(ModelSettings(cache=False, offline=True)):
                check.run(sources)
        except Differs as differs:
            return check.result(path, differs.difference)
        return check.result(path, None)


def _read_manifest(path: Path, folder: Path) -> BundleManifest:
    file = folder / BUNDLE
    if not file.is_file():
        raise BadInput(str(path), f"is not a bundle: it holds no {BUNDLE}", remedy="reviewgauge bundle makes one")
    raw = read_within(file)
    document = parse_json(raw, f"{path}:{BUNDLE}")
    version = document.get("format") if isinstance(document, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise UserError(
            f"{path} was made by a newer ReviewGauge (format {version}; this one reads up to {FORMAT})",
            remedy="pip install --upgrade reviewgauge",
        )
    return parse_record(BundleManifest, raw, f"{path}:{BUNDLE}")


def _sources(manifest: BundleManifest, given: Sequence[str | Path]) -> dict[str, Path]:
    """Where the data of each run is that lacks its texts. Raises UserError for a path that nothing asks for."""
    lacking = {entry.name: entry.dataset for entry in manifest.runs if entry.texts != "all"}
    found: dict[str, Path] = {}
    for word in map(str, given):
        name, sign, rest = word.partition("=")
        named = bool(sign) and name in {entry.name for entry in manifest.runs} and not Path(word).exists()
        place = Path(rest if named else word)
        if not place.exists():
            raise UserError(f"there is nothing at {place}")
        if not named and len(set(lacking.values())) > 1:
            runs = list(lacking)
            raise UserError(f"several runs lack their texts: {', '.join(runs)}", remedy=f"--from {runs[0]}=PATH")
        found.update({name: place} if named else dict.fromkeys(lacking, place))
    return found


class _Check:
    """Checks a bundle, and counts what it has checked."""

    def __init__(self, contents: Contents, work: Path, tables_only: bool, progress: Progress | None) -> None:
        self.contents, self.work = contents, work
        self.tables_only, self.progress = tables_only, progress
        self.reviews = self.scores = self.figures = 0
        self.not_measured: dict[str, str] = {}
        self.notes: list[str] = []
        self.checked: list[str] = []  # files whose content was verified

    def run(self, sources: Mapping[str, Path]) -> None:
        """Check everything, the most telling differences first. Raises Differs."""
        contents, manifest = self.contents, self.contents.manifest
        compare.check_files(contents)
        self._versions()
        stored = [rescore.read_run(contents, entry) for entry in manifest.runs]
        for run in stored:
            self.reviews += len(run.outcomes)
            rescore.check_calls(contents, run.entry)
            self._data(run.entry)
            self._measure(run, sources.get(run.entry.name))
            self.checked += rescore.run_files(run.entry)
        self._tables(stored)
        compare.check_nothing_else(contents, self.checked)
        if manifest.reviewgauge == __version__:
            compare.compare_text(contents, README, readme(manifest))
        else:
            self.notes.append(f"{README} was not compared: another version wrote it")
        compare.check_hashes(contents)

    def _versions(self) -> None:
        here = {"reviewgauge": __version__, **versions()}
        there = {"reviewgauge": self.contents.manifest.reviewgauge, **self.contents.manifest.libraries}
        self.notes += [
            f"made with {name} {there[name]}, installed is {here.get(name, 'none')}"
            for name in sorted(there)
            if here.get(name) != there[name]
        ]

    def _data(self, entry: RunEntry) -> None:
        """Note where a data set of a known name is another one here, or not at hand, and where its licence differs."""
        if not names_dataset(entry.dataset.partition(" | ")[0]):
            return
        if (licence := policy_of(entry.dataset, None).licence) != entry.licence:
            self.notes.append(f"{entry.folder}: the licence is said to be {entry.licence}; here it is {licence}")
        try:
            found = benchmark_hash(cases_of(entry.dataset))
        except UserError as error:
            self.notes.append(f"{entry.folder}: not compared with {entry.dataset} itself: {error.problem}")
            return
        if found != entry.benchmark:
            self.notes.append(f"{entry.folder}: its cases are not those that {entry.dataset} has here")

    def _measure(self, run: StoredRun, source: Path | None) -> None:
        entry = run.entry
        if self.tables_only:
            self.not_measured.update({f"{entry.folder}: all metrics": "left out as asked (--tables-only)"})
            if entry.validity:
                self._stored_report(entry)
            return
        if entry.texts != "all" and source is None:
            raise UserError(
                f"the bundle leaves out the texts of {entry.dataset}: {entry.why}",
                remedy="--from DATA names your copy, --tables-only checks the rest",
            )
        folder = whole_run(self.contents, run, self.work, source)
        assert folder is not None
        if entry.texts != "all":
            self.reviews += entry.withheld["reviews"].records
        for spec in entry.metrics:
            if why := rescore.why_not_again(self.contents, entry, spec):
                self.not_measured[f"{entry.folder}: {short_spec(load_recorded(Metric, spec))}"] = why
                continue
            self.notes += rescore.measure_again(self.contents, run, folder, spec, self.progress)
            self.scores += len(run.scores[spec])
        if entry.validity:
            self._validity(entry, folder)

    def _validity(self, entry: RunEntry, folder: Path) -> None:
        """Recompute the validity report from the run that was just measured again."""
        apart = [
            spec for spec in entry.metrics if rescore.why_not_again(self.contents, entry, spec) or self._brought(spec)
        ]
        if apart:
            why = f"it rests on {short_spec(load_recorded(Metric, apart[0]))}"
            self.not_measured[f"{VALIDITY}/{entry.name}"] = f"its tables were compared with it, but {why}"
            self._stored_report(entry)
            return
        with rescore.replaying(self.contents, entry):
            self._validate_again(entry, folder)

    def _stored_report(self, entry: RunEntry) -> ValidityReport:
        """The report as the bundle holds it, with its tables compared. Raises Differs."""
        folder = f"{VALIDITY}/{entry.name}"
        report = self.contents.read_one(ValidityReport, f"{folder}/{RESULT}")
        tables = csv_tables(report)
        for name, text in tables.items():
            compare.compare_tables(self.contents, f"{folder}/{name}", text, _LABELS)
        self.checked += [f"{folder}/{name}" for name in (RESULT, *tables)]
        return report

    def _validate_again(self, entry: RunEntry, run: Path) -> None:
        """Recompute the report of `run`, a whole run folder that was measured. Raises Differs."""
        contents, name = self.contents, f"{VALIDITY}/{entry.name}/{RESULT}"
        stored = self._stored_report(entry)
        known = {*entry.metrics, *BASELINES}  # those that were measured again; another one may be anything
        if more := [one.metric for one in stored.metrics if one.metric not in known]:
            raise contents.differs(name, more[0], "no metric of the run", row="metrics", column="metric")
        again = validate(
            str(run),
            *(metric for metric in dict.fromkeys(one.metric for one in stored.metrics) if metric not in BASELINES),
            out=self.work / f"{entry.name}.validity",
            dimensions=[summary.dimension for summary in stored.labels],
            slices=list(dict.fromkeys(row.fact for one in stored.metrics for row in one.slices)),
            resamples=stored.resamples,
            seed=stored.seed,
            folds=stored.folds,
            progress=self.progress,
        ).report
        assert again is not None  # nobody could stop it
        found = again if entry.texts == "all" else without_texts(again)
        for at, (old, new) in enumerate(zip(stored.metrics, found.metrics, strict=False)):
            row = f"metrics[{at}] {old.label}, {old.dimension}"
            self._same_record(name, old, new, "pins", row=row, tolerance=10.0**-contents.digits)
        self._same_record(name, stored, found, "metrics")
        self.figures += sum(compare.count_figures(text) for text in csv_tables(stored).values())

    def _same_record(
        self, name: str, old: Record, new: Record, apart: str, *, row: str = "", tolerance: float = 10.0**-DIGITS
    ) -> None:
        """Raise Differs where two records differ in another field than `apart`."""
        if difference := compare.first_difference(
            old.model_dump(mode="json", exclude={apart}), new.model_dump(mode="json", exclude={apart}), tolerance
        ):
            column, stored, found = difference
            raise self.contents.differs(name, stored, found, row=row, column=column)

    def _brought(self, spec: str) -> bool:
        """Whether a metric reads a file that the bundle brought."""
        return rescore.metric_of(self.contents, spec) != load_recorded(Metric, spec)

    def _tables(self, stored: Sequence[StoredRun]) -> None:
        contents, manifest = self.contents, self.contents.manifest
        settings = TableSettings(
            manifest.slices, manifest.resamples, manifest.seed, partial(rescore.metric_of, self.contents)
        )
        tables = {table.entry.path: table for table in make_tables(stored, settings)}
        if difference := compare.first_difference(
            [table.model_dump(mode="json") for table in manifest.tables],
            [table.entry.model_dump(mode="json") for table in tables.values()],
        ):
            column, old, new = difference
            raise contents.differs(BUNDLE, old, new, row="tables", column=column)
        for name, table in tables.items():
            compare.compare_tables(contents, name, table.text, LABEL_COLUMNS[table.entry.kind])
            self.figures += compare.count_figures(table.text)
            self.checked.append(name)
            if table.to_latex is not None:
                compare.compare_text(contents, table.latex_path, table.to_latex(contents.text(name)))
                self.checked.append(table.latex_path)

    def result(self, path: Path, difference: Difference | None) -> VerifyResult:
        """What was found."""
        return VerifyResult(
            path=str(path),
            content=self.contents.manifest.content,
            ok=difference is None,
            difference=difference,
            files=len(self.contents.manifest.files),
            reviews=self.reviews,
            scores=self.scores,
            figures=self.figures,
            not_measured=self.not_measured,
            notes=tuple(dict.fromkeys(self.notes)),
        )


# --- what was left out, read from the user's own copy of the data ---------------------------------------------------


class GivenData(NamedTuple):
    """The records of a run from the user's copy of the data."""

    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    labels: Sequence[Label]


def from_copy(entry: RunEntry, systems: Mapping[str, str], source: Path) -> GivenData:
    """Cases, reviews and labels of a run from `source`: the files of its data set, or the run folder itself.

    `systems` are the recorded systems and the spec that their reviews came under.
    """
    if (source / MANIFEST).is_file():
        run = RunFolder.open(source)
        found = run.outcomes()
        return GivenData(run.cases(), found, [label for case in run.cases() for label in case.labels])
    word = entry.dataset.partition(" | ")[0]
    dataset = find_dataset(load_from(Dataset, word, _ORIGIN) if names_dataset(word) else str(source), source)
    cases = cases_of(entry.dataset, dataset)
    outcomes: list[Outcome] = []
    labels = [label for case in cases for label in case.labels]
    known, there = {case.id for case in cases}, {label.to_line() for label in labels}
    for spec in dict.fromkeys(systems.values()):
        reviews, judged = dataset.recorded(**parse_spec(spec).parameters)
        outcomes += [
            Outcome(case=review.case, system=review.system, attempt=review.attempt, review=review)
            for review in reviews
            if review.case in known and systems.get(review.system) == spec
        ]
        labels += [one for one in judged if one.subject.case in known and one.to_line() not in there]
    return GivenData(cases, outcomes, labels)


def cases_of(name: str, dataset: Dataset | None = None) -> Sequence[Case]:
    """The cases of a data set as a manifest names it, with its stages. Raises UserError where it is not at hand."""
    word, *stages = name.split(" | ")
    dataset = dataset or load_from(Dataset, word, _ORIGIN)
    return apply_stages(dataset.cases(), [load_from(Stage, spec, _ORIGIN) for spec in stages])[0]


def whole_run(contents: Contents, stored: StoredRun, target: Path, source: Path | None) -> Path | None:
    """A run folder without scores, ready to be measured again; None where texts are left out and no data was given.

    Raises Differs where the data given are not those that the bundle was made from.
    """
    entry = stored.entry
    if entry.texts != "all" and source is None:
        return None
    folder = target / entry.name
    folder.mkdir(parents=True)
    here = contents.folder / entry.folder
    manifest = (here / MANIFEST).read_bytes()
    (folder / MANIFEST).write_bytes(manifest)
    if entry.texts == "all":
        for name in (CASES, REVIEWS, LABELS):
            (folder / name).write_bytes((here / name).read_bytes())
        return folder
    assert source is not None
    given = from_copy(entry, _recorded(contents, entry), source)
    if (found := benchmark_hash(given.cases)) != entry.benchmark:
        raise contents.differs(f"{entry.folder}/{CASES} (from the data)", entry.benchmark, found, column="benchmark")
    there = {(o.system, o.case, o.attempt) for o in stored.outcomes}
    came = [outcome for outcome in given.outcomes if (outcome.system, outcome.case, outcome.attempt) not in there]
    check_withheld(contents, entry, "reviews", came)
    check_withheld(contents, entry, "labels", given.labels)
    bare = [case.model_copy(update={"labels": ()}) for case in given.cases]
    (folder / CASES).write_bytes(b"".join(case.to_line() for case in bare))
    (folder / REVIEWS).write_bytes(b"".join(outcome.to_line() for outcome in [*came, *stored.outcomes]))
    (folder / LABELS).write_bytes(b"".join(label.to_line() for label in given.labels))
    return folder


def _recorded(contents: Contents, entry: RunEntry) -> dict[str, str]:
    """The systems whose reviews came with the data set, and the spec that they came under."""
    systems = contents.manifest_of(entry).systems
    return {name: system.signature for name, system in systems.items() if is_recorded(system)}
