"""`reviewgauge bundle`: runs, their hashes and their tables in one archive, and the check that recomputes them all."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.api.bundles.tables import TableSettings, csv_texts, make_tables
from reviewgauge.api.bundles.validity import stage_validity
from reviewgauge.api.resolve import names_dataset
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset, Progress
from reviewgauge.core.specs import import_named, load_recorded
from reviewgauge.core.version import __version__
from reviewgauge.engine.bundle import rescore
from reviewgauge.engine.bundle.archive import write_archive
from reviewgauge.engine.bundle.compare import Contents
from reviewgauge.engine.bundle.contents import (
    BUNDLE,
    FORMAT,
    MOST_RESAMPLES,
    README,
    TABLES,
    BundleManifest,
    RunEntry,
    Texts,
    file_entry,
    may_be_passed_on,
    parameter_files,
    stage,
    versions,
)
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.journal import write_error, write_whole
from reviewgauge.engine.run.scored_run import check_named_once
from reviewgauge.views.files.markdown import readme

OWN = "that of its author"


class BundleResult(Record):
    """The archive that was written. `content` is the hash of what is in it, however it was compressed."""

    schema_version: int = 1
    path: str
    bytes: int
    content: str
    files: int
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
    progress: Progress | None = None,
) -> BundleResult:
    """Write scored runs and their tables into the archive `out`.

    `texts` None packs the texts of data whose licence lets everybody pass them on, and of the user's own data; True
    packs all, False none. `slices` are facts or facets that the tables are broken down by. `plugins`: code outside the
    package that the runs may use.
    """
    for spec in plugins:
        import_named(spec)
    check_settings(resamples, 0.95)
    if resamples > MOST_RESAMPLES:
        raise UserError(f"{resamples:,} resamples are over {MOST_RESAMPLES:,}", remedy="10000 is the default")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as bundle.zip")
    with tempfile.TemporaryDirectory(prefix="reviewgauge-bundle-") as temporary:
        folder = Path(temporary)
        entries = _stage(runs, folder, texts)
        manifest = _fill(folder, _blank_manifest(folder, entries, slices, resamples, seed))
        packed: dict[str, Path | bytes] = {name: folder / name for name in manifest.files}
        packed[BUNDLE] = manifest.model_dump_json(indent=1).encode() + b"\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(path, error) from None
        write_archive(path, packed, progress)
    return BundleResult(
        path=str(path),
        bytes=path.stat().st_size,
        content=manifest.content,
        files=len(packed),
        runs=manifest.runs,
        tables=tuple(name for name in manifest.files if name.startswith(f"{TABLES}/")),
    )


def _blank_manifest(
    folder: Path, entries: Sequence[RunEntry], slices: Sequence[str], resamples: int, seed: int
) -> BundleManifest:
    """The manifest of the runs in `folder`, without tables and files."""
    specs = dict.fromkeys(spec for entry in entries for spec in entry.metrics)
    return BundleManifest(
        format=FORMAT,
        reviewgauge=__version__,
        python=platform.python_version(),
        libraries=versions(),
        runs=tuple(entries),
        tables=(),
        slices=tuple(slices),
        resamples=resamples,
        seed=seed,
        parameters=parameter_files(specs, folder),
        files={},
    )


def _fill(folder: Path, manifest: BundleManifest) -> BundleManifest:
    """Write tables and README beside the runs in `folder`; the manifest with the tables and with every file."""
    contents = Contents(folder, manifest, {})
    stored = [rescore.read_run(contents, entry) for entry in manifest.runs]
    metric_of = partial(rescore.metric_of, contents)
    tables = make_tables(stored, TableSettings(manifest.slices, manifest.resamples, manifest.seed, metric_of))
    if slices := [fact for fact in manifest.slices if not any(fact in table.facts for table in tables)]:
        raise UserError(f"nothing to slice by is called {slices[0]!r}", remedy="facts of the cases, or facets")
    manifest = manifest.model_copy(update={"tables": tuple(table.entry for table in tables)})
    for name, text in {**csv_texts(tables), README: readme(manifest)}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_whole(folder / name, text.encode("utf-8", "replace"))
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return manifest.model_copy(update={"files": {name: file_entry(folder / name) for name in names}})


def _stage(runs: Sequence[str | Path], folder: Path, texts: bool | None) -> list[RunEntry]:
    check_named_once(runs)
    entries: list[RunEntry] = []
    for run in runs:
        opened = RunFolder.open(run)
        taken = [entry.name for entry in entries]
        name = _run_name(Path(run).resolve().name, taken)
        policy = policy_of(opened.manifest.dataset, texts)
        entry = stage(opened, name, folder, texts=policy.texts, why=policy.why, licence=policy.licence)
        entries.append(stage_validity(opened.path, entry, folder))
    if not any(entry.metrics for entry in entries):
        raise UserError(f"{runs[0]} was not scored yet", remedy=f"reviewgauge score {runs[0]} hits")
    return entries


def _run_name(word: str, taken: Sequence[str]) -> str:
    plain = "".join(c if c.isalnum() or c in "._=-" else "-" for c in word).strip(".-") or "run"
    name, number = plain, 2
    while name.casefold() in {other.casefold() for other in taken}:
        name, number = f"{plain}-{number}", number + 1
    return name


class Policy(NamedTuple):
    """Which texts of a run go into a bundle, why, and the licence of its data."""

    texts: Texts
    why: str
    licence: str


def policy_of(dataset: str, wanted: bool | None) -> Policy:
    """What to do with the texts of a run on `dataset` (as its manifest names it). `wanted` overrules the licence."""
    word = dataset.partition(" | ")[0]
    licence, allowed = OWN, True
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
