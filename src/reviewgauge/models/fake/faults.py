"""The faults of the fake server and their rates: `--fail`, read strictly and drawn reproducibly.

    429:0.2,timeout:0.05        one call in five is refused, one in twenty is never answered
    500:first=3                 the first three calls fail
    drop:each=1                 the first call of each different request fails
    overflow:when=def main      every call whose messages hold these words fails
    badjson:every=10            every tenth call fails
    empty                       every call fails
    429:0.2,retry-after=2       temporary refusals carry a Retry-After of 2 seconds

Rules by count and by words apply first, in the order in which they are written; then one draw decides between the
shares. The draw is a hash of the seed and of the number of the call, so the same calls in the same order fail in the
same way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from reviewgauge.core.errors import UserError

FAULTS: Mapping[str, str] = {
    "timeout": "nothing is ever answered; the connection stays open",
    "drop": "the connection is closed before the answer begins",
    "reset": "the connection is reset before the answer begins",
    "cut": "the connection is closed in the middle of the answer",
    "slow": "the answer comes in twenty pieces, spread over `slow=SECONDS` (2 unless given)",
    "endless": "the answer begins, then blanks come for hours",
    "close": "the answer is right, and the connection is closed after it",
    "429": "too many requests; with `Retry-After` where `retry-after=SECONDS` is given",
    "500": "an internal error",
    "502": "a proxy's page: bad gateway",
    "503": "overloaded; with `Retry-After` where `retry-after=SECONDS` is given",
    "529": "overloaded, as Anthropic says it",
    "quota": "the account has no money left",
    "401": "the key is wrong; the error repeats it, as some gateways do",
    "403": "the key is right and may not use the model",
    "404": "there is no such model",
    "overflow": "the messages are longer than the model's context",
    "nojson": "the endpoint knows no JSON schema: a request with one is refused, any other is answered",
    "param": "the model takes no temperature, top-p, top-k or seed: a request with one is refused",
    "maxtokens": "the model wants `max_completion_tokens`: a request with `max_tokens` is refused (OpenAI only)",
    "html": "a proxy's page with status 200 instead of an answer",
    "badjson": "the body is not JSON",
    "blank": "the body is empty",
    "error200": "an error object with status 200, as some gateways send it",
    "badutf8": "the answer holds bytes that are not UTF-8",
    "nousage": "the answer does not say how many tokens it took",
    "truncate": "the text ends in the middle, and the endpoint says that it is whole",
    "length": "the text ends in the middle, and the endpoint says that the tokens ran out",
    "reasoning": "all tokens went into reasoning, and no text came",
    "empty": "the text is empty",
    "refuse": "the model refuses to answer",
    "filter": "a content filter of the endpoint withholds the answer",
    "garbage": "the text is something else than what was asked for",
}
REMEDY = f"for example --fail 429:0.2,timeout:0.05; there are {', '.join(FAULTS)}"
_SETTINGS = {"retry-after": 0.0, "slow": 2.0}  # seconds
_COUNTED = ("first", "each", "every")


@dataclass(frozen=True)
class _Rule:
    fault: str
    how: str  # "share", "when" or one of _COUNTED
    amount: float = 1.0
    words: str = ""

    def holds(self, number: int, times: int, text: str) -> bool:
        """Whether the rule applies to this call, the `times`-th of its request."""
        if self.how == "first":
            return number <= self.amount
        if self.how == "each":
            return times <= self.amount
        if self.how == "every":
            return number % int(self.amount) == 0
        return self.words in text


@dataclass(frozen=True)
class Faults:
    """The rules of one `--fail`. `retry_after` and `slow` are in seconds; None sends no Retry-After."""

    rules: tuple[_Rule, ...] = ()
    retry_after: float | None = None
    slow: float = _SETTINGS["slow"]
    seed: int = 0

    def __post_init__(self) -> None:
        total = sum(rule.amount for rule in self.rules if rule.how == "share")
        if total > 1 + 1e-9:
            raise UserError(f"the shares of --fail add up to {total:g}, more than 1")

    def draw(self, number: int, times: int, text: str) -> str:
        """The fault of a call, or "". `number` counts all calls from 1, `times` those of the same request."""
        for rule in self.rules:
            if rule.how != "share" and rule.holds(number, times, text):
                return rule.fault
        shares = [rule for rule in self.rules if rule.how == "share"]
        limits = accumulate(rule.amount for rule in shares)
        point = share_of(f"{self.seed}:{number}")
        return next((rule.fault for rule, limit in zip(shares, limits, strict=True) if point < limit), "")


def share_of(text: str) -> float:
    """A number in [0, 1) that depends on nothing but `text`."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) / 2**64


def read_faults(text: str, seed: int = 0) -> Faults:
    """The rules in `text`. Raises UserError."""
    rules: list[_Rule] = []
    settings: dict[str, float] = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equals, value = word.partition("=")
        if equals and name in _SETTINGS:
            settings[name] = _number(word, value, 0, 86_400)
        else:
            rules.append(_rule(word))
    retry_after = settings.get("retry-after")
    return Faults(tuple(rules), retry_after, settings.get("slow", _SETTINGS["slow"]), seed)


def _rule(word: str) -> _Rule:
    fault, colon, rest = word.partition(":")
    if fault not in FAULTS and not re.fullmatch(r"[45]\d\d", fault):
        raise UserError(f"--fail {word}: unknown fault {fault!r}", remedy=REMEDY)
    if not colon:
        return _Rule(fault, "share", 1.0)
    how, equals, value = rest.partition("=")
    if not equals:
        return _Rule(fault, "share", _number(word, rest, 0, 1))
    if how == "when" and value:
        return _Rule(fault, "when", words=value)
    if how in _COUNTED:
        number = _number(word, value, 1, 1e9)
        if number.is_integer():
            return _Rule(fault, how, number)
    raise UserError(f"--fail {word}: expected a share from 0 to 1, first=N, each=N, every=N or when=WORDS")


def _number(word: str, value: str, low: float, high: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise UserError(f"--fail {word}: {value!r} is not a number from {low:g} to {high:g}", remedy=REMEDY)
    return number
