"""One model at one address: tries until an answer comes, within the limits of the address and the budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from reviewgauge.core.backoff import backoff
from reviewgauge.core.errors import one_line
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models.http.limits import NOT_THE_PROTOCOL, EndpointLimiter, Trouble
from reviewgauge.models.http.provider import Provider, ProviderReply
from reviewgauge.models.http.replies import (
    SCHEMA,
    RetryableError,
    SentRequest,
    UnsupportedParameter,
    raise_for,
    read_json,
)
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request, Stop, UsageSum

if TYPE_CHECKING:
    from reviewgauge.models.http.client import HttpClient

TRIES = 6
TIMEOUTS = 2  # tries that may take all their time
THROTTLES = 20  # times that an endpoint may throttle one call; all its calls wait between them
EMPTY = 2  # answers of a call that may be empty
_TYPICAL = 500.0  # tokens of an answer, until there was one


class Unusable(Failed):
    """An answer was paid for and cannot be used: a refusal, cut off, empty. `paid` is what it cost."""

    paid: Answer = Answer()


class Address(NamedTuple):
    """Where calls go: the limits of the address, its connections, and the key that it may see."""

    limiter: EndpointLimiter
    client: HttpClient
    variable: str
    key: str | None
    sends_key: bool


class CallState:
    """The tries of one call so far."""

    def __init__(self) -> None:
        self.tries = self.timeouts = self.throttles = 0
        self.sent = 0.0  # time of the last try
        self.paid: list[Answer] = []

    def is_last(self, broken: RetryableError) -> bool:
        """Count a try that failed; whether it was the last."""
        if broken.throttled:
            self.throttles += 1
            return self.throttles >= THROTTLES
        self.tries += 1
        self.timeouts += broken.trouble is Trouble.TIMEOUT
        return self.tries >= TRIES or self.timeouts >= TIMEOUTS


class RemoteModel:
    """A model behind an address. See `Endpoint`."""

    def __init__(self, provider: Provider, address: Address) -> None:
        self._spec = spec = provider.spec
        self._provider, self._address, self._limiter = provider, address, address.limiter
        self._sends_schemas = spec.json != "off"
        self._typical = min(_TYPICAL, spec.max_tokens)

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """The answer, after as many tries as it takes. Raises Failed."""
        state = CallState()
        while True:
            try:
                answer = await self._try(request, repeat.attempt, budget, state)
            except UnsupportedParameter as otherwise:
                self._adapt(otherwise)
            except RetryableError as broken:
                await self._wait_for_next_try(state, broken)
            else:
                if answer is not None:
                    return answer

    async def _try(self, request: Request, attempt: int, budget: BudgetTracker, state: CallState) -> Answer | None:
        """One try when its turn comes; whatever the answer is, it is paid for. None: it was empty, and may be again."""
        characters = sum(len(message.text) for message in request.messages)
        expected = characters // 4 + int(self._typical)
        async with self._limiter.turn(expected):
            reserved = await budget.reserve(self._spec, request)
            state.sent = time.monotonic()
            try:
                reply = await self._send(request, attempt, characters)
                answer = self._answer(reply, characters, time.monotonic() - state.sent)
            except BaseException:
                budget.settle(self._spec, reserved, None)
                raise
            dollars = budget.settle(self._spec, reserved, answer)
        self._limiter.succeeded()
        usage = answer.usage
        self._limiter.used(usage.tokens_in + usage.tokens_out - expected)
        self._typical += (usage.tokens_out - self._typical) / 10
        state.paid.append(answer.model_copy(update={"usage": usage.model_copy(update={"dollars": dollars})}))
        return self._checked(reply, state)

    async def _send(self, request: Request, attempt: int, characters: int) -> ProviderReply:
        """Send the request once, and read what comes back."""
        spec, provider, address = self._spec, self._provider, self._address
        schema = self._sends_schemas and request.answer_schema is not None
        sent = SentRequest(spec.model, address.variable, address.sends_key, provider.parameters, schema, characters)
        try:
            async with asyncio.timeout(spec.timeout):
                reply = await address.client.post(provider.path, provider.body(request, attempt, schema))
        except TimeoutError:
            raise RetryableError(f"no answer within {spec.timeout} s", Trouble.TIMEOUT) from None
        content = reply.content.replace(address.key.encode(), b"***") if address.key else reply.content
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
        return provider.read(payload)

    def _reject(self, sent: SentRequest, status: int, headers: Mapping[str, str], content: bytes) -> NoReturn:
        """Raise what an error status means. An endpoint that says plainly what is wrong is up."""
        self._limiter.mark_reachable()
        try:
            raise_for(sent, status, headers, content)
        except (Failed, UnsupportedParameter):
            self._limiter.succeeded()
            raise

    def _adapt(self, otherwise: UnsupportedParameter) -> None:
        """Remember what this endpoint does not take, for this call and those to come."""
        if otherwise.what == SCHEMA:
            self._sends_schemas = False
        else:
            self._provider.rename_limit()

    async def _wait_for_next_try(self, state: CallState, broken: RetryableError) -> None:
        """Wait for the next try. Raises Failed after the last."""
        if broken.trouble is not Trouble.UNREACHED:
            self._limiter.mark_reachable()
        last = state.is_last(broken)
        if not broken.throttled:
            self._limiter.failed(str(broken), broken.trouble)
        if last:
            raise self._given_up(state, broken) from None
        if broken.throttled or broken.wait is not None:
            self._limiter.pause(broken.wait, state.sent)  # the next turn waits for it, for all calls
        else:
            await self._limiter.sleep(backoff(state.tries, self._limiter.patience))

    def _given_up(self, state: CallState, broken: RetryableError) -> Failed:
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
                f"{self._spec.model}: {broken}, {state.timeouts} times",
                remedy="raise timeout in the model's name, or lower max_tokens",
            )
        later = "repeat the command later: finished calls are kept"
        return Failed(
            FailureKind.NETWORK,
            f"{self._spec.model}: gave up after {state.tries} tries: {broken}",
            remedy=f"{later}; if it stays, {NOT_THE_PROTOCOL}" if broken.trouble is Trouble.INVALID_RESPONSE else later,
        )

    def _answer(self, reply: ProviderReply, characters: int, seconds: float) -> Answer:
        """The answer in a reply. Tokens that the endpoint does not count are estimated, at four characters each."""
        counted = reply.tokens_in is not None and reply.tokens_out is not None
        length = len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)
        usage = Usage(
            calls=1,
            tokens_in=max(1, characters // 4) if reply.tokens_in is None else reply.tokens_in,
            tokens_out=max(1, length // 4) if reply.tokens_out is None else reply.tokens_out,
            seconds=round(seconds, 6),
        )
        return Answer(
            text=reply.text,
            tool_calls=reply.tool_calls,
            stop=Stop.LENGTH if reply.cut else Stop.TOOL if reply.tool_calls else Stop.END,
            model=reply.model,
            usage=usage,
            counted=counted,
            fake=reply.fake,
        )

    def _checked(self, reply: ProviderReply, state: CallState) -> Answer | None:
        """The answer, at the cost of all tries; None where it is empty and may be asked again. Raises Unusable."""
        answer = _at_cost_of_all(state.paid)
        name, longest = self._spec.model, self._spec.max_tokens
        if reply.refusal:
            shown = one_line(hide_secrets(reply.refusal), 200)
            raise self._unusable(
                FailureKind.REFUSAL, f"{name} refuses: {shown}", "rephrase the prompt, or use another model", answer
            )
        if reply.cut:
            reasoned = f", {reply.reasoning_tokens:,} of them for reasoning" if reply.reasoning_tokens else ""
            nothing = "" if reply.text.strip() or reply.tool_calls else ": all of it went into reasoning"
            raise self._unusable(
                FailureKind.BUDGET,
                f"{name}: {reply.cut} ({answer.usage.tokens_out:,} tokens{reasoned}){nothing}",
                f"raise max_tokens, which is {longest:,}, or lower the reasoning",
                answer,
            )
        if not reply.text.strip() and not reply.tool_calls:
            if len(state.paid) < EMPTY:
                return None
            raise self._unusable(
                FailureKind.UNREADABLE,
                f"{name} gave {len(state.paid)} empty answers",
                "use another model, or other parameters",
                answer,
            )
        return answer

    @staticmethod
    def _unusable(kind: FailureKind, problem: str, remedy: str, answer: Answer) -> Unusable:
        failed = Unusable(kind, problem, remedy=remedy, raw=hide_secrets(answer.text) or None)
        failed.paid = answer
        return failed


def _at_cost_of_all(paid: Sequence[Answer]) -> Answer:
    """The last answer, at the cost of all."""
    last = paid[-1]
    if len(paid) == 1:
        return last
    total = UsageSum()
    for answer in paid:
        total.add(answer.usage)
    usage = total.usage.model_copy(update={"seconds": last.usage.seconds})
    return last.model_copy(update={"usage": usage, "counted": all(answer.counted for answer in paid)})
