"""The hub route, through the real client library.

The library reads its settings when it is imported, so each scenario runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny_models
from hub_server import COMMIT, Hub, hub_environment, serving
from reviewgauge.models.embeddings.onnx import OnnxEmbedder

pytestmark = pytest.mark.slow
PROGRAM = """
import json, sys
from reviewgauge.core.errors import UserError
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.request.model_spec import ChatSettings
for word in sys.argv[1:]:
    if word == "offline":
        ChatClient(ChatSettings(cache=False, offline=True)).__enter__()
        continue
    try:
        model = embedder(word, cache=False)
        found = {"vectors": model.vectors(["a null check"]).tolist(), "fingerprint": model.fingerprint}
    except UserError as error:
        found = {"error": str(error)}
    print(json.dumps(found))
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A tiny model as it lies on the hub: with an ONNX file, and with weights that nobody asked for."""
    made = tiny_models.write_model(tmp_path / "tiny", seed=1)
    tiny_models.write_onnx(made, beside=True)
    files = {str(file.relative_to(made)): file.read_bytes() for file in made.rglob("*") if file.is_file()}
    others = {"pytorch_model.bin": b"large", "onnx/model_quantized.onnx": b"not this one"}
    with serving({"org/tiny": files | others}) as server:
        yield server


def ask(home: Path, url: str, *words: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, env=hub_environment(home, url), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_model_comes_from_the_hub_and_then_from_its_cache(hub: Hub, tmp_path: Path) -> None:
    (found,) = ask(tmp_path / "home", hub.url, f"hub:org/tiny@{COMMIT}")
    own = OnnxEmbedder("own", tmp_path / "tiny")
    assert found == {"vectors": own.vectors(["a null check"]).tolist(), "fingerprint": own.fingerprint}
    assert sorted(set(hub.fetched)) == sorted(hub.fetched) and "onnx/model.onnx_data" in hub.fetched
    assert not {"pytorch_model.bin", "model.safetensors", "onnx/model_quantized.onnx"} & set(hub.fetched)
    hub.fetched.clear()
    assert ask(tmp_path / "home", hub.url, "offline", f"hub:org/tiny@{COMMIT}") == [found] and not hub.fetched


def test_what_is_not_there_is_said_in_one_line(hub: Hub, tmp_path: Path) -> None:
    words = ("hub:org/nothing", "hub:org/tiny@v9", "hub:org/../../etc", "hub:", "offline", "hub:org/tiny")
    *answers, found = ask(tmp_path / "home", hub.url, *words)
    for answer in answers:
        assert "cannot be fetched" in answer["error"] and "\n" not in answer["error"], answer
    assert found["error"].endswith("(hf download org/tiny)") and not hub.fetched
    (found,) = ask(tmp_path / "home", "http://127.0.0.1:9", "hub:org/tiny")
    assert "HF_ENDPOINT" in found["error"]
