"""The first cases, and what it says of the others."""

from __future__ import annotations

import pytest

from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.first import First
from sampled import Drawn, candidate


@pytest.mark.parametrize(("count", "kept"), [(1, ["c1"]), (3, ["c1", "c2", "c3"]), (9, ["c1", "c2", "c3", "c4"])])
def test_the_first_cases_are_kept_in_their_order(count: int, kept: list[str]) -> None:
    drawn = Drawn(First(count), [candidate(f"c{n}") for n in range(1, 5)], WithoutBuild())
    assert drawn.ids == kept
    assert set(drawn.reasons) == ({f"after the first {count}"} if count < 4 else set())


def test_none_is_refused() -> None:
    with pytest.raises(ValueError, match="cases=0 must be 1 or more"):
        First(0)
