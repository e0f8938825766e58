"""The endpoints of a client, one per model: each with the limits, retries and circuit breaker of its address; each
answer is paid for from the budget, and checked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models import fake
from reviewgauge.models.http.address import Address, CallState, open_address
from reviewgauge.models.http.limits import EndpointLimiter
from reviewgauge.models.http.provider import Provider, ProviderReply
from reviewgauge.models.http.replies import SCHEMA, SentRequest, UnsupportedParameter
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request, Stop, UsageSum
from reviewgauge.models.request.model_spec import FAKE, ChatSettings, ModelSpec, address_of, load_provider

EMPTY = 2  # answers of a call that may be empty
_TYPICAL = 500.0  # tokens of an answer, until there was one


class Unusable(Failed):
    """An answer was paid for and cannot be used: a refusal, cut off, empty. `paid` is what it cost."""

    paid: Answer = Answer()


class RemoteModel:
    """A model behind an address. Used on the background loop only."""

    def __init__(self, provider: Provider, address: Address) -> None:
        self._spec = spec = provider.spec
        self._provider, self._address, self._limiter = provider, address, address.limiter
        self._sends_schemas = spec.json != "off"
        self._typical = min(_TYPICAL, spec.max_tokens)

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """The answer, after as many tries as it takes. The repeat's attempt shifts a seed. Raises Failed."""
        paid: list[Answer] = []

        async def once(state: CallState) -> Answer | None:
            try:
                return await self._try(request, repeat.attempt, budget, state, paid)
            except UnsupportedParameter as unsupported:
                self._adapt(unsupported)
                return None

        return await self._address.until_answered(self._spec.model, once)

    async def _try(
        self, request: Request, attempt: int, budget: BudgetTracker, state: CallState, paid: list[Answer]
    ) -> Answer | None:
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
        paid.append(answer.model_copy(update={"usage": usage.model_copy(update={"dollars": dollars})}))
        return self._checked(reply, paid)

    async def _send(self, request: Request, attempt: int, characters: int) -> ProviderReply:
        """Send the request once, and read what comes back."""
        spec, provider, address = self._spec, self._provider, self._address
        schema = self._sends_schemas and request.answer_schema is not None
        sent = SentRequest(spec.model, address.variable, address.sends_key, provider.parameters, schema, characters)
        payload = await address.post(provider.path, provider.body(request, attempt, schema), sent, spec.timeout)
        return provider.read(payload)

    def _adapt(self, unsupported: UnsupportedParameter) -> None:
        """Remember what this endpoint does not take, for this call and those to come."""
        if unsupported.what == SCHEMA:
            self._sends_schemas = False
        else:
            self._provider.rename_limit()

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

    def _checked(self, reply: ProviderReply, paid: Sequence[Answer]) -> Answer | None:
        """The answer, at the cost of all tries; None where it is empty and may be asked again. Raises Unusable."""
        answer, name = _at_cost_of_all(paid), self._spec.model
        empty = not reply.text.strip() and not reply.tool_calls
        if reply.refusal:
            kind, problem = FailureKind.REFUSAL, f"refuses: {one_line(hide_secrets(reply.refusal), 200)}"
            remedy = "rephrase the prompt, or use another model"
        elif reply.cut:
            reasoned = f", {reply.reasoning_tokens:,} of them for reasoning" if reply.reasoning_tokens else ""
            nothing = ": all of it went into reasoning" if empty else ""
            kind, problem = FailureKind.BUDGET, f"{reply.cut} ({answer.usage.tokens_out:,} tokens{reasoned}){nothing}"
            remedy = f"raise max_tokens, which is {self._spec.max_tokens:,}, or lower the reasoning"
        elif empty:
            if len(paid) < EMPTY:
                return None
            kind, problem = FailureKind.UNREADABLE, f"gave {len(paid)} empty answers"
            remedy = "use another model, or other parameters"
        else:
            return answer
        failed = Unusable(kind, f"{name}: {problem}", remedy=remedy, raw=hide_secrets(answer.text) or None)
        failed.paid = answer
        raise failed


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


class InProcess:
    """The fake model. In a dry run it stands in for every model."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """See `RemoteModel.answer`."""
        began = time.perf_counter()
        name = self._spec.model if self._spec.provider == FAKE else "example"
        found = fake.answer(request, name, repeat, self._spec.seed)
        reserved = await budget.reserve(self._spec, request)
        dollars = budget.settle(self._spec, reserved, found)
        spent = {"dollars": dollars, "seconds": round(time.perf_counter() - began, 6)}
        return found.model_copy(update={"usage": found.usage.model_copy(update=spent)})


def check_parameters(spec: ModelSpec) -> None:
    """Raise UserError for a parameter that the protocol does not have, before anything is asked.

    And for a fake model that there is not: a slip would be another model in the tables.
    """
    if spec.provider != FAKE:
        load_provider(spec.provider)(spec, official=not address_of(spec))
        return
    if spec.model not in fake.MODELS:
        raise UserError(f"no fake model is called {spec.model!r}", remedy="there are fake:example and fake:varied")


class Endpoints:
    """The endpoints of one client. Models at one address share its connections and its limits."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._endpoints: dict[tuple[ModelSpec, str], InProcess | RemoteModel] = {}
        self._addresses: dict[tuple[str, str], Address] = {}

    def of(self, spec: ModelSpec) -> InProcess | RemoteModel:
        """The endpoint that a spec names. Raises Failed where a key is missing."""
        address = address_of(spec)
        if (spec, address) not in self._endpoints:
            self._endpoints[spec, address] = self._open(spec, address)
        return self._endpoints[spec, address]

    def _open(self, spec: ModelSpec, address: str) -> InProcess | RemoteModel:
        if spec.provider == FAKE or self._settings.dry_run:
            return InProcess(spec)
        if self._settings.offline:
            raise Failed(
                FailureKind.REQUEST,
                f"{spec} is not asked: only recorded answers are used here",
                remedy="score the run yourself to ask it",
            )
        provider = load_provider(spec.provider)(spec, official=not address)
        if (spec.provider, address) not in self._addresses:
            mine = self._settings
            per_minute = mine.requests_per_minute, mine.tokens_per_minute
            limiter = EndpointLimiter(address or provider.base_url, mine.in_flight, *per_minute, mine.patience)
            self._addresses[spec.provider, address] = open_address(type(provider), address, limiter)
        return RemoteModel(provider, self._addresses[spec.provider, address])

    async def close(self) -> None:
        """Close all connections."""
        addresses, self._addresses = self._addresses, {}
        self._endpoints = {}
        for address in addresses.values():
            await address.client.close()
