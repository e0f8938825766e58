"""Cosine of sentence vectors: GradedReviews' figures, several models, floors, blank and overlong texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

import tiny_models
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset, Measured, Metric
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.embedding import Embedding
from reviewgauge.metrics.texts.text_metric import TextPair
from reviewgauge.models.embeddings.embedder import DEFAULT
from reviewgauge.models.embeddings.load import embedder

PAIRS = (
    ("Please close the file.", "The file is never closed: use a with statement."),
    ("Why is this needed?", "Is there a reason for this change? It looks unrelated."),
    ("Please close the file.", "Could you rename this variable?"),
    ("Rename the variable, and add a test for the empty list.", "A better name would help here."),
)
# By sentence-transformers 6.2.0 on torch 2.15.0, from the same weights.
COSINES = (0.650236, 0.292456, 0.15502, 0.104497)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")


def values(metric: Metric, *pairs: tuple[str, str]) -> list[float]:
    assert isinstance(metric, Embedding)
    return [parts["value"] for parts in metric.segments([TextPair(said, (known,)) for said, known in pairs])]


def test_values_are_those_of_sentence_transformers() -> None:
    assert values(Embedding(), *PAIRS) == pytest.approx(COSINES, abs=2e-6)


@pytest.mark.drill
def test_the_figures_of_graded_reviews(shared_data: Path) -> None:
    """MiniLM on every tenth of the official rows; the figures of all of them are in test_published.py."""
    dataset = load(Dataset, f"graded_reviews(path={str(shared_data / 'graded-reviews')!r})")
    cases = {case.id: case for case in dataset.cases()}
    reviews, labels = dataset.recorded()
    assert len(reviews) == 5164
    reviews = reviews[::10]
    grade = {(label.subject.case, label.subject.system): float(label.value) for label in labels}
    grades = np.array([grade[review.case, review.system] for review in reviews])
    answers = Embedding().parts_many([(cases[review.case], review) for review in reviews])
    measured = [one.parts for one in answers if isinstance(one, Measured)]
    found = np.array([parts["value"] for parts in measured])
    assert len(found) == len(grades) > 500
    assert spearmanr(found, grades).statistic == pytest.approx(0.3402, abs=0.0005)
    floored = np.where(found < 0.35, 0, found)
    assert spearmanr(floored, grades).statistic == pytest.approx(0.5171, abs=0.0005)
    above = grades > 1
    ranks = rankdata(found)[above].sum() - above.sum() * (above.sum() + 1) / 2
    assert ranks / above.sum() / (~above).sum() == pytest.approx(0.850, abs=0.001)
    assert sum(parts["cut"] for parts in measured) == 2, "pairs with one of the 21 texts over 256 tokens"


def test_a_blank_review_says_nothing_and_the_closest_reference_counts() -> None:
    metric = Embedding()
    said, known = PAIRS[0]
    blank, spaces, both, same = metric.segments(
        [
            TextPair("", (known,)),
            TextPair(" \n\t", (known,)),
            TextPair(said, (PAIRS[2][1], known)),
            TextPair(known, (known,)),
        ]
    )
    assert blank["value"] == spaces["value"] == blank["cut"] == 0
    assert both["value"] == pytest.approx(COSINES[0], abs=2e-6)
    assert same["value"] == pytest.approx(1, abs=1e-12)
    assert metric.segments([TextPair("", ("x",))]) == [{"value": 0.0, "cut": 0.0}]
    assert metric.segments([]) == []


@pytest.mark.parametrize(
    ("how", "combined"), [("mean", np.mean), ("median", np.median), ("max", np.max), ("min", np.min)]
)
def test_several_models_are_combined_as_the_paper_tried(tmp_path: Path, how: str, combined: object) -> None:
    folders = tuple(str(tiny_models.write_model(tmp_path / name, seed=seed)) for seed, name in enumerate("abc"))
    alone = [values(Embedding(model=folder), *PAIRS) for folder in folders]
    metric = load(Metric, f"embedding(model={folders!r}, combine_by={how!r})")
    assert load(Metric, signature(metric)) == metric
    assert callable(combined)
    assert values(metric, *PAIRS) == pytest.approx(list(combined(alone, axis=0)))
    assert set(metric.pins()) == set(folders)


@pytest.mark.slow
def test_a_floor_makes_everything_below_it_equal() -> None:
    floored = load(Metric, f"embedding(floor=.25, floor_of={DEFAULT!r})")
    found = values(floored, *PAIRS)
    assert found[:2] == values(Embedding(), *PAIRS)[:2]
    assert found[2:] == [0, 0]
    by_print = load(Metric, f"embedding(floor=.25, floor_of={embedder(DEFAULT).fingerprint[:10]!r})")
    assert values(by_print, *PAIRS) == found


def test_a_floor_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = str(tiny_models.write_model(tmp_path / "tiny"))
    for spec in (
        "embedding(floor=.7314, floor_of='mxbai-embed-large-v1')",
        f"embedding(model={folder!r}, floor=.35, floor_of={DEFAULT!r})",
        f"embedding(floor=.35, floor_of={embedder(folder).fingerprint!r})",
    ):
        metric = load(Metric, spec)
        with pytest.raises(UserError, match=r"belongs to the model .* fit it again"):
            values(metric, *PAIRS)
        with pytest.raises(UserError, match="belongs to the model"):
            metric.pins()


@pytest.mark.parametrize(("parameters", "words"), [
    ("floor=.35", "needs the model"),
    ("floor_of='all-MiniLM-L6-v2'", "needs a floor"),
    ("model=('a', 'b'), floor=.35, floor_of='a'", "several are combined"),
    ("model=()", "a model is required"), ("model=''", "a model is required"),
    ("combine_by='sum'", "must be one of 'mean'"),
    ("model=7", "is not of type"),
])  # fmt: skip
def test_parameters_that_mean_nothing_are_refused(parameters: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load(Metric, f"embedding({parameters})")


def test_the_share_of_cut_texts_is_a_measure(tmp_path: Path) -> None:
    metric = Embedding(model=str(tiny_models.write_model(tmp_path / "tiny", longest=12)))
    short, long = "lock leak", "lock " * 40
    found = metric.segments([TextPair(short, (short,)), TextPair(long, (short,)), TextPair(short, (long,))])
    assert [parts["cut"] for parts in found] == [0, 1, 1]
