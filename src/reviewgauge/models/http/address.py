"""The way to an address: it is asked until an answer comes, within its limits."""

from __future__ import annotations

import asyncio
import os
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from reviewgauge.core.backoff import backoff
from reviewgauge.core.errors import MissingExtra, one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models.http.limits import NOT_THE_PROTOCOL, EndpointLimiter, Trouble
from reviewgauge.models.http.provider import Provider
from reviewgauge.models.http.replies import RetryableError, SentRequest, UnsupportedParameter, raise_for, read_json

if TYPE_CHECKING:
    from reviewgauge.models.http.client import HttpClient

T = TypeVar("T")
LARGEST = 16 * 1024**2  # bytes of one answer, unpacked; the longest that models write are a tenth of that
_LOCAL = ("localhost", "127.0.0.1", "::1")
TRIES = 6
TIMEOUTS = 2  # tries that may take all their time
THROTTLES = 20  # times that an endpoint may throttle one call; all its calls wait between them


class CallState:
    """The tries of one call so far."""

    def __init__(self) -> None:
        self.tries = self.timeouts = self.throttles = 0
        self.sent = 0.0  # time of the last try

    def is_last(self, broken: RetryableError) -> bool:
        """Count a try that failed; whether it was the last."""
        if broken.throttled:
            self.throttles += 1
            return self.throttles >= THROTTLES
        self.tries += 1
        self.timeouts += broken.trouble is Trouble.TIMEOUT
        return self.tries >= TRIES or self.timeouts >= TIMEOUTS


class Address(NamedTuple):
    """Where calls go: the limits of the address, its connections, and the key that it may see."""

    limiter: EndpointLimiter
    client: HttpClient
    variable: str
    key: str | None
    sends_key: bool

    async def until_answered(self, name: str, once: Callable[[CallState], Awaitable[T | None]]) -> T:
        """The answer of `once`, after as many tries as it takes; None is asked again at once. Raises Failed."""
        state = CallState()
        while True:
            try:
                answer = await once(state)
            except RetryableError as broken:
                await self._wait_for_next_try(name, state, broken)
            else:
                if answer is not None:
                    return answer

    async def post(self, path: str, body: Mapping[str, Any], sent: SentRequest, timeout: float) -> dict[str, Any]:
        """Send a request once. Raises RetryableError, UnsupportedParameter or Failed where no answer comes."""
        try:
            async with asyncio.timeout(timeout):
                reply = await self.client.post(path, body)
        except TimeoutError:
            raise RetryableError(f"no answer within {timeout:g} s", Trouble.TIMEOUT) from None
        content = reply.content.replace(self.key.encode(), b"***") if self.key else reply.content
        if not 200 <= reply.status < 300:
            self._reject(sent, reply.status, reply.headers, content)
        payload = read_json(content)
        error = payload.get("error")
        if error and not payload.get("choices") and not payload.get("content"):  # how a gateway reports one
            code = error.get("code") if isinstance(error, dict) else None
            if isinstance(code, int) and 400 <= code < 600:
                self._reject(sent, code, reply.headers, content)
            text = str(error.get("message") or error) if isinstance(error, dict) else str(error)
            raise RetryableError(f"an error in place of an answer: {one_line(hide_secrets(text), 200)}", Trouble.ERROR)
        return payload

    def _reject(self, sent: SentRequest, status: int, headers: Mapping[str, str], content: bytes) -> NoReturn:
        """Raise what an error status means. An endpoint that says plainly what is wrong is up."""
        self.limiter.mark_reachable()
        try:
            raise_for(sent, status, headers, content)
        except (Failed, UnsupportedParameter):
            self.limiter.succeeded()
            raise

    async def _wait_for_next_try(self, name: str, state: CallState, broken: RetryableError) -> None:
        """Wait for the next try. Raises Failed after the last."""
        if broken.trouble is not Trouble.UNREACHED:
            self.limiter.mark_reachable()
        last = state.is_last(broken)
        if not broken.throttled:
            self.limiter.failed(str(broken), broken.trouble)
        if last:
            raise _given_up(name, state, broken) from None
        if broken.throttled or broken.wait is not None:
            self.limiter.pause(broken.wait, state.sent)  # the next turn waits for it, for all calls
        else:
            await self.limiter.sleep(backoff(state.tries, self.limiter.patience))


def open_address(provider: type[Provider], address: str, limiter: EndpointLimiter, largest: int = LARGEST) -> Address:
    """A way to `address`, or to the provider's own where it is empty; aiohttp is imported here.

    Raises Failed for a key that is missing or cannot be sent, MissingExtra.
    """
    key, sends_key = _key_for(address, provider.key_variable, provider.base_url)
    try:
        from reviewgauge.models.http.client import HttpClient
    except ImportError:
        raise MissingExtra("aiohttp", "models") from None
    url = (address or provider.base_url).removesuffix(provider.implied)
    return Address(limiter, HttpClient(url, provider.headers(key), largest), provider.key_variable, key, sends_key)


def _key_for(address: str, variable: str, official: str) -> tuple[str | None, bool]:
    """(the key to send, if there is one; whether the address may see one). `address` is "" for the official one.

    Raises Failed for a key that is missing, or that no header can hold; nothing of it is shown.
    """
    key = os.environ.get(variable, "").strip()
    parts = urllib.parse.urlsplit(address or official)
    sends_key = parts.scheme == "https" or parts.hostname in _LOCAL
    problem = remedy = ""
    if not address and not key:
        problem = f"{official} needs a key, and {variable} is not set"
        remedy = f"export {variable}=..., or name another endpoint: openai:MODEL@http://HOST/v1"
    elif sends_key and (bad := next((at for at, letter in enumerate(key, 1) if not "!" <= letter <= "~"), 0)):
        problem = f"{variable} is not a valid API key: character {bad} is a blank, or not printable ASCII"
        remedy = f"export {variable}=... again, the key alone"
    if problem:
        raise Failed(FailureKind.REQUEST, problem, remedy=remedy, stops=True)
    return (key or None) if sends_key else None, sends_key


def _given_up(name: str, state: CallState, broken: RetryableError) -> Failed:
    if broken.throttled:
        return Failed(
            FailureKind.NETWORK,
            f"{broken}, after {state.throttles} waits",
            remedy="lower --in-flight or --rpm, and repeat the command: finished calls are kept",
            stops=True,
        )
    if broken.trouble is Trouble.TIMEOUT:
        return Failed(
            FailureKind.TIMEOUT,
            f"{name}: {broken}, {state.timeouts} times",
            remedy="raise timeout in the model's name, or lower max_tokens",
        )
    later = "repeat the command later: finished calls are kept"
    return Failed(
        FailureKind.NETWORK,
        f"{name}: gave up after {state.tries} tries: {broken}",
        remedy=f"{later}; if it stays, {NOT_THE_PROTOCOL}" if broken.trouble is Trouble.INVALID_RESPONSE else later,
    )
