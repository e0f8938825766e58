"""The three parts: whole repositories, the same each time, and a clear word where that cannot be."""

from __future__ import annotations

from collections import Counter

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change
from reviewgauge.evolution.split import HELD_OUT, PARTS, split_cases

SHARES = (0.4, 0.3, 0.3)


def _cases(repos: dict[str, int]) -> list[Case]:
    return [Case(id=f"{repo}/{n}", change=Change(repo=repo)) for repo, count in repos.items() for n in range(count)]


def test_a_repository_lies_in_one_part() -> None:
    cases = _cases({f"r{n}": 1 + n % 4 for n in range(20)})
    found = split_cases(cases, SHARES, 0)
    of_repo = {
        repo: {name for name in PARTS for c in found.parts[name] if c.change.repo == repo} for repo in ["r0", "r7"]
    }
    assert all(len(parts) == 1 for parts in of_repo.values())
    assert sorted(c.id for own in found.parts.values() for c in own) == sorted(c.id for c in cases)
    assert found.by == "repository"
    assert found.hashes == split_cases(cases[::-1], SHARES, 0).hashes
    sizes = Counter({name: len(own) for name, own in found.parts.items()})
    assert abs(sizes["train"] / len(cases) - 0.4) < 0.1


def test_too_few_repositories_are_split_by_case() -> None:
    found = split_cases(_cases({"a": 6, "b": 4}), SHARES, 0)
    assert found.by == "case"
    assert {name: len(own) for name, own in found.parts.items()} == {"train": 4, "selection": 3, "held-out": 3}


def test_reserved_repositories_are_held_out() -> None:
    cases = _cases({f"r{n}": 2 for n in range(40)})
    found = split_cases(cases, SHARES, 0, reserve=25)
    assert len({c.change.repo for c in found.parts[HELD_OUT]}) == 25
    assert found.hashes != split_cases(cases, SHARES, 1, reserve=25).hashes
    with pytest.raises(UserError, match="cannot be reserved"):
        split_cases(cases, SHARES, 0, reserve=39)


def test_changes_that_are_nearly_the_same_lie_in_one_part() -> None:
    cases = _cases({f"r{n}": 2 for n in range(20)})
    copies = [*range(len(cases))]
    copies[2] = copies[1]  # r1 and r0; then a fork of r1
    copies[5] = copies[3]
    found = split_cases(cases, SHARES, 0, copies=copies)
    part = {case.change.repo: name for name, own in found.parts.items() for case in own}
    assert part["r0"] == part["r1"] == part["r2"] and found.by == "repository" and found.alike == 3
    assert len(split_cases(cases, SHARES, 0, reserve=5, copies=copies).parts[HELD_OUT]) >= 10
    few = split_cases(_cases({"a": 6, "b": 4}), SHARES, 0, copies=[0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    assert few.by == "case" and len({name for name, own in few.parts.items() for c in own if c.id < "a/4"}) == 1


@pytest.mark.parametrize(
    ("count", "shares", "words"),
    [(5, SHARES, "too few"), (9, (0.5, 0.5, 0.0), "three positive"), (9, (float("nan"),) * 3, "three positive")],
)
def test_what_cannot_be_split(count: int, shares: tuple[float, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        split_cases(_cases({f"r{n}": 1 for n in range(count)}), shares, 0)
