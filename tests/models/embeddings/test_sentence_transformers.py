"""The sentence-transformers route, where that library is installed; the error without it is in test_embeddings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiny_models
from reviewgauge.core.errors import UserError
from reviewgauge.models.embeddings.onnx import OnnxEmbedder
from reviewgauge.models.embeddings.sentence_transformers import SentenceTransformersEmbedder

pytest.importorskip("sentence_transformers", reason="the extra reviewgauge[sentence-transformers] is not installed")

TEXTS = ["a null check is missing", "  the lock", "", "leak " * 30, "é🙂"]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[SentenceTransformersEmbedder, OnnxEmbedder]:
    folder = tiny_models.write_model(tmp_path / "tiny")
    return SentenceTransformersEmbedder("st", str(folder)), OnnxEmbedder("onnx", folder)


def test_it_gives_what_the_onnx_route_gives(pair: tuple[SentenceTransformersEmbedder, OnnxEmbedder]) -> None:
    theirs, ours = pair
    assert np.abs(theirs.vectors(TEXTS) - ours.vectors(TEXTS)).max() < 1e-5
    assert theirs.dimensions == ours.dimensions
    assert theirs.longest == ours.longest
    assert theirs.cut(TEXTS).tolist() == ours.cut(TEXTS).tolist() == [False, False, False, True, False]
    for one, other in zip(theirs.tokens(TEXTS), ours.tokens(TEXTS), strict=True):
        assert one.tokens == other.tokens
        assert one.cut == other.cut
        assert np.array_equal(one.offsets, other.offsets)
        assert np.array_equal(one.special, other.special)
        assert np.abs(one.vectors - other.vectors).max() < 1e-4


def test_its_fingerprint_is_of_its_weights(tmp_path: Path) -> None:
    def made(name: str, seed: int) -> str:
        folder = tiny_models.write_model(tmp_path / name, seed=seed)
        return SentenceTransformersEmbedder(name, str(folder)).fingerprint

    assert made("a", 0) == made("b", 0) != made("c", 1)


def test_what_it_cannot_do_is_said(pair: tuple[SentenceTransformersEmbedder, OnnxEmbedder], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="only its last layer"):
        pair[0].tokens(TEXTS, layer=1)
    with pytest.raises(UserError, match="sentence-transformers cannot load"):
        SentenceTransformersEmbedder("st", str(tmp_path / "nowhere")).vectors(["a"])
