"""Rewards: weighted sums over metrics and tasks, what a failure and silence count as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Review, Task
from reviewgauge.core.results import Bounds, Failure, FailureKind, Parts, Score
from reviewgauge.core.specs import load
from reviewgauge.evolution.reward import Reward


@dataclass(frozen=True)
class OfTask(Metric):
    """Measures one task."""

    task: str = "assess"

    def unmeasurable(self, case: Case) -> str:
        return "" if case.change.task == self.task else "another task"

    def bounds(self, case: Case) -> Bounds | None:
        return Bounds(worst={"mean": -1.0}, best={"mean": 1.0})

    def parts(self, case: Case, review: Review) -> Measured | str:
        raise NotImplementedError


@dataclass(frozen=True)
class Fewer(OfTask):
    """Less is better."""

    lower_is_better = frozenset({"mean"})


def _read(metric: Metric, parts: Mapping[str, float]) -> float | None:
    return parts.get("mean")


def _score(case: Case, parts: Parts | None, failure: Failure | None = None) -> Score:
    return Score(case=case.id, system="s", metric="m", benchmark="b", parts=parts, failure=failure)


def _case(name: str, task: Task) -> Case:
    return Case(id=name, change=Change(repo="r", task=task))


def test_the_mean_of_a_part_is_the_weighted_sum_of_the_metrics_means() -> None:
    assess = [_case(f"a{n}", Task.ASSESS) for n in range(4)]
    locate = [_case("l0", Task.LOCATE)]
    reward = Reward.of([(OfTask("assess"), 1.0), (OfTask("locate"), 3.0)], _read)
    cases = [*assess, *locate]
    scales = reward.scales(cases)
    values = {"a0": 1.0, "a1": 0.0, "a2": 0.0, "a3": 0.2, "l0": 0.5}
    worths = [
        reward.worth(case, {at: _score(case, {"mean": values[case.id]}) for at in reward.applying(case)}, scales)
        for case in cases
    ]
    assert sum(one.reward for one in worths) / len(cases) == pytest.approx(0.25 * 0.3 + 0.75 * 0.5)


def test_metrics_in_different_units_are_not_added() -> None:
    words = [(load(Metric, "chrf"), 1.0), (load(Metric, "hits"), 1.0)]
    with pytest.raises(UserError, match=r"different units cannot be added: chrf.* in .*, hits.* in share"):
        Reward.of(words, _read)
    Reward.of(words[:1], _read)


def test_a_failure_counts_as_the_worst_and_is_named() -> None:
    case = _case("a", Task.ASSESS)
    reward = Reward.of([(OfTask(), 2.0)], _read)
    broken = _score(case, None, Failure(kind=FailureKind.TIMEOUT, message="too late"))
    worth = reward.worth(case, {0: broken}, reward.scales([case]))
    assert (worth.reward, worth.failed, worth.perfect) == (-1.0, "too late", False)
    silent = reward.worth(case, {0: _score(case, None)}, reward.scales([case]))
    assert (silent.reward, silent.failed, bool(silent.silent)) == (-1.0, "", True)


def test_where_less_is_better_the_measure_counts_negative() -> None:
    case = _case("a", Task.ASSESS)
    reward = Reward.of([(Fewer(), 1.0)], _read)
    assert reward.worth(case, {0: _score(case, {"mean": 0.25})}, reward.scales([case])).reward == -0.25
