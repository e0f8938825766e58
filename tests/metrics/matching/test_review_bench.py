"""ReviewBench's scoring gives the figures that its own tests and its METHODOLOGY.md state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.matching.review_bench import Tally, claims, parts_of

METRIC = Hits(judge="exact", policy="any", variant="review_bench")


def read(*tallies: Tally) -> dict[str, float | None]:
    """The measures of some changes; None where one is not defined."""
    parts: list[Mapping[str, float]] = [{"changes": 1.0, **parts_of(tally)} for tally in tallies]
    found = measures_of(METRIC, MatrixAggregate.of(parts))
    return {name: None if np.isnan(values[0]) else float(values[0]) for name, values in found.items()}


# Each row is a test of the official `tests/scorer.test.ts`: its counts, and the figures that it asserts.
SCORER = [
    ("counts matched findings and unmatched TP/FP classifications", Tally(4, 2, 1, 1, 1, 1), (1 / 2, 1, 1 / 2, 1,
        1 / 4)),
    ("null precision and recall when denominators are empty", Tally(0, 0, 0, 0, 0, 0), (None, None, None, None, None)),
    ("null precision but zero recall without findings", Tally(0, 0, 0, 1, 0, 0), (None, 0, None, 0, None)),
    ("matched golden FPs do not inflate recall", Tally(1, 1, 0, 1, 0, 0), (0, 0, 0, 0, 0)),
    ("credits novel TPs only in augmented metrics", Tally(1, 0, 0, 1, 0, 1), (None, 0, 1, 1 / 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "tally", "figures"), SCORER, ids=[name for name, _, _ in SCORER])
def test_the_figures_of_the_official_tests(name: str, tally: Tally, figures: Sequence[float | None]) -> None:
    found = read(tally)
    names = ("precision", "recall", "augmented_precision", "augmented_recall", "novel")
    assert [found[one] for one in names] == pytest.approx(list(figures), abs=1e-12), name


def test_macro_averages_treat_each_change_equally_and_leave_out_undefined_ones() -> None:
    """`tests/scorer.test.ts`: one right comment of one and of three are 2/3 on average and 1/2 pooled."""
    found = read(Tally(1, 1, 1, 1, 1, 0), Tally(3, 1, 1, 1, 1, 0))
    assert found["augmented_precision_macro"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["augmented_precision"] == pytest.approx(2 / 4)
    silent = read(Tally(1, 1, 1, 1, 1, 0), Tally(0, 0, 0, 1, 0, 0))
    assert (silent["precision_macro"], silent["recall_macro"]) == (1, 1 / 2)


def test_the_example_of_the_methodology_and_why_augmented_recall_must_not_rank() -> None:
    """Section 7.2: 10 golden findings, 5 found; 2 novel findings give 7/12, 100 give 105/110."""
    few, many = read(Tally(7, 5, 5, 10, 5, 2)), read(Tally(105, 5, 5, 10, 5, 100))
    assert few["augmented_recall"] == pytest.approx(7 / 12)
    assert many["augmented_recall"] == pytest.approx(105 / 110)
    assert few["recall"] == many["recall"] == 1 / 2


def test_a_review_whose_unmatched_comments_nobody_judged_has_no_augmented_figures() -> None:
    unknown = Tally(4, 2, 1, 1, 1, None)
    found = read(unknown)
    assert (found["precision"], found["augmented_precision"], found["augmented_recall"]) == (1 / 2, None, None)
    assert found["judged"] == 0
    mixed = read(unknown, Tally(2, 1, 1, 2, 1, 1))
    assert mixed["augmented_precision"] == 1 and mixed["judged"] == 1 / 2  # over the judged one alone


@pytest.mark.parametrize(("matches", "of", "covered"), [
    ([[0], [0], []], [0, None, None], {0}),  # tests/unmatched-classifications.test.ts: the second is unmatched
    ([[0, 1], [1]], [0, 1], {0, 1}),  # one comment covers two findings and takes the first
    ([[0], [0, 1]], [0, 1], {0, 1}),  # the first free one (scripts/lib/match-types.ts)
    ([[1, 0], [0]], [0, None], {0, 1}),  # the order is that of the golden set, not of the answer
    ([], [], set()),
])  # fmt: skip
def test_many_to_many_matches_are_resolved(
    matches: Sequence[Sequence[int]], of: Sequence[int | None], covered: set[int]
) -> None:
    found = claims([[g in row for g in range(2)] for row in matches])
    assert (list(found.of), set(found.covered)) == (of, covered)


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=6))
def test_a_finding_is_taken_once_and_only_by_a_comment_that_matches_it(same: list[list[bool]]) -> None:
    found = claims(same)
    took = [(c, g) for c, g in enumerate(found.of) if g is not None]
    assert len({g for _, g in took}) == len(took) and all(same[c][g] for c, g in took)
    assert found.covered == {g for row in same for g, hit in enumerate(row) if hit}
    free = {g for c, row in enumerate(same) if found.of[c] is None for g, hit in enumerate(row) if hit}
    assert free <= {g for _, g in took}  # who took nothing had nothing left to take
