from __future__ import annotations

import numpy as np
import pytest

from judged_toys import LIKERT, case, label
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.analysis.validity.misjudged import FEWEST, SHOWN, MisjudgedRows, misjudged
from reviewgauge.analysis.validity.review_table import ReviewTable, join
from reviewgauge.core.records import Comment, Review
from reviewgauge.core.results import Outcome

CODE = "call `close()` here, or `flush()`?"


def rows(
    score: list[float], human: list[int], bodies: list[str], *, less: bool = False, resamples: int = 0
) -> MisjudgedRows:
    outcomes = [
        Outcome(case=case(n).id, system="s", review=Review(case=case(n).id, system="s", comments=(comment,)))
        for n, comment in enumerate(Comment(id="c", body=body) for body in bodies)
    ]
    bench = ReviewTable.of([case(n) for n in range(len(bodies))], outcomes)
    (found,), _ = human_values([label(o, v) for o, v in zip(outcomes, human, strict=True)], {"grade": LIKERT})
    values = dict(zip(bench.keys, score, strict=True))
    resampler = Resampler(bench.clusters, resamples, 0) if resamples else None
    return misjudged(join(bench, found, values), resampler, less_is_better=less)


def test_the_worst_stand_first_with_their_ranks_and_what_they_share() -> None:
    n = 100
    human = [1 + at % 5 for at in range(n)]
    score = [float(grade) + at / 1000 for at, grade in enumerate(human)]
    bodies = ["plain words"] * n
    score[0], bodies[0] = 99.0, CODE  # grade 1, scored highest
    score[4], bodies[4] = -99.0, "why?"  # grade 5, scored lowest
    found = rows(score, human, bodies)
    assert (found.over[0].case, found.over[0].score_rank) == ("case-000", 1.0)
    assert found.over[0].human_rank == pytest.approx(9.5 / 99), "the middle of the twenty lowest"
    assert found.over[0].hypothesis == CODE
    assert (found.under[0].case, found.under[0].score_rank) == ("case-004", 0.0)
    assert len(found.over) <= SHOWN
    traits = {trait.trait: trait for trait in found.traits}
    assert traits["inline code"].over > traits["inline code"].under == 0.0
    assert traits["inline code"].all == 0.01
    assert traits["inline code"].n_over <= FEWEST
    assert traits["claims"].all == pytest.approx(0.99)
    assert "code block" not in traits, "no review has one"


def test_what_less_is_better_overestimates_has_the_lowest_scores() -> None:
    human = [1, 2, 3, 4, 5]
    found = rows([0.0, 4.0, 3.0, 2.0, 9.0], human, ["a"] * 5, less=True)
    assert found.over[0].case == "case-000"
    assert found.under[0].case == "case-004"


def test_perfect_order_misjudges_nothing_and_constants_say_nothing() -> None:
    assert rows([1.0, 2.0, 3.0], [1, 2, 3], ["a"] * 3)[:2] == ((), ())
    assert rows([1.0, 1.0, 1.0], [1, 2, 3], ["a"] * 3) == MisjudgedRows()
    assert rows([1.0, 2.0, 3.0], [2, 2, 2], ["a"] * 3) == MisjudgedRows()
    assert rows([1.0], [2], ["a"]) == MisjudgedRows()


def test_long_texts_are_cut_and_marks_are_told_from_each_other() -> None:
    bodies = ["x" * 5_000, "```\ncode\n```", "a ``b`` c", "  "]
    found = rows([4.0, 3.0, 2.0, 1.0], [1, 2, 3, 4], bodies)
    assert len(found.over[0].hypothesis) == 1_000
    traits = {trait.trait: trait.all for trait in found.traits}
    assert traits["code block"] == 0.25
    assert traits["blank review"] == 0.25
    assert "inline code" not in traits


def test_an_interval_tells_a_shared_trait_from_noise() -> None:
    n = 200
    generator = np.random.default_rng(5)
    human = [1 + at % 5 for at in range(n)]
    score = generator.normal(human).tolist()
    bodies = [f"{'why? ' * int(generator.integers(0, 2))}word" for _ in range(n)]
    for at in range(0, 50, 5):  # grade 1, scored high
        score[at], bodies[at] = 50.0 + at, CODE
    traits = {trait.trait: trait for trait in rows(score, human, bodies, resamples=300).traits}
    code, asked = traits["inline code"], traits["question mark"]
    over = code.over_less_all
    assert over is not None and over.value is not None and over.low is not None and over.high is not None
    assert over.value == pytest.approx(code.over - code.all) and over.n == code.n_over
    assert 0 < over.low < over.value < over.high
    under = asked.under_less_all
    assert under is not None and under.low is not None and under.high is not None
    assert under.low < 0 < under.high, "question marks are drawn at random"
    assert rows(score, human, bodies).traits[0].over_less_all is None, "nothing was resampled"
