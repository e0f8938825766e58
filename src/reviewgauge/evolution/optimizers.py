"""Optimizers choose what to try next: gepa by reflection, or variants at random. They see names and rewards only."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.evolution.candidates import CONTEXT, Candidate
from reviewgauge.evolution.search import Search
from reviewgauge.evolution.split import SELECTION, TRAIN


def check_optimizer(name: str) -> None:
    """Raise UserError for an unknown optimizer, MissingExtra where gepa is not installed; nothing is imported."""
    if name not in OPTIMIZERS:
        raise UserError(f"unknown optimizer {name!r}", remedy=" or ".join(OPTIMIZERS))
    if name == "gepa" and importlib.util.find_spec("gepa") is None:
        raise MissingExtra("--optimizer gepa", "evolve")


class _Ended(BaseException):
    """An answer of the search is an exception, which no `except Exception` of gepa may take for its own."""


@contextmanager
def _ending() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _Ended from error


class _Adapter:
    """The `GEPAAdapter` of ReviewGauge."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def evaluate(self, batch: list[str], candidate: Candidate, capture_traces: bool = False) -> Any:
        """Rewards of the named cases, with what happened on each where gepa asks for it."""
        from gepa.core.adapter import EvaluationBatch

        with _ending():
            found = self.search.evaluate(candidate, batch)
        traces = [
            {"case": name, "reward": one.reward, "perfect": one.perfect} for name, one in zip(batch, found, strict=True)
        ]
        scores = [one.reward for one in found]
        return EvaluationBatch(outputs=list(batch), scores=scores, trajectories=traces if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: Candidate, eval_batch: Any, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The cases of the batch, the worst first; the search writes the prompt from their evidence."""
        worst = sorted(eval_batch.trajectories, key=lambda one: one["reward"])
        return dict.fromkeys(components_to_update, worst)

    def propose_new_texts(
        self,
        candidate: Candidate,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """The reflection model's text for each component; none where nothing could be better, or none was usable."""
        new = {}
        for name in components_to_update:
            cases = [one["case"] for one in reflective_dataset[name] if not one["perfect"]]
            if not cases:
                continue
            with _ending():
                text = self.search.propose(name, candidate, cases)
            if text:
                new[name] = text
        return new


class _Quiet:
    def log(self, message: str) -> None:
        """The lineage says what happened."""


def _with_gepa(search: Search) -> None:
    from gepa.api import optimize

    train, selection, limits = search.names(TRAIN), search.names(SELECTION), search.limits
    batch = min(limits.minibatch, len(train))
    most = 2 * batch + len(selection)  # evaluations of a round

    def enough(state: Any) -> bool:
        return state.i + 1 >= limits.rounds or search.evaluator.used + most > limits.evaluations

    try:
        optimize(
            seed_candidate=search.evaluator.setting.species.seed,
            trainset=train,
            valset=selection,
            adapter=_Adapter(search),
            skip_perfect_score=False,
            reflection_minibatch_size=batch,
            stop_callbacks=[enough],
            logger=_Quiet(),
            seed=search.seed,
        )
    except _Ended as ended:
        assert ended.__cause__ is not None
        raise ended.__cause__ from None


def _at_random(search: Search) -> None:
    """Variants of the seed that know of no result, the baseline; as many evaluations as gepa may make."""
    draw, limits, species = random.Random(search.seed), search.limits, search.evaluator.setting.species
    seed, selection = species.seed, search.names(SELECTION)
    search.evaluate(seed, selection)
    for number in range(1, limits.rounds + 1):
        if search.evaluator.used + len(selection) > limits.evaluations:
            return
        name = draw.choice(list(seed))
        others = [one for one in species.contexts if one != seed[name]]
        text = search.take(name, seed, draw.choice(others)) if name == CONTEXT else search.vary(name, seed, number)
        if text:
            search.evaluate({**seed, name: text}, selection)


OPTIMIZERS: Mapping[str, Callable[[Search], None]] = {"gepa": _with_gepa, "random": _at_random}
