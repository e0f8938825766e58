"""Which reviews a metric and people place far apart, and what these share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from judged_toys import LIKERT, case, label
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.analysis.validity.report import SHOWN, Examples, misjudged, opposite_ends
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import RowSample, join
from reviewgauge.core.records import Comment, Review
from reviewgauge.core.reports.validity import OppositeEnds, SharedTrait
from reviewgauge.core.results import Outcome

CODE = "call `close()` here, or `flush()`?"


def rows(
    score: list[float], human: list[int], bodies: list[str] | None = None, *, less: bool = False, resamples: int = 0
) -> tuple[ReviewTable, RowSample]:
    bodies = bodies or ["plain words"] * len(score)
    outcomes = [
        Outcome(case=case(n).id, system="s", review=Review(case=case(n).id, system="s", comments=(comment,)))
        for n, comment in enumerate(Comment(id="c", body=body) for body in bodies)
    ]
    bench = ReviewTable.of([case(n) for n in range(len(bodies))], outcomes)
    (found,), _ = human_values([label(o, v) for o, v in zip(outcomes, human, strict=True)], {"grade": LIKERT})
    resampler = Resampler(bench.clusters, resamples, 0)
    return bench, join(bench, found, dict(zip(bench.keys, score, strict=True)), resampler, less_is_better=less)


def examples(*arguments: object, **options: object) -> tuple[Examples, Examples]:
    return misjudged(*rows(*arguments, **options))  # type: ignore[arg-type]


def ends_of(*arguments: object, **options: object) -> tuple[OppositeEnds, dict[str, SharedTrait]]:
    ends, traits = opposite_ends(*rows(*arguments, **options))  # type: ignore[arg-type]
    assert ends is not None
    return ends, {trait.trait: trait for trait in traits}


def wrong_twice(n: int = 100) -> tuple[list[float], list[int], list[str]]:
    """Scores that follow the grades, but for one row of grade 1 that is highest and one of grade 5 that is lowest."""
    human = [1 + at % 5 for at in range(n)]
    score = [float(grade) + at / 1000 for at, grade in enumerate(human)]
    bodies = ["plain words"] * n
    score[0], bodies[0] = 99.0, CODE
    score[4], bodies[4] = -99.0, "why?"
    return score, human, bodies


def test_the_worst_stand_first_with_their_ranks_and_claims() -> None:
    over, under = examples(*wrong_twice())
    assert (over[0].case, over[0].score_rank) == ("case-000", 1.0)
    assert over[0].human_rank == pytest.approx(9.5 / 99), "the middle of the twenty lowest"
    assert (over[0].hypothesis, over[0].claims) == (CODE, ())
    assert (under[0].case, under[0].score_rank, under[0].claims) == ("case-004", 0.0, ("claim",))
    assert len(over) <= SHOWN


def test_rows_at_opposite_ends_are_counted_and_the_correlation_is_that_without_them() -> None:
    score, human, bodies = wrong_twice()
    ends, traits = ends_of(score, human, bodies)
    assert (ends.lowest, ends.highest, ends.n_over, ends.n_under) == (1, 5, 1, 1)
    assert (ends.over.value, ends.under.value, ends.over.n) == (0.01, 0.01, 100)
    assert (ends.low_cut, ends.high_cut) == tuple(np.quantile(score, (0.2, 0.8)))
    kept = [at for at in range(100) if at not in {0, 4}]
    expected = spearmanr([score[at] for at in kept], [human[at] for at in kept]).statistic
    assert ends.spearman.value == pytest.approx(expected) and ends.spearman.n == 98
    code = traits["inline code"]
    assert (code.over, code.under, code.all, code.n_over, code.n_all) == (1.0, 0.0, 0.01, 1, 100)
    assert traits["claims"].all == pytest.approx(0.99)
    assert "code block" not in traits, "no review has one"


def test_a_side_without_rows_has_no_means() -> None:
    human = [1 + at % 5 for at in range(50)]
    score = [float(grade) for grade in human]
    score[0] = 99.0
    ends, traits = ends_of(score, human)
    assert (ends.n_over, ends.n_under) == (1, 0)
    assert traits["words"].under is None and traits["words"].under_less_all is None


def test_ties_at_the_lowest_score_are_the_low_end() -> None:
    """Half of the scores are 0, so that the first quintile cut is 0 and nothing is below it."""
    human = [1] * 50 + [5] * 50
    score = [0.0] * 48 + [0.5, 0.6] + [0.0] * 2 + [float(at) for at in range(1, 49)]
    ends, _ = ends_of(score, human)
    assert (ends.low_cut, ends.n_under, ends.n_over) == (0.0, 2, 0)


def test_what_less_is_better_overestimates_has_the_lowest_scores() -> None:
    score, human = [0.0, 4.0, 3.0, 2.0, 9.0], [1, 2, 3, 4, 5]
    over, under = examples(score, human, less=True)
    assert (over[0].case, under[0].case) == ("case-000", "case-004")
    ends, _ = ends_of(score, human, less=True)
    assert (ends.n_over, ends.n_under) == (1, 1)
    assert ends.high_cut < ends.low_cut, "in the metric's own scores"


def test_perfect_order_misjudges_nothing_and_constants_say_nothing() -> None:
    assert examples([1.0, 2.0, 3.0], [1, 2, 3]) == ((), ())
    for score, human in (([1.0, 1.0, 1.0], [1, 2, 3]), ([1.0, 2.0, 3.0], [2, 2, 2]), ([1.0], [2])):
        assert examples(score, human) == ((), ())
        assert opposite_ends(*rows(score, human)) == (None, ())


def test_long_texts_are_cut_and_marks_are_told_from_each_other() -> None:
    bodies = ["x" * 5_000, "```\ncode\n```", "a ``b`` c", "  "]
    over, _ = examples([4.0, 3.0, 2.0, 1.0], [1, 2, 3, 4], bodies)
    assert len(over[0].hypothesis) == 1_000
    _, traits = ends_of([4.0, 3.0, 2.0, 1.0], [1, 2, 3, 4], bodies)
    assert (traits["code block"].all, traits["blank review"].all) == (0.25, 0.25)
    assert "inline code" not in traits


def test_an_interval_tells_a_shared_trait_from_noise() -> None:
    n = 400
    generator = np.random.default_rng(5)
    human = [1 + at % 5 for at in range(n)]
    score = generator.normal(human, 2.5).tolist()
    bodies = [f"{'why? ' * int(generator.integers(0, 2))}word" for _ in range(n)]
    for at in range(0, 50, 5):  # grade 1, scored high
        score[at], bodies[at] = 50.0 + at, CODE
    ends, traits = ends_of(score, human, bodies, resamples=300)
    code, asked = traits["inline code"], traits["question mark"]
    over, under = code.over_less_all, asked.under_less_all
    assert over is not None and over.value is not None and over.low is not None and over.high is not None
    assert code.over is not None and over.value == pytest.approx(code.over - code.all) and over.n == ends.n_over
    assert 0 < over.low < over.value < over.high
    assert under is not None and under.low is not None and under.high is not None
    assert under.low < 0 < under.high, "question marks are drawn at random"
    assert ends.over.low is not None and ends.over.low < (ends.over.value or 0) < (ends.over.high or 0)
