"""`reviewgauge bundle`: runs, their tables and the sums of all files in one archive that `check` recomputes."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.study.leaderboard import comparisons_table, leaderboard_table, measure_label
from reviewgauge.analysis.study.material import Contender, Material
from reviewgauge.analysis.study.slices import slices_table
from reviewgauge.analysis.study.validity import validity_table
from reviewgauge.api.resolve import names_dataset
from reviewgauge.api.validate import RESULT, validate
from reviewgauge.core.base import Record
from reviewgauge.core.document import Table
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Dataset, Metric, Progress
from reviewgauge.core.specs import import_named, load_recorded, short_spec, texts_of
from reviewgauge.core.study import TableEntry
from reviewgauge.core.version import __version__
from reviewgauge.engine.bundle.archive import digests, write_archive
from reviewgauge.engine.bundle.contents import (
    BUNDLE,
    FORMAT,
    MOST_RESAMPLES,
    OWN_LICENCE,
    README,
    SUMS,
    BundleManifest,
    RunEntry,
    Texts,
    copy_run,
    left_out,
    may_be_passed_on,
    parameter_files,
    versions,
    withhold,
)
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import read_manifest
from reviewgauge.engine.run.scored_run import ScoredRun, check_named_once, read_scored_runs
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.views.markdown import readme
from reviewgauge.views.study_files import table_files

_BESIDE = ("precision", "recall")  # in a leaderboard beside the headline
_LONGEST_NAME = 60


class BundleResult(Record):
    """The archive that was written. `content` is the hash of its sums, the same however it was compressed."""

    schema_version: int = 1
    path: str
    bytes: int
    content: str
    runs: tuple[RunEntry, ...]
    tables: tuple[str, ...]


def bundle(
    *runs: str | Path,
    out: str | Path,
    slices: Sequence[str] = (),
    texts: bool | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    plugins: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> BundleResult:
    """Write scored runs and their tables into the archive `out`.

    `texts` None packs the texts of data whose licence lets everybody pass them on, and of the user's own data; True
    packs all, False none. `slices` are facts or facets that the tables are broken down by. `plugins`: code outside the
    package that the runs may use. `include`: files outside of the runs that their metrics were given; a bundle that
    would need another one is refused.
    """
    for spec in plugins:
        import_named(spec)
    check_settings(resamples)
    if resamples > MOST_RESAMPLES:
        raise UserError(f"{resamples:,} resamples are over {MOST_RESAMPLES:,}", remedy="10000 is the default")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as bundle.zip")
    check_named_once(runs)
    with scratch_folder() as folder:
        entries: list[RunEntry] = []
        for run in runs:
            entries.append(_add(Path(run), [one.name for one in entries], folder, texts))
        metrics = dict.fromkeys(m for one in entries for m in RunFolder.open(folder / one.folder).scored_metrics())
        manifest = BundleManifest(
            format=FORMAT,
            reviewgauge=__version__,
            python=platform.python_version(),
            libraries=versions(),
            runs=tuple(entries),
            slices=tuple(slices),
            resamples=resamples,
            seed=seed,
            parameters=parameter_files(metrics, folder, include),
        )
        tables = table_files(make_tables(folder, manifest, progress))
        counts = [withhold(folder / entry.folder, entry.texts) for entry in entries]
        entries = [one.model_copy(update={"withheld": n}) for one, n in zip(entries, counts, strict=True)]
        manifest = manifest.model_copy(update={"runs": tuple(entries)})
        for name, text in {**tables, README: readme(manifest), BUNDLE: manifest.model_dump_json(indent=1)}.items():
            write_whole(folder / name, text.encode("utf-8", "replace"))
        sums = "".join(f"{digest}  {name}\n" for name, digest in digests(folder, str(path)).items()).encode()
        write_whole(folder / SUMS, sums)
        write_archive(path, folder, progress)
    return BundleResult(
        path=str(path),
        bytes=path.stat().st_size,
        content=hashlib.sha256(sums).hexdigest(),
        runs=tuple(entries),
        tables=tuple(name for name in tables if name.endswith(".csv")),
    )


def _add(path: Path, taken: Sequence[str], folder: Path, texts: bool | None) -> RunEntry:
    """Copy a run into `folder` under a name of its own."""
    run = RunFolder.open(path)
    name = _new_name(_plain(path.resolve().name), taken)
    policy = policy_of(run.manifest.dataset, texts)
    entry = RunEntry(
        name=name,
        dataset=run.manifest.dataset,
        cases=run.manifest.cases,
        licence=policy.licence,
        texts=policy.texts,
        why=policy.why,
        validity=(path / RESULT).is_file(),
        left_out=left_out(path),
    )
    copy_run(run, folder / entry.folder)
    return entry


def _new_name(word: str, taken: Iterable[str]) -> str:
    known = {other.casefold() for other in taken}
    names = (word, *(f"{word}-{number}" for number in range(2, len(known) + 2)))
    return next(name for name in names if name.casefold() not in known)


class Policy(NamedTuple):
    """Which texts of a run go into a bundle, why, and the licence of its data."""

    texts: Texts
    why: str
    licence: str


def policy_of(dataset: str, wanted: bool | None) -> Policy:
    """What to do with the texts of a run on `dataset` (as its manifest names it). `wanted` overrules the licence."""
    word = dataset.partition(" | ")[0]
    licence, allowed = OWN_LICENCE, True
    if names_dataset(word):
        try:
            card = load_recorded(Dataset, word).card
            licence, allowed = card.licence, may_be_passed_on(card)
        except UserError:
            licence, allowed = "not known: its card cannot be read here", False
    if wanted is False:
        return Policy("none", "left out as asked (--without-texts)", licence)
    if wanted is True:
        return Policy("all", "" if allowed else "packed as asked (--with-texts)", licence)
    if allowed:
        return Policy("all", "", licence)
    return Policy("own", f"the licence of {word} does not let everybody pass its texts on ({licence})", licence)


# --- tables --------------------------------------------------------------------------------------------------------


def make_tables(folder: Path, manifest: BundleManifest, progress: Progress | None = None) -> list[Table]:
    """The tables of the whole runs in `folder`: those of one benchmark together, one set a metric.

    Raises UserError for metrics that look at all systems of a run together, where several runs are on one benchmark,
    and for a slice that none of them has.
    """
    groups: dict[str, list[Path]] = {}
    for entry in manifest.runs:
        path = folder / entry.folder
        groups.setdefault(read_manifest(path).benchmark, []).append(path)
    tables: dict[str, Table] = {}
    for paths in groups.values():
        scored = read_scored_runs(paths)
        prefix = f"{_plain(scored[0].dataset)}." if len(groups) > 1 else ""
        for run in scored:
            name = _new_name(prefix + _plain(short_spec(run.metric)), [table.partition("/")[0] for table in tables])
            tables |= {f"{name}/{one.name}": one for one in _of_metric(run, name, manifest)}
    for fact in manifest.slices:
        if not any(path.endswith(f".by-{_plain(fact)}") for path in tables):
            raise UserError(f"nothing to slice by is called {fact!r}", remedy="facts of the cases, or facets")
    validities = [_validity(folder, entry, manifest, progress) for entry in manifest.runs if entry.validity]
    return [*tables.values(), *validities]


def _of_metric(run: ScoredRun, name: str, manifest: BundleManifest) -> Iterator[Table]:
    metric, spec = run.metric, short_spec(run.metric)
    material = Material(
        name=name,
        dataset=run.dataset,
        digest=run.benchmark,
        cases=run.cases,
        contenders=[Contender(system, system) for system in run.systems],
        metrics=[metric],
        runs={metric: run},
        failed={},
        outcomes=run.outcomes,
        labels=run.labels,
        resamples=manifest.resamples,
        seed=manifest.seed,
    )
    board = material.board(metric)
    known = {estimate.measure for system in board.systems for estimate in system.estimates}
    measures = tuple(dict.fromkeys(one for one in (metric.headline, *_BESIDE) if one in known))
    title = f"{measure_label(metric.headline)} ({spec}) on {run.dataset}"
    yield leaderboard_table(
        TableEntry(kind="leaderboard", name=f"{name}.leaderboard", title=title, measures=measures), material
    )
    if sum(system.scored > 0 for system in board.systems) > 1:
        entry = TableEntry(kind="comparisons", name=f"{name}.comparisons", title=f"Differences: {title}")
        yield comparisons_table(entry, material)
    facts = {"repo", *(f for case in run.cases for f in case.facts), *(f for score in run.scores for f in score.facets)}
    for fact in manifest.slices:
        if fact in facts:
            own = f"{name}.by-{_plain(fact)}"
            yield slices_table(TableEntry(kind="slices", by=fact, name=own, title=f"{title}, by {fact}"), material)


def _validity(folder: Path, entry: RunEntry, manifest: BundleManifest, progress: Progress | None) -> Table:
    """The metrics of a run against people, without those that read a file that the bundle brings."""
    specs = RunFolder.open(folder / entry.folder).scored_metrics()
    metrics = [load_recorded(Metric, spec) for spec in specs if not manifest.parameters.keys() & set(texts_of(spec))]
    with scratch_folder() as place:
        run = shutil.copytree(folder / entry.folder, place / "run")
        out = place / "validity"
        result = validate(str(run), *metrics, out=out, report=False, seed=manifest.seed, progress=progress)
    assert result.report is not None  # nobody could stop it
    title = f"Metrics against people on {entry.dataset}"
    return validity_table(TableEntry(kind="validity", name=f"{entry.name}.validity", title=title), result.report)


def _plain(text: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", text).strip("-.")[:_LONGEST_NAME] or "run"
