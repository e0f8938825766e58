"""Every k-th case."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages import systematic
from reviewgauge.stages.systematic import Systematic
from sampled import Drawn, candidate


@pytest.fixture
def context(tmp_path: Path) -> Iterator[BuildFolder]:
    workplace = BuildFolder(tmp_path)
    yield workplace
    workplace.close()


@pytest.mark.slow
def test_the_sample_of_graded_reviews_has_1291_of_16780(context: BuildFolder) -> None:
    items = (candidate(f"r{n}") for n in range(1, 16_781))
    drawn = Drawn(Systematic(every=13, start=1), items, context)
    assert drawn.ids[:3] == ["r1", "r14", "r27"]
    assert len(drawn.ids) == 1291


def test_ten_starts_give_as_many_as_the_paper_and_the_docstring_says_which() -> None:
    starts = [start for start in range(1, 14) if len(range(start, 16_781, 13)) == 1291]
    assert starts == list(range(1, 11))
    text = " ".join((systematic.__doc__ or "").split())
    assert f"those from {starts[0]} to {starts[-1]} give 1,291" in text


def test_what_is_not_drawn_says_where_it_stood(context: BuildFolder) -> None:
    drawn = Drawn(Systematic(every=3, start=2), [candidate(f"c{n}") for n in range(1, 7)], context)
    assert drawn.ids == ["c2", "c5"]
    assert drawn.reasons == ["not drawn"]
    assert drawn.drops["c3"].detail == "position 3"


@given(st.integers(1, 20), st.integers(0, 60), st.integers(0, 5))
def test_every_kth_from_a_start_that_the_seed_chooses(every: int, count: int, seed: int) -> None:
    items = [candidate(f"c{n}") for n in range(count)]
    ids = Drawn(Systematic(every=every, seed=seed), items, WithoutBuild()).ids
    assert ids == Drawn(Systematic(every=every, seed=seed), items, WithoutBuild()).ids
    positions = [int(name[1:]) for name in ids]
    assert all(b - a == every for a, b in itertools.pairwise(positions))
    assert len(ids) in {count // every, -(-count // every)}


def test_the_card_tells_the_start(context: BuildFolder) -> None:
    Drawn(Systematic(every=4), [candidate("c")], context)
    (found,) = context.sections
    assert found.figures["every"] == 4 and 1 <= int(found.figures["start"]) <= 4


@pytest.mark.parametrize(("every", "start"), [(0, 0), (3, 4), (3, -1)])
def test_steps_that_make_no_sense_are_refused(every: int, start: int) -> None:
    with pytest.raises(ValueError, match="every"):
        Systematic(every=every, start=start)
