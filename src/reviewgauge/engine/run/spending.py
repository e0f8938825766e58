"""What the models of one verb cost, or would cost."""

from __future__ import annotations

from collections import Counter
from datetime import date

from reviewgauge.core.base import Record
from reviewgauge.models.cache.call_cache import cache_file
from reviewgauge.models.cache.contents import usual_answers
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.budget import money
from reviewgauge.models.request.model_spec import ModelSpec
from reviewgauge.models.request.prices import FAKE, dollars

_ENOUGH = 5  # answers in the cache to one kind of question that say how long its answers are


class Spending(Record):
    """What the models of one verb cost. Dollars are None where a price is not known: `unpriced` names those models.

    `calls` were answered and paid for now, `unanswered` tries were not. `reused` answers were there already, in the
    cache or in the record that is replayed, and were worth `worth` dollars when they were made. `known` is the part of
    `dollars` that has a price, `worst` what the same calls could have cost, `prices_of` the day of the oldest price.
    `invented`: a fake model was among those paid, whose price is made up.
    `estimated`: a dry run, in which the fake model answered. `seen` counts the answers in the cache to such questions,
    whose lengths the estimate uses.
    """

    calls: int = 0
    unanswered: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
    known: float = 0.0
    worth: float | None = None
    worst: float | None = None
    unpriced: tuple[str, ...] = ()
    prices_of: date | None = None
    invented: bool = False
    estimated: bool = False
    seen: int = 0
    replayed: bool = False

    @property
    def sentence(self) -> str:
        """The closing line of a verb, or the paragraph of an estimate; empty where no model was asked."""
        if not self.calls and not self.reused and not self.unanswered:
            return ""
        return self._estimate() if self.estimated else self._bill()

    def _bill(self) -> str:
        if self.replayed:
            return f"{_calls(self.reused)} replayed{self._worth()}: no model was asked"
        parts = [f"{_calls(self.calls)} paid"]
        parts += [f"{self.unanswered} tries unanswered"] if self.unanswered else []
        parts += [f"{self.reused:,} from the cache{self._worth()}"] if self.reused else []
        parts += [f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out"] if self.calls else []
        fake = " (the fake model's price is invented)" if self.invented else ""
        parts += [self._dollars() + fake] if self.calls else []
        return "; ".join(parts)

    def _worth(self) -> str:
        return "" if self.worth is None else f" (worth {money(self.worth)})"

    def _dollars(self) -> str:
        if not self.unpriced:
            return money(self.known)
        names = ", ".join(self.unpriced)
        lead = f"{money(self.known)} and " if self.known else ""
        return f"{lead}an unknown sum: no price is known for {names} (--prices FILE gives one)"

    def _estimate(self) -> str:
        free = f" {self.reused:,} more are in the cache, or repeat another, and are free." if self.reused else ""
        if not self.calls:
            return f"Dry run: no model was asked. There is no call to pay for.{free}"
        parts = f"Dry run: no model was asked. {_calls(self.calls)} to pay for.{free}"
        length = "as short as the fake model's answers are"
        length = f"going by {self.seen:,} such answers in the cache" if self.seen else length
        parts += f" About {self.tokens_in:,} tokens in and {self.tokens_out:,} out, {length}: {self._dollars()}"
        if self.worst is not None and self.known:
            parts += f", at most {money(self.worst)} if each answer runs to its max_tokens"
        parts += f". Prices of {self.prices_of}." if self.prices_of is not None else "."
        return parts + " A model that answers otherwise may be asked more often, or less."


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number:,} calls"


def spending(client: ChatClient) -> Spending:
    """What went through a client so far, for a verb's result and its closing line."""
    totals, reused = client.budget.totals, client.reused
    found = Spending(
        calls=totals.calls,
        unanswered=totals.unanswered,
        reused=reused.answers,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        dollars=None if totals.unpriced else totals.dollars,
        known=totals.dollars,
        worth=None if reused.unpriced else round(reused.dollars, 12),
        worst=None if totals.unpriced else totals.worst,
        unpriced=totals.unpriced,
        prices_of=totals.prices_of,
        invented=any(FAKE in (spec.provider, spec.model) for spec in client.budget.by_model),
        estimated=client.settings.rehearsal,
        replayed=client.settings.replay is not None,
    )
    return _with_usual_lengths(found, client) if found.estimated and client.settings.cache else found


def _with_usual_lengths(found: Spending, client: ChatClient) -> Spending:
    """`found` with answers as long as those in the cache to the same kinds of questions, if it holds some of each."""
    file = cache_file()
    budget = client.budget
    if file is None or not file.exists() or not budget.asked:
        return found
    usual = {spec: usual_answers(file, str(spec)) for spec in budget.by_model}
    seen = {(spec, kind): usual.get(spec, {}).get(kind, (0, 0.0)) for spec, kind in budget.asked}
    if min(count for count, _ in seen.values()) < _ENOUGH:
        return found
    tokens: Counter[ModelSpec] = Counter()
    for (spec, kind), calls in budget.asked.items():
        tokens[spec] += round(calls * seen[spec, kind][1])
    prices = {spec: budget.prices.facts(spec).price for spec in budget.by_model}
    known = sum(
        price.cost(budget.by_model[spec].tokens_in, tokens[spec]) for spec, price in prices.items() if price is not None
    )
    return found.model_copy(
        update={
            "tokens_out": tokens.total(),
            "known": dollars(known),
            "dollars": None if found.unpriced else dollars(known),
            "seen": sum(count for count, _ in seen.values()),
        }
    )
