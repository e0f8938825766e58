"""What an endpoint means when it does not answer: try again, ask otherwise, or a Failed that says what to do.

Source: https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors, and what vLLM,
Ollama and gateways say in their place.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from reviewgauge.core.backoff import retry_after
from reviewgauge.core.errors import hide_secrets, one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.providers.rate_limits import LONGEST_PAUSE, Trouble

SCHEMA = "schema"
LIMIT = "max_completion_tokens"
_THROTTLED = (429, 529)
_AGAIN = (408, 409, 425)
_CREDIT = re.compile(r"insufficient[_ ](quota|balance|credits?|funds)|credit balance|out of credits", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|context[ _](length|window|size|limit)|maximum context|(prompt|input) is too long"
    r"|(input|prompt|request)[\w `]{0,40} exceeds? [\w `]{0,40}(length|limit|maximum|size)|request_too_large"
    r"|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"content[_ ](policy|filter|management)|usage polic|safety|moderation|flagged|invalid_prompt|violat", re.IGNORECASE
)
_SCHEMA = re.compile(
    r"response_format|json_schema|output_config|output_format|structured output|guided|grammar|json mode"
    r"|answer_schema|json schema",
    re.IGNORECASE,
)


class Broken(Exception):
    """One try failed in a way that another may not. `wait`: seconds that the endpoint asks for."""

    def __init__(self, reason: str, trouble: Trouble, *, wait: float | None = None, throttled: bool = False) -> None:
        super().__init__(reason)
        self.trouble, self.wait, self.throttled = trouble, wait, throttled


class AskOtherwise(Exception):
    """The endpoint takes the call in another form: without the SCHEMA of the answer, or with its LIMIT renamed."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Asked(NamedTuple):
    """What was asked of whom. `parameters`: the spec's name of each parameter sent, by its name in the protocol."""

    name: str
    variable: str
    sends_key: bool
    parameters: Mapping[str, str]
    schema: bool
    characters: int


class _Said(NamedTuple):
    """An endpoint's error: all its words to look for signs in, one line to show, and the parameter that it names."""

    words: str
    shown: str
    parameter: str


def raise_for(asked: Asked, status: int, headers: Mapping[str, str], body: bytes) -> NoReturn:
    """Raise what an error status means: Broken, AskOtherwise or Failed."""
    said = _read(body)
    shown = f"{asked.name}: {status}" + (f" {said.shown}" if said.shown else "")
    if status in (402, *_THROTTLED) or status < 500:
        _raise_for_money(shown, status, said)
    if status in _THROTTLED:
        raise Broken(shown, Trouble.ERROR, wait=_checked(asked.name, retry_after(headers)), throttled=True)
    if status in _AGAIN or status >= 500:
        if status == 501:
            _refuse(shown, "the endpoint does not know this kind of call: check the address", stops=True)
        raise Broken(shown, Trouble.ERROR, wait=_checked(asked.name, retry_after(headers)))
    if 300 <= status < 400:
        where = one_line(headers.get("location", "elsewhere"), 200)
        _refuse(f"{shown}: the address redirects to {where}", "name the address that it points to", stops=True)
    if status in (400, 413, 422):
        _raise_for_request(asked, shown, status, said)
    if status in (401, 403, 407):
        if status == 403 and _BLOCKED.search(said.words):
            raise Failed(FailureKind.REFUSAL, shown, remedy="the provider blocks this text")
        _refuse(shown, _about_key(asked), stops=True)
    if status in (404, 405, 410):
        remedy = "check the model's name and the address: an OpenAI-compatible one usually ends in /v1"
        _refuse(shown, remedy if asked.variable.startswith("OPENAI") else "check the model's name", stops=True)
    if status == 451:
        raise Failed(FailureKind.REFUSAL, shown, remedy="the provider blocks this text")
    _refuse(shown, "the endpoint will not take this call")


def _raise_for_money(shown: str, status: int, said: _Said) -> None:
    if status == 402 or (_CREDIT.search(said.words) and status in (400, 403, 429)):
        raise Failed(FailureKind.BUDGET, shown, remedy="the account has no credit left: top it up", stops=True)


def _raise_for_request(asked: Asked, shown: str, status: int, said: _Said) -> NoReturn:
    """What a 400, 413 or 422 means."""
    named = _named(asked, said)
    if "max_tokens" in asked.parameters and f"Use '{LIMIT}'" in said.words:
        raise AskOtherwise(LIMIT)
    if asked.schema and not named and _SCHEMA.search(said.words):
        raise AskOtherwise(SCHEMA)
    if not named and (status == 413 or _TOO_LONG.search(said.words)):
        raise Failed(
            FailureKind.REQUEST,
            f"{shown}: the prompt of {asked.characters:,} characters is longer than this model reads",
            remedy="take a model that reads more, lower max_tokens, or ask about less; nothing is cut off in silence",
        )
    if named:
        _refuse(
            f"{shown}: it does not take {named}", f"leave {named} out of the model's name, or change it", stops=True
        )
    if _BLOCKED.search(said.words):
        raise Failed(FailureKind.REFUSAL, shown, remedy="the provider blocks this text")
    _refuse(shown, "the endpoint will not take this call")


def _named(asked: Asked, said: _Said) -> str:
    """The parameter that an error is about, as the spec calls it; a limit on max_tokens counts, a full window not."""
    if said.parameter:
        return asked.parameters.get(said.parameter.split(".", maxsplit=1)[0], "")
    if re.search(r"context|prompt is too long", said.words, re.IGNORECASE):
        return ""
    for sent, name in asked.parameters.items():
        if re.search(rf"(?<![a-z]){re.escape(sent)}(?![a-z])", said.words, re.IGNORECASE):
            return name
    return ""


def _refuse(problem: str, remedy: str, *, stops: bool = False) -> NoReturn:
    raise Failed(FailureKind.REQUEST, problem, remedy=remedy, stops=stops)


def _about_key(asked: Asked) -> str:
    if not asked.sends_key:
        return f"{asked.variable} is not sent over plain http to another machine: use https"
    return f"check the key in {asked.variable}, and what it may use"


def _checked(name: str, wait: float | None) -> float | None:
    """`wait`, unless it is absurd: then nobody is helped by waiting."""
    if wait is None or wait <= LONGEST_PAUSE:
        return wait
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + min(wait, 10**9)))
    raise Failed(
        FailureKind.NETWORK,
        f"{name} asks to wait {_duration(wait)}, until {until}",
        remedy="repeat the command then: what was answered is kept",
        stops=True,
    )


def _duration(seconds: float) -> str:
    minutes = round(min(seconds, 10**9) / 60)
    days, hours = minutes // 1440, minutes % 1440 // 60
    parts = [(days, "d"), (hours, "h"), (minutes % 60, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def _read(body: bytes) -> _Said:
    """The words of an error, from JSON in any of the shapes that are about, or from plain text."""
    text = body[:65_536].decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _Said(text, _show(re.sub(r"<[^>]*>", " ", text)), "")
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return _Said(text, _show(str(error)), "")
    message = next((error[key] for key in ("message", "detail", "error") if error.get(key)), "")
    code = next((str(error[key]) for key in ("code", "type") if error.get(key)), "")
    parameter = error.get("param")
    shown = _show(f"{code}: {message}" if code and message else str(message or code or text))
    return _Said(text, shown, parameter if isinstance(parameter, str) else "")


def _show(text: str) -> str:
    return one_line(hide_secrets(text), 240)
