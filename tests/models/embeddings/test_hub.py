"""The hub route, through the real client library, against a server that speaks as much of the hub's API as it takes.

The library reads its settings when it is imported, so each scenario runs in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tiny_models
from reviewgauge.models.embeddings.onnx import OnnxEmbedder

COMMIT, OLD = "a" * 40, "b" * 40
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
        found = {"vectors": model.vectors(["a null check"]).tolist(), "fingerprint": model.fingerprint,
                 "longest": model.longest, "folder": str(model.folder)}
    except UserError as error:
        found = {"error": str(error)}
    print(json.dumps(found))
"""


class Hub(ThreadingHTTPServer):
    """Models by (name, revision), each a mapping of files; remembers what was fetched."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.models: dict[tuple[str, str], dict[str, bytes]] = {}
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """`/ORG/NAME/resolve/REVISION/FILE`, with the headers that the client goes by."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if len(parts) < 5 or parts[2] != "resolve":
            return self.refuse("RepoNotFound")
        name, revision, file = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        if not any(known == name for known, _ in self.server.models):
            return self.refuse("RepoNotFound")
        commit = {"main": COMMIT, "old": OLD}.get(revision, revision)
        files = self.server.models.get((name, commit))
        if files is None:
            return self.refuse("RevisionNotFound")
        if file not in files:
            return self.refuse("EntryNotFound", commit)
        content = files[file]
        if body:
            self.server.fetched.append(f"{name}@{commit[0]}:{file}")
        self.send_response(200)
        self.send_header("X-Repo-Commit", commit)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)
        return None

    def refuse(self, code: str, commit: str = "") -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", code)
        if commit:
            self.send_header("X-Repo-Commit", commit)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def published(folder: Path, *, beside: bool = False, **changes: Any) -> dict[str, bytes]:
    """A tiny model as it lies on the hub: with an ONNX file, and with weights that nobody asked for."""
    made = tiny_models.write_model(folder, **changes)
    safetensors = (made / "model.safetensors").read_bytes()
    tiny_models.write_onnx(made, beside=beside)
    return files(made) | {"pytorch_model.bin": safetensors, "onnx/model_quantized.onnx": b"not this one"}


def ask(home: Path, url: str, *words: str, **variables: str) -> list[dict[str, Any]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**kept, "HF_HOME": str(home), "HF_ENDPOINT": url, "HF_HUB_DISABLE_TELEMETRY": "1", **variables}
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.drill
def test_a_model_comes_from_the_hub_and_then_from_its_cache(hub: Hub, tmp_path: Path) -> None:
    hub.models["org/tiny", COMMIT] = published(tmp_path / "new", seed=1)
    hub.models["org/tiny", OLD] = published(tmp_path / "old", seed=2)
    hub.models["org/large", COMMIT] = published(tmp_path / "large", seed=1, beside=True)
    new, old = OnnxEmbedder("new", tmp_path / "new"), OnnxEmbedder("old", tmp_path / "old")
    home = tmp_path / "home"
    found = ask(home, hub.url, "hub:org/tiny", "hub:org/tiny@old", f"hub:org/tiny@{OLD}", "hub:org/large")
    text = ["a null check"]
    assert found[0]["vectors"] == new.vectors(text).tolist()
    assert found[1]["vectors"] == found[2]["vectors"] == old.vectors(text).tolist()
    assert found[0]["fingerprint"] == new.fingerprint
    assert found[1]["fingerprint"] == old.fingerprint
    assert found[3]["vectors"] == found[0]["vectors"], "weights beside the graph are fetched too"
    assert found[3]["fingerprint"] == OnnxEmbedder("large", tmp_path / "large").fingerprint
    assert found[0]["longest"] == 12
    assert found[0]["folder"].startswith(str(home))
    assert sorted(set(hub.fetched)) == sorted(hub.fetched), "nothing is fetched twice"
    names = {name.partition(":")[2] for name in hub.fetched}
    assert "onnx/model.onnx" in names
    assert not names & {"pytorch_model.bin", "model.safetensors", "onnx/model_quantized.onnx"}

    hub.fetched.clear()
    assert ask(home, hub.url, "hub:org/tiny")[0] == found[0]
    assert hub.fetched == []
    assert ask(home, "http://127.0.0.1:9", "hub:org/tiny", HF_HUB_OFFLINE="1")[0] == found[0]


@pytest.mark.slow
def test_what_is_not_there_is_said_in_one_line(hub: Hub, tmp_path: Path) -> None:
    whole = published(tmp_path / "whole")
    hub.models["org/tiny", COMMIT] = whole
    hub.models["org/no-onnx", COMMIT] = {name: data for name, data in whole.items() if not name.endswith(".onnx")}
    hub.models["org/no-tokenizer", COMMIT] = {name: data for name, data in whole.items() if name != "tokenizer.json"}
    hub.models["org/no-config", COMMIT] = {"README.md": b"empty"}
    hub.models["org/broken", COMMIT] = whole | {"onnx/model.onnx": whole["onnx/model.onnx"][:500]}
    wanted = {
        "hub:org/nothing": "the hub has no model org/nothing",
        "hub:org/tiny@v9": "has no revision v9",
        "hub:org/no-onnx": "holds no ONNX file",
        "hub:org/no-tokenizer": "holds no tokenizer.json",
        "hub:org/no-config": "holds no config.json",
        "hub:org/broken": "onnxruntime cannot load",
        "hub:justaname": "is not a model",
        "hub:org/../../etc": "is not a model",
        "hub:": "is not a model",
    }
    found = ask(tmp_path / "home", hub.url, *wanted)
    for answer, words in zip(found, wanted.values(), strict=True):
        assert words in answer["error"], answer
        assert "\n" not in answer["error"]


@pytest.mark.slow
def test_a_hub_that_cannot_be_reached(tmp_path: Path) -> None:
    found = ask(tmp_path / "home", "http://127.0.0.1:9", "hub:org/tiny", HF_HUB_OFFLINE="1")
    assert "cannot be reached" in found[0]["error"]
    assert "HF_ENDPOINT" in found[0]["error"]


@pytest.mark.slow
def test_behind_an_offline_door_nothing_is_fetched(hub: Hub, tmp_path: Path) -> None:
    """As where a bundle from others is checked, which may name any model."""
    hub.models["org/tiny", COMMIT] = published(tmp_path / "new", seed=1)
    (found,) = ask(tmp_path / "home", hub.url, "offline", "hub:org/tiny")
    assert "nothing is fetched here (hf download org/tiny)" in found["error"]
    assert not hub.fetched
    before, after = ask(tmp_path / "home", hub.url, "hub:org/tiny", "offline", "hub:org/tiny")
    assert before == after and hub.fetched, "what is in the cache is used"
