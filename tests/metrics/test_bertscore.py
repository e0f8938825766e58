"""BERTScore: the values of the bert-score package, and a plain implementation on any text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny_models
from numpy_bert import hidden_states, read_weights
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from reviewgauge.metrics.bertscore import Bertscore
from reviewgauge.metrics.texts.text_metric import TextPair
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder

SAID = (
    "Please close the file.",
    "Why is this needed?",
    "Please close the file.",
    "Rename the variable, and add a test for the empty list.",
)
KNOWN = (
    "The file is never closed: use a with statement.",
    "Is there a reason for this change? It looks unrelated.",
    "Could you rename this variable?",
    "A better name would help here.",
)
# (P, R, F1) by bert-score 0.3.13 on transformers 5.23.0 and torch 2.15.0, from the same weights, last layer (6).
LAST = (
    (0.63999, 0.470592, 0.542372),
    (0.495639, 0.323955, 0.391815),
    (0.218867, 0.165003, 0.188156),
    (0.166086, 0.226112, 0.191506),
)
THIRD = (
    (0.719171, 0.494192, 0.585824),
    (0.669002, 0.511382, 0.579668),
    (0.396947, 0.377915, 0.387197),
    (0.369273, 0.430741, 0.397646),
)


def triples(metric: Metric, *pairs: TextPair) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert isinstance(metric, Bertscore)
    return np.array([[parts[name] for name in ("precision", "recall", "f1")] for parts in metric.segments(pairs)])


EXAMPLES = tuple(TextPair(said, (known,)) for said, known in zip(SAID, KNOWN, strict=True))


@pytest.mark.slow
def test_values_are_those_of_the_package() -> None:
    assert np.abs(triples(Bertscore(), *EXAMPLES) - LAST).max() < 2e-6
    assert np.abs(triples(Bertscore(layer=6), *EXAMPLES) - LAST).max() < 2e-6
    assert np.abs(triples(Bertscore(layer=3), *EXAMPLES) - THIRD).max() < 2e-6


def test_of_several_references_the_best_of_each_counts() -> None:
    found = triples(Bertscore(), TextPair(SAID[0], (KNOWN[2], KNOWN[0])))
    assert np.abs(found - [LAST[0]]).max() < 2e-6


def test_blank_and_identical() -> None:
    same = TextPair(KNOWN[0], (KNOWN[0],))
    blank = TextPair(" \n", (KNOWN[0],))
    assert triples(Bertscore(), blank).tolist() == [[0, 0, 0]]
    assert triples(Bertscore(), same) == pytest.approx(1, abs=1e-6)
    assert Bertscore().segments([]) == []


def plain(model: OnnxEmbedder, said: str, known: str) -> tuple[float, ...]:
    """BERTScore in loops, on the states of the plain forward pass."""
    weights = read_weights(model.folder / "model.safetensors")

    def tokens(text: str) -> list[tuple[int, float, list[float]]]:
        ids = model.tokens([text], longest=10**6)[0].ids.tolist()
        states = hidden_states(weights, dict(model.settings.config), ids)[-1]
        special = {tiny_models.VOCABULARY.index(word) for word in ("[CLS]", "[SEP]")}
        rare = [0.0 if token in special else 1.0 for token in ids]
        return list(zip(ids, rare, (states / np.linalg.norm(states, axis=1, keepdims=True)).tolist(), strict=True))

    def side(some: list[tuple[int, float, list[float]]], others: list[tuple[int, float, list[float]]]) -> float:
        total = sum(weight for _, weight, _ in some)
        best = [max(0.0, *(float(np.dot(a, b)) for _, _, b in others)) for _, _, a in some]
        return sum(w * b for (_, w, _), b in zip(some, best, strict=True)) / total if total else 0.0

    one, other = tokens(said), tokens(known)
    precision, recall = side(one, other), side(other, one)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


TEXT = st.text("abcz 19.,?é🙂\n", min_size=1, max_size=25).filter(lambda text: text.strip())
_FOLDER: list[str] = []


def tiny_folder(home: Path) -> str:
    if not _FOLDER:
        _FOLDER.append(str(tiny_models.write_model(home / "tiny-bertscore")))
    return _FOLDER[0]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_any_text_has_the_value_of_the_plain_implementation(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tiny_folder(tmp_path_factory.getbasetemp())
    model = embedder(folder, cache=False)
    assert isinstance(model, OnnxEmbedder)
    found = triples(Bertscore(model=folder), *(TextPair(said, (known,)) for said, known in pairs))
    expected = [plain(model, said, known) for said, known in pairs]
    assert np.abs(found - expected).max() < 1e-5
    assert ((found >= 0) & (found <= 1 + 1e-6)).all()


def test_long_texts_are_read_as_far_as_the_network_goes(tmp_path: Path) -> None:
    folder = str(tiny_models.write_model(tmp_path / "tiny", longest=4))
    full = "lock " * (tiny_models.POSITIONS - 2)
    found = Bertscore(model=folder).segments([TextPair(full, ("leak",)), TextPair(full + "x", ("leak",))])
    assert [parts["cut"] for parts in found] == [0, 1]
    assert found[0]["f1"] == found[1]["f1"]


@pytest.mark.slow
def test_a_layer_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="must be 0"):
        load(Metric, "bertscore(layer=-1)")
    with pytest.raises(UserError, match=r"layer 7: .* to 6"):
        triples(Bertscore(layer=7), *EXAMPLES)
