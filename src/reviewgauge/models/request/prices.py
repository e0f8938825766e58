"""The prices of models: a shipped, dated table of list prices, which the user's own table overrides.

A price is dollars per million tokens of input and of output. A model that no table names has no price: its cost is
None, never 0. Discounts (cached prompts, batches) are left out, so the cost booked is at least the bill.
Source: the vendors' price pages, as of the date in `prices.json`.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import parse_record
from reviewgauge.models.request.model_spec import FAKE, ModelSpec, address_of, load_provider

VARIABLE = "REVIEWGAUGE_PRICES"
_DATED = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_TRILLION = 1_000_000_000_000  # of a dollar: sums of whole numbers are exact

Day = datetime.date
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class PriceEntry(Record):
    """A model's price in dollars per million tokens.

    `cutoff`: the last day of the training data. `provider`: the price is that of the provider's own address alone.
    Prompts of more than `long_over` tokens cost `long_input` and `long_output`.
    """

    input: Dollars
    output: Dollars
    cutoff: Day | None = None
    provider: str | None = None
    long_over: Annotated[int, Field(ge=1)] | None = None
    long_input: Dollars | None = None
    long_output: Dollars | None = None
    date: Day | None = None

    @model_validator(mode="after")
    def _long_is_whole(self) -> PriceEntry:
        if len({value is None for value in (self.long_over, self.long_input, self.long_output)}) > 1:
            raise ValueError("long_over, long_input and long_output belong together")
        return self

    def cost(self, tokens_in: int, tokens_out: int) -> int:
        """The cost of a call, in trillionths of a dollar."""
        long = self.long_over is not None and tokens_in > self.long_over
        price_in, price_out = (self.long_input, self.long_output) if long else (self.input, self.output)
        assert price_in is not None and price_out is not None
        return tokens_in * _per_token(price_in) + tokens_out * _per_token(price_out)


class PriceTable(Record):
    """Prices by model name, or by `NAME@ADDRESS` for one endpoint; as of `date`, from `source`."""

    date: Day | None = None
    source: str = ""
    models: Mapping[str, PriceEntry]


class Facts(NamedTuple):
    """Known facts of a model; None is unknown. `price_of` is the date of the price."""

    price: PriceEntry | None = None
    price_of: Day | None = None
    cutoff: Day | None = None


class Prices:
    """The shipped prices and those of a file, which go first."""

    def __init__(self, own: PriceTable | None, shipped: PriceTable) -> None:
        self._own, self._shipped = own, shipped

    def facts(self, spec: ModelSpec) -> Facts:
        """The known facts of a model. A dated name (`gpt-5-2025-08-07`) is looked up as such, then without its date.

        At another address than its vendor's the same name has the same cut-off, but not the same price.
        """
        spec = dataclasses.replace(spec, address=address_of(spec))  # the environment may name another endpoint
        tables = [table for table in (self._own, self._shipped) if table is not None]
        found = [(table, entry) for table in tables for entry in _entries(table, spec)]
        cutoff = found[0][1].cutoff if found else None
        for table, entry in found:
            if _applies(entry, spec):
                return Facts(entry, entry.date or table.date, cutoff)
        return Facts(cutoff=cutoff)


def open_prices(file: Path | None = None) -> Prices:
    """The prices in `file`, else in the file that `$REVIEWGAUGE_PRICES` names, before the shipped ones. BadInput."""
    named = os.environ.get(VARIABLE, "").strip()
    own = file if file is not None else Path(named).expanduser() if named else None
    return Prices(None if own is None else read_prices(own), shipped_prices())


def read_prices(file: Path) -> PriceTable:
    """A table of prices. Raises UserError for a file that cannot be read, BadInput for one that is not a table."""
    try:
        raw = read_file(file)
    except OSError as error:
        raise UserError(
            f"the prices in {file} cannot be read: {error.strerror or error}",
            remedy=f"--prices or ${VARIABLE} names a file of prices",
        ) from None
    return parse_record(PriceTable, raw, str(file))


@lru_cache(maxsize=1)
def shipped_prices() -> PriceTable:
    """The table that comes with ReviewGauge."""
    raw = resources.files("reviewgauge.models.request").joinpath("prices.json").read_bytes()
    return parse_record(PriceTable, raw, "prices.json")


def dollars(trillionths: int) -> float:
    """A sum in dollars."""
    return trillionths / _TRILLION


def trillionths(amount: float) -> int:
    """A sum of dollars as a whole number of trillionths."""
    return round(amount * _TRILLION)


def _per_token(per_million: float) -> int:
    return round(per_million * (_TRILLION // 1_000_000))


def _entries(table: PriceTable, spec: ModelSpec) -> list[PriceEntry]:
    """The entries that may be a model's, the closest first."""
    name = FAKE if spec.provider == FAKE else spec.model
    names = dict.fromkeys((name, _DATED.sub("", name)))
    keys = [key for each in names for key in ((f"{each}@{spec.address}", each) if spec.address else (each,))]
    return [table.models[key] for key in keys if key in table.models]


def _applies(entry: PriceEntry, spec: ModelSpec) -> bool:
    """Whether a price is that of this endpoint: the same name elsewhere has another."""
    if entry.provider is None or entry.provider != spec.provider:
        return entry.provider is None
    return not spec.address or spec.address == load_provider(spec.provider).base_url
