"""Every k-th case."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.systematic import Systematic
from sampled import Drawn, candidate


@pytest.mark.slow
def test_the_sample_of_graded_reviews_has_1291_of_16780(context: BuildFolder) -> None:
    items = (candidate(f"r{n}") for n in range(1, 16_781))
    drawn = Drawn(Systematic(every=13, start=1), items, context)
    assert drawn.ids[:3] == ["r1", "r14", "r27"]
    assert len(drawn.ids) == 1291


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


@pytest.mark.parametrize(("every", "start"), [(0, 0), (3, 4), (3, -1)])
def test_steps_that_make_no_sense_are_refused(every: int, start: int) -> None:
    with pytest.raises(ValueError, match="every"):
        Systematic(every=every, start=start)
