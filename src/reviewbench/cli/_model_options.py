"""The options of verbs that ask chat models, the door that is opened with them, and what a verb says of the bill."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from reviewbench.core.base import Record
from reviewbench.core.errors import UserError
from reviewbench.engine.store import RunFolder
from reviewbench.models.chat import Door, Settings

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = ("budget", "dry_run", "cache", "in_flight", "rpm", "tpm", "prices", "replay")


@dataclass(frozen=True)
class ModelOptions:
    """How a verb asks models; see `chat.Settings`. `budget` in dollars, for the whole run folder.

    `dry_run`: the fake model stands in for every model, so that calls are counted before they are paid for.
    """

    budget: float | None = None
    dry_run: bool = False
    cache: bool = True
    in_flight: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    prices: str | Path | None = None
    replay: str | Path | None = None

    @contextmanager
    def door(self, run: RunFolder | None = None) -> Iterator[Door]:
        """A door with these settings, open while the verb asks; its calls are recorded in `run`.

        What was spent on `run` before counts against the budget.
        """
        if self.dry_run and self.replay is not None:
            raise UserError("--dry-run and --replay both ask no model", remedy="choose one")
        counts = self.budget is not None and run is not None and not self.dry_run
        settings = Settings(
            cache=self.cache,
            in_flight=self.in_flight,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            budget=None if self.dry_run else self.budget,
            spent=run.spent() if counts and run is not None else 0.0,
            prices=None if self.prices is None else Path(self.prices),
            replay=None if self.replay is None else Path(self.replay),
            rehearsal=self.dry_run,
        )
        record = None if run is None or self.dry_run else run.append_call
        with Door(settings, record) as door:
            yield door


def model_options(command: F) -> F:
    """The options of a verb that asks models; the function gets them as one argument `models: ModelOptions`."""

    @functools.wraps(command)
    def with_models(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in _NAMES}
        models = ModelOptions(
            budget=given["budget"],
            dry_run=given["dry_run"],
            cache=given["cache"],
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
            click.option("--budget", type=positive, help="Dollars that this run may cost; stops before the next call."),
            click.option("--dry-run", is_flag=True, help="Ask no model: count the calls and estimate their price."),
            click.option("--no-cache", "cache", flag_value=False, default=True, help="Ask again, and keep nothing."),
            click.option(
                "--in-flight", default=16, show_default=True, type=click.IntRange(min=1), help="Calls at once."
            ),
            click.option("--rpm", type=positive, help="Requests a minute, per endpoint."),
            click.option("--tpm", type=positive, help="Tokens a minute, per endpoint."),
            click.option("--prices", type=click.Path(dir_okay=False), help="Prices of models, as JSON."),
            click.option(
                "--replay", type=click.Path(), help="Answer from the calls of this run folder, or calls.jsonl, alone."
            ),
        )
    ):
        with_models = option(with_models)
    return with_models  # type: ignore[return-value]  # the same command, with options


class Spending(Record):
    """What the models of one verb cost. Undefined dollars are None: `unpriced` names the models without a price.

    `calls` were made and paid now, for `dollars`; `reused` came from the cache or a record, and were worth
    `worth` dollars when they were made. `worst` is what all calls that were made could have cost at most.
    `estimated`: no call was made, the fake model stood in (`--dry-run`).
    """

    calls: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
    worth: float | None = None
    worst: float | None = None
    unpriced: tuple[str, ...] = ()
    estimated: bool = False

    @property
    def sentence(self) -> str:
        """The closing line of a verb, or the paragraph of an estimate; empty where no model was asked."""
        return ""


def spending(door: Door) -> Spending:
    """What went through a door so far; for a verb's result and its closing line."""
    return Spending()
