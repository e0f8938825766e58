"""What `check` does with a bundle: all that can be recomputed is, without a network, to the first difference."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewgauge.api.bundle import make_tables
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_within
from reviewgauge.core.parsing import parse_json, parse_record
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.check import CheckResult, Problem
from reviewgauge.core.results import Score
from reviewgauge.core.specs import (
    import_named,
    load_from,
    load_recorded,
    parse_spec,
    replace_texts,
    short_spec,
    signature,
)
from reviewgauge.core.trust import FromFile
from reviewgauge.core.version import __version__
from reviewgauge.engine.bundle.archive import unpack
from reviewgauge.engine.bundle.compare import Differs, compare_table, compare_text, first_difference
from reviewgauge.engine.bundle.contents import (
    BUNDLE,
    FORMAT,
    README,
    SUMS,
    BundleManifest,
    RunEntry,
    bare,
    restore,
    versions,
)
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.score import score as score_run
from reviewgauge.metrics.combined import asked_by
from reviewgauge.models.cache.stores import CALLS
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings, parse_model
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.views.markdown import readme
from reviewgauge.views.study_files import table_files

_NOT_NUMBERS = {"usage", "pins", "metric"}
_FILES_OF_RUN = (MANIFEST, CASES, REVIEWS, LABELS, SCORES, CALLS)


def check_bundle(
    path: Path, sources: Sequence[str | Path], digits: int, plugins: Sequence[str], progress: Progress | None
) -> CheckResult:
    """Recompute every number of a bundle, up to the first that differs. See `check`."""
    for spec in plugins:
        import_named(spec)
    given = [RunFolder.open(source) for source in sources]
    with scratch_folder() as temporary:
        folder = temporary / "bundle"
        sums = unpack(path, folder)
        work = _Check(folder, _read_manifest(path, folder), 10.0**-digits, temporary, progress)
        problems: tuple[Problem, ...] = ()
        try:
            with ChatClient(ChatSettings(cache=False, offline=True)):
                work.run(sums, given)
        except Differs as d:
            row = d.row or None
            problems = (Problem(file=d.file, line=row, field=d.column, problem=str(d), stored=d.stored, found=d.found),)
        except UserError as error:
            raise UserError(error.problem.replace(str(folder), str(path)), remedy=error.remedy) from None
    return CheckResult(
        path=str(path),
        records=work.counts,
        bad=len(problems),
        problems=problems,
        content=work.content,
        notes=tuple(work.notes),
    )


def _read_manifest(path: Path, folder: Path) -> BundleManifest:
    file = folder / BUNDLE
    if not file.is_file():
        raise BadInput(str(path), f"is not a bundle: it holds no {BUNDLE}", remedy="reviewgauge bundle makes one")
    raw = read_within(file)
    document = parse_json(raw, f"{path}:{BUNDLE}")
    version = document.get("format") if isinstance(document, dict) else None
    if isinstance(version, int) and version != FORMAT:
        raise UserError(
            f"{path} was made by another version of ReviewGauge (format {version}, this one reads {FORMAT})"
        )
    return parse_record(BundleManifest, raw, f"{path}:{BUNDLE}")


@dataclass
class _Check:
    """Checks an unpacked bundle, and counts what came out again."""

    folder: Path
    manifest: BundleManifest
    tolerance: float
    temporary: Path
    progress: Progress | None
    content: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def run(self, sums: dict[str, str], sources: Sequence[RunFolder]) -> None:
        """Check everything. Raises Differs."""
        self._sums(sums)
        self._versions()
        for entry in self.manifest.runs:
            folder = self.folder / entry.folder
            kept = read_within(folder / REVIEWS).count(b"\n")
            self._data(entry, sources)
            if entry.texts != "all" and not restore(folder, sources):
                raise UserError(
                    f"every file is as it was packed, but the texts of {entry.dataset} are left out: {entry.why}",
                    remedy="--from RUN names one on your copy: reviewgauge review DATASET recorded --from DATA -o RUN",
                )
            run = RunFolder.open(folder)
            self._entry(entry, run, kept)
            self.counts["review"] += len(run.outcomes())
            self._scores(entry, run)
        self._tables(sums)

    def _sums(self, sums: dict[str, str]) -> None:
        raw = read_within(self.folder / SUMS) if SUMS in sums else b""
        self.content = hashlib.sha256(raw).hexdigest()
        lines = (line.partition("  ") for line in raw.decode("utf-8", "replace").splitlines())
        listed = {name: digest for digest, _, name in lines}
        for name in sorted((listed.keys() | sums.keys()) - {SUMS}):
            stored, there = listed.get(name, "no such file"), sums.get(name, "missing")
            if stored != there:
                raise Differs(name, stored, there, column="sha256", hint="changed after it was packed")

    def _versions(self) -> None:
        here = {"reviewgauge": __version__, **versions()}
        there = {"reviewgauge": self.manifest.reviewgauge, **self.manifest.libraries}
        self.notes += [
            f"made with {name} {version}, installed is {here.get(name, 'none')}"
            for name, version in sorted(there.items())
            if here.get(name) != version
        ]

    def _entry(self, entry: RunEntry, run: RunFolder, kept: int) -> None:
        """What the bundle says of a run is what the run says."""
        withheld = 0 if entry.texts == "all" else len(run.outcomes()) - kept
        found = {"dataset": run.manifest.dataset, "cases": run.manifest.cases, "withheld": withheld}
        for name, value in found.items():
            if getattr(entry, name) != value:
                raise Differs(BUNDLE, getattr(entry, name), value, row=entry.folder, column=name)

    def _data(self, entry: RunEntry, sources: Sequence[RunFolder]) -> None:
        """The cases and labels are those of the user's runs on a data set of the same name."""
        run = RunFolder.open(self.folder / entry.folder)
        stored = run.manifest
        for source in sources:
            manifest = source.manifest
            if manifest.dataset == stored.dataset and manifest.benchmark != stored.benchmark:
                name = f"{entry.folder}/{CASES}"
                raise Differs(name, stored.benchmark, manifest.benchmark, column="benchmark")
            if manifest.benchmark == stored.benchmark and entry.texts == "all":
                lines = [sorted(label.to_line().decode() for label in one.labels()) for one in (run, source)]
                compare_text(f"{entry.folder}/{LABELS}", *("".join(some) for some in lines))

    def _scores(self, entry: RunEntry, run: RunFolder) -> None:
        """Measure every review again with every metric; what models said is replayed from the recorded calls."""
        path = self.temporary / "again" / entry.name
        shutil.copytree(run.path, path, ignore=shutil.ignore_patterns(SCORES))
        calls = run.path / CALLS if (run.path / CALLS).is_file() else None
        for spec in run.scored_metrics():
            recorded = load_recorded(Metric, spec)
            short = short_spec(recorded)
            if recorded.runs_programs:
                what = "it runs a program on code that the bundle does not hold"
                self.notes.append(f"{entry.folder}: not measured again with {short}: {what}")
                continue
            metric = self._metric(spec)
            if asked := _cannot_ask(metric, spec, replayed=calls is not None):
                what = f"it asks {asked}, and the bundle holds no recorded calls of it"
                self.notes.append(f"{entry.folder}: not measured again with {short}: {what}")
                continue
            client = ChatClient(ChatSettings(cache=False, replay=calls, offline=True))
            with RunFolder.open(path, write=True) as folder, client:
                score_run(folder, metric, progress=self.progress)
                again = {score.key: score for score in folder.scores(signature(metric))}
            stored = {score.key: score for score in run.scores(spec)}
            for key in sorted(stored.keys() | again.keys()):
                one, other = stored.get(key), again.get(key)
                if not (metric.models and one and one.failure and other and other.failure):
                    self._same(entry, short, one, other)  # a call never answered fails in another way when replayed
            self.counts["score"] += len(stored)

    def _metric(self, spec: str) -> Metric:
        """The metric of a signature; a file among its parameters is the one that the bundle brought."""
        brought = {given: str(self.folder / name) for given, name in self.manifest.parameters.items()}
        origin = FromFile("the bundle", self.folder, remedy="name code that you trust with --plugin", offline=True)
        return load_from(Metric, replace_texts(parse_spec(spec), brought), origin)

    def _same(self, entry: RunEntry, metric: str, stored: Score | None, again: Score | None) -> None:
        """Raises Differs where a score is not what measuring again gives."""
        name = f"{entry.folder}/{SCORES}"
        if stored is None or again is None:
            row = f"{_row(stored or again)}, {metric}"
            raise Differs(name, *("no score" if one is None else "a score" for one in (stored, again)), row=row)
        if stored.of != again.of:
            name = f"{entry.folder}/{REVIEWS}"
            raise Differs(name, stored.of, again.of, row=_row(stored), column="hash of the review")
        new = again if entry.texts == "all" else bare(again)
        numbers = [one.model_dump(mode="json", exclude=_NOT_NUMBERS) for one in (stored, new)]
        if difference := first_difference(numbers[0], numbers[1], self.tolerance):
            column, one, other = difference
            raise Differs(name, one, other, row=f"{_row(stored)}, {metric}", column=column)

    def _tables(self, sums: dict[str, str]) -> None:
        """Make every table again, and see that nothing else is there."""
        made = table_files(make_tables(self.folder, self.manifest, self.progress))
        for name, text in made.items():
            if name not in sums:
                raise Differs(name, "no such table", "a table")
            stored = read_within(self.folder / name).decode("utf-8", "replace")
            if name.endswith(".csv"):
                self.counts["figure"] += compare_table(name, stored, text, self.tolerance)
            else:
                compare_text(name, stored, text)
        if self.manifest.reviewgauge == __version__:
            compare_text(README, read_within(self.folder / README).decode("utf-8", "replace"), readme(self.manifest))
        of_runs = {f"{entry.folder}/{name}" for entry in self.manifest.runs for name in _FILES_OF_RUN}
        known = {BUNDLE, README, SUMS, *of_runs, *made, *self.manifest.parameters.values()}
        for name in sorted(sums.keys() - known):
            raise Differs(name, "a file", "nothing that was recomputed")


def _cannot_ask(metric: Metric, spec: str, *, replayed: bool) -> str:
    """A model that the metric asks and that cannot answer here; empty where all that it asks can."""
    asked = [model for model in asked_by({spec: metric}) if parse_model(model).provider != "fake"]
    return next((model for model in asked if not (replayed and model in metric.models)), "")


def _row(score: Score | None) -> str:
    assert score is not None
    return f"{score.system} on {score.case}" + (f", attempt {score.attempt}" if score.attempt > 1 else "")
