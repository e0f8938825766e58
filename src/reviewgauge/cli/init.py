"""`reviewgauge init`: a settings file to edit."""

from __future__ import annotations

import click

from reviewgauge.api.init import init
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit


@click.command("init")
@json_option
def command(as_json: bool) -> None:
    """Write reviewgauge.toml into this folder, with every setting, its meaning and its default. Nothing is asked.

    Every line is commented out, so nothing changes until you take a # off. A file that is there is left alone.
    """
    result = init()
    emit(result, as_json, lambda: f"{result.file}: every setting, commented out; reviewgauge info shows what holds")
