"""A file that somebody passed on runs no code and calls no address, whatever it names."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reviewgauge
from bundle_toys import tamper, write_bench
from fake_server import FakeServer
from reviewgauge.api.bundle import bundle
from reviewgauge.api.gate import split_measure
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import import_named, load, load_recorded
from reviewgauge.engine.run.folder import SCORES
from reviewgauge.judges.pairs.asking import judge_of
from reviewgauge.models.chat.client import ChatClient, chat_model
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import Say, Scripted

KEY = "sk-the-key-of-the-victim"
PLUGIN = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.protocols import Judge, Measured, Metric
from reviewgauge.core.results import Verdict

Path("ran").touch()


@dataclass(frozen=True)
class Mine(Metric):
    headline: ClassVar[str] = "words"

    def parts(self, case, review):
        return Measured(parts={"words": float(sum(len(one.body.split()) for one in review.comments))})


@dataclass(frozen=True)
class Same(Judge):
    def judge(self, case, comments, references, review):
        return [[Verdict(probability=1.0, same=True) for _ in references] for _ in comments]
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)  # the command line adds the current folder
    yield
    sys.path[:] = before
    sys.modules.pop("mine", None)
    judge_of.cache_clear()


@pytest.fixture
def listening() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def calls(server: FakeServer) -> int:
    return server.calls


# --- addresses -----------------------------------------------------------------------------------------------------


def combination(model: str) -> str:
    """A calibration over one metric that asks `model`."""
    fit = {"means": [3.0], "scales": [1.0], "weights": [1.0], "cuts": [0.0], "floor": 1.0}
    spec = f"grade(model={model!r})"
    return json.dumps(
        {
            "metrics": [spec],
            "pins": {spec: dict(load(Metric, spec).pins())},
            "features": [[spec, load(Metric, spec).headline]],
            "grades": [1.0, 5.0],
            "final": fit,
            "dimension": "quality",
            "dataset": "theirs",
            "rows": 10,
        }
    )


def test_checking_a_bundle_calls_no_address_that_it_names(listening: FakeServer, tmp_path: Path) -> None:
    """Its metric rests on a calibration that asks the address, and no call is recorded; nor does it say so itself."""
    Path("asking.json").write_text(combination(listening.spec()))
    write_bench(tmp_path / "bench")
    reviewgauge.review(str(tmp_path / "bench"), "recorded", run="run")
    told = f", ask=({listening.spec()!r},)"
    reviewgauge.score("run", f"combined(file='asking.json'{told})", resamples=50)
    Path("run/calls.jsonl").unlink()
    bundle("run", out="evil.zip", resamples=50, include=["asking.json"])
    before = calls(listening)
    assert before > 0
    forget_answers(tmp_path)
    assert "holds no recorded calls" in reviewgauge.check("evil.zip").notes[0]
    worse = tamper(Path("evil.zip"), "runs/run/scores.jsonl", lambda text: text.replace(told, ""))
    assert main(["check", str(worse)]) != 0
    assert calls(listening) == before


def forget_answers(home: Path) -> None:
    for cached in (home / "cache").glob("calls*"):
        cached.unlink()


def test_a_calibration_asks_only_the_models_that_the_user_names(
    listening: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_bench(tmp_path / "bench")
    Path("theirs.json").write_text(combination(listening.spec()))
    assert main(["review", str(tmp_path / "bench"), "recorded", "-o", "run"]) == 0
    capsys.readouterr()
    assert main(["score", "run", "combined(file='theirs.json')"]) == 2
    said = capsys.readouterr().err
    assert "theirs.json holds a metric that asks" in said and "ask=(" in said
    assert calls(listening) == 0 and not Path("run/scores.jsonl").read_text()
    named = f"combined(file='theirs.json', ask=({listening.spec()!r},))"
    assert main(["score", "run", named, "--resamples", "50"]) == 0
    assert calls(listening) > 0


def test_an_endpoint_that_embeds_is_asked_no_sooner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listening = Scripted(lambda _: Say({"data": []}))
    write_bench(tmp_path / "bench")
    asked = f"embedding(model='openai:m@{listening.url}')"
    found = json.loads(combination("fake:rules").replace("grade(model='fake:rules')", asked))
    found["pins"] = {}
    Path("embeds.json").write_text(json.dumps(found))
    reviewgauge.review(str(tmp_path / "bench"), "recorded", run="run")
    assert main(["score", "run", "combined(file='embeds.json')"]) == 2
    assert f"asks openai:m@{listening.url}, which only the file names" in capsys.readouterr().err
    with ChatClient(ChatSettings(offline=True)), pytest.raises(UserError, match="done offline"):
        embedder(f"openai:m@{listening.url}").vectors(["a text"])
    assert not listening.asked
    listening.stop()


# --- code ----------------------------------------------------------------------------------------------------------


def alone(*words: str) -> int:
    """The command as in a process of its own, which has not imported `mine`."""
    sys.modules.pop("mine", None)
    judge_of.cache_clear()
    return main(list(words))


def rename_metric(run: Path, spec: str) -> None:
    scores = run / SCORES
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    scores.write_text("".join(json.dumps({**line, "metric": spec}) + "\n" for line in lines))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    write_bench(folder / "bench")
    reviewgauge.review(str(folder / "bench"), "recorded", run=folder / "run")
    reviewgauge.score(folder / "run", "hits", resamples=50)
    return folder / "run"


@pytest.fixture
def run_of_others(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    (tmp_path / "mine.py").write_text(PLUGIN)
    return Path("run")


VERBS: list[list[str]] = [
    ["report", "run", "-o", "out.html"],
    ["compare", "run"],
    ["plan", "run", "--detect", ".1"],
    ["gate", "run", "--baseline", "base", "--margin", ".1", "--system", "good", "--against", "good"],
    ["bundle", "run", "-o", "out.zip"],
]


@pytest.mark.parametrize(("verb", "spec"), [
    *((verb, "hits(judge='mine.Same')") for verb in VERBS),
    (["compare", "run"], "mine.Mine"),
    (["compare", "run"], "mrr(judge='panel(judges=(\\'mine.Same\\', \\'exact\\'))')"),
])  # fmt: skip
def test_code_that_only_a_run_names_is_not_run(
    verb: list[str], spec: str, run_of_others: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rename_metric(run_of_others, spec)
    shutil.copytree("run", "base")
    assert alone(*verb) == 2 and not Path("ran").exists()
    said = capsys.readouterr().err
    assert "is code outside ReviewGauge" in said and "--metric" in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.slow
def test_code_that_a_user_names_is_run(run_of_others: Path) -> None:
    spec = "hits(judge='mine.Same')"
    (run_of_others / SCORES).unlink()
    assert alone("score", "run", spec, "--resamples", "50") == 0
    Path("ran").unlink()
    shutil.copytree("run", "base")
    for verb in VERBS:
        assert alone(*verb) == 2 and not Path("ran").exists()
        assert alone(*verb, "--metric", spec) in (0, 3), verb  # 3: too few cases for the gate to tell
        Path("ran").unlink()
    assert alone("check", "out.zip") == 2 and not Path("ran").exists()
    assert alone("check", "out.zip", "--plugin", spec) == 0 and Path("ran").exists()


@pytest.mark.parametrize("where", ["dataset", "signature"])
@pytest.mark.slow
def test_code_that_a_manifest_names_is_not_run(where: str, run_of_others: Path) -> None:
    manifest = json.loads((run_of_others / "manifest.json").read_text())
    if where == "dataset":
        manifest["dataset"] = "mine.Mine | mine.Stage"
    else:
        manifest["systems"] = {name: {**one, "signature": "mine.Reviewer"} for name, one in manifest["systems"].items()}
    (run_of_others / "manifest.json").write_text(json.dumps(manifest))
    for verb in (
        ["report", "run", "-o", "out.html", "--slice", "cutoff"],
        ["report", "run", "-o", "out.html", "--resamples", "50"],
        ["bundle", "run", "-o", "out.zip", "--resamples", "50"],
        ["check", "out.zip"],
        ["validate", "run", "hits"],
        ["validate", "run", "exact"],
    ):
        alone(*verb)
        assert not Path("ran").exists(), verb


def test_code_that_a_calibration_names_is_not_run(run_of_others: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("code.json").write_text(combination("fake:rules").replace("grade(model='fake:rules')", "mine.Mine"))
    assert alone("score", "run", "combined(file='code.json')") == 2 and not Path("ran").exists()
    assert "is code outside ReviewGauge" in capsys.readouterr().err


def test_a_file_beside_a_module_of_its_name_is_still_a_file() -> None:
    Path("theirs.py").write_text("open('ran', 'w')\n")
    spec = "combined(file='theirs.json')"
    import_named(spec)
    assert load_recorded(Metric, spec) == load(Metric, spec)
    with pytest.raises(UserError, match=r"there is no file or folder theirs\.json"):
        load(Metric, "theirs.json")
    assert not Path("ran").exists()


def test_no_door_behind_an_offline_one_leads_out(listening: FakeServer) -> None:
    with ChatClient(ChatSettings(cache=False, offline=True)), ChatClient(ChatSettings(cache=False)):
        assert chat_model("fake:rules").ask(Request(messages=(user("Hello."),))).text
        with pytest.raises(Failed, match="only recorded answers are used"):
            chat_model(listening.spec()).ask(Request(messages=(user("Hello."),)))
    assert calls(listening) == 0


def test_code_of_ones_own_is_shown_and_its_measures_are_named_as_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text(PLUGIN)
    assert main(["info", "mine.Mine"]) == 0 and "metrics/mine.Mine" in capsys.readouterr().out
    assert main(["info", "mine.Same"]) == 0 and "judges/mine.Same" in capsys.readouterr().out
    assert [split_measure(word) for word in ("mine.Mine", "mine.Mine.words", "hits.f1")] == [
        ("mine.Mine", ""),
        ("mine.Mine", "words"),
        ("hits", "f1"),
    ]
    with pytest.raises(UserError, match=r"a class in mine\.py is named with both: mine\.CLASS"):
        load(Metric, "mine")
