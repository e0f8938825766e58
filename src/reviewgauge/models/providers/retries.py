"""One model at one address: as many tries as an answer takes, within the limits of the address, and what they cost."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from reviewgauge.core.backoff import backoff
from reviewgauge.core.errors import hide_secrets, one_line
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.providers.errors import SCHEMA, Asked, AskOtherwise, Broken, raise_for
from reviewgauge.models.providers.rate_limits import NOT_THE_PROTOCOL, EndpointLimiter, Trouble
from reviewgauge.models.providers.replies import ProviderReply, read_json
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request, Stop
from reviewgauge.models.request.model_spec import ModelSpec

TRIES = 6
TIMEOUTS = 2  # of them may take all their time
THROTTLES = 20  # times that a call may be told to come again later; everybody at the address waits between them
EMPTY = 2  # answers that may say nothing
_TYPICAL = 500.0  # tokens of an answer, before there was one


class Unusable(Failed):
    """An answer came and was paid for, and is none: a refusal, cut off, empty. `paid` is what it cost."""

    paid: Answer = Answer()


class Dialect(Protocol):
    """How requests and answers of one model look on the wire."""

    variable: str
    path: str

    @property
    def parameters(self) -> Mapping[str, str]:
        """The spec's name of each parameter that is sent, by its name in the protocol."""

    def body(self, request: Request, attempt: int, schema: bool) -> dict[str, Any]:
        """What is sent for a request."""

    def read(self, payload: Mapping[str, Any]) -> ProviderReply:
        """What an answer says. Raises Broken where it is not what the protocol says."""

    def rename_limit(self) -> None:
        """Send max_tokens under its other name from now on, where the protocol has one."""


class Address(NamedTuple):
    """Where calls go: its limits, the SDK's client and errors, the class of an answer as it came, the key if any.

    `options` go with each call to the SDK.
    """

    lane: EndpointLimiter
    client: Any
    errors: Any
    raw: type
    key: str | None
    sends_key: bool
    options: Mapping[str, Any]


class _Course:
    """What has happened to one call so far."""

    def __init__(self) -> None:
        self.tries = self.timeouts = self.throttles = 0
        self.sent = 0.0  # when the last try was
        self.paid: list[Answer] = []

    def gives_up(self, broken: Broken) -> bool:
        """Whether the try that broke was the last."""
        if broken.throttled:
            self.throttles += 1
            return self.throttles >= THROTTLES
        self.tries += 1
        self.timeouts += broken.trouble is Trouble.LATE
        return self.tries >= TRIES or self.timeouts >= TIMEOUTS


