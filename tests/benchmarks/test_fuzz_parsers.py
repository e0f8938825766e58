"""Each parser of others' text raises its own errors and nothing else, on a few broken and pumped inputs."""

from __future__ import annotations

import random

import pytest
from timed.fuzz_parsers import Target, mutated, pumped, targets, timed

TARGETS = targets()


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of specs such as 1or
def test_a_parser_raises_its_own_errors_only(target: Target) -> None:
    chance = random.Random(7)
    assert target.seeds
    assert any(timed(target.parse, seed).read for seed in target.seeds)
    for _ in range(100):
        timed(target.parse, mutated(target.seeds, chance))
    for _ in range(10):
        before, unit, after = pumped(target.seeds, chance)
        timed(target.parse, before + unit * (1000 // len(unit)) + after)
