"""A run becomes a log of inspect_ai and comes back: the same scores, read by the package where it is installed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Comment, Review, Span
from reviewgauge.core.results import Failed, FailureKind, Score
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.chat.client import current_tracker

# The fields of inspect_ai 0.3.285 that are written, by the name of its model: it takes unknown ones in silence.
FIELDS = {
    "EvalLog": "version status eval plan results stats samples",
    "EvalSpec": "eval_id run_id task_id created task dataset model config packages metadata",
    "EvalSample": "id epoch input target messages output scores metadata model_usage total_time error",
    "EvalResults": "total_samples completed_samples scores",
    "EvalScore": "name scorer scored_samples unscored_samples metrics metadata",
    "EvalMetric": "name value metadata",
    "EvalDataset": "name samples sample_ids",
    "EvalConfig": "epochs",
    "EvalStats": "started_at completed_at model_usage",
    "EvalError": "message traceback traceback_ansi",
}
SCORE = "value explanation reason metadata"


@dataclass(frozen=True)
class Moody(Reviewer):
    """Says something else in each attempt, and fails on every third and fourth change."""

    def review(self, change: Change) -> Review:
        tracker, number = current_tracker(), int((change.id or "0")[:2])
        if number % 4 == 3:
            raise Failed(FailureKind.REFUSAL, "it would not", raw="No.")
        if number % 4 == 0:
            raise Failed(FailureKind.TIMEOUT, "it took too long")
        assert tracker is not None
        path = change.files[0].path
        said = [
            Comment(id=f"c{n}", body=f"Off by one in attempt {tracker.attempt}: ünïcode", span=Span(path=path, start=n))
            for n in range(1, tracker.attempt + 1)
        ]
        return Review(case="x", system="x", comments=said, verdict=number % 2 == 0, ranked_lines=(Span(path=path),))


@pytest.fixture(scope="module")
def moody(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("moody") / "run"
    review("sample", Moody(name="moody"), run=run, attempts=2, limit=8)
    score(run, "hits", "assess", resamples=10)
    return run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("recorded") / "run"
    review("sample", "recorded", "silent", run=run)
    score(run, "hits", resamples=10)
    return run


def _bare(run: Path, system: str) -> list[Score]:
    """The scores without what only their run gives them: the system's name and the digest of the outcome."""
    own = [one for one in RunFolder.open(run).scores() if one.system == system]
    ordered = sorted(own, key=lambda one: (one.metric, one.case, one.attempt))
    return [one.model_copy(update={"system": "", "of": ""}) for one in ordered]


def test_the_sample_goes_to_inspect_and_back_with_the_same_scores(recorded: Path, tmp_path: Path) -> None:
    export('inspect(system="blind-reader")', recorded, tmp_path / "log.json")
    review("sample", f'replay(path="{tmp_path / "log.json"}")', run=tmp_path / "back")
    score(tmp_path / "back", "hits", resamples=10)
    assert _bare(tmp_path / "back", "log") == _bare(recorded, "blind-reader")
    assert len(_bare(recorded, "blind-reader")) == 24


def test_attempts_failures_verdicts_and_rankings_come_back(moody: Path, tmp_path: Path) -> None:
    export("inspect", moody, tmp_path / "log.json")
    back = tmp_path / "back"
    review("sample", f'replay(path="{tmp_path / "log.json"}", name="moody")', run=back, attempts=2, limit=8)
    score(back, "hits", "assess", resamples=10)
    assert _bare(back, "moody") == _bare(moody, "moody")
    ours, theirs = ({o.key: o for o in RunFolder.open(run).outcomes()} for run in (moody, back))
    assert ours.keys() == theirs.keys()
    for key, one in ours.items():
        other = theirs[key]
        assert one.failure == other.failure
        if one.review is not None and other.review is not None:
            assert one.review.model_copy(update={"usage": other.review.usage}) == other.review
    result = review("sample", f'replay(path="{tmp_path / "log.json"}")', run=tmp_path / "less", limit=8)
    assert "--attempts 2 takes them all" in result.totals[0].drops[0].reason
    result = review("sample", f'replay(path="{tmp_path / "log.json"}")', run=tmp_path / "more", limit=1, attempts=3)
    failures = [o.failure.message for o in RunFolder.open(tmp_path / "more").outcomes() if o.failure]
    assert len(failures) == 1 and "has no attempt 3 at 01-" in failures[0]


