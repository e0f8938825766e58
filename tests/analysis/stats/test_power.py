from __future__ import annotations

import numpy as np
import pytest

from reviewgauge.analysis.stats.power import clusters_needed, detectable_difference, standard_error


def test_eighty_percent_power_takes_two_point_eight_standard_errors() -> None:
    assert detectable_difference(0.01) == pytest.approx(0.0280158, abs=1e-6)
    assert detectable_difference(0.01, power=0.5) == pytest.approx(0.0195996, abs=1e-6)


def test_it_is_the_difference_that_is_found_four_times_in_five() -> None:
    generator = np.random.default_rng(1)
    error = 0.03
    true = detectable_difference(error)
    assert true is not None
    seen = generator.normal(true, error, 20_000)
    assert 0.79 < (np.abs(seen) > 1.959964 * error).mean() < 0.81


@pytest.mark.parametrize("error", [None, 0.0, float("nan")])
def test_nothing_can_be_said_without_variation(error: float | None) -> None:
    assert detectable_difference(error) is None


def test_the_standard_error_of_a_mean_is_the_textbook_one() -> None:
    generator = np.random.default_rng(2)
    sample = generator.normal(size=10)
    draws = sample[generator.integers(0, 10, (40_000, 10))].mean(axis=1)
    found = standard_error(np.append(draws, np.nan), 10)
    assert found == pytest.approx(np.std(sample, ddof=1) / np.sqrt(10), rel=0.02)
    assert standard_error(draws, 1) is None
    assert standard_error(np.array([np.nan, 1.0]), 5) is None


def test_half_the_difference_takes_four_times_the_changes() -> None:
    assert clusters_needed(0.08, 50, 0.04) == 200
    assert clusters_needed(0.08, 50, -0.08) == 50
    with pytest.raises(ValueError, match="difference of 0"):
        clusters_needed(0.08, 50, 0)
