"""The fake model embeds: alone, behind a real server, and in the place of an endpoint in a dry run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fake_server import FakeServer
from git_project import make_change
from reviewgauge.cli.main import main
from reviewgauge.core.records import Case
from reviewgauge.core.results import Score
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.request.model_spec import ChatSettings

FAKE = "fake:example"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def scores(run: Path, model: str) -> tuple[list[float], set[bool]]:
    """The values by this model, and whether they are fake."""
    found = [Score.model_validate_json(line) for line in (run / "scores.jsonl").read_bytes().splitlines()]
    mine = [(one.parts["value"], one.fake) for one in found if model in one.metric and one.parts]
    return [value for value, _ in mine], {fake for _, fake in mine}


def test_texts_that_share_words_are_near_and_what_comes_of_them_is_fake() -> None:
    model = embedder(FAKE)
    with track_usage() as tracker:
        one, same, other, blank = model.vectors(["theLoop never ends", "The loop never ends", "A null pointer", " "])
    assert tracker.fake and model.dimensions == len(one)
    assert np.allclose(one, same) and one @ other < 0.5 and not blank.any()


def test_a_metric_asks_an_endpoint_as_it_asks_the_fake_model(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, behind = tmp_path / "run", server.spec()
    assert main(["review", "sample", "recorded", "-o", str(run)]) == 0
    assert main(["score", str(run), f"embedding(model='{behind}')", f"embedding(model='{FAKE}')"]) == 0
    assert server.asked and {one.path for one in server.asked} == {"/v1/embeddings"}
    (asked, _), (alone, fake) = scores(run, behind), scores(run, FAKE)
    assert len(alone) > 10 and asked == pytest.approx(alone, abs=1e-6) and fake == {True}
    assert "blind-reader (fake)" in capsys.readouterr().out


def test_a_reviewer_is_given_the_nearest_code_and_a_dry_run_asks_nobody(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {
        "a.py": "def total(items):\n    return sum(items)\n",
        "b.py": "def mean(items):\n    return total(items)\n",
    }
    change = make_change(tmp_path / "code", before, before | {"a.py": "def total(items):\n    return max(items)\n"})
    data = tmp_path / "cases.jsonl"
    data.write_bytes(Case(id="one", change=change).to_line())
    spec = f'prompt(model="{server.spec()}", context="embedding(model=\\"{server.spec()}\\")")'
    assert main(["review", str(data), spec, "-o", str(tmp_path / "dry"), "--dry-run"]) == 0
    assert not server.asked and "1 review" in capsys.readouterr().out
    assert main(["review", str(data), spec, "-o", str(tmp_path / "run")]) == 0
    assert {one.path for one in server.asked} == {"/v1/embeddings", "/v1/chat/completions"}
    (told,) = [one.body for one in server.asked if one.path.endswith("completions")][:1]
    assert "def mean" in json.dumps(told)


def test_only_an_endpoint_is_stood_in_for(server: FakeServer) -> None:
    with ChatClient(ChatSettings(dry_run=True)):
        assert embedder(server.spec()).fingerprint == embedder(FAKE).fingerprint
        assert embedder(server.spec()).vectors(["a"]).any() and not server.asked
    assert embedder(server.spec()).fingerprint != embedder(FAKE).fingerprint
