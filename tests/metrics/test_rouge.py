"""ROUGE: equal to the rouge-score package, and defined where that one goes blind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer
from scipy.stats import spearmanr

import graded_pairs
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts
from reviewgauge.core.specs import load
from reviewgauge.metrics.rouge import Rouge
from reviewgauge.metrics.texts.text_metric import TextPair

SETTINGS = [(n, stem) for n in ("L", 1, 2, 3) for stem in (True, False)]
PIECES = [
    "check", "Checking", "the", "null", "NULL!", "a", "9", "`user_id`", "skies", "dying", "run(x, y);", "\n", "naïve",
    "修复这个", "bug", "👍", "", "—", "don't", "ties",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)


def rouge(hypothesis: str, *references: str, n: str | int = "L", stem: bool = True, variant: str = "unicode") -> Parts:
    metric = load(Metric, f"rouge(n={n!r}, stem={stem}, variant={variant!r})")
    assert isinstance(metric, Rouge)
    return metric.segments([TextPair(hypothesis, references)])[0]


def package(hypothesis: str, *references: str, n: str | int, stem: bool) -> tuple[float, float, float]:
    scorer = rouge_scorer.RougeScorer([f"rouge{n}"], use_stemmer=stem)
    found = scorer.score_multi(list(references), hypothesis)[f"rouge{n}"]
    return found.fmeasure, found.precision, found.recall


def test_the_longest_common_subsequence_of_lin_2004() -> None:
    """Section 3.1: "the gunman police killed" has `the gunman` or `police killed` in common with the reference."""
    found = rouge("the gunman police killed", "police killed the gunman", stem=False)
    assert found == {"f": 0.5, "precision": 0.5, "recall": 0.5}
    assert rouge("police kill the gunman", "police killed the gunman", stem=False)["f"] == 0.75
    assert rouge("police kill the gunman", "police killed the gunman")["f"] == 1.0


@pytest.mark.parametrize(("n", "stem"), SETTINGS)
@given(hypothesis=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=3))
def test_the_published_variant_is_rouge_score(n: str | int, stem: bool, hypothesis: str, references: list[str]) -> None:
    found = rouge(hypothesis, *references, n=n, stem=stem, variant="rouge-score")
    assert (found["f"], found["precision"], found["recall"]) == package(hypothesis, *references, n=n, stem=stem)


@given(TEXTS, TEXTS)
def test_the_default_is_rouge_score_too_where_every_word_is_english(hypothesis: str, reference: str) -> None:
    words = [text.replace("naïve", "x").replace("修复这个", "x") + " end" for text in (hypothesis, reference)]
    assert rouge(words[0], words[1])["f"] == package(words[0], words[1], n="L", stem=True)[0]


def test_other_scripts_are_read_and_what_the_package_drops_is_counted() -> None:
    hypothesis, reference = "这里应该检查空指针", "应该先检查空指针 user"
    assert rouge(hypothesis, reference)["f"] == pytest.approx(2 * (7 / 9) * (7 / 9) / (14 / 9))
    published = rouge(hypothesis, reference, variant="rouge-score")
    assert published["f"] == 0.0
    assert published["unread"] == pytest.approx(17 / 18)
    assert rouge("check null", "check for null", variant="rouge-score")["unread"] == 0.0
    assert rouge("Проверь указатель", "проверь этот указатель")["recall"] == pytest.approx(2 / 3)
    assert rouge("Vérifiez", "vérifiez")["f"] == 1.0


@pytest.mark.slow
def test_a_megabyte_is_compared_with_a_comment_and_with_a_megabyte() -> None:
    long = "the quick brown fox jumps over a lazy dog " * 24_000
    assert rouge(long, "the lazy dog")["recall"] == 1.0
    assert rouge(long[: len(long) // 3], "slow " + long[: len(long) // 3])["precision"] == 1.0
    assert rouge(long, long, n=2)["f"] == 1.0
    assert rouge("x" * 1_000_000, "修" * 100_000)["f"] == 0.0


def test_of_several_references_the_best_counts() -> None:
    assert rouge("check null", "use a constant", "check for null", "null")["recall"] == pytest.approx(2 / 3)


def test_the_figures_of_graded_reviews(shared_data: Path) -> None:
    """GradedReviews (arXiv:2501.05176), Table 5 and Fig. 5: ROUGE .25 is the one on grades below 5 (n = 5,125)."""
    pairs = graded_pairs.pairs(shared_data)
    parts = Rouge().segments([TextPair(pair.hypothesis, (pair.reference,)) for pair in pairs])
    values, grades = np.array([found["f"] for found in parts]), np.array(graded_pairs.grades(shared_data))
    below = grades < 5
    assert spearmanr(values, grades)[0] == pytest.approx(0.2842, abs=0.0005)
    assert spearmanr(values[below], grades[below])[0] == pytest.approx(0.2525, abs=0.0005)
    medians = [np.median(values[grades == grade]) for grade in (1, 2, 3, 4)]
    assert medians == pytest.approx([0.0556, 0.1290, 0.1890, 0.2000], abs=0.0005)
    maxima = [values[grades == grade].max() for grade in (1, 2, 3)]
    assert maxima == pytest.approx([0.7143, 0.8421, 0.6667], abs=0.0005)
