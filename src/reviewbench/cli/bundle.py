"""`reviewbench bundle`: runs, their hashes and their tables in one archive, and the check that recomputes them all."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from reviewbench import __version__
from reviewbench.analysis.leaderboard import check_settings
from reviewbench.cli._bundle_data import OWN, policy_of
from reviewbench.cli._bundle_tables import Settings, csv_texts, make_tables
from reviewbench.cli._bundle_validity import stage_validity
from reviewbench.cli._bundle_verify import VerifyResult, verify
from reviewbench.cli._output import Progress, emit, json_option, note, progress_bar, seed_option
from reviewbench.core.base import Record
from reviewbench.core.errors import UserError
from reviewbench.core.plugins import import_named
from reviewbench.engine import held_against, recheck
from reviewbench.engine.archive import write_archive
from reviewbench.engine.bundle import (
    BUNDLE,
    FORMAT,
    MOST_RESAMPLES,
    README,
    TABLES,
    BundleManifest,
    RunEntry,
    file_entry,
    parameter_files,
    stage,
    versions,
)
from reviewbench.engine.held_against import Contents
from reviewbench.engine.journal import write_error, write_whole
from reviewbench.engine.store import RunFolder
from reviewbench.views.bundle_readme import readme

__all__ = ["bundle", "command", "verify"]


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

    `texts` None packs the texts of data whose licence lets everybody pass them on, and one's own; True packs all,
    False none. `slices` are facts or facets that the tables are broken down by. `plugins`: code outside the package
    that the runs may use.
    """
    for spec in plugins:
        import_named(spec)
    check_settings(resamples, 0.95)
    if resamples > MOST_RESAMPLES:
        raise UserError(f"{resamples:,} resamples are over {MOST_RESAMPLES:,}", remedy="10000 is the default")
    if not runs:
        raise UserError("no run folder given")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as bundle.zip")
    with tempfile.TemporaryDirectory(prefix="reviewbench-bundle-") as made:
        folder = Path(made)
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
        reviewbench=__version__,
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
    stored = [recheck.read_run(contents, entry) for entry in manifest.runs]
    metric_of = partial(recheck.metric_of, contents)
    tables = make_tables(stored, Settings(manifest.slices, manifest.resamples, manifest.seed, metric_of))
    if slices := [fact for fact in manifest.slices if not any(fact in table.facts for table in tables)]:
        raise UserError(f"nothing to slice by is called {slices[0]!r}", remedy="facts of the cases, or facets")
    manifest = manifest.model_copy(update={"tables": tuple(table.entry for table in tables)})
    for name, text in {**csv_texts(tables), README: readme(manifest)}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_whole(folder / name, text.encode("utf-8", "replace"))
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return manifest.model_copy(update={"files": {name: file_entry(folder / name) for name in names}})


def _stage(runs: Sequence[str | Path], folder: Path, texts: bool | None) -> list[RunEntry]:
    places = [Path(run).resolve() for run in runs]
    if twice := next((run for at, run in enumerate(runs) if places[at] in places[:at]), None):
        raise UserError(f"{twice} is named twice", remedy="name each run once")
    entries: list[RunEntry] = []
    for place, run in zip(places, runs, strict=True):
        opened = RunFolder.open(run)
        taken = [entry.name for entry in entries]
        name = _run_name(place.name, taken)
        policy = policy_of(opened.manifest.dataset, texts)
        entry = stage(opened, name, folder, texts=policy.texts, why=policy.why, licence=policy.licence)
        entries.append(stage_validity(opened.path, entry, folder))
    if not any(entry.metrics for entry in entries):
        raise UserError(f"{runs[0]} was not scored yet", remedy=f"reviewbench score {runs[0]} hits")
    return entries


def _run_name(word: str, taken: Sequence[str]) -> str:
    plain = "".join(c if c.isalnum() or c in "._=-" else "-" for c in word).strip(".-") or "run"
    name, number = plain, 2
    while name.casefold() in {other.casefold() for other in taken}:
        name, number = f"{plain}-{number}", number + 1
    return name


# --- the command ---------------------------------------------------------------------------------------------------


class Bundle(click.Group):
    """`bundle RUN... -o FILE` makes one, `bundle verify FILE` checks one; a run called `verify` needs a `./`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a sub-command of its own the verb makes a bundle."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["make", *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Both forms on one page."""
        for name, title in (("make", "bundle"), ("verify", "bundle verify")):
            sub = click.Context(self.commands[name], info_name=title, parent=ctx.parent)
            self.commands[name].format_help(sub, formatter)
            if name == "make":
                formatter.write_paragraph()


