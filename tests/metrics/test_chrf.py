"""chrF and chrF++ equal sacrebleu, on real and on random texts, whatever their alphabet and length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from reviewgauge.metrics import chrf
from reviewgauge.metrics.chrf import Chrf
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, read, references, texts, value

ORDERS = [(6, 0), (6, 2), (1, 0), (3, 1), (9, 3)]


@pytest.mark.parametrize(("char_order", "word_order"), ORDERS[:2])
@pytest.mark.slow
def test_rules(char_order: int, word_order: int) -> None:
    check_rules(Chrf(char_order=char_order, word_order=word_order), most=100)


@pytest.mark.parametrize(("char_order", "word_order"), ORDERS)
@given(said=texts, wanted=references, beta=st.sampled_from((1, 2, 3)))
def test_a_text_equals_sacrebleus_own_object(
    char_order: int, word_order: int, said: str, wanted: tuple[str, ...], beta: int
) -> None:
    ours = value(Chrf(char_order=char_order, word_order=word_order, beta=float(beta)), said, *wanted)
    theirs = CHRF(char_order=char_order, word_order=word_order, beta=beta).sentence_score(said, list(wanted)).score
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("char_order", "word_order"), ORDERS[:2])
@given(rows=st.lists(st.tuples(texts, texts.filter(str.strip), texts.filter(str.strip)), min_size=1, max_size=6))
def test_a_corpus_equals_sacrebleus_own_object(
    char_order: int, word_order: int, rows: list[tuple[str, str, str]]
) -> None:
    metric = Chrf(char_order=char_order, word_order=word_order)
    theirs = CHRF(char_order=char_order, word_order=word_order).corpus_score(
        [row[0] for row in rows], [[row[1] for row in rows], [row[2] for row in rows]]
    )
    ours = read(metric, metric.segments([TextPair(row[0], row[1:]) for row in rows]))
    assert ours["corpus"] == pytest.approx(theirs.score, abs=1e-9)


def test_by_hand() -> None:
    """`abc` for `abd`: 2 of 3 characters, 1 of 2 pairs, 0 of 1 threes: precision and recall are 7/18."""
    assert value(Chrf(), "a b c", "abd") == pytest.approx(100 * 7 / 18)
    assert value(Chrf(char_order=1, beta=1.0), "ab", "abcd") == pytest.approx(100 * 2 / 3)


@pytest.mark.parametrize("spec", ["chrf(char_order=0)", "chrf(word_order=-1)", "chrf(beta=0)", "chrf(beta=-2.0)"])
def test_parameters_that_mean_nothing_are_refused(spec: str) -> None:
    with pytest.raises(UserError, match=r"or more|above 0"):
        load(Metric, spec)


@pytest.mark.parametrize(("word_order", "spearman"), [(0, 0.2294), (2, 0.2385)])
def test_graded_reviews_figures(shared_data: Path, word_order: int, spearman: float) -> None:
    """Spearman with the grade on all 5,164 rows of GradedReviews, recomputed with sacrebleu; the paper has none."""
    metric = Chrf(word_order=word_order)
    rows = pairs(shared_data)
    scores = [p["value"] for p in metric.segments([TextPair(row.hypothesis, (row.reference,)) for row in rows])]
    assert spearmanr(scores, np.array(grades(shared_data))).statistic == pytest.approx(spearman, abs=0.0005)
    theirs = CHRF(word_order=word_order)
    for row, score in list(zip(rows, scores, strict=True))[::10]:
        assert score == pytest.approx(theirs.sentence_score(row.hypothesis, [row.reference]).score, abs=1e-9)


Rows = Sequence[tuple[Sequence[int], Sequence[int]]]
few = st.lists(st.integers(0, 3), max_size=12)
many = st.lists(st.integers(0, 2**32 - 1), max_size=12)


def matches(rows: Rows, orders: int) -> list[list[int]]:
    said = [np.array(row[0], dtype=np.uint32) for row in rows]
    wanted = [np.array(row[1], dtype=np.uint32) for row in rows]
    found: list[list[int]] = chrf.matches(said, wanted, orders).T.tolist()
    return found


def counted(rows: Rows, orders: int) -> list[list[int]]:
    def grams(one: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
        return Counter(tuple(one[i : i + n]) for i in range(len(one) - n + 1))

    return [[(grams(a, n) & grams(b, n)).total() for n in range(1, orders + 1)] for a, b in rows]


@given(st.lists(st.tuples(few, few), max_size=8), st.integers(1, 12))
def test_few_symbols(rows: Rows, orders: int) -> None:
    assert matches(rows, orders) == counted(rows, orders)


@given(st.lists(st.tuples(many, many), max_size=5), st.integers(1, 40))
def test_any_symbols_and_more_orders_than_fit(rows: Rows, orders: int) -> None:
    rows = [(a, [*b, *a[2:]]) for a, b in rows]
    assert matches(rows, orders) == counted(rows, orders)


@pytest.mark.parametrize("symbols", [2, 300, 50_000])
@pytest.mark.drill
def test_batches_larger_than_a_chunk(symbols: int) -> None:
    generator = np.random.default_rng(0)
    lengths = [0, 5, chrf.CHUNK // 2, 9, chrf.CHUNK // 2, 1, 0, 40_000, 3]
    rows = [(generator.integers(0, symbols, n).tolist(), generator.integers(0, symbols, 50).tolist()) for n in lengths]
    assert matches(rows, 4) == counted(rows, 4)
