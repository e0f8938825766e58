"""The twins metric: one criterion on a defect and its twin, so only who sees the difference has a d′ above 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from scipy.stats import norm

import twin_pairs
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Comment, Review, Span, Task
from reviewgauge.core.results import CommentState
from reviewgauge.metrics.twins import Twins
from twin_pairs import BODY, path_of, say, told

Says = Callable[[Case], Sequence[Comment]]


READERS: dict[str, Says] = {
    "oracle": lambda case: told(case, ["defect"]),
    "everywhere": lambda case: told(case, ["defect", "twin", "safe"]),
    "backwards": lambda case: told(case, ["twin"]),
    "silent": lambda case: [],
    "one line": lambda case: [say(4, BODY[4], path_of(case))],
    "both lines in one comment": lambda case: [
        Comment(id="b", body=f"{BODY[4]} {BODY[8]}", span=Span(path=path_of(case), start=4, end=8))
    ],
    "whole file": lambda case: [Comment(id="w", body="Careful.", span=Span(path=path_of(case)))],
}
HOSTS = twin_pairs.hosts(10)


def measures(says: Says, cases: Sequence[Case] = HOSTS, metric: Twins | None = None) -> dict[str, float]:
    metric = metric or Twins()
    found = [
        metric.parts(case, review) for case, review in zip(cases, twin_pairs.reviews(cases, "s", says), strict=True)
    ]
    parts = [one.parts for one in found if isinstance(one, Measured)]
    assert len(parts) == len(cases)
    return {name: float(values[0]) for name, values in measures_of(metric, MatrixAggregate.of(parts)).items()}


@pytest.mark.parametrize(("reader", "sensitivity", "false_alarm", "line"), [
    ("oracle", 1.0, 0.0, (1.0, 0.0)), ("backwards", 0.0, 1.0, (0.0, 1.0)),
    ("everywhere", 1.0, 1.0, (1.0, 1.0)),
    ("silent", 0.0, 0.0, (0.0, 0.0)), ("one line", 0.5, 0.5, (0.5, 0.5)),
    ("both lines in one comment", 1.0, 1.0, (1.0, 1.0)),
    ("whole file", 0.0, 0.0, (0.0, 0.0)),
])  # fmt: skip
def test_only_who_looks_at_the_difference_has_a_d_prime(
    reader: str, sensitivity: float, false_alarm: float, line: tuple[float, float]
) -> None:
    found = measures(READERS[reader])
    assert found["sensitivity"] == pytest.approx(sensitivity, abs=0.1)
    assert found["false_alarm"] == pytest.approx(false_alarm, abs=0.1)
    assert (found["line_sensitivity"], found["line_false_alarm"]) == line
    wanted = norm.ppf((20 * line[0] + 0.5) / 21) - norm.ppf((20 * line[1] + 0.5) / 21)
    assert found["line_d_prime"] == pytest.approx(wanted)
    assert found["d_prime"] == pytest.approx(wanted, abs=0.1)


def test_what_is_said_on_planted_lines_of_a_twin_counts_by_the_change_and_a_safe_edit_apart() -> None:
    found = measures(lambda case: [say(at, "Hm?", path_of(case), f"{n}-") for n, at in enumerate((4, 4, 8, 10))])
    assert found["alarms_per_change"] == 3.0, "the fourth comment stands elsewhere"
    assert found["line_false_alarm"] == 1 and max(found["false_alarm"], found["safe_alarm"]) < 0.1
    assert measures(READERS["everywhere"])["safe_alarm"] == pytest.approx(1, abs=0.02)
    assert measures(lambda case: told(case, ["defect", "twin"]))["safe_alarm"] == 0


def test_a_d_prime_needs_both_arms() -> None:
    defects = [case for case in HOSTS if case.facts["arm"] == "defect"]
    found = measures(READERS["oracle"], defects)
    assert math.isnan(found["d_prime"]) and math.isnan(found["false_alarm"]) and found["sensitivity"] > 0.9


def test_facets_hold_both_arms_and_add_up() -> None:
    metric, case = Twins(), twin_pairs.twin()
    found = metric.parts(case, twin_pairs.reviews([case], "s", READERS["one line"])[0])
    assert isinstance(found, Measured)
    assert found.facets["operator"]["boundary_moved"]["line_alarms"] == 1
    assert set(found.facets) == {"operator", "made", "category", "severity", "needs"}
    for facet in found.facets.values():
        for name in ("twins", "alarms", "line_alarms"):
            assert sum(parts[name] for parts in facet.values()) == found.parts[name]
    assert found.matching is not None
    assert [group.hit for group in found.matching.groups] == [True, False]
    (outcome,) = found.matching.comments
    assert (outcome.comment, outcome.state, outcome.rejected) == ("s4", CommentState.FALSE, True)


def test_what_stands_elsewhere_is_neither_right_nor_wrong() -> None:
    for case in (twin_pairs.defect(), twin_pairs.twin()):
        found = Twins().parts(case, twin_pairs.reviews([case], "s", lambda case: [say(1, "Hm.", path_of(case))])[0])
        assert isinstance(found, Measured) and found.matching is not None
        assert [one.state for one in found.matching.comments] == [CommentState.NEUTRAL]


@pytest.mark.parametrize("case", HOSTS[:4], ids=lambda case: str(case.facts["arm"]))
@pytest.mark.parametrize("reader", READERS)
def test_bounds_bound(reader: str, case: Case) -> None:
    metric, lower = Twins(), {"alarms", "line_alarms", "line_comments", "safe_alarms", "line_safe_alarms"}
    found = metric.parts(case, twin_pairs.reviews([case], "s", READERS[reader])[0])
    bounds = metric.bounds(case)
    assert isinstance(found, Measured) and set(bounds.worst) == set(bounds.best) == set(found.parts)
    for name, value in found.parts.items():
        low, high = sorted((bounds.worst[name], bounds.best[name]))
        assert low <= value <= high or name == "line_comments"
        assert (bounds.worst[name] >= bounds.best[name]) == (name in lower or low == high)


@pytest.mark.parametrize(("case", "reason"), [
    (Case(id="c", change=Change(repo="o/n")), "build --recipe injected"),
    (Case(id="c", change=Change(repo="o/n"), facts={"arm": "third"}), "build --recipe injected"),
    (Case(id="c", change=Change(repo="o/n"), facts={"arm": "twin"}), "does not say where"),
    (twin_pairs.twin().model_copy(update={"change": Change(repo="o/n", task=Task.LOCATE)}), "not review"),
])  # fmt: skip
def test_other_cases_cannot_be_measured(case: Case, reason: str) -> None:
    assert reason in Twins().unmeasurable(case)
    assert Twins().parts(case, Review(case=case.id, system="s")) == Twins().unmeasurable(case)
    assert not Twins().bounds(case).worst


def test_parameters_are_those_of_hits() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        Twins(tolerance=-1)
    assert Twins(judge="fake:rules").models == ("fake:rules",) and "judge" in Twins(judge="fake:rules").pins()
    assert Twins().estimate_note == "offline estimate"
    far = measures(lambda case: [say(at + 2, BODY[at - 0], path_of(case)) for at in (4, 8)], metric=Twins(tolerance=2))
    assert far["line_sensitivity"] == 1
