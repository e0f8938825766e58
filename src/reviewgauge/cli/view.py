"""`reviewgauge view`: look at runs in a browser."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from reviewgauge.cli.options import json_option, resamples_option, seed_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.core.errors import MissingExtra
from reviewgauge.views.figures import counted

NEEDS = ("starlette", "uvicorn", "pygments")


@click.command("view")
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False))
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on (default: a free one).")
@click.option("--export", "out", type=click.Path(), help="Write the pages into this new folder instead, for sharing.")
@resamples_option
@seed_option
@json_option
def command(runs: Sequence[str], out: str | None, port: int, as_json: bool, **options: Any) -> None:
    """Look at RUNS, or at every run below a folder [default: this one], in a browser: who leads, why, and where.

    The page is for this machine alone, and follows a run that goes on.
    """
    if any(find_spec(name) is None for name in NEEDS):
        raise MissingExtra("the viewer", "view")
    verbs = import_module("reviewgauge.api.view")
    if out is not None:
        with progress_bar("exporting") as show:
            result = verbs.view(*runs, out=out, progress=show, **options)
        made = f"{counted(result.pages, 'page')} of {counted(result.runs, 'run')}"
        emit(result, as_json, lambda: f"{made}: open {result.path}/index.html")
        return

    def say(link: str) -> None:
        click.echo(f"open {link}")
        note("Ctrl-C ends it")

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    verbs.serve(runs, say, port=port, **options)
