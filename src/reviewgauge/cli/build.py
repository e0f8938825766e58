"""`reviewgauge build`: a benchmark out of a repository, by a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.build import BuildResult, build
from reviewgauge.cli.options import json_option, model_options, settings_in_force, verb
from reviewgauge.cli.output import note, run_stoppable
from reviewgauge.core.errors import UserError
from reviewgauge.views.markdown import funnel_table
from reviewgauge.views.terminal.closing import build_lines


@verb("build")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False), help="The folder of the benchmark.")
@click.option(
    "--recipe",
    help="A recipe's name, or a TOML file. [default: local for a path, pull_requests for a forge]",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the recipe.")
@click.option("--model", help="The model of the recipe's stages that ask one: --set model=SPEC.")
@click.option("--stage", "stages", multiple=True, help="A further stage at the end; may be given again.")
@click.option(
    "--reviews-by", multiple=True, metavar="LOGIN", help="Take in what this account posted; may be given again."
)
@click.option(
    "--test",
    metavar="COMMAND",
    help="Run the tests of each fix, or defect put in: 'pytest -q {files}'. Labels that they bear out are verified.",
)
@click.option(
    "--sandbox",
    default="auto",
    type=click.Choice(["auto", "off", "bwrap", "bwrap+network"]),
    help="What --test runs in; see the reviewer command.",
)
@click.option(
    "--audit",
    default=0,
    metavar="N",
    type=click.IntRange(min=0),
    help="Draw N labels, and N decisions of each model, for people to check.",
)
@click.option(
    "--labels",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="What people said (annotate export): it overrules the models. May be given again.",
)
@click.option("--replace", is_flag=True, help="Replace the benchmark of another recipe; it is kept as OUT.1.")
@model_options
@json_option
def command(sources: Sequence[str], settings: Sequence[str], model: str | None, as_json: bool, **options: Any) -> int:
    """Build a benchmark from SOURCE: a git repository here (by default .), github:OWNER/NAME or gitlab:GROUP/NAME.

    Several repositories make one benchmark: only then can scores speak beyond one of them. Without --recipe a local
    history needs no key and no network: changes that later needed a fix, and ones that never did. With --recipe
    injected: recent changes with a defect put in, and the same ones without. The benchmark's card (card.md) has the
    funnel and what is uncertain about the labels. Killed or interrupted, the same command goes on where it stopped; run
    again later, it takes in what is new.
    """
    given = dict(_setting(word) for word in settings)
    if model is not None:
        given["model"] = repr(model)
    work = partial(build, sources, settings=given, defaults=settings_in_force(), **options)
    result = run_stoppable("building", work, as_json, _shown)
    return int(result.card is not None and not result.card.cases)


def _setting(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise UserError(f"--set {word} has no value", remedy="write --set NAME=VALUE")
    return name, value


def _shown(result: BuildResult) -> list[object]:
    card, lines = result.card, [result.spending.sentence] if result.spending.sentence else []
    if result.foretold:
        return [funnel_table(result.foretold), *lines, f"{result.folder}: a dry run; no benchmark was written"]
    if card is None:
        return [*lines, f"{result.folder}: not finished, nothing was written"]
    for warning in card.warnings:
        note(f"note: {warning}")
    lines += build_lines(result.folder, card, result.reviews, result.before)
    return [funnel_table(card.funnel), *lines]
