"""Slices at a limit: `created<2025-03-31` separates the cases before a day from those of that day and later.

A model that was trained until some day may have seen the changes before it, with their reviews. So a score on the
cases since then is the one to trust, and a gap between the two tells of leakage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.specs import load_recorded
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.models.request.prices import open_prices

CUTOFF = "cutoff"  # the slice before and after the training cut-offs of the models that the reviewers ask
CREATED = "created"  # the fact that says on which day a change was made, as an ISO date
_CUT = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*)<(\S+)")


class Cut(NamedTuple):
    """A fact and the limit that it is parted at: a number or a day."""

    fact: str
    limit: float | date

    def side(self, case: Case) -> str | None:
        """The side of the limit that a case is on, in words; None where the case does not say.

        Raises UserError for a value that cannot be compared with the limit.
        """
        value = case.facts.get(self.fact)
        if value is None:
            return None
        if isinstance(self.limit, date):
            day = _day(value)
            if day is None:
                raise UserError(f"case {case.id}: {self.fact}={value!r} is not a date", remedy="write it as 2025-03-31")
            return f"before {self.limit}" if day < self.limit else f"{self.limit} and later"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"case {case.id}: {self.fact}={value!r} is not a number")
        return f"below {self.limit:g}" if value < self.limit else f"{self.limit:g} and above"


def parse_cut(name: str) -> Cut | None:
    """The cut that a slice names; None for a slice that is not a cut. Raises UserError for a limit that is none."""
    found = _CUT.fullmatch(name.strip())
    if found is None:
        return None
    fact, limit = found[1].strip(), found[2]
    if (day := _day(limit)) is not None:
        return Cut(fact, day)
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(f"{name!r}: {limit} is neither a number nor a date such as 2025-03-31")
    return Cut(fact, number)


def sides(cases: Sequence[Case], cut: Cut) -> list[Fact | None] | None:
    """The side of each case, None where it is unknown; None if it is for all."""
    found: list[Fact | None] = [cut.side(case) for case in cases]
    return found if any(side is not None for side in found) else None


def _day(value: Fact) -> date | None:
    """The day of an ISO date or time; None for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", value):
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None


def stated_cutoffs(signatures: Iterable[str]) -> dict[str, date]:
    """The last day of the training data of each model that these reviewers ask, where its vendor states one.

    Recorded reviews, reviewers that ask no model and plug-ins that cannot be loaded have none.
    """
    found: dict[str, date] = {}
    prices = open_prices()
    for signature in dict.fromkeys(signatures):
        try:
            models = load_recorded(Reviewer, signature).models
        except UserError:
            continue
        for model in models:
            cutoff = prices.facts(parse_model(model)).cutoff
            if cutoff is not None:
                found[model] = cutoff
    return found


def expand_cutoffs(slices: Sequence[str], systems: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """`slices` with `cutoff` expanded to cuts at a day, and a note on each cut.

    `systems` are the signatures of the reviewers by system. Raises UserError where no model's cut-off is known.
    """
    if CUTOFF not in slices:
        return list(slices), []
    stated = stated_cutoffs(systems.values())
    if not stated:
        raise UserError(
            "no reviewer of these runs asks a model whose training cut-off is known",
            remedy=f"name the day: --slice '{CREATED}<2025-03-31'",
        )
    days = {model: cutoff + timedelta(days=1) for model, cutoff in stated.items()}
    cuts = [f"{CREATED}<{day}" for day in sorted(set(days.values()))]
    notes = [f"{CREATED}<{day}: {model} was trained on data up to {stated[model]}" for model, day in days.items()]
    expanded = [name for word in slices for name in (cuts if word == CUTOFF else [word])]
    return list(dict.fromkeys(expanded)), notes
