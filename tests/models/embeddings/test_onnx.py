"""The local route: MiniLM and tiny models, held against a forward pass in plain numpy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny_models
from numpy_bert import hidden_states, read_weights
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.embeddings.embedder import DEFAULT
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder, read_settings


def put(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def test_a_folder_of_the_newest_release(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "m", longest=None)
    kinds = {
        "": "sentence_transformers.base.modules.transformer.Transformer",
        "1_Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        "2_Normalize": "sentence_transformers.base.modules.normalize.Normalize",
    }
    put(folder, "modules.json", [{"path": path, "type": kind} for path, kind in kinds.items()])
    put(folder, "1_Pooling/config.json", {"embedding_dimension": 16, "pooling_mode": "cls", "include_prompt": True})
    put(folder, "tokenizer_config.json", {"model_max_length": 20})
    put(folder, "sentence_bert_config.json", {"transformer_task": "feature-extraction"})
    put(folder, "config_sentence_transformers.json", {"default_prompt_name": None, "prompts": {"query": ""}})
    found = read_settings(folder)
    assert (found.pooling, found.longest, found.limit, found.lower) == ("cls", 20, 20, False)


def test_a_bare_checkpoint_is_pooled_by_the_mean(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "m", longest=None)
    (folder / "modules.json").unlink()
    (folder / "1_Pooling" / "config.json").unlink()
    found = read_settings(folder)
    assert (found.pooling, found.longest, found.limit) == ("mean", tiny_models.POSITIONS, tiny_models.POSITIONS)


def test_what_is_longer_than_the_network_is_not_read(tmp_path: Path) -> None:
    assert read_settings(tiny_models.write_model(tmp_path / "a", longest=500)).longest == tiny_models.POSITIONS
    roberta = tiny_models.write_model(tmp_path / "b", longest=500, model_type="roberta")
    assert read_settings(roberta).longest == tiny_models.POSITIONS - 2


def test_texts_are_lowered_where_the_folder_says_so(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "m")
    put(folder, "sentence_bert_config.json", {"max_seq_length": 12, "do_lower_case": True})
    assert read_settings(folder).lower


@pytest.mark.parametrize(("file", "content", "words"), [
    ("1_Pooling/config.json", {"pooling_mode_lasttoken": True}, "pooling by lasttoken"),
    ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "pooling by cls and mean"),
    ("modules.json", [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}], "module 'Dense'"),
    ("modules.json", {"a": 1}, "is not a JSON list"),
    ("config.json", [1], "is not a JSON object"),
    ("config_sentence_transformers.json", {"default_prompt_name": "query", "prompts": {"query": "query: "}},
        "the prompt 'query'"),
])  # fmt: skip
def test_what_is_not_understood_is_refused(tmp_path: Path, file: str, content: object, words: str) -> None:
    folder = tiny_models.write_model(tmp_path / "m")
    put(folder, file, content)
    with pytest.raises(UserError, match=words):
        read_settings(folder)


def test_a_broken_settings_file_is_named(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text("{")
    with pytest.raises(BadInput, match=r"tokenizer_config\.json: is not JSON"):
        read_settings(folder)


SENTENCES = (
    "Please check for null before calling close().",
    "This leaks the connection when `commit` raises: use a context manager.",
    "nit",
    "Why O(n²)? Die Schleife läuft über alle Paare – 例えば並べ替え。 🙂",
    "x = {'a': [1, 2, 3]}\nreturn x.get('b') or []",
    "",
    "Could we name this `retries_left` rather than `n`? " * 12,
)


@pytest.fixture
def tiny(tmp_path: Path) -> OnnxEmbedder:
    return OnnxEmbedder("tiny", tiny_models.write_model(tmp_path / "tiny"))


@pytest.mark.drill
def test_minilm_is_the_original_model() -> None:
    model = embedder(DEFAULT, cache=False)
    assert isinstance(model, OnnxEmbedder)
    assert (model.dimensions, model.longest, model.settings.limit, model.settings.pooling) == (384, 256, 512, "mean")
    found = model.vectors(SENTENCES)
    assert found.shape == (len(SENTENCES), 384)
    assert found.dtype == np.float32
    weights = read_weights(model.folder / "model.safetensors")
    for vector, one in zip(found, model.tokens(SENTENCES), strict=True):
        expected = hidden_states(weights, dict(model.settings.config), one.ids.tolist())[-1].mean(axis=0)
        assert np.abs(vector - expected / np.linalg.norm(expected)).max() < 1e-5  # 4e-7 where it was written


def test_tokens_know_their_characters(tiny: OnnxEmbedder) -> None:
    text = "  the NULL\tcheck?"
    one = tiny.tokens([text])[0]
    assert one.tokens == ("[CLS]", "the", "null", "check", "?", "[SEP]")
    assert one.special.tolist() == [True, False, False, False, False, True]
    covered = [text[start:end] for start, end in one.offsets.tolist()]
    assert covered == ["", "the", "NULL", "check", "?", ""]
    assert one.vectors.shape == (6, tiny_models.HIDDEN)
    assert not one.cut


def test_long_texts_are_cut_and_counted(tiny: OnnxEmbedder) -> None:
    fits, over = "lock " * 10, "lock " * 11  # with [CLS] and [SEP] 12 tokens, and 13
    assert tiny.longest == 12
    assert tiny.cut([over, fits, over, ""]).tolist() == [True, False, True, False]
    assert np.array_equal(*tiny.vectors([over, fits + "and whatever else"]))
    assert [len(one.ids) for one in tiny.tokens([over], longest=5)] == [5]
    whole = tiny.tokens([over * 9], longest=1000)[0]
    assert len(whole.ids) == tiny_models.POSITIONS  # the network has room for no more
    assert whole.cut


@given(st.lists(st.text(max_size=30), min_size=1, max_size=12))
def test_a_vector_does_not_depend_on_its_company(texts: list[str]) -> None:
    model = shared_tiny()
    together = model.vectors(texts)
    assert np.isfinite(together).all()
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(model.vectors([text])[0], vector)


_SHARED: list[OnnxEmbedder] = []


def shared_tiny() -> OnnxEmbedder:
    """One model for all examples of a property."""
    if not _SHARED:
        import tempfile

        _SHARED.append(OnnxEmbedder("tiny", tiny_models.write_model(Path(tempfile.mkdtemp()) / "tiny")))
    return _SHARED[0]


@pytest.mark.slow
def test_odd_texts_have_vectors(tiny: OnnxEmbedder) -> None:
    odd = ["", " \n", "\ud83d half a pair", "🙂" * 100, "\x00", "a" * 1_000_000, "ﷺ", "\u202e back", "x\u0301"]
    found = tiny.vectors(odd)
    assert np.isfinite(found).all()
    assert tiny.vectors([]).shape == (0, tiny_models.HIDDEN)
    assert tiny.tokens([]) == []


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_pooling(tmp_path: Path, pooling: str) -> None:
    model = OnnxEmbedder("tiny", tiny_models.write_model(tmp_path / "tiny", pooling=pooling))
    states = model.tokens(["the missing test"])[0].vectors.astype(np.float64)
    expected = {"mean": states.mean(axis=0), "cls": states[0], "max": states.max(axis=0)}[pooling]
    assert np.abs(model.vectors(["the missing test"])[0] - expected / np.linalg.norm(expected)).max() < 1e-6


@pytest.mark.parametrize("file", ["onnx/model.onnx", "model.onnx"])
def test_an_onnx_file_gives_the_same(tmp_path: Path, file: str) -> None:
    built = OnnxEmbedder("tiny", tiny_models.write_model(tmp_path / "built"))
    folder = tiny_models.write_model(tmp_path / "onnx")
    tiny_models.write_onnx(folder, file)
    model = OnnxEmbedder("onnx", folder)
    assert model.dimensions == tiny_models.HIDDEN
    assert np.abs(model.vectors(SENTENCES) - built.vectors(SENTENCES)).max() < 1e-6
    assert model.fingerprint != built.fingerprint
    with pytest.raises(UserError, match="only its last layer"):
        model.tokens(["a"], layer=1)


def test_the_fingerprint_is_of_weights_tokenizer_and_settings(tmp_path: Path) -> None:
    def made(name: str, **changes: object) -> str:
        folder = tiny_models.write_model(tmp_path / name, **changes)  # type: ignore[arg-type]
        return OnnxEmbedder(name, folder).fingerprint

    prints = [made("a"), made("seed", seed=1), made("pooling", pooling="cls"), made("longest", longest=8)]
    prints += [made("heads", num_attention_heads=2)]
    folder = tiny_models.write_model(tmp_path / "tokenizer")
    changed = json.loads((folder / "tokenizer.json").read_text())
    changed["normalizer"]["lowercase"] = False
    (folder / "tokenizer.json").write_text(json.dumps(changed))
    prints.append(OnnxEmbedder("tokenizer", folder).fingerprint)
    assert len(set(prints)) == len(prints)
    assert made("b") == prints[0]


def test_weights_that_are_not_the_official_ones_are_refused(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "tiny")
    with pytest.raises(UserError, match="wrong checksum"):
        _ = OnnxEmbedder(DEFAULT, folder, official="0" * 64).fingerprint


def test_broken_folders_are_named(tmp_path: Path) -> None:
    def refused(folder: Path, words: str) -> None:
        with pytest.raises(UserError, match=words) as raised:
            OnnxEmbedder("broken", folder).vectors(["a"])
        assert "\n" not in str(raised.value)

    refused(tmp_path / "nowhere", "is not a folder")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"holds no config\.json")
    folder = tiny_models.write_model(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "aside")
    refused(folder, "holds no weights")
    (folder / "model.safetensors").write_bytes((folder / "aside").read_bytes()[:-7])
    refused(folder, "not a whole safetensors file")
    (folder / "model.safetensors").unlink()
    (folder / "model.onnx").write_bytes(b"no graph")
    refused(folder, "onnxruntime cannot load")
    (folder / "tokenizer.json").write_text("{}")
    refused(folder, "is not a tokenizer")
    (folder / "tokenizer.json").unlink()
    refused(folder, "holds no tokenizer")
    other = tiny_models.write_model(tmp_path / "other", model_type="t5")
    refused(other, "the architecture 't5'")


def test_a_graph_that_is_no_text_encoder_is_refused(tmp_path: Path) -> None:
    import onnx

    folder = tiny_models.write_model(tmp_path / "model")
    file = tiny_models.write_onnx(folder)
    model = onnx.load_model(str(file))
    extra = onnx.helper.make_tensor_value_info("pixel_values", onnx.TensorProto.FLOAT, [1])
    model.graph.input.append(extra)
    onnx.save_model(model, str(file))
    with pytest.raises(UserError, match="wants pixel_values"):
        OnnxEmbedder("m", folder).vectors(["a"])
