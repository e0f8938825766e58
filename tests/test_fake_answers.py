"""Whatever asks a model can read what the fake one says, and says that it was fake."""

from __future__ import annotations

from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.reviewers.reading.presets import PRESETS

pytestmark = pytest.mark.processes

MODELS = ("fake:example", "fake:varied")
TASKS = {f"contextcrbench_{task}": task for task in ("assess", "locate", "comment")}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    specs = [f"prompt(model={model!r}, preset={preset!r})" for model in MODELS]
    stages = [f"split_hunks(task={TASKS[preset]!r})"] if preset in TASKS else []
    check_reviews(*specs, stages=stages)


@pytest.mark.parametrize("model", MODELS)
def test_reviewers(model: str) -> None:
    check_reviews(
        f"prompt(model={model!r}, context='file')",
        f"prompt(model={model!r}, prompt='published')",
        f"pr_review(model={model!r})",
        f"debate(model={model!r})",
        f"agent(model={model!r})",
        f"ensemble(reviewer=\"prompt(model='fake:varied')\", n=3, by='model', model={model!r})",
        f"prompt(model={model!r}, preset='swr', template='words.txt')",
    )


def check_reviews(*specs: str, stages: list[str] | None = None) -> None:
    Path("words.txt").write_text("Look for what a user would notice.\n")
    found = reviewgauge.review("sample", *specs, run="run", limit=6, stages=stages or ())
    assert [(one.systems, one.failed) for one in found.totals if one.failed or not one.fake] == []


@pytest.mark.parametrize("model", MODELS)
def test_metrics_and_judges(model: str) -> None:
    reviewgauge.review("sample", "recorded", run="run", limit=6)
    metrics = (
        f"hits(judge='golden(model=\"{model}\")', variant='review_bench', policy='any', unmatched={model!r})",
        f"hits(judge='same_concern(model=\"{model}\")')",
        f"grade(model={model!r})",
        f"relevance_judge(model={model!r})",
        f"points(model={model!r}, points_of='fake:varied')",
    )
    found = reviewgauge.score("run", *metrics, resamples=50)
    assert [(one.metric, one.failed) for one in found.totals if one.failed or not one.fake] == []
    for what in ("category", "domain", "type", "context"):
        said = reviewgauge.classify("run", f"{what}(model={model!r})").sorted
        assert said.fake and not said.failed