plugin_option = click.option(
    "--plugin",
    "--metric",
    "plugins",
    multiple=True,
    help="Code of your own that a run names, such as my.metric; else it is not run.",
)


@click.group("bundle", cls=Bundle, no_args_is_help=True)
def command() -> None:
    """Put runs, their hashes and their tables into one archive, or check one."""


@command.command("make")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="The archive, such as bundle.zip.")
@click.option("--slice", "slices", multiple=True, help="Also break tables down by a fact or facet.")
@click.option(
    "--with-texts/--without-texts",
    "texts",
    default=None,
    help="Pack all texts, or none (default: those whose licence allows it, and your own).",
)
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@plugin_option
@json_option
def make_command(
    runs: Sequence[str],
    out: str,
    slices: Sequence[str],
    texts: bool | None,
    resamples: int,
    seed: int,
    plugins: Sequence[str],
    as_json: bool,
) -> None:
    """Pack scored RUNS and their tables, as CSV and LaTeX, into one archive that anybody can check offline."""
    with progress_bar("bundling", quiet=as_json) as progress:
        result = bundle(
            *runs,
            out=out,
            slices=slices,
            texts=texts,
            resamples=resamples,
            seed=seed,
            plugins=plugins,
            progress=progress,
        )
    if not as_json:
        for line in _said(result):
            note(line)

    def show() -> object:
        from rich.markup import escape

        return escape(
            f"{result.path}: {result.bytes / 1e6:.1f} MB, {result.files} files, content {result.content[:16]}\n"
            f"next: reviewbench bundle verify {result.path}"
        )

    emit(result, as_json, show)


def _said(result: BundleResult) -> list[str]:
    """What somebody who is about to publish the bundle must know."""
    lines = []
    for entry in result.runs:
        if entry.texts == "all":
            why = f", {entry.why}" if entry.why else ""
            if entry.licence == OWN:
                why = ": your own data, which --without-texts leaves out"
            lines.append(f"note: {entry.name} holds the texts of {entry.cases} cases (licence: {entry.licence}{why})")
        else:
            gone = entry.withheld["reviews"].records
            lines.append(f"note: {entry.name} leaves out the texts of its cases and of {gone:,} reviews: {entry.why}")
        lines += [f"note: {entry.name}/{name} is left out: {why}" for name, why in list(entry.left_out.items())[:5]]
        if len(entry.left_out) > 5:
            lines.append(f"note: {len(entry.left_out) - 5} more files of {entry.name} are left out; --json has all")
    return lines


@command.command("verify")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--from",
    "source",
    multiple=True,
    help="The data, or the run, whose texts are left out; RUN=PATH for one of several.",
)
@click.option("--tables-only", is_flag=True, help="Do not measure again: check hashes, and tables against scores.")
@click.option(
    "--digits",
    default=held_against.DIGITS,
    show_default=True,
    type=click.IntRange(min=1, max=held_against.DIGITS),
    help="How far what is measured again must agree; fewer for embeddings on another machine.",
)
@plugin_option
@json_option
def verify_command(
    file: str, source: Sequence[str], tables_only: bool, digits: int, plugins: Sequence[str], as_json: bool
) -> int:
    """Recompute every number of the bundle FILE without a network, up to the first that differs (exit code 1)."""
    with progress_bar("checking", quiet=as_json) as progress:
        result = verify(file, source=source, tables_only=tables_only, digits=digits, plugins=plugins, progress=progress)
    for line in result.notes if not as_json else ():
        note(f"note: {line}")

    def show() -> object:
        from rich.markup import escape

        return escape("\n".join(_verdict(result)))

    emit(result, as_json, show)
    return 0 if result.ok else 1


def _verdict(result: VerifyResult) -> list[str]:
    if result.difference is not None:
        return [f"DIFFERS: {result.difference.sentence}"]
    again = f"{result.scores:,} scores of {result.reviews:,} reviews were measured again and " if result.scores else ""
    lines = [
        f"{result.path}, content {result.content[:16]}: {result.files} files have their hash",
        f"{again}{result.figures:,} figures were recomputed: none differs",
    ]
    return [*lines, *(f"not measured again: {what}: {why}" for what, why in result.not_measured.items())]