class Remote:
    """A model behind an address. See `Endpoint` in `_providers.py`."""

    def __init__(self, spec: ModelSpec, dialect: Dialect, address: Address) -> None:
        self._spec, self._dialect, self._address, self._lane = spec, dialect, address, address.lane
        self._schemas = spec.json != "off"
        self._typical = min(_TYPICAL, spec.max_tokens)
        self._secret = address.key.encode() if address.key else b""

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """The answer, after as many tries as it takes. Raises Failed."""
        course = _Course()
        while True:
            try:
                answer = await self._turn(request, repeat.attempt, budget, course)
            except AskOtherwise as otherwise:
                self._ask_otherwise(otherwise)
            except Broken as broken:
                await self._go_on(course, broken)
            else:
                if answer is not None:
                    return answer

    def _ask_otherwise(self, otherwise: AskOtherwise) -> None:
        """Remember what this endpoint does not take, for this call and those to come."""
        if otherwise.what == SCHEMA:
            self._schemas = False
        else:
            self._dialect.rename_limit()

    async def _go_on(self, course: _Course, broken: Broken) -> None:
        """Wait for the next try. Raises Failed where there is none."""
        if broken.trouble is not Trouble.UNREACHED:
            self._lane.heard()
        last = course.gives_up(broken)
        if not broken.throttled:
            self._lane.failed(str(broken), broken.trouble)
        if last:
            raise self._given_up(course, broken) from None
        if broken.throttled or broken.wait is not None:
            self._lane.pause(broken.wait, course.sent)  # the next turn waits for it, and so does everybody else's
        else:
            await self._lane.sleep(backoff(course.tries, self._lane.patience))

    def _given_up(self, course: _Course, broken: Broken) -> Failed:
        if broken.throttled:
            return Failed(
                FailureKind.NETWORK,
                f"{broken}, after {course.throttles} waits",
                remedy="lower --in-flight or --rpm, and repeat the command: what was answered is kept",
                stops=True,
            )
        if broken.trouble is Trouble.LATE:
            return Failed(
                FailureKind.TIMEOUT,
                f"{self._spec.model}: {broken}, {course.timeouts} times",
                remedy="raise timeout in the model's name, or lower max_tokens",
            )
        later = "repeat the command later: what was answered is kept"
        return Failed(
            FailureKind.NETWORK,
            f"{self._spec.model}: gave up after {course.tries} tries: {broken}",
            remedy=f"{later}; if it stays, {NOT_THE_PROTOCOL}" if broken.trouble is Trouble.GARBLED else later,
        )

    async def _turn(self, request: Request, attempt: int, budget: BudgetTracker, course: _Course) -> Answer | None:
        """One try, when it is its turn; an answer is paid for whatever it is. None: it said nothing, and may again."""
        characters = sum(len(message.text) for message in request.messages)
        expected = characters // 4 + int(self._typical)
        schema = self._schemas and request.answer_schema is not None
        async with self._lane.turn(expected):
            reserved = await budget.reserve(self._spec, request)
            course.sent = time.monotonic()
            try:
                reply = await self._send(request, attempt, schema, characters)
                answer = self._answer(reply, characters, time.monotonic() - course.sent)
            except BaseException:
                budget.settle(self._spec, reserved, None)
                raise
            dollars = budget.settle(self._spec, reserved, answer)
        self._lane.succeeded()
        usage = answer.usage
        self._lane.used(usage.tokens_in + usage.tokens_out - expected)
        self._typical += (usage.tokens_out - self._typical) / 10
        course.paid.append(answer.model_copy(update={"usage": usage.model_copy(update={"dollars": dollars})}))
        return self._checked(reply, course)

    async def _send(self, request: Request, attempt: int, schema: bool, characters: int) -> ProviderReply:
        address, spec = self._address, self._spec
        asked = Asked(
            spec.model, self._dialect.variable, address.sends_key, self._dialect.parameters, schema, characters
        )
        body = self._dialect.body(request, attempt, schema)
        try:
            async with asyncio.timeout(spec.timeout):
                got = await address.client.post(
                    self._dialect.path, cast_to=address.raw, body=body, options=address.options
                )
        except TimeoutError:
            raise Broken(f"no answer within {spec.timeout} s", Trouble.LATE) from None
        except address.errors.APIStatusError as error:
            self._refused(asked, error.status_code, error.response.headers, error.response.content)
        except address.errors.APIConnectionError as error:
            raise _unreached(self._lane.address, error) from None
        content = self._hidden(got.content)
        payload = read_json(content)
        wrong = payload.get("error")
        if wrong and not payload.get("choices") and not payload.get("content"):  # a gateway's way to say it
            code = wrong.get("code") if isinstance(wrong, dict) else None
            if isinstance(code, int) and 400 <= code < 600:
                self._refused(asked, code, got.headers, content)
            said = str(wrong.get("message") or wrong) if isinstance(wrong, dict) else str(wrong)
            raise Broken(f"an error in place of an answer: {one_line(hide_secrets(said), 200)}", Trouble.ERROR)
        return self._dialect.read(payload)

    def _refused(self, asked: Asked, status: int, headers: Mapping[str, str], content: bytes) -> NoReturn:
        """Raise what an error status means. An endpoint that says plainly what is wrong is up."""
        self._lane.heard()
        try:
            raise_for(asked, status, headers, self._hidden(content))
        except (Failed, AskOtherwise):
            self._lane.succeeded()
            raise

    def _hidden(self, content: bytes) -> bytes:
        """What came, without the key, should the endpoint repeat it."""
        return content.replace(self._secret, b"***") if self._secret and self._secret in content else content

    def _answer(self, reply: ProviderReply, characters: int, seconds: float) -> Answer:
        """The answer that a reply is. Tokens that nobody counted are estimated: four characters each."""
        counted = reply.tokens_in is not None and reply.tokens_out is not None
        said = len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)
        usage = Usage(
            calls=1,
            tokens_in=max(1, characters // 4) if reply.tokens_in is None else reply.tokens_in,
            tokens_out=max(1, said // 4) if reply.tokens_out is None else reply.tokens_out,
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

    def _checked(self, reply: ProviderReply, course: _Course) -> Answer | None:
        """The answer, with what earlier ones of this call cost; None where it says nothing. Raises Unusable."""
        answer = _together(course.paid)
        name, longest = self._spec.model, self._spec.max_tokens
        if reply.refusal:
            shown = one_line(hide_secrets(reply.refusal), 200)
            raise self._unusable(
                FailureKind.REFUSAL, f"{name} refuses: {shown}", "other words or another model may do", answer
            )
        if reply.cut:
            reasoned = f", {reply.thought:,} of them for reasoning" if reply.thought else ""
            nothing = "" if reply.text.strip() or reply.tool_calls else ": all of it went into reasoning"
            raise self._unusable(
                FailureKind.BUDGET,
                f"{name}: {reply.cut} ({answer.usage.tokens_out:,} tokens{reasoned}){nothing}",
                f"raise max_tokens, which is {longest:,}, or lower the reasoning",
                answer,
            )
        if not reply.text.strip() and not reply.tool_calls:
            if len(course.paid) < EMPTY:
                return None
            raise self._unusable(
                FailureKind.UNREADABLE,
                f"{name} answered nothing, {len(course.paid)} times",
                "another model, or other parameters, may say something",
                answer,
            )
        return answer

    @staticmethod
    def _unusable(kind: FailureKind, problem: str, remedy: str, answer: Answer) -> Unusable:
        failed = Unusable(kind, problem, remedy=remedy, raw=hide_secrets(answer.text) or None)
        failed.paid = answer
        return failed


def _together(paid: Sequence[Answer]) -> Answer:
    """The last answer, at the cost of all."""
    last = paid[-1]
    if len(paid) == 1:
        return last
    known = [answer.usage.dollars for answer in paid if answer.usage.dollars is not None]
    usage = Usage(
        calls=len(paid),
        tokens_in=sum(answer.usage.tokens_in for answer in paid),
        tokens_out=sum(answer.usage.tokens_out for answer in paid),
        dollars=sum(known) if len(known) == len(paid) else None,
        seconds=last.usage.seconds,
    )
    return last.model_copy(update={"usage": usage, "counted": all(answer.counted for answer in paid)})


def _unreached(address: str, error: BaseException) -> Broken:
    """Why no answer came over the line. Raises Failed for what another try will not mend."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    names = {type(one).__name__ for one in causes}
    said = " ".join(str(one) for one in causes[1:] if str(one))
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in causes) or "CERTIFICATE_VERIFY_FAILED" in said:
        raise Failed(
            FailureKind.NETWORK,
            f"{address}: its certificate is signed by nobody this machine trusts",
            remedy="if you trust it, set SSL_CERT_FILE to a PEM file that holds the certificate or its authority",
            stops=True,
        )
    if names & {"ReadTimeout", "WriteTimeout"}:
        return Broken(f"{address}: no answer in time", Trouble.LATE)
    shown = one_line(hide_secrets(next((str(one) for one in causes[1:] if str(one)), str(error))), 160)
    if names & {"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol", "ConnectionRefusedError"}:
        return Broken(f"{address} cannot be reached: {shown}", Trouble.UNREACHED)
    return Broken(f"{address}: the connection broke: {shown}", Trouble.DROPPED)
