"""What `evolve` reports: the lineage of candidates, and what the winner is worth on each part of the benchmark."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value


class Step(Record):
    """One candidate: whose child it is, what changed, and what it was worth.

    `minibatch` is its mean on the few train cases that gepa tried it on first, `selection` the mean on that whole part;
    None where it did not come so far. `refused` says why a round brought no candidate. `evaluations` is the number of
    pairs of a candidate and a case until then, `failed` how many of its cases failed and count as the worst.
    """

    candidate: str
    parent: str = ""
    round: int = 0
    component: str = ""
    diff: str = ""
    refused: str = ""
    minibatch: float | None = None
    selection: float | None = None
    failed: int = 0
    evaluations: int = 0


class PartResult(Record):
    """One part of the benchmark: its cases, and the mean reward of the seed and the winner there.

    `seed`, `best` and their paired `difference` are None where they were not computed. `failed` counts the pairs of
    these two and a case that have no measurement and count as the worst, `silent` those that a metric has no value for.
    """

    name: str
    cases: int
    repositories: int
    hash: str
    seed: Value | None = None
    best: Value | None = None
    difference: Value | None = None
    failed: int = 0
    silent: int = 0


class EvolutionReport(Record):
    """What a search found. `counted` says how a case without a measurement counts, `bill` what models cost.

    `finished`: the search came to an end of its own and the held-out part was computed, once. `templates`
    are the files with the winner's words.
    """

    schema_version: int = 1
    run: str
    dataset: str
    benchmark: str
    reviewers: tuple[str, ...]
    metrics: tuple[tuple[str, Annotated[float, Field(gt=0)]], ...]
    optimizer: str
    model: str
    seed: int
    split_by: str
    rounds: int = 0
    evaluations: int = 0
    steps: tuple[Step, ...] = ()
    seed_candidate: str
    best_candidate: str
    parts: tuple[PartResult, ...]
    diff: str = ""
    context: str = ""
    templates: tuple[str, ...] = ()
    finished: bool = False
    stopped: str = ""
    conclusion: str = ""
    counted: str = ""
    fake: bool = False
    bill: str = ""
    warnings: tuple[str, ...] = ()
