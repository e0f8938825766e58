"""The reader of safetensors files: what was written comes back, and no broken file gets through."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.embeddings.bert_graph import read_weights
from tiny_models import safetensors, weights


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    written = weights()
    file.write_bytes(safetensors(written))
    found = read_weights(file)
    assert found.keys() == written.keys()
    assert all(np.array_equal(found[name], written[name]) for name in written)


def test_every_float_becomes_float32_and_whole_numbers_are_left_out(tmp_path: Path) -> None:
    values = np.array([[1.5, -2.0], [0.25, 3.0]])
    kinds = {"half": "F16", "brain": "BF16", "double": "F64", "ids": "I64", "odd": "F32"}
    tensors = {
        "ids": np.arange(3),
        "half": values.astype("<f2"),
        "brain": (values.astype("<f4").view("<u4") >> 16).astype("<u2"),
        "one": np.zeros((1, 1), dtype="<f2"),  # two bytes, so that what follows is not aligned
        "double": values,
        "odd": values.astype("<f4"),
    }
    file = tmp_path / "model.safetensors"
    file.write_bytes(safetensors(tensors, kinds | {"one": "F16"}))
    found = read_weights(file)
    assert set(found) == {"half", "brain", "one", "double", "odd"}
    for name in ("half", "brain", "double", "odd"):
        assert found[name].dtype == np.float32
        assert np.array_equal(found[name], values.astype(np.float32)), name


@pytest.mark.parametrize(("content", "words"), [
    (b"", "not a whole safetensors file"),
    (b"abc", "not a whole safetensors file"),
    (struct.pack("<Q", 10**9) + b"{}", "not a whole safetensors file"),
    (struct.pack("<Q", 2) + b"{]", "not a whole safetensors file"),
    (struct.pack("<Q", 2) + b"[]", "not a whole safetensors file"),
    (safetensors(weights())[:-1], "not a whole safetensors file"),
    (safetensors({"a": np.zeros(3, dtype="<f4")}, {"a": "F64"}), "not a whole safetensors file"),
])  # fmt: skip
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=words) as raised:
        read_weights(file)
    assert str(file) in str(raised.value)


@given(
    entry=st.recursive(
        st.none() | st.booleans() | st.integers(-5, 50) | st.sampled_from(["F32", "F16", "I64", ""]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_a_header_of_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, entry: object) -> None:
    header = json.dumps({"a": entry}).encode()
    file = tmp_path_factory.getbasetemp() / "any.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header + bytes(48))
    try:
        read_weights(file)
    except UserError as error:
        assert "\n" not in str(error)
