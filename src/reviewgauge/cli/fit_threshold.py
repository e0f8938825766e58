"""`reviewgauge fit-threshold`: above which similarity a sentence of a review speaks about a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.fit_threshold import fit_threshold
from reviewgauge.cli.options import from_option, json_option, seed_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.views.validity.threshold_tables import thresholds


@click.command("fit-threshold")
@click.argument("dataset")
@click.argument("models", nargs=-1, required=True)
@from_option
@click.option("--system", default="", help="Whose reviews it is fitted on.  [default: the best, by people's values]")
@click.option("--dimension", default="", help="The values of people that count.  [default: rel, or the only one]")
@click.option(
    "--claims",
    type=click.Choice(["auto", "references"]),
    default="auto",
    show_default=True,
    help="The claims that sentences are compared with, as in the metric.",
)
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Also write an HTML page with plots.")
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@json_option
def command(dataset: str, models: Sequence[str], as_json: bool, out: str | None, **options: Any) -> None:
    """Fit the threshold of crscore(soft=False) for MODELS on the reviews of DATASET, a data set or a run folder.

    CRScore's rule: the mean similarity of the best system's sentences to the closest claim. Prints the metric to use,
    and how the threshold and its neighbours agree with people.
    """
    with progress_bar("fitting", quiet=as_json) as progress:
        report = fit_threshold(dataset, *models, out=out, progress=progress, **options)
    emit(report, as_json, lambda: thresholds(report))
    if out is not None:
        note(f"{out}: the thresholds as a page; open it in a browser")
