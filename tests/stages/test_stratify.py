"""Samples by strata: how many of each, seeded, balanced, and what the card says of cells that were short."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.building import Candidate
from reviewgauge.core.records import Task
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.stratify import Stratify, allocate_quota
from sampled import Drawn, candidate, section

LANGUAGES = ("C", "C#", "C++", "Go", "Java", "JavaScript", "PHP", "Python", "TypeScript")
PAPER = Stratify(
    by=("period", "language"), periods=("2022-01-01", "2023-01-01", "2024-01-01"), per_cell=30, balance="verdict"
)


def entries(each: int) -> list[Candidate]:
    """`each` merged and unmerged entries of every language in every year from 2021 to 2025."""
    return [
        candidate(
            f"{language}-{year}-{merged}-{n}",
            merged,
            said=not merged,
            language=language,
            created=f"{year}-06-0{1 + n % 9}",
        )
        for language in LANGUAGES
        for year in range(2021, 2026)
        for merged in (True, False)
        for n in range(each)
    ]


@pytest.mark.slow
def test_the_papers_1080_of_four_periods_and_nine_languages(context: BuildFolder) -> None:
    drawn = Drawn(PAPER, entries(20), context)
    assert len(drawn.ids) == 1080
    periods = Counter("2024" if (year := name.split("-")[1]) == "2025" else year for name in drawn.ids)
    assert periods == {"2021": 270, "2022": 270, "2023": 270, "2024": 270}
    cells = Counter(
        (c.case.facts["language"], c.case.verdict, min(str(c.case.facts["created"])[:4], "2024")) for c in drawn.kept
    )
    assert set(cells.values()) == {15}
    assert len(cells) == 72
    assert drawn.reasons == ["not drawn"]
    strata = section(context.sections, "Strata")
    assert strata.columns == ("period", "language", "there", "drawn", "short by", "of each verdict")
    assert strata.rows[0] == ("before 2022-01-01", "C", 40, 30, 0, "False 20, True 20")
    assert strata.rows[-1][0] == "from 2024-01-01"
    assert "1080 drawn from 36 strata." in strata.text


def test_the_papers_draw_takes_unmerged_entries_of_locate_as_they_come(context: BuildFolder) -> None:
    items = [candidate(f"f{n}", False, language="Go", created="2021-06-01") for n in range(40)]
    drawn = Drawn(PAPER, [item.with_change(task=Task.LOCATE) for item in items], context)
    assert len(drawn.ids) == 30
    assert section(context.sections, "Strata").rows == (("before 2022-01-01", "Go", 40, 30, 0, "all 40"),)


def test_a_cell_that_is_short_stays_balanced_and_is_named(context: BuildFolder) -> None:
    items = [candidate(f"t{n}", True, language="Go") for n in range(50)] + [
        candidate(f"f{n}", False, language="Go") for n in range(4)
    ]
    items += [candidate(f"r{n}", True, language="Rust") for n in range(9)]
    drawn = Drawn(Stratify(by=("language",), per_cell=10, balance="verdict"), items, context)
    assert Counter(name[0] for name in drawn.ids) == {"t": 4, "f": 4}
    strata = section(context.sections, "Strata")
    assert strata.rows == (("Go", 54, 8, 2, "False 4, True 50"), ("Rust", 9, 0, 10, "True 9"))
    assert "2 of them have fewer than the 10 asked for" in strata.text


def test_what_does_not_state_a_fact_is_dropped(context: BuildFolder) -> None:
    items = [candidate("a", True, language="Go", created="2021-01-01"), candidate("b", True, created="2021-01-01")]
    items += [
        candidate("c", None, language="Go", created="2021-01-01"),
        candidate("d", True, language="Go", created="lately"),
    ]
    stage = Stratify(by=("language", "period"), periods=("2022-01-01",), per_cell=2, balance="verdict")
    drawn = Drawn(stage, items, context)
    reasons = {name: drop.reason for name, drop in drawn.drops.items()}
    assert reasons == {
        "a": "not drawn", "b": "does not state language", "c": "does not state verdict", "d": "does not state created",
    }  # fmt: skip


def test_a_total_is_shared_out_in_proportion(context: BuildFolder) -> None:
    items = [
        candidate(f"{repo}{n}", repo=f"o/{repo}")
        for repo, count in (("a", 60), ("b", 30), ("c", 10))
        for n in range(count)
    ]
    drawn = Drawn(Stratify(by=("repo",), total=20), items, context)
    assert Counter(name[0] for name in drawn.ids) == {"a": 12, "b": 6, "c": 2}
    everything = Drawn(Stratify(by=("repo",), total=500), items, context)
    assert len(everything.ids) == 100
    assert "There are no 500 to draw." in section(context.sections, "Strata").text


def test_the_sample_hangs_on_the_seed_and_not_on_the_order() -> None:
    items = entries(3)
    stage = Stratify(by=("language",), per_cell=5)
    first = set(Drawn(stage, items, WithoutBuild()).ids)
    random.Random(1).shuffle(items)
    assert set(Drawn(stage, items, WithoutBuild()).ids) == first
    assert set(Drawn(Stratify(by=("language",), per_cell=5, seed=1), items, WithoutBuild()).ids) != first


@given(st.dictionaries(st.text("ab", min_size=1, max_size=3), st.integers(0, 30), max_size=8), st.integers(0, 120),
       st.integers(0, 3), st.sampled_from([1, 2]))  # fmt: skip
def test_shares_add_up_and_no_stratum_gives_more_than_it_has(
    room: dict[str, int], total: int, seed: int, step: int
) -> None:
    cells: dict[tuple[str, ...], int] = {(name,): count - count % step for name, count in room.items()}
    given_out = allocate_quota(total, cells, seed, step)
    assert sum(given_out.values()) == min(total, sum(cells.values())) // step * step
    whole = sum(cells.values())
    for cell, count in given_out.items():
        assert 0 <= count <= cells[cell]
        assert count % step == 0
        if whole >= max(total, 1):
            assert abs(count - cells[cell] * total / whole) < 2 * step


@pytest.mark.parametrize("terms", [
    {"by": ()}, {}, {"per_cell": 3, "total": 5}, {"per_cell": -1},
    {"per_cell": 3, "balance": "verdict"},
    {"per_cell": 2, "periods": ("2022-01-01",)},
    {"per_cell": 2, "by": ("period",)},
    {"per_cell": 2, "by": ("period",), "periods": ("2023-01-01", "2022-01-01")},
    {"per_cell": 2, "by": ("period",), "periods": ("last year",)},
])  # fmt: skip
def test_terms_that_make_no_sense_are_refused(terms: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Stratify(**terms)  # type: ignore[arg-type]
