"""`reviewgauge evolve`: a reviewer's prompt and context, improved against a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.evolve import evolve
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    resamples_option,
    seed_option,
    stage_option,
    verb,
    workers_option,
)
from reviewgauge.cli.output import note, run_stoppable
from reviewgauge.core.errors import UserError
from reviewgauge.evolution.optimizers import OPTIMIZERS
from reviewgauge.views.evolution import evolution
from reviewgauge.views.terminal.documents import document_view


@verb("evolve")
@click.argument("dataset")
@click.argument("reviewers", nargs=-1, required=True)
@click.option("-o", "--run", "run", required=True, type=click.Path(file_okay=False), help="The folder of the search.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    metavar="SPEC[*WEIGHT]",
    help="What is rewarded; several are summed by weight, such as 'assess*0.33'.",
)
@click.option("--model", default="", help="The model that writes proposals.  [default: the reviewer's]")
@click.option(
    "--context", "contexts", multiple=True, metavar="SPEC", help="A context to choose from; may be given again."
)
@click.option("--optimizer", type=click.Choice(OPTIMIZERS), default="gepa", show_default=True, help="Who searches.")
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(min=1), help="Proposals at most.")
@click.option(
    "--evaluations",
    type=click.IntRange(min=1),
    help="Pairs of a candidate and a case at most.  [default: the selection part once a round and for the seed]",
)
@click.option(
    "--minibatch",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="Train cases that one proposal learns from.",
)
@click.option(
    "--shares", default="0.4,0.3,0.3", show_default=True, help="Shares of cases to train on, to select by and held out."
)
@click.option("--reserve", default=0, type=click.IntRange(min=0), help="Hold out so many repositories, by the seed.")
@click.option("--page", type=click.Path(dir_okay=False), help="Also write the report as an HTML page.")
@resamples_option
@from_option
@click.option(
    "--also", multiple=True, metavar="DATASET", help="More cases, such as those of another task; may be given again."
)
@stage_option
@workers_option
@seed_option
@model_options
@json_option
def command(dataset: str, reviewers: Sequence[str], shares: str, as_json: bool, **options: Any) -> None:
    """Improve the words of REVIEWERS (prompt with a model and a preset) on the cases of DATASET.

    The cases are split once, by repository: proposals learn from one part, the winner is chosen on the second, and the
    third, which the search does not have, says once at the end what the gain is worth. Killed or
    interrupted, the same command goes on where it stopped.
    """
    try:
        parts = [float(word) for word in shares.split(",")]
    except ValueError:
        raise UserError(f"--shares {shares} are no numbers", remedy="--shares 0.4,0.3,0.3") from None
    work = partial(evolve, dataset, *reviewers, shares=parts, **options)
    run_stoppable("evolving", work, as_json, lambda report: document_view(evolution(report)))
    if options["page"] is not None:
        note(f"{options['page']}: the report; open it in a browser")
