"""Read what an endpoint sends back: its JSON, or what its error means.

An error is a RetryableError, an UnsupportedParameter (ask in another form), or a Failed that says what to do.
Source: https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors, and the
errors of vLLM, Ollama and gateways.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from reviewgauge.core.backoff import retry_after
from reviewgauge.core.errors import one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models.http.limits import LONGEST_PAUSE, Trouble

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


class RetryableError(Exception):
    """A try failed, and another may not. `wait`: seconds that the endpoint asks for."""

    def __init__(self, reason: str, trouble: Trouble, *, wait: float | None = None, throttled: bool = False) -> None:
        super().__init__(reason)
        self.trouble, self.wait, self.throttled = trouble, wait, throttled


class InvalidResponse(RetryableError):
    """An answer that is not in the protocol."""

    def __init__(self, reason: str = "the answer is not what the protocol says") -> None:
        super().__init__(reason, Trouble.INVALID_RESPONSE)


class UnsupportedParameter(Exception):
    """The endpoint takes the call in another form: without the SCHEMA of the answer, or with its LIMIT renamed."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


_MOST_VALUES = 500_000  # in one answer; a hundred bytes of memory and more for each


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. Raises RetryableError: not UTF-8, cut off, another page, too many values."""
    if sum(map(body.count, (b",", b"{", b"["))) > _MOST_VALUES:
        raise InvalidResponse(f"the answer holds over {_MOST_VALUES:,} values")
    try:
        found = json.loads(body.decode())
    except UnicodeDecodeError:
        raise InvalidResponse("the answer is not UTF-8") from None
    except (ValueError, RecursionError):
        raise InvalidResponse("the answer is not JSON, or cut off" if body.strip() else "the answer is empty") from None
    if not isinstance(found, dict):
        raise InvalidResponse
    return found


class SentRequest(NamedTuple):
    """A request as it was sent. `parameters`: the spec's name of each parameter, by its name in the protocol."""

    model: str
    variable: str
    sends_key: bool
    parameters: Mapping[str, str] = {}
    schema: bool = False
    characters: int = 0


class _ErrorText(NamedTuple):
    """An endpoint's error: its whole text to search, one line to show, and the parameter that it names."""

    text: str
    shown: str
    parameter: str


def raise_for(sent: SentRequest, status: int, headers: Mapping[str, str], body: bytes) -> NoReturn:
    """Raise what an error status means: RetryableError, UnsupportedParameter or Failed."""
    error = _read(body)
    shown = f"{sent.model}: {status}" + (f" {error.shown}" if error.shown else "")
    if status == 402 or (_CREDIT.search(error.text) and status in (400, 403, 429)):
        raise Failed(FailureKind.BUDGET, shown, remedy="the account has no credit left: top it up", stops=True)
    if status in _THROTTLED:
        raise RetryableError(shown, Trouble.ERROR, wait=_checked(sent.model, retry_after(headers)), throttled=True)
    if status == 501:
        _refuse(shown, "the endpoint does not know this kind of call: check the address", stops=True)
    if status in _AGAIN or status >= 500:
        raise RetryableError(shown, Trouble.ERROR, wait=_checked(sent.model, retry_after(headers)))
    if 300 <= status < 400:
        where = one_line(headers.get("location", "elsewhere"), 200)
        _refuse(f"{shown}: the address redirects to {where}", "name the address that it points to", stops=True)
    if status in (400, 413, 422):
        _raise_for_request(sent, shown, status, error)
    if status == 451 or (status == 403 and _BLOCKED.search(error.text)):
        raise Failed(FailureKind.REFUSAL, shown, remedy="the provider blocks this text")
    if status in (401, 403, 407):
        _refuse(shown, _about_key(sent), stops=True)
    if status in (404, 405, 410):
        remedy = "check the model's name and the address: an OpenAI-compatible one usually ends in /v1"
        _refuse(shown, remedy if sent.variable.startswith("OPENAI") else "check the model's name", stops=True)
    _refuse(shown, "the endpoint rejects this call")


def _raise_for_request(sent: SentRequest, shown: str, status: int, error: _ErrorText) -> NoReturn:
    """What a 400, 413 or 422 means."""
    named = _named(sent, error)
    if "max_tokens" in sent.parameters and f"Use '{LIMIT}'" in error.text:
        raise UnsupportedParameter(LIMIT)
    if sent.schema and not named and _SCHEMA.search(error.text):
        raise UnsupportedParameter(SCHEMA)
    if named:
        _refuse(f"{shown}: it does not take {named}", f"remove {named} from the model's name, or change it", stops=True)
    if status == 413 or _TOO_LONG.search(error.text):
        raise Failed(
            FailureKind.REQUEST,
            f"{shown}: the prompt of {sent.characters:,} characters is longer than this model reads",
            remedy="take a model that reads more, lower max_tokens, or ask about less; prompts are never truncated",
        )
    if _BLOCKED.search(error.text):
        raise Failed(FailureKind.REFUSAL, shown, remedy="the provider blocks this text")
    _refuse(shown, "the endpoint rejects this call")


def _named(sent: SentRequest, error: _ErrorText) -> str:
    """The parameter that an error is about, as the spec calls it; "" for a prompt that is too long."""
    if error.parameter:
        return sent.parameters.get(error.parameter.split(".", maxsplit=1)[0], "")
    if re.search(r"context|prompt is too long", error.text, re.IGNORECASE):
        return ""
    for parameter, name in sent.parameters.items():
        if re.search(rf"(?<![a-z]){re.escape(parameter)}(?![a-z])", error.text, re.IGNORECASE):
            return name
    return ""


def _refuse(problem: str, remedy: str, *, stops: bool = False) -> NoReturn:
    raise Failed(FailureKind.REQUEST, problem, remedy=remedy, stops=stops)


def _about_key(sent: SentRequest) -> str:
    if not sent.sends_key:
        return f"{sent.variable} is not sent over plain http to another machine: use https"
    return f"check the key in {sent.variable}, and what it may use"


def _checked(model: str, wait: float | None) -> float | None:
    """`wait`, unless it is too long for a run. Raises Failed."""
    if wait is None or wait <= LONGEST_PAUSE:
        return wait
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + min(wait, 10**9)))
    raise Failed(
        FailureKind.NETWORK,
        f"{model} asks to wait {wait / 3600:,.1f} hours, until {until}",
        remedy="repeat the command then: finished calls are kept",
        stops=True,
    )


def _read(body: bytes) -> _ErrorText:
    """An error from JSON in any of the usual shapes, or from plain text."""
    text = body[:65_536].decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _ErrorText(text, _show(re.sub(r"<[^<>]*>", " ", text)), "")
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return _ErrorText(text, _show(str(error)), "")
    message = next((error[key] for key in ("message", "detail", "error") if error.get(key)), "")
    code = next((str(error[key]) for key in ("code", "type") if error.get(key)), "")
    parameter = error.get("param")
    shown = _show(f"{code}: {message}" if code and message else str(message or code or text))
    return _ErrorText(text, shown, parameter if isinstance(parameter, str) else "")


def _show(text: str) -> str:
    return one_line(hide_secrets(text), 240)
