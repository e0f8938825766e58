"""Doctor on injected defects: who knows them is far above 0, who does not look at the difference is at 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

import twin_pairs
from reviewgauge.analysis.doctor.report import doctor
from reviewgauge.analysis.doctor.twin_checks import examine_twins
from reviewgauge.api.doctor import doctor as examine
from reviewgauge.core.records import Case
from reviewgauge.core.reports.doctor import ProbeCheck
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.metrics.twins import Twins

HOSTS = twin_pairs.hosts(12)


def test_every_probe_stands_where_it_should() -> None:
    checks = {check.name: check for check in examine_twins(Twins(), HOSTS)}
    assert all(check.ok for check in checks.values()), [check for check in checks.values() if not check.ok]
    assert len(checks) == 11
    assert float(checks["oracle: d′"].found.split()[0]) > 3


def longest_on_defects(case: Case) -> Case:
    """The defect stands out by its length."""
    if case.facts["arm"] != "defect":
        return case
    (file,) = case.change.files
    long = twin_pairs.DEFECT[4 if case.references[0].id == "f4" else 8]
    patch = (file.patch or "").replace(long, long + "  " + "x" * 90)
    return case.model_copy(
        update={"change": case.change.model_copy(update={"files": (file.model_copy(update={"patch": patch}),)})}
    )


def test_a_defect_that_stands_out_is_caught() -> None:
    found = {check.name: check for check in examine_twins(Twins(), [longest_on_defects(case) for case in HOSTS])}
    odd: Mapping[str, ProbeCheck] = {name: check for name, check in found.items() if check.ok is False}
    assert list(odd) == ["the longest added line: d′ by line"]


def test_without_twins_nothing_can_be_tried() -> None:
    defects = [case for case in HOSTS if case.facts["arm"] == "defect"]
    assert all(check.ok is None for check in examine_twins(Twins(), defects) if "d′" in check.name)
    (alone,) = examine_twins(Twins(), [])
    assert alone.ok is None


def test_doctor_takes_twins_by_itself_and_hits_too() -> None:
    assert doctor("twins", sorted(HOSTS, key=lambda case: case.id), [Twins()]).ok
    assert examine(Cases()).metrics == ("twins", "hits")


class Cases(Jsonl):
    """The toy as a data set."""

    def cases(self) -> Iterator[Case]:
        return iter(HOSTS)


def with_change(**fields: object) -> Callable[[Case], Case]:
    return lambda case: case.model_copy(update={"change": case.change.model_copy(update=fields)})


def with_patch(case: Case) -> Case:
    (file,) = case.change.files
    return with_change(files=(file.model_copy(update={"patch": (file.patch or "").replace("1,10", "1,12")}),))(case)


@pytest.mark.parametrize(("rule", "arm", "flawed"), [
    ("arm_shows", "defect", with_change(title="Load it")),
    ("arm_shows", "twin", with_change(url="https://example.com/1")),
    ("arm_shows", "defect", with_change(base="0" * 40)),
    ("arm_in_name", "twin", lambda case: case.model_copy(update={"id": f"{case.id}-twin"})),
    ("arm_in_name", "defect", with_change(head="defect")),
    ("broken_hunk", "safe", with_patch),
    ("pair_incomplete", "twin", lambda case: case.model_copy(update={"facts": {**case.facts, "pair": "other"}})),
    ("duplicate_id", "defect", lambda case: case.model_copy(update={"id": HOSTS[2].id})),
])  # fmt: skip
def test_what_gives_a_defect_away_is_an_error(rule: str, arm: str, flawed: Callable[[Case], Case]) -> None:
    at = next(n for n, case in enumerate(HOSTS) if case.facts["arm"] == arm)
    report = doctor("twins", [flawed(case) if n == at else case for n, case in enumerate(HOSTS)], [])
    assert rule in {finding.rule for finding in report.lint if finding.level == "error"}


def test_an_order_that_tells_is_an_error_and_a_shuffled_one_is_not() -> None:
    ordered = doctor("twins", HOSTS, []).lint_counts
    assert ordered["arm_by_order"] == 2, "here the defects come first, and the safe edit last"
    shuffled = doctor("twins", sorted(HOSTS, key=lambda case: case.id), []).lint_counts
    assert not {"arm_by_order", "arm_shows", "arm_in_name", "broken_hunk", "pair_incomplete"} & shuffled.keys()
