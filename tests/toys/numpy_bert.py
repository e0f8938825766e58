"""A BERT forward pass in plain numpy, in float64, written apart from the package: the oracle for its graphs.

It follows Devlin et al. 2019 and the names of the checkpoints, reads safetensors on its own, and knows RoBERTa's
positions. Slow, and meant to be read.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import erf

Array = npt.NDArray[np.float64]


def read_weights(file: Path) -> dict[str, Array]:
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype="<f4")
            weights[name] = flat.reshape(entry["shape"]).astype(np.float64)
    return weights


def layer_norm(x: Array, scale: Array, shift: Array, epsilon: float) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    found: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon) * scale + shift
    return found


def gelu(x: Array) -> Array:
    found: Array = x * (1 + erf(x / np.sqrt(2))) / 2
    return found


def gelu_tanh(x: Array) -> Array:
    found: Array = x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return found


def relu(x: Array) -> Array:
    return np.where(x > 0, x, 0.0)


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "relu": relu}


def hidden_states(weights: dict[str, Array], config: dict[str, Any], ids: list[int]) -> list[Array]:
    """The T x d states after the embeddings and after every layer."""
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]
    first = config["pad_token_id"] + 1 if config["model_type"] == "roberta" else 0
    positions = np.arange(first, first + len(ids))
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][positions]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"], epsilon)
    states = [x]
    for number in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{number}"

        def dense(value: Array, name: str, prefix: str = prefix) -> Array:
            found: Array = value @ weights[f"{prefix}.{name}.weight"].T + weights[f"{prefix}.{name}.bias"]
            return found

        query, key, value = (dense(x, f"attention.self.{word}") for word in ("query", "key", "value"))
        seen = []
        for q, k, v in zip(*(np.split(part, heads, axis=1) for part in (query, key, value)), strict=True):
            scores = q @ k.T / np.sqrt(q.shape[1])
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            seen.append(shares / shares.sum(axis=1, keepdims=True) @ v)
        norm = f"{prefix}.attention.output.LayerNorm"
        mixed = dense(np.concatenate(seen, axis=1), "attention.output.dense")
        x = layer_norm(x + mixed, weights[f"{norm}.weight"], weights[f"{norm}.bias"], epsilon)
        active = ACTIVATIONS[config["hidden_act"]](dense(x, "intermediate.dense"))
        norm = f"{prefix}.output.LayerNorm"
        x = layer_norm(x + dense(active, "output.dense"), weights[f"{norm}.weight"], weights[f"{norm}.bias"], epsilon)
        states.append(x)
    return states
