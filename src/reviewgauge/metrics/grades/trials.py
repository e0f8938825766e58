"""The same question several times at once: the grades with their votes, or one failure for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Vote
from reviewgauge.judges.pairs.asking import all_read
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message
from reviewgauge.models.request.model_spec import parse_model


class Grades(NamedTuple):
    """The grade of each trial, the answers as votes, and whether a fake model gave one."""

    values: tuple[int, ...]
    votes: tuple[Vote, ...]
    fake: bool


def check_model(model: str) -> None:
    """Raise UserError for an unknown model. A missing one is an error only once it is asked: see `grades`."""
    if model:
        parse_model(model)


def grades(
    metric: str,
    model: str,
    messages: Sequence[Message],
    read: Callable[[str], int],
    *,
    trials: int,
    remind: bool,
    schema: Mapping[str, JsonValue] | None = None,
) -> Grades:
    """`trials` answers to one question, asked at the same time.

    Raises Failed where one of them fails, even if others succeeded. Raises UserError without a model.
    """
    if not model:
        raise UserError(f"{metric} needs a chat model", remedy=f'{metric}(model="openai:gpt-5")')
    numbers = range(1, trials + 1)
    answers = ask_for_each(chat_model(model), [messages] * trials, read, trials=numbers, remind=remind, schema=schema)
    readings = all_read(answers, "trials")
    votes = tuple(
        Vote(
            rater=model if trials == 1 else f"{model} (trial {trial})",
            value=reading.value,
            reason=storable(reading.raw),
        )
        for trial, reading in zip(numbers, readings, strict=True)
    )
    fake = any(answer.fake for reading in readings for answer in reading.answers)
    return Grades(tuple(reading.value for reading in readings), votes, fake)
