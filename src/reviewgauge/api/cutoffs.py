"""The slice `cutoff`: before and after the training cut-off that the models of a run's reviewers state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from reviewgauge.analysis.compare.cuts import CREATED
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load_recorded
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.models.request.prices import open_prices

CUTOFF = "cutoff"


def stated_cutoffs(signatures: Iterable[str]) -> dict[str, date]:
    """The last day of the training data of each model that these reviewers ask, where its vendor states one.

    Recorded reviews and reviewers that ask no model have none; nor have those whose plug-in is not at hand.
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


def with_cutoffs(slices: Sequence[str], systems: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """`slices` with `cutoff` written out as cuts at a day, and what is to be said of them.

    `systems` are the signatures of the reviewers by system. Raises UserError where no model states a cut-off.
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
    said = [f"{CREATED}<{day}: {model} was trained on data up to {stated[model]}" for model, day in days.items()]
    spelled_out = [name for word in slices for name in (cuts if word == CUTOFF else [word])]
    return list(dict.fromkeys(spelled_out)), said
