"""Options that several verbs share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from reviewgauge.engine.run.model_options import ModelOptions

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = ("budget", "dry_run", "no_cache", "in_flight", "rpm", "tpm", "prices", "replay")


def json_option(command: F) -> F:
    """The --json flag that every verb with a result has."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)


def from_option(command: F) -> F:
    """The --from option of verbs that read a data set."""
    return click.option(
        "--from", "source", type=click.Path(exists=True), help="The folder or file that holds the data set's files."
    )(command)


def seed_option(command: F) -> F:
    """The --seed option of verbs that draw at random."""
    return click.option(
        "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of draws and resamples."
    )(command)


def stage_option(command: F) -> F:
    """The --stage option of verbs that read cases."""
    return click.option(
        "--stage", "stages", multiple=True, help="Narrow the cases by a stage, such as drop_large; may be given again."
    )(command)


def only_option(command: F) -> F:
    """The --only option of verbs that complete a run."""
    return click.option(
        "--only",
        multiple=True,
        metavar="failed|case=ID",
        help="Do this part alone: what failed before, or cases by id (* stands for any letters); may be given again.",
    )(command)


def workers_option(command: F) -> F:
    """The --workers option."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="How many reviews are worked on at once. [default: as many as --in-flight for what asks a model, else 2]",
    )(command)


def retry_option(command: F) -> F:
    """The --retry-failed option of verbs that measure."""
    words = "Measure what is missing, and again what failed before."
    return click.option("--retry-failed", is_flag=True, help=words)(command)


def model_options(command: F) -> F:
    """The options of a verb that asks models; the function gets them as one argument `models: ModelOptions`."""

    @functools.wraps(command)
    def with_models(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in _NAMES}
        models = ModelOptions(
            budget=given["budget"],
            dry_run=given["dry_run"],
            cache=not given["no_cache"],
            in_flight=given["in_flight"],
            requests_per_minute=given["rpm"],
            tokens_per_minute=given["tpm"],
            prices=given["prices"],
            replay=given["replay"],
        )
        return command(*args, models=models, **options)

    positive = click.FloatRange(min=0, min_open=True)
    for option in reversed(
        (
            click.option(
                "--budget",
                type=positive,
                help="Dollars that may be spent, with what the run folder (if any) cost before; stops before a call "
                "that could break it.",
            ),
            click.option("--dry-run", is_flag=True, help="Ask no model: count the calls and estimate their price."),
            click.option("--no-cache", is_flag=True, help="Ask again, and keep no answer for other runs."),
            click.option(
                "--in-flight", default=16, show_default=True, type=click.IntRange(min=1), help="Calls at once."
            ),
            click.option(
                "--rpm", "--requests-per-minute", "rpm", type=positive, help="Requests a minute, per endpoint."
            ),
            click.option("--tpm", "--tokens-per-minute", "tpm", type=positive, help="Tokens a minute, per endpoint."),
            click.option("--prices", type=click.Path(dir_okay=False), help="Prices of models, as JSON."),
            click.option(
                "--replay", type=click.Path(), help="Answer from the calls of this run folder, or calls.jsonl, alone."
            ),
        )
    ):
        with_models = option(with_models)
    return with_models  # type: ignore[return-value]  # the same command, with options
