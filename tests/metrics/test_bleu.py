"""BLEU equals sacrebleu, NLTK and the script behind GradedReviews, on real and on random texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from sacrebleu.metrics.bleu import BLEU
from scipy.stats import spearmanr

from graded_pairs import grades, pairs
from reviewgauge.core.protocols import Metric
from reviewgauge.metrics.bleu import Bleu, Variant
from reviewgauge.metrics.texts import tokens
from reviewgauge.metrics.texts.text_metric import TextPair
from text_metrics import check_rules, parts_of, read, references, texts, value

VARIANTS: tuple[Variant, ...] = ("sacrebleu", "graded_reviews", "nltk1", "nltk4")
SMOOTH = {"nltk1": SmoothingFunction().method1, "nltk4": SmoothingFunction().method4}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("stop_words", [False, True])
@pytest.mark.slow
def test_rules(variant: Variant, stop_words: bool) -> None:
    check_rules(Bleu(variant=variant, stop_words=stop_words), most=100)


@given(texts, references)
def test_a_sentence_equals_sacrebleus_own_object(said: str, wanted: tuple[str, ...]) -> None:
    if said.strip():
        theirs = BLEU(effective_order=True).sentence_score(said, list(wanted)).score
        assert value(Bleu(), said, *wanted) == pytest.approx(theirs, abs=1e-9)


@given(st.lists(st.tuples(texts, texts.filter(str.strip), texts.filter(str.strip)), min_size=1, max_size=6))
def test_a_corpus_equals_sacrebleus_own_object(rows: list[tuple[str, str, str]]) -> None:
    ours = read(Bleu(), [parts_of(Bleu(), *row) for row in rows])
    theirs = BLEU().corpus_score([r[0] for r in rows], [[r[1] for r in rows], [r[2] for r in rows]]).score
    assert ours["corpus"] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("variant", ["nltk1", "nltk4"])
@given(rows=st.lists(st.tuples(texts.filter(str.strip), references), min_size=1, max_size=4))
def test_equals_nltk_on_the_same_tokens(variant: Variant, rows: list[tuple[str, tuple[str, ...]]]) -> None:
    metric = Bleu(variant=variant)
    split = tokens.words_and_marks
    said = [list(split(row[0])) for row in rows]
    wanted = [[list(split(text)) for text in dict.fromkeys(row[1])] for row in rows]
    parts = [parts_of(metric, row[0], *row[1]) for row in rows]
    for mine, one, others in zip(parts, said, wanted, strict=True):
        theirs = corpus_bleu([others], [one], smoothing_function=SMOOTH[variant])
        assert mine["value"] == pytest.approx(100 * theirs, abs=1e-9)
    theirs = corpus_bleu(wanted, said, smoothing_function=SMOOTH[variant])
    assert read(metric, parts)["corpus"] == pytest.approx(100 * theirs, abs=1e-9)


def test_the_paper_formula_by_hand() -> None:
    """Matches 3, 1, 0, 0 of 4, 3, 2, 1; with one added from two words on 3/4, 2/4, 1/3, 1/2; 4 words for 5."""
    said, wanted = "remove the old lock", "please remove the unused lock"
    brevity = 1 - (5 + 1) / (4 + 1)
    by_hand = 100 * (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25 * np.exp(brevity)
    assert value(Bleu(variant="graded_reviews"), said, wanted) == pytest.approx(by_hand, rel=1e-12)


def test_nltk_gives_short_texts_less_for_saying_the_reference_itself() -> None:
    assert value(Bleu(variant="nltk1"), "Fix this", "Fix this") == pytest.approx(100 * 0.1**0.5)
    assert value(Bleu(variant="nltk4"), "Fix", "Fix") == pytest.approx(100)


def test_without_stop_words_only_the_rest_counts() -> None:
    assert value(Bleu(stop_words=True), "lock the file", "please do lock a file") == pytest.approx(100)
    assert value(Bleu(), "lock the file", "please do lock a file") < 50
    assert value(Bleu(stop_words=True), "is it that", "is it that") == pytest.approx(100)


def test_each_length_is_the_one_that_the_original_takes() -> None:
    said, wanted = "a b c d", ("a b", "a b c d e f g")
    assert parts_of(Bleu(), said, *wanted)["reference_length"] == 2  # the closest
    assert parts_of(Bleu(), "a b c d e", "a b c", *wanted)["reference_length"] == 3  # the shorter of two as close
    assert parts_of(Bleu(variant="graded_reviews"), "a b c d e f", *wanted)["reference_length"] == 2  # the shortest


def graded(metric: Metric, shared_data: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    assert isinstance(metric, Bleu)
    found = metric.segments([TextPair(pair.hypothesis, (pair.reference,)) for pair in pairs(shared_data)])
    return np.array([parts["value"] for parts in found])


def test_graded_reviews_figures(shared_data: Path) -> None:
    """GradedReviews, section 6.3, Fig. 4 and Table 5 (BLEU .22, p 1.69e-59); ranges as printed in the text.

    The paper prints medians of 6.95 and 8.62 for grades 3 and 4; the published file gives 6.73 and 9.29.
    """
    scores, grade = graded(Bleu(variant="graded_reviews"), shared_data), np.array(grades(shared_data))
    found = spearmanr(scores, grade)
    assert found.statistic == pytest.approx(0.2236, abs=0.0005)
    assert found.pvalue == pytest.approx(1.67e-59, rel=0.02)
    medians = [float(np.median(scores[grade == g])) for g in (1, 2, 3, 4)]
    assert medians == pytest.approx([1.94, 5.12, 6.73, 9.29], abs=0.02)
    assert scores[grade == 2].min() == pytest.approx(8.23e-81, rel=1e-3)
    assert scores[grade == 2].max() == pytest.approx(70.33, abs=0.005)
    assert scores[grade == 3].max() == pytest.approx(48.11, abs=0.005)
