"""METEOR: equal to NLTK's with and without WordNet, linear in the length of the texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.translate.meteor_score import meteor_score
from scipy.stats import spearmanr

import graded_pairs
from nltk_wordnet import nltk_reader
from reviewgauge.analysis.stats.arrays import MatrixAggregate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.meteor import Meteor, align, find_wordnet
from reviewgauge.metrics.texts.text_metric import TextPair

NO_WORDNET = "WordNet is not installed: Debian's wordnet-base and wordnet-sense-index hold it"
PIECES = [
    "the", "The", "check", "checks", "checking", "bug", "glitch", "fix", "repair", "happy", "glad", "method", ".", ",",
    "修复", "👍", "don't", "`x`", "mistake", "error", "(null)", "\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


class NoSynonyms:
    """What NLTK is handed to leave WordNet out."""

    def synsets(self, _: str) -> Sequence[Any]:
        return []


def meteor(hypothesis: str, *references: str, wordnet: str = "none", variant: str = "meteor") -> Parts:
    metric = load(Metric, f"meteor(wordnet={wordnet!r}, variant={variant!r})")
    assert isinstance(metric, Meteor)
    return metric.segments([TextPair(hypothesis, references)])[0]


def of_nltk(hypothesis: str, references: Sequence[str], wordnet: object) -> float:
    tokenize = NLTKWordTokenizer().tokenize
    known = [tokenize(reference.lower()) for reference in references]
    value: float = meteor_score(known, tokenize(hypothesis.lower()), wordnet=wordnet)
    return value


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found = nltk_reader(tmp_path_factory.mktemp("nltk_data"))
    return found or pytest.skip(NO_WORDNET)


def test_the_formula_of_lavie_and_agarwal_2007() -> None:
    """P 3/4, R 3/5, F = PR / (.9 P + .1 R), penalty .5 (2 chunks / 3 matches)^3."""
    found = meteor("please check null here", "do check null pointers here")
    expected = 0.75 * 0.6 / (0.9 * 0.75 + 0.1 * 0.6) * (1 - 0.5 * (2 / 3) ** 3)
    assert found["value"] == pytest.approx(expected)
    assert [found[name] for name in ("matches", "chunks", "length", "reference_length")] == [3, 2, 4, 5]


@given(hypothesis=TEXTS, references=st.lists(TEXTS.filter(str.strip), min_size=1, max_size=2))
def test_without_wordnet_the_variant_is_nltks(hypothesis: str, references: list[str]) -> None:
    found = meteor(hypothesis, *references, variant="nltk")["value"]
    assert found == of_nltk(hypothesis, references, NoSynonyms())


@pytest.mark.parametrize(("spec", "all_rows", "below_5"), [
    ("meteor(wordnet='none')", 0.2516, 0.2184),
    ("meteor", 0.2440, 0.2106),
    ("meteor(variant='nltk')", 0.2418, 0.2082),
])  # fmt: skip
def test_the_figures_of_graded_reviews(shared_data: Path, spec: str, all_rows: float, below_5: float) -> None:
    """GradedReviews (arXiv:2501.05176), Table 5: METEOR .21, which is the figure on grades below 5 (n = 5,125)."""
    metric = load(Metric, spec)
    assert isinstance(metric, Meteor)
    if metric.wordnet == "auto" and not metric.pins()["wordnet"].startswith("3.0"):
        pytest.skip(NO_WORDNET)
    pairs = graded_pairs.pairs(shared_data)
    parts = metric.segments([TextPair(pair.hypothesis, (pair.reference,)) for pair in pairs])
    values, grades = np.array([found["value"] for found in parts]), np.array(graded_pairs.grades(shared_data))
    tolerance = 0.0005 if metric.variant == "nltk" else 0.002
    assert spearmanr(values, grades)[0] == pytest.approx(all_rows, abs=tolerance)
    assert spearmanr(values[grades < 5], grades[grades < 5])[0] == pytest.approx(below_5, abs=tolerance)


def test_synonyms_of_words_where_nltk_looks_up_their_stems() -> None:
    if find_wordnet() is None:
        pytest.skip(NO_WORDNET)
    assert meteor("happy code", "glad code", wordnet="auto")["matches"] == 2
    assert meteor("happy code", "glad code", wordnet="auto", variant="nltk")["matches"] == 1
    assert meteor("happy code", "glad code")["matches"] == 1


def test_the_last_free_word_is_taken_in_each_round() -> None:
    synonyms = {"fix": frozenset({"mend", "repair"})}
    none: frozenset[str] = frozenset()
    assert align(("a", "b"), ("a", "b", "a"), None, of_stems=False) == (2, 2)
    said, wanted = ("fix", "it"), ("repair", "mend", "it")
    assert align(said, wanted, lambda word: synonyms.get(word, none), of_stems=False) == (2, 1)
    assert align(said, wanted, None, of_stems=False) == (1, 1)
    assert align((), ("a",), None, of_stems=False) == (0, 0)


def test_the_pins_keep_scores_with_and_without_wordnet_apart() -> None:
    assert load(Metric, "meteor(wordnet='none')").pins() == {"wordnet": "none"}
    found = find_wordnet()
    pins = Meteor().pins()
    assert pins == {"wordnet": f"{found.version} ({found.digest})" if found else "none"}
    assert load(Metric, signature(Meteor())) == Meteor()


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    metric = Meteor(wordnet=str(tmp_path))
    with pytest.raises(UserError, match="does not contain WordNet"):
        metric.pins()
    with pytest.raises(UserError, match="does not contain WordNet"):
        metric.segments([TextPair("a", ("b",))])


def test_corpus_is_the_formula_on_summed_counts() -> None:
    metric = Meteor(wordnet="none")
    texts = [TextPair("check null", ("check for null",)), TextPair("", ("use it",)), TextPair("use it", ("use it",))]
    measures = metric.combine(MatrixAggregate.of(metric.segments(texts)))
    matches, chunks, length, reference = 4, 3, 4, 7
    expected = matches / (0.9 * reference + 0.1 * length) * (1 - 0.5 * (chunks / matches) ** 3)
    assert measures["corpus"] == pytest.approx(expected)
    silent = metric.combine(MatrixAggregate.of(metric.segments(texts[1:2])))
    assert (silent["mean"].tolist(), silent["corpus"].tolist()) == ([0.0], [0.0])


@pytest.mark.parametrize("variant", ["meteor", "nltk"])
@pytest.mark.parametrize(
    "text",
    ["", " \n", "ok", "👍", "???", "修", "```java\nfoo(null);\n```", "\ud800", "a\x1cb"],
    ids=["empty", "blank", "one word", "emoji", "marks", "han", "code", "surrogate", "control"],
)
def test_every_text_has_a_value(text: str, variant: str) -> None:
    found = [meteor(text, "Check the null case first.", wordnet="auto", variant=variant)]
    if text.strip():
        found += [meteor("Check it.", text, variant=variant), meteor(text, text, variant=variant)]
        assert found[-1]["value"] >= 0.5
    assert all(0 <= parts["value"] <= 1 and all(map(math.isfinite, parts.values())) for parts in found)
    assert text.strip() or found[0]["value"] == 0.0


def test_chinese_and_japanese_are_read_by_characters() -> None:
    assert meteor("应该检查空指针", "先检查空指针。")["matches"] == 5
    assert meteor("应该检查空指针", "先检查空指针。", variant="nltk")["matches"] == 0


@pytest.mark.drill
def test_megabytes_are_aligned_without_a_scan_for_each_word() -> None:
    """No two texts share a word here, which is where a scan of the other text for each word takes hours."""
    one = " ".join(f"left{i}" for i in range(110_000))
    other = " ".join(f"right{i}" for i in range(110_000))
    assert meteor(one, other, wordnet="auto")["matches"] == 0
    assert meteor(one, one)["chunks"] == 1
    assert meteor("same " * 200_000, "same " * 100_000)["matches"] == 100_000
