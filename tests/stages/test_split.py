"""Parts by repository and time: nothing lies in two parts that may not."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.split import Split
from sampled import Drawn, candidate, section


def parts(drawn: Drawn) -> Counter[str]:
    return Counter(str(item.case.facts["split"]) for item in drawn.kept)


def items_of(**repos: int) -> list[Candidate]:
    return [candidate(f"{repo}{n}", repo=f"o/{repo}") for repo, count in repos.items() for n in range(count)]


def test_repositories_stay_whole_and_shares_come_out(context: BuildFolder) -> None:
    drawn = Drawn(Split(), items_of(a=50, b=30, c=10, d=5, e=5), context)
    assert parts(drawn) == {"train": 80, "validation": 10, "test": 10}
    found = section(context.sections, "Parts")
    assert found.rows[0] == ("train", 80, 0.8, 0.8, 2, None, None)
    assert found.text == "By repo. No repository lies in two parts."
    assert found.figures == {}


def test_dates_cut_the_parts(context: BuildFolder) -> None:
    items = [
        candidate(f"c{n}", created=day)
        for n, day in enumerate(("2021-12-31", "2022-01-01", "2022-12-31", "2023-01-01"))
    ]
    drawn = Drawn(Split(by="time", cuts=("2022-01-01", "2023-01-01")), [*items, candidate("when")], context)
    assert [item.case.facts["split"] for item in drawn.kept] == ["train", "validation", "validation", "test"]
    assert drawn.drops["when"].reason == "does not state created"
    found = section(context.sections, "Parts")
    assert found.figures == {"validation begins": "2022-01-01", "test begins": "2023-01-01"}
    assert found.rows[1] == ("validation", 2, None, 0.5, 1, "2022-01-01", "2022-12-31")


@given(st.lists(st.integers(1, 28), max_size=60))
def test_what_is_tested_is_younger_than_what_was_learnt_from(days: list[int]) -> None:
    items = [candidate(f"c{n}", created=f"2022-02-{day:02}") for n, day in enumerate(days)]
    drawn = Drawn(Split(by="time", shares=(0.6, 0.2, 0.2)), items, WithoutBuild())
    assert len(drawn.kept) == len(days)
    span = defaultdict(list)
    for item in drawn.kept:
        span[item.case.facts["split"]].append(str(item.case.facts["created"]))
    in_order = [span[part] for part in ("train", "validation", "test") if span[part]]
    assert all(max(one) < min(two) for one, two in itertools.pairwise(in_order))


def test_shares_by_time_come_out_where_days_allow(context: BuildFolder) -> None:
    items = [candidate(f"c{n}", created=f"2022-{1 + n // 28:02}-{1 + n % 28:02}") for n in range(100)]
    assert parts(Drawn(Split(by="time"), items, context)) == {"train": 80, "validation": 10, "test": 10}


def test_one_repository_cannot_be_split_by_repository(context: BuildFolder) -> None:
    message = r"split by repo cannot put one repository into 3 parts \(split\(by='time'\)\)"
    with pytest.raises(UserError, match=message):
        Drawn(Split(), items_of(a=9), context)
    two = Split(shares=(0.5, 0.0, 0.5))
    assert parts(Drawn(two, items_of(a=4, b=4), context)) == {"train": 4, "test": 4}


@pytest.mark.parametrize("terms", [
    {"parts": ("train",), "shares": (1.0,)},
    {"parts": ("a", "a"), "shares": (0.5, 0.5)},
    {"shares": (0.5, 0.5)}, {"shares": (0.5, 0.1, 0.1)},
    {"cuts": ("2022-01-01", "2023-01-01")},
    {"by": "time", "cuts": ("2022-01-01",)},
    {"by": "time", "cuts": ("2023-01-01", "2022-01-01")},
    {"by": "time", "cuts": ("soon", "later")},
])  # fmt: skip
def test_terms_that_make_no_sense_are_refused(terms: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Split(**terms)  # type: ignore[arg-type]
