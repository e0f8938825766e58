"""TF-IDF cosines: scikit-learn is the oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from count_idf import count_idf
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer

import graded_pairs
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.specs import load
from reviewgauge.metrics.texts.text_metric import TextPair
from reviewgauge.metrics.tfidf import Tfidf
from reviewgauge.models.text.idf import Grams, Weighting, cosines

PIECES = ["check", "Null", "checks", "a", "(x)", "foo.bar", "修复", "这", "👍", "\n", "İ", "naïve", "the the", "  "]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=10).map(" ".join)


def tfidf(spec: str) -> Tfidf:
    metric = load(Metric, spec)
    assert isinstance(metric, Tfidf)
    return metric


def value(spec: str, hypothesis: str, *references: str) -> float:
    return tfidf(spec).segments([TextPair(hypothesis, references)])[0]["value"]


def of_sklearn(pairs: Sequence[tuple[str, str]], vectorizer: TfidfVectorizer) -> list[float]:
    said, wanted = zip(*pairs, strict=True)
    vectorizer.fit(dict.fromkeys([text for pair in pairs for text in pair]))
    product = vectorizer.transform(said).multiply(vectorizer.transform(wanted))
    found: list[float] = np.asarray(product.sum(axis=1)).ravel().tolist()
    return found


def case(name: str, reference: str) -> Case:
    return Case(id=name, change=Change(repo="o/r"), references=(Comment(id="r", body=reference),) if reference else ())


def review(name: str, body: str) -> Review:
    return Review(case=name, system="s", comments=(Comment(id="c", body=body),))


@pytest.mark.parametrize("sublinear", [True, False])
@pytest.mark.parametrize(("low", "high"), [(3, 5), (1, 2), (5, 6)])
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_characters_are_scikit_learns(low: int, high: int, sublinear: bool, pairs: list[tuple[str, str]]) -> None:
    pairs = [*pairs, ("check", "null")]  # it refuses an empty vocabulary
    metric = Tfidf(chars=(low, high), idf="batch", sublinear=sublinear)
    found = [parts["value"] for parts in metric.segments([TextPair(said, (wanted,)) for said, wanted in pairs])]
    oracle = TfidfVectorizer(analyzer="char_wb", ngram_range=(low, high), sublinear_tf=sublinear)
    assert found == pytest.approx(of_sklearn(pairs, oracle), abs=1e-12)


@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("lengths", [(1, 1), (1, 2), (2, 3)])
def test_words_are_scikit_learns_on_our_tokens(shared_data: Path, lengths: tuple[int, int], stem: bool) -> None:
    pairs = [(pair.hypothesis, pair.reference) for pair in graded_pairs.pairs(shared_data)[::20]]
    metric = Tfidf(analyzer="words", words=lengths, idf="batch", stem=stem)
    found = [parts["value"] for parts in metric.segments([TextPair(said, (wanted,)) for said, wanted in pairs])]
    grams = Grams("words", *lengths, stem)
    oracle = TfidfVectorizer(analyzer=lambda text: list(grams.strings(text)), sublinear_tf=True)
    assert found == pytest.approx(of_sklearn(pairs, oracle), abs=1e-12)


@pytest.mark.parametrize("spec", ["tfidf", "tfidf(idf='batch')", "tfidf(idf='batch', sublinear=False)"])
def test_the_figure_of_graded_reviews(shared_data: Path, spec: str) -> None:
    """Spearman of character TF-IDF with the grades, all 5,164 rows: .336 was measured on the public file."""
    pairs = graded_pairs.pairs(shared_data)
    parts = tfidf(spec).segments([TextPair(pair.hypothesis, (pair.reference,)) for pair in pairs])
    values = [found["value"] for found in parts]
    assert spearmanr(values, graded_pairs.grades(shared_data))[0] == pytest.approx(0.336, abs=0.003)


def test_words_by_hand() -> None:
    """Weights ln(3/2) + 1 for what one of two texts says, 1 for what both say."""
    rare = math.log(3 / 2) + 1
    expected = 1 / (1 + rare * rare)
    assert value("tfidf(analyzer='words', idf='batch')", "null pointer", "null row") == pytest.approx(expected)
    assert value("tfidf(analyzer='words', idf='none')", "null pointer", "null row") == pytest.approx(0.5)
    assert value("tfidf(analyzer='words', idf='none')", "the pointers", "a pointer") == pytest.approx(1.0)
    assert value("tfidf(analyzer='words', idf='none', stem=False)", "the pointers", "a pointer") == 0.0


def test_rare_words_weigh_more() -> None:
    for spec in ("tfidf", "tfidf(analyzer='words')", "tfidf(analyzer='words', stop_words=False)"):
        assert value(spec, "this deadlock", "that deadlock") > value(spec, "this deadlock", "this mistake"), spec


def test_the_idf_of_a_batch_comes_from_all_that_is_measured_together() -> None:
    metric = tfidf("tfidf(idf='batch', analyzer='words')")
    assert metric.joint
    assert not Tfidf().joint
    items = [(case("a", "null row"), review("a", "null pointer")), (case("b", ""), review("b", "x"))]
    alone = list(metric.parts_many(items))
    more = list(metric.parts_many([*items, *((case(f"c{i}", "null"), review(f"c{i}", f"w{i}")) for i in range(1100))]))
    assert alone[1] == more[1] == "the case has no reference comment"
    assert isinstance(alone[0], Measured)
    assert isinstance(more[0], Measured)
    assert more[0].parts["value"] != alone[0].parts["value"]
    assert len(more) == 1102
    assert metric.parts(*items[0]) == alone[0]


def test_how_the_shipped_tables_were_counted() -> None:
    table = count_idf(["null row", "null row", "null pointer", "", "slow"], Grams("words", 1, 1), most=2, about="test")
    assert (table.texts, table.idf) == (3, {"null": round(math.log(4 / 3), 2), "point": round(math.log(2), 2)})
    assert table.unseen == round(math.log(4 / 1.5), 2)


@pytest.mark.parametrize(("spec", "problem"), [
    ("tfidf(chars=(2, 5))", "counts 3 to 5 chars, not 2 to 5 chars"),
    ("tfidf(analyzer='words', words=(1, 2))", "counts 1 to 1 words, not 1 to 2 words"),
    ("tfidf(analyzer='words', stem=False)", "counts stemmed words"),
    ("tfidf(chars=(5, 3))", "must be a range of lengths"),
])  # fmt: skip
def test_n_grams_that_the_shipped_table_does_not_count_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        value(spec, "a", "b")


def test_of_several_references_the_closest_counts() -> None:
    texts = ["check null", "use a constant", "check for null 修复", ""]
    assert value("tfidf", texts[0], texts[1], texts[2]) == value("tfidf", texts[0], texts[2])
    weighting = Weighting(Grams("chars", 3, 5))
    assert cosines([], [], weighting).shape == (0,)