def test_failures_have_reasons_and_no_value(moody: Path, tmp_path: Path) -> None:
    export("inspect", moody, tmp_path / "log.json")
    log = json.loads((tmp_path / "log.json").read_bytes())
    by_case = {sample["id"][:2]: sample for sample in log["samples"]}
    assert by_case["03"]["error"]["message"] == "refusal: it would not"
    for case, reason in (("03", "refusal"), ("04", "no_response")):
        own = by_case[case]["scores"]["hits"]
        assert math.isnan(own["value"]) and own["reason"] == reason and "the review failed" in own["explanation"]
    good = by_case["01"]["scores"]["hits"]
    assert good["reason"] is None and good["value"] == good["metadata"]["measures"]["f1"]
    assert "missed: " in good["explanation"] and "false: " in good["explanation"]
    scores = {one["name"]: one for one in log["results"]["scores"]}
    hits = scores["hits"]
    assert next(iter(hits["metrics"])) == "f1"
    bounds = hits["metrics"]["recall"]["metadata"]
    assert bounds["low"] <= hits["metrics"]["recall"]["value"] <= bounds["high"] and bounds["worst"] < bounds["best"]
    assert (hits["scored_samples"], hits["unscored_samples"]) == (4, 4)


def _check_fields(log: dict[str, Any]) -> None:
    def all_known(items: Any, model: str) -> None:
        for one in items if isinstance(items, list) else [items]:
            assert set(one) <= set(FIELDS.get(model, SCORE).split()), model

    all_known(log, "EvalLog")
    all_known(log["eval"], "EvalSpec")
    all_known(log["eval"]["dataset"], "EvalDataset")
    all_known(log["eval"]["config"], "EvalConfig")
    all_known(log["results"], "EvalResults")
    all_known(log["stats"], "EvalStats")
    all_known(log["results"]["scores"], "EvalScore")
    for one in log["results"]["scores"]:
        all_known(list(one["metrics"].values()), "EvalMetric")
    all_known(log["samples"], "EvalSample")
    all_known([sample["error"] for sample in log["samples"] if "error" in sample], "EvalError")
    for sample in log["samples"]:
        all_known(list(sample["scores"].values()), "Score")


def test_only_known_fields_are_written(moody: Path, tmp_path: Path) -> None:
    export("inspect", moody, tmp_path / "log.json")
    _check_fields(json.loads((tmp_path / "log.json").read_bytes()))


def test_several_systems_are_a_folder_of_logs_or_one_that_is_named(recorded: Path, tmp_path: Path) -> None:
    result = export("inspect", recorded, tmp_path / "logs")
    assert result.counts == {"logs": 2, "samples": 48, "scores": 48}
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert [name.partition("_")[2] for name in names] == ["sample_blind-reader.json", "sample_silent.json"]
    for spec, message in (
        ("inspect", r"is one log, and the run has 2 systems \(blind-reader, silent\)"),
        ('inspect(system="nobody")', "there are: blind-reader, silent"),
    ):
        with pytest.raises(UserError, match=message):
            export(spec, recorded, tmp_path / "log.json")
        assert not (tmp_path / "log.json").exists()


def test_an_archive_needs_the_package(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    with pytest.raises(UserError, match=r"inspect_ai writes \.eval logs, and is not installed"):
        export('inspect(system="silent")', recorded, tmp_path / "log.eval")


@pytest.fixture
def package() -> Iterator[Any]:
    yield pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")


def test_the_package_reads_the_log(package: Any, moody: Path, tmp_path: Path) -> None:
    from inspect_ai import log as logs
    from inspect_ai._util.error import EvalError
    from inspect_ai.scorer import Score as InspectScore

    for name, fields in FIELDS.items():
        model = EvalError if name == "EvalError" else getattr(logs, name, None)
        assert model is None or set(fields.split()) <= set(model.model_fields), name
    assert set(SCORE.split()) <= set(InspectScore.model_fields)
    export("inspect", moody, tmp_path / "log.json")
    log = logs.read_eval_log(str(tmp_path / "log.json"))
    assert len(log.samples) == 16 and log.eval.model == "moody" and log.eval.config.epochs == 2
    first = log.samples[0]
    assert "Off by one in attempt 1" in first.output.completion and first.scores["hits"].reason is None


def test_its_data_frames_read_the_folder(package: Any, moody: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    from inspect_ai.analysis import evals_df, samples_df

    export("inspect", moody, tmp_path / "logs")
    samples, evals = samples_df(str(tmp_path / "logs")), evals_df(str(tmp_path / "logs"))
    assert len(samples) == 16 and set(samples["epoch"]) == {1, 2} and samples["score_hits"].notna().sum() == 6
    (board,) = score(moody, "hits", resamples=10).leaderboards
    exact = board.systems[0].estimate("f1")
    assert exact is not None and list(evals["score_hits_f1"]) == [exact.value]
    assert list(evals["score_headline_metric"]) == ["f1"]


def test_an_archive_goes_over_and_comes_back(package: Any, moody: Path, tmp_path: Path) -> None:
    export("inspect", moody, tmp_path / "log.eval")
    back = tmp_path / "back"
    review("sample", f'replay(path="{tmp_path / "log.eval"}", name="moody")', run=back, attempts=2, limit=8)
    score(back, "hits", "assess", resamples=10)
    assert _bare(back, "moody") == _bare(moody, "moody")
