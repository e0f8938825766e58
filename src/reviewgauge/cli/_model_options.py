"""The options of verbs that ask chat models, the door that is opened with them, and what a verb says of the bill."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from reviewgauge.engine.run.model_options import ModelOptions

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = ("budget", "dry_run", "no_cache", "in_flight", "rpm", "tpm", "prices", "replay")


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
