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

pytestmark = pytest.mark.slow
COMMIT = "a" * 40
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


class Hub(ThreadingHTTPServer):
    """One commit of each model, a mapping of files by the model's name; remembers what was fetched."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.models: dict[str, dict[str, bytes]] = {}
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """`/api/models/ORG/NAME/revision/REVISION` and `/ORG/NAME/resolve/REVISION/FILE`, with the headers that count."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[0] == "api":
            parts = parts[2:]
        files = self.server.models.get("/".join(parts[:2]))
        revision = [*parts, "main", "main"][3]
        if files is None:
            return self.say(404, b"", "RepoNotFound")
        if revision not in ("main", COMMIT):
            return self.say(404, b"", "RevisionNotFound")
        if parts[2] == "tree":
            rows = [{"type": "file", "oid": "0", "size": len(data), "path": name} for name, data in files.items()]
            return self.say(200, json.dumps(rows).encode())
        if parts[2] == "revision":
            named = {"id": "/".join(parts[:2]), "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
            return self.say(200, json.dumps(named).encode())
        file = "/".join(parts[4:])
        if file not in files:
            return self.say(404, b"", "EntryNotFound")
        if body:
            self.server.fetched.append(file)
        return self.say(200, files[file], body=body)

    def say(self, status: int, content: bytes, code: str = "", body: bool = True) -> None:
        self.send_response(status)
        for name, value in {"X-Error-Code": code, "X-Error-Message": code}.items() if code else ():
            self.send_header(name, value)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A tiny model as it lies on the hub: with an ONNX file, and with weights that nobody asked for."""
    made = tiny_models.write_model(tmp_path / "tiny", seed=1)
    tiny_models.write_onnx(made, beside=True)
    files = {str(file.relative_to(made)): file.read_bytes() for file in made.rglob("*") if file.is_file()}
    with Hub() as server:
        server.models["org/tiny"] = files | {
            "pytorch_model.bin": b"large",
            "onnx/model_quantized.onnx": b"not this one",
        }
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(home: Path, url: str, *words: str) -> list[dict[str, Any]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**kept, "HF_HOME": str(home), "HF_ENDPOINT": url, "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
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
