"""Tiny BERT models with random weights, in folders as sentence-transformers saves them."""

from __future__ import annotations

import json
import string
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HIDDEN, WIDE, HEADS, LAYERS, POSITIONS = 16, 24, 4, 2, 40
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "this", "null", "check", "is", "missing", "here", "test", "error", "name", "lock", "leak"]
VOCABULARY = [
    *SPECIAL, *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
    *string.digits, *string.punctuation, *WORDS,
]  # fmt: skip


def config(**changes: object) -> dict[str, Any]:
    return {
        "model_type": "bert", "hidden_size": HIDDEN, "intermediate_size": WIDE, "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS, "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-12,
        "hidden_act": "gelu", "pad_token_id": 0, "vocab_size": len(VOCABULARY), **changes,
    }  # fmt: skip


def weights(seed: int = 0, layers: int = LAYERS) -> dict[str, npt.NDArray[np.float32]]:
    generator = np.random.default_rng(seed)

    def made(*shape: int) -> npt.NDArray[np.float32]:
        return generator.normal(0, 0.3, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": made(len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": made(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": made(2, HIDDEN),
        "embeddings.LayerNorm.weight": 1 + made(HIDDEN),
        "embeddings.LayerNorm.bias": made(HIDDEN),
    }
    for number in range(layers):
        of = f"encoder.layer.{number}"
        for name, n_in, n_out in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, WIDE),
            ("output.dense", WIDE, HIDDEN),
        ):
            found[f"{of}.{name}.weight"] = made(n_out, n_in)
            found[f"{of}.{name}.bias"] = made(n_out)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            found[f"{of}.{name}.weight"] = 1 + made(HIDDEN)
            found[f"{of}.{name}.bias"] = made(HIDDEN)
    return found


def safetensors(tensors: Mapping[str, npt.NDArray[Any]], kinds: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file; `kinds` names the dtype of tensors that are not float32."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in tensors.items():
        data = tensor.tobytes()
        kind = (kinds or {}).get(name, "F32")
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def tokenizer() -> dict[str, Any]:
    """A WordPiece tokenizer.json that cuts at 6 tokens and pads, which its readers must turn off."""
    ids = {token: number for number, token in enumerate(VOCABULARY)}
    start, end = ({"SpecialToken": {"id": word, "type_id": 0}} for word in ("[CLS]", "[SEP]"))
    flags = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": {"max_length": 6, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 6},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [{"id": ids[word], "content": word, **flags} for word in SPECIAL],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, {"Sequence": {"id": "A", "type_id": 0}}, end],
            "pair": [start, {"Sequence": {"id": "A", "type_id": 0}}, end, {"Sequence": {"id": "B", "type_id": 1}}, end],
            "special_tokens": {word: {"id": word, "ids": [ids[word]], "tokens": [word]} for word in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def write_model(
    folder: Path, *, seed: int = 0, pooling: str = "mean", longest: int | None = 12, **changes: object
) -> Path:
    """A model in `folder`: settings, tokenizer, weights. `changes` go into config.json."""
    (folder / "1_Pooling").mkdir(parents=True)
    flags = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_max_tokens": "max"}
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    files: dict[str, object] = {
        "config.json": config(**changes),
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {"model_max_length": 1000000000000000019884624838656},
        "modules.json": modules,
        "1_Pooling/config.json": {
            "word_embedding_dimension": HIDDEN,
            **{key: word == pooling for key, word in flags.items()},
        },
    }
    if longest is not None:
        files["sentence_bert_config.json"] = {"max_seq_length": longest, "do_lower_case": False}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "model.safetensors").write_bytes(safetensors(weights(seed)))
    return folder


def write_onnx(folder: Path, file: str = "onnx/model.onnx", *, beside: bool = False) -> Path:
    """The model of a folder as an ONNX file, by the usual three inputs, and its safetensors taken away.

    With `beside` the weights lie in a second file, as those of large models do.
    """
    import onnx

    from reviewgauge.models.embeddings.bert_graph import build_graph, read_shape, read_weights

    source = folder / "model.safetensors"
    shape = read_shape(json.loads((folder / "config.json").read_text()), "config.json")
    graph = build_graph(read_weights(source), shape, "weights")
    model = onnx.load_model_from_string(graph.model)
    for tensor in model.graph.initializer:
        if tensor.name in graph.weights:
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.array(graph.weights[tensor.name]), tensor.name))
    for name in ("attention_mask", "token_type_ids"):
        wanted = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["texts", "tokens"])
        model.graph.input.append(wanted)
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    place = f"{target.name}_data"
    onnx.save_model(model, str(target), save_as_external_data=beside, location=place, size_threshold=200)
    source.unlink()
    return target
