"""Small metrics and score makers for the tests of analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Bounds, Failure, FailureKind, Parts, Score
from reviewgauge.core.specs import signature

BENCHMARK = "b" * 64


@dataclass(frozen=True)
class Mean(Metric):
    """The mean of one number a case."""

    headline: ClassVar[str] = "value"

    def parts(self, case: Case, review: Review) -> Measured | str:
        return Measured(parts={"value": float(len(review.comments))})

    def bounds(self, case: Case) -> Bounds | None:
        return Bounds(worst={"value": 0.0}, best={"value": 1.0})


@dataclass(frozen=True)
class Micro(Metric):
    """Micro-averaged precision, recall, F1 and comments per change, with no bounds for failures."""

    headline: ClassVar[str] = "f1"
    units: ClassVar[Mapping[str, str]] = {"comments": "comments per change"}
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"comments"})

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "not used in these tests"

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        tp, fp, fn = aggregate.total("tp"), aggregate.total("fp"), aggregate.total("fn")
        return {
            "precision": aggregate.ratio(tp, tp + fp),
            "recall": aggregate.ratio(tp, tp + fn),
            "f1": aggregate.ratio(2 * tp, 2 * tp + fp + fn),
            "comments": aggregate.ratio(tp + fp, aggregate.count),
        }


@dataclass(frozen=True)
class Errors(Mean):
    """The same mean where less is better."""

    lower_is_better: ClassVar[frozenset[str]] = frozenset({"value"})


def make_cases(n: int, *, repositories: int | None = None, **facts: Sequence[str | int | bool]) -> list[Case]:
    """`n` cases, each its own repository unless told how many; facts are dealt out in turn."""
    return [
        Case(
            id=f"case-{i:05d}",
            change=Change(repo=f"owner/repo-{i % (repositories or n):05d}"),
            facts={name: values[i % len(values)] for name, values in facts.items()},
        )
        for i in range(n)
    ]


def score(metric: Metric, system: str, case: Case, parts: Parts | None, **more: object) -> Score:
    """One score, of parts or of nothing."""
    fields = {"case": case.id, "system": system, "metric": signature(metric), "benchmark": BENCHMARK, "parts": parts}
    return Score.model_validate({**fields, **more})


def failed(metric: Metric, system: str, case: Case, kind: FailureKind = FailureKind.TIMEOUT, **more: object) -> Score:
    """One failure."""
    return score(metric, system, case, None, failure=Failure(kind=kind, message="it broke"), **more)


def mean_scores(
    system: str, cases: Iterable[Case], values: Iterable[float], metric: Metric | None = None
) -> list[Score]:
    """Scores of `Mean`, a value a case."""
    return [score(metric or Mean(), system, c, {"value": float(v)}) for c, v in zip(cases, values, strict=True)]


def micro_scores(system: str, cases: Iterable[Case], table: Numbers) -> list[Score]:
    """Scores of `Micro` from rows of tp, fp, fn."""
    names = ("tp", "fp", "fn")
    return [
        score(Micro(), system, case, dict(zip(names, map(float, row), strict=True)))
        for case, row in zip(cases, table, strict=True)
    ]


def review_counts(generator: np.random.Generator, cases: int, precision: float, recall: float) -> Numbers:
    """Rows of tp, fp, fn of a reviewer with this true precision and recall: 1 to 5 findings a change."""
    findings = generator.integers(1, 6, cases)
    hit = generator.binomial(findings, recall)
    false = generator.poisson(findings * recall * (1 - precision) / precision)
    return np.stack([hit, false, findings - hit], axis=1).astype(np.float64)
