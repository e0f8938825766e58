"""`reviewgauge bundle`: runs, their hashes and their tables in one archive, and the check that recomputes them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.bundle import bundle
from reviewgauge.api.verify import VerifyResult, verify
from reviewgauge.cli.options import json_option, seed_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.engine.bundle import compare
from reviewgauge.views.terminal.closing import bundle_notes

__all__ = ["bundle", "command", "verify"]


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
@click.option(
    "--include",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A file that a metric was given, to pack too.",
)
@seed_option
@plugin_option
@json_option
def make_command(runs: Sequence[str], as_json: bool, **options: Any) -> None:
    """Pack scored RUNS and their tables, as CSV and LaTeX, into one archive that anybody can check offline."""
    with progress_bar("bundling", quiet=as_json) as progress:
        result = bundle(*runs, progress=progress, **options)
    if not as_json:
        for line in bundle_notes(result.runs):
            note(line)
    made = f"{result.bytes / 1e6:.1f} MB, {result.files} files, content {result.content[:16]}"
    emit(result, as_json, lambda: f"{result.path}: {made}\nnext: reviewgauge bundle verify {result.path}")


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
    default=compare.DIGITS,
    show_default=True,
    type=click.IntRange(min=1, max=compare.DIGITS),
    help="How far what is measured again must agree; fewer for embeddings on another machine.",
)
@plugin_option
@json_option
def verify_command(file: str, as_json: bool, **options: Any) -> int:
    """Recompute every number of the bundle FILE without a network, up to the first that differs (exit code 1)."""
    with progress_bar("checking", quiet=as_json) as progress:
        result = verify(file, progress=progress, **options)
    for line in result.notes if not as_json else ():
        note(f"note: {line}")
    emit(result, as_json, lambda: "\n".join(_verdict(result)))
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
