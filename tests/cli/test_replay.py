"""A run that asked models, end to end with a real server: stopped for good, its figures still come out to the byte."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import reviewgauge
from bundle_toys import tamper, write_bench
from fake_server import FakeServer
from reviewgauge.api.cache import export
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions

pytestmark = pytest.mark.usefixtures("own_cache")

KEY = "sk-a-secret-that-no-file-may-hold"


class Recorded:
    """A run that was made against a server which is gone."""

    def __init__(self, folder: Path, bench: Path) -> None:
        self.folder, self.bench = folder, bench
        with FakeServer(key=KEY) as server:
            self.reviewer = f"prompt(model={server.spec()!r})"
            self.metric = f"""hits(judge='same_concern(model="{server.spec()}")')"""
            reviewgauge.review("sample", self.reviewer, run=folder / "prompted")
            reviewgauge.review(str(bench), "recorded", run=folder / "judged")
            self.scored = reviewgauge.score(folder / "judged", self.metric, resamples=50)
            self.asked = server.stats()["answered"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REVIEWGAUGE_CACHE", str(folder / "cache"))
        patch.setenv("OPENAI_API_KEY", KEY)
        yield Recorded(folder, write_bench(folder / "bench"))


def without_scores(run: Path, target: Path) -> Path:
    shutil.copytree(run, target)
    (target / "scores.jsonl").unlink()
    (target / "calls.jsonl").unlink()
    return target


@pytest.mark.slow
def test_a_run_records_every_call_that_the_server_answered(made: Recorded) -> None:
    calls = [call for name in ("prompted", "judged") for call in RunFolder.open(made.folder / name).calls()]
    assert len(calls) == made.asked > 10
    assert all(call.paid and call.answer.fake for call in calls)
    assert made.scored.spending.dollars == pytest.approx(RunFolder.open(made.folder / "judged").spent())


def test_scores_are_replayed_to_the_byte(made: Recorded, tmp_path: Path) -> None:
    run = without_scores(made.folder / "judged", tmp_path / "again")
    replayed = ModelOptions(replay=made.folder / "judged")
    result = reviewgauge.score(run, made.metric, resamples=50, models=replayed)
    for name in ("scores.jsonl", "reviews.jsonl"):
        lines = [sorted((folder / name).read_bytes().splitlines()) for folder in (run, made.folder / "judged")]
        assert lines[0] == lines[1]
    assert result.leaderboards == made.scored.leaderboards
    assert (result.spending.calls, result.spending.dollars) == (0, 0)
    assert "no model was asked" in result.spending.sentence
    recorded = [list(RunFolder.open(folder).calls()) for folder in (run, made.folder / "judged")]
    assert {call.key: call.answer for call in recorded[0]} == {call.key: call.answer for call in recorded[1]}


def test_what_was_not_recorded_is_a_failure_and_nothing_is_sent(made: Recorded, tmp_path: Path) -> None:
    run = without_scores(made.folder / "judged", tmp_path / "again")
    other = made.metric.replace("v1", "v1?temperature=0.5")
    result = reviewgauge.score(run, other, resamples=50, models=ModelOptions(replay=made.folder / "judged"))
    assert set(result.totals[0].failed) == {"request"}
    assert result.totals[0].failed["request"] >= 10  # the others need no call
    assert result.spending.calls == 0
    message = next(s.failure.message for s in RunFolder.open(run).scores() if s.failure)
    assert "not in the record" in message
    assert "run without --replay" in message


def test_what_was_refused_is_paid_for_and_replayed_too(tmp_path: Path) -> None:
    metric = """hits(judge='same_concern(model="{}")')"""
    bench = write_bench(tmp_path / "bench")
    for name in ("run", "again"):
        reviewgauge.review(str(bench), "recorded", run=tmp_path / name)
    with FakeServer(fail="refuse:0.3,truncate:0.2", seed=3) as server:
        made = reviewgauge.score(tmp_path / "run", metric.format(server.spec()), resamples=50)
        answered = server.stats()["answered"]
    calls = list(RunFolder.open(tmp_path / "run").calls())
    assert made.totals[0].failed
    assert any(call.failure for call in calls)
    assert made.spending.dollars == pytest.approx(sum(call.answer.usage.dollars or 0 for call in calls))
    assert answered >= len(calls)
    replayed = ModelOptions(replay=tmp_path / "run", cache=False)
    reviewgauge.score(tmp_path / "again", metric.format(server.spec()), resamples=50, models=replayed)
    lines = [sorted((tmp_path / name / "scores.jsonl").read_bytes().splitlines()) for name in ("run", "again")]
    assert lines[0] == lines[1]


# --- bundles -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(made: Recorded) -> Path:
    out = made.folder / "bundle.zip"
    reviewgauge.bundle(made.folder / "judged", out=out, resamples=50)
    return out


def test_a_bundle_takes_the_calls_along_and_measures_again_from_them(packed: Path) -> None:
    result = reviewgauge.check(packed)
    assert result.ok, result.problems
    assert (result.records["score"], result.notes) == (12, ())

    def better(text: str) -> str:
        return text.replace(r'"answer":{"text":"no"', r'"answer":{"text":"yes"', 1)

    (found,) = reviewgauge.check(tamper(packed, "runs/judged/calls.jsonl", better)).problems
    assert found.file == "runs/judged/scores.jsonl"


def test_without_texts_the_calls_stay_out_and_that_is_said(made: Recorded, tmp_path: Path) -> None:
    out = tmp_path / "bare.zip"
    reviewgauge.bundle(made.folder / "judged", out=out, texts=False, resamples=50)
    assert not any("calls.jsonl" in name for name in zipfile.ZipFile(out).namelist())
    checked = reviewgauge.check(out, sources=[made.folder / "judged"])
    assert checked.ok
    assert "holds no recorded calls of it" in checked.notes[0]


# --- keys ----------------------------------------------------------------------------------------------------------


def test_keys_stand_in_no_file(made: Recorded, packed: Path, tmp_path: Path) -> None:
    export(tmp_path / "calls.jsonl", run=made.folder / "judged")
    holding = [path for path in (*made.folder.rglob("*"), *tmp_path.rglob("*")) if path.is_file()]
    assert len(holding) > 10
    for path in holding:
        assert KEY.encode() not in path.read_bytes(), path
    with zipfile.ZipFile(packed) as archive:
        assert not any(KEY.encode() in archive.read(name) for name in archive.namelist())


def test_keys_stand_in_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(key="another-key-of-the-server") as server:  # refuses ours, with 401
        assert main(["review", "sample", f'prompt(model="{server.spec()}")', "-o", str(tmp_path / "run")]) == 2
    said = "".join(capsys.readouterr())
    assert "OPENAI_API_KEY" in said
    assert KEY not in said
    with pytest.raises(UserError) as caught:
        reviewgauge.review("sample", f'prompt(model="openai:m@http://me:{KEY}@localhost/v1")', run=tmp_path / "b")
    assert KEY not in str(caught.value)
    for path in (p for p in tmp_path.rglob("*") if p.is_file()):
        assert KEY.encode() not in path.read_bytes(), path
