"""`reviewgauge cache` as a user runs it: what it shows, what it takes out, and what it writes."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import reviewgauge
from engine_small import make_cases
from reviewgauge.api.cache import clear, export
from reviewgauge.cli.main import main
from reviewgauge.contexts.code.store import keep_arrays
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.cache.stores import RecordedCalls
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = pytest.mark.usefixtures("own_cache")

MODELS = ("fake:rules", "fake:rules?temperature=0.5", "fake:noisy-0")


@pytest.fixture
def filled(own_cache: Path) -> Path:
    with ChatClient() as door:
        for model, count in zip(MODELS, (3, 2, 1), strict=True):
            for n in range(count):
                door.model(model).ask(Request(messages=(user(f"question {n}"),)))
    return own_cache / "chat.sqlite"


class Said(NamedTuple):
    """How a verb ended, and what it printed: without line breaks, which hang on how long the folder's name is."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def cache(*words: str) -> Said:
        capsys.readouterr()
        code = main(["cache", *words])
        said = capsys.readouterr()
        return Said(code, " ".join(said.out.split()), said.err)

    return cache


def test_info_adds_up_calls_tokens_and_dollars_by_model(filled: Path, run: Callable[..., Said]) -> None:
    VectorCache(filled.with_name("vectors.sqlite")).put("00" * 16, {"a": np.ones(3, dtype=np.float32)})
    found = reviewgauge.cache()
    assert found.path == str(filled)
    assert [(one.model, one.calls) for one in found.models] == list(zip(MODELS, (3, 2, 1), strict=True))
    assert (found.calls, found.vectors) == (6, 1)
    assert found.bytes > 1000
    assert all(one.dollars > 0 and not one.unpriced and one.oldest <= one.newest for one in found.models)
    shown = run("info")
    assert shown.returncode == 0, shown.stderr
    assert "6 calls" in shown.stdout and "1 vectors" in shown.stdout and "fake:noisy-0" in shown.stdout
    assert json.loads(run("info", "--json").stdout)["models"][0]["calls"] == 3


def test_a_price_that_is_not_known_is_not_nothing(filled: Path, run: Callable[..., Said]) -> None:
    with sqlite3.connect(filled) as connection:
        connection.execute("UPDATE calls SET dollars = NULL WHERE model = 'fake:noisy-0'")
    assert reviewgauge.cache().models[2].unpriced == 1
    assert "unknown" in run("info").stdout


def test_clearing_asks_first_and_takes_out_what_was_named(filled: Path, run: Callable[..., Said]) -> None:
    refused = run("clear")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert reviewgauge.cache().calls == 6
    assert clear(older_than=1).calls == 0
    assert clear(model="fake:rules?temperature=0.5").calls == 2
    assert clear(model="noisy-0").calls == 1
    assert "3 calls deleted" in run("clear", "--yes").stdout
    assert reviewgauge.cache().calls == 0


def test_what_was_made_long_ago_can_be_taken_out(filled: Path) -> None:
    with sqlite3.connect(filled) as connection:
        connection.execute("UPDATE calls SET made = made - 40 * 86400 WHERE model = 'fake:rules'")
    assert clear(older_than=30).calls == 3
    assert reviewgauge.cache().calls == 3


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.jsonl.gz"])
def test_what_is_exported_can_be_replayed_and_is_the_same_each_time(filled: Path, tmp_path: Path, name: str) -> None:
    result = export(tmp_path / name)
    assert result.calls == 6
    first = (tmp_path / name).read_bytes()
    export(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    request = Request(messages=(user("question 0"),))
    with ChatClient() as door:
        asked = door.model("fake:rules").ask(request)
    with ChatClient(ChatSettings(replay=tmp_path / name)) as door:
        assert door.model("fake:rules").ask(request) == asked


def test_one_model_can_be_exported_alone(filled: Path, tmp_path: Path, run: Callable[..., Said]) -> None:
    said = run("export", "-o", str(tmp_path / "one.jsonl.gz"), "--model", "noisy-0")
    assert "1 calls" in said.stdout, said.stderr
    assert gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()).count(b"\n") == 1
    none = run("export", "-o", str(tmp_path / "none.jsonl"), "--model", "nobody")
    assert (none.returncode, "holds no calls of nobody" in none.stderr) == (2, True)
    assert not (tmp_path / "none.jsonl").exists()


def test_the_calls_of_a_run_are_exported_once_each_without_the_cache(own_cache: Path, tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=make_cases(1))
    with folder as opened, ChatClient(ChatSettings(cache=False), opened.append_call) as door:
        door.model("fake:rules").ask(Request(messages=(user("a"),)))
    with (
        RunFolder.open(tmp_path / "run", write=True) as opened,
        ChatClient(ChatSettings(cache=False), opened.append_call) as door,
    ):
        door.model("fake:rules").ask(Request(messages=(user("a"),)))
        door.model("fake:rules").ask(Request(messages=(user("b"),)))
        assert len(list(opened.calls())) == 3
    assert export(tmp_path / "calls.jsonl", run=tmp_path / "run").calls == 2
    assert len(RecordedCalls(tmp_path / "calls.jsonl")) == 2
    with pytest.raises(UserError, match="holds no calls of nobody"):
        export(tmp_path / "none.jsonl", run=tmp_path / "run", model="nobody")
    assert not own_cache.exists()


def test_a_cache_that_is_broken_is_named(own_cache: Path, run: Callable[..., Said]) -> None:
    own_cache.mkdir()
    (own_cache / "chat.sqlite").write_bytes(b"no database" * 500)
    for words in (("info",), ("clear", "--yes"), ("export", "-o", str(own_cache / "x.jsonl"))):
        done = run(*words)
        assert done.returncode == 2
        assert "is broken" in done.stderr


def test_what_is_derived_is_taken_out_apart(filled: Path, run: Callable[..., Said]) -> None:
    keep_arrays("abc-code", {"rows": np.ones(3)})
    VectorCache(filled.with_name("vectors.sqlite")).put("00" * 16, {"a": np.ones(3, dtype=np.float32)})
    found = reviewgauge.cache()
    assert (found.indexes, found.vectors, found.calls) == (1, 1, 6)
    assert found.indexes_bytes > 24
    assert "1 indexes of code and runs" in run("info").stdout
    assert "made again when needed (confirm with --yes)" in run("clear", "--derived").stderr
    assert "1 vectors, 1 indexes deleted" in run("clear", "--derived", "--yes").stdout
    left = reviewgauge.cache()
    assert (left.indexes, left.vectors, left.calls) == (0, 0, 6)
    with pytest.raises(UserError, match="is deleted all together"):
        clear(derived=True, model="noisy-0")
