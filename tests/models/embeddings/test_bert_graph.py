"""Graphs built from weights, held against a forward pass in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiny_models
from numpy_bert import hidden_states
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.embeddings.bert_graph import build_graph, is_known, read_shape
from reviewgauge.models.embeddings.onnx import Session

IDS = [[2, 95, 96, 97, 3], [2, 8, 40, 9, 3], [2, 1, 1, 70, 3]]


def run(
    config: dict[str, Any], weights: dict[str, npt.NDArray[np.float32]], layers: int | None = None
) -> npt.NDArray[np.float32]:
    graph = build_graph(weights, read_shape(config, "config.json"), "weights", layers)
    return Session(graph.model, dict(graph.weights)).run(np.array(IDS))


@pytest.mark.parametrize("changes", [
    {}, {"hidden_act": "gelu_new"},
    {"hidden_act": "relu", "layer_norm_eps": 1e-5},
    {"num_attention_heads": 2},
    {"model_type": "roberta", "pad_token_id": 1, "layer_norm_eps": 1e-5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("layers", [0, 1, 2, None])
def test_every_layer_is_that_of_the_plain_forward_pass(changes: dict[str, object], layers: int | None) -> None:
    config, weights = tiny_models.config(**changes), tiny_models.weights(seed=3)
    found = run(config, weights, layers)
    for row, ids in enumerate(IDS):
        expected = hidden_states({k: v.astype(np.float64) for k, v in weights.items()}, config, ids)
        assert np.abs(found[row] - expected[-1 if layers is None else layers]).max() < 1e-5


def test_old_names_are_understood() -> None:
    new = tiny_models.weights()
    old = {}
    for name, tensor in new.items():
        named = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        old[f"bert.{named}"] = tensor
    old["cls.predictions.bias"] = np.zeros(3, dtype=np.float32)
    assert np.array_equal(run(tiny_models.config(), new), run(tiny_models.config(), old))


@pytest.mark.parametrize(("changes", "words"), [
    ({"model_type": "t5"}, "the architecture 't5'"),
    ({"model_type": None}, "the architecture None"),
    ({"position_embedding_type": "relative_key"}, "absolute positions"),
    ({"is_decoder": True}, "only encoders"),
    ({"hidden_act": "swish"}, "'swish'"),
    ({"num_attention_heads": 3}, "3 heads"),
    ({"num_attention_heads": 0}, "0 heads"),
    ({"num_hidden_layers": "many"}, "not a number"),
])  # fmt: skip
def test_another_architecture_is_refused_in_one_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_shape(tiny_models.config(**changes), "config.json")


def test_a_config_without_its_fields_is_refused() -> None:
    with pytest.raises(BadInput, match="hidden_size"):
        read_shape({"model_type": "bert", "num_hidden_layers": 2}, "config.json")
    assert is_known({"model_type": "bert"})
    assert not is_known({})


def test_weights_of_another_config_are_refused() -> None:
    weights = tiny_models.weights()
    with pytest.raises(BadInput, match=r"encoder.layer.2.*\(it holds 2 layers"):
        run(tiny_models.config(num_hidden_layers=3), weights)
    with pytest.raises(BadInput, match="belongs to another config"):
        run(tiny_models.config(max_position_embeddings=50), weights)
    with pytest.raises(BadInput, match=r"embeddings.word_embeddings.weight"):
        run(tiny_models.config(), {})
    with pytest.raises(UserError, match=r"layers 0 .* to 2"):
        run(tiny_models.config(), weights, 3)
