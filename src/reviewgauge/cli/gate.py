"""`reviewgauge gate`: may this candidate replace the baseline?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from reviewgauge.api.gate import comment, gate
from reviewgauge.cli.options import json_option, resamples_option, seed_option
from reviewgauge.cli.output import emit, note
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_named
from reviewgauge.core.reports.gate import GateVerdict
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.views import gates

EXIT = {GateVerdict.NOT_WORSE: 0, GateVerdict.WORSE: 1, GateVerdict.CANNOT_TELL: 3}


@click.command("gate")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--baseline", type=click.Path(exists=True, file_okay=False), help="The run to compare it with.")
@click.option("--metric", "metrics", multiple=True, help="Metric and measure, such as hits.f1; may be given again.")
@click.option("--margin", "margins", type=float, multiple=True, help="How much worse would be fine; one a --metric.")
@click.option("--system", default="", help="The candidate, where RUN holds several systems.")
@click.option("--against", default="", help="The baseline system, where its run holds several.")
@click.option("--markdown", type=click.Path(dir_okay=False), help="Write the verdict for a pull request.")
@click.option("--comment", "named", metavar="NAME", help="Put the verdict on the pull request of this CI job.")
@click.option("--junit", type=click.Path(dir_okay=False), help="Write the verdict as JUnit XML.")
@resamples_option
@seed_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    run: str,
    baseline: str | None,
    metrics: Sequence[str],
    margins: Sequence[float],
    markdown: str | None,
    junit: str | None,
    named: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Say whether the system of RUN is not worse than a baseline.

    Exit code 0: not worse by more than the margin. 1: worse. 3: cannot tell. Both runs must be scored. Without a
    --metric it is the headline of the metric of the runs. Noise (margin .1), comments per change (2) and
    clean changes left alone (.1) are guarded: a candidate that is surely worse by more fails, whatever its --metric.

    The comment NAME of --comment is made once, and replaced by later runs; it takes the token in GITHUB_TOKEN, or in
    GITLAB_TOKEN. Without one it is not made, which changes no exit code.
    """
    if not margins:
        raise UserError("no --margin given", remedy="how much worse would still be fine, such as --margin .02")
    found = gate(run, baseline=baseline, metric=metrics, margin=margins, **options)
    text = hide_secrets(gates.markdown(found))
    if markdown:
        write_named(Path(markdown), text.encode())
    if junit:
        write_named(Path(junit), gates.junit(found))
    emit(found, as_json, lambda: gates.gate(found))
    if named:
        note(comment(text, named))
    context.exit(EXIT[found.verdict])
