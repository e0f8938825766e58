"""The settings of a model's folder, as several releases of sentence-transformers write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny_models
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.embeddings.model_folder import read_settings


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


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("1_Pooling/config.json", {"pooling_mode_lasttoken": True}, "pooling by lasttoken"),
        ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "pooling by cls and mean"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}], "module 'Dense'"),
        ("modules.json", {"a": 1}, "is not a JSON list"),
        ("config.json", [1], "is not a JSON object"),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": "query", "prompts": {"query": "query: "}},
            "the prompt 'query'",
        ),
    ],
)
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
