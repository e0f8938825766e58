from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import Micro
from reviewgauge.analysis.stats.swaps import reading_with, swapped
from reviewgauge.core.errors import UserError


def test_a_case_without_a_reading_of_its_own_still_moves_the_whole() -> None:
    total = np.array([4.0, 2.0, 2.0])  # tp, fp, fn
    false_on_clean, quiet = np.array([[0.0, 1.0, 0.0]]), np.zeros((1, 3))
    with_it = reading_with(Micro(), ("tp", "fp", "fn"), total[None], 5, "f1")[0]
    without = reading_with(Micro(), ("tp", "fp", "fn"), swapped(total, false_on_clean, quiet), 5, "f1")[0]
    assert with_it == pytest.approx(8 / 12)
    assert without == pytest.approx(8 / 11)


def test_an_unknown_reading_is_refused_and_undefined_is_not_zero() -> None:
    with pytest.raises(UserError, match="no reading is called 'f3'"):
        reading_with(Micro(), ("tp", "fp", "fn"), np.zeros((1, 3)), 1, "f3")
    assert np.isnan(reading_with(Micro(), ("tp", "fp", "fn"), np.zeros((1, 3)), 1, "f1")).all()
