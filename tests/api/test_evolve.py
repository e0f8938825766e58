"""`evolve` on a benchmark with a planted better prompt: found, held against overfitting, resumed, refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from planted_prompts import REVIEWER, repositories, write_planted, write_tasks
from reviewgauge import ModelOptions
from reviewgauge.api import evolve as verb
from reviewgauge.api.evolve import _conclusion, evolve
from reviewgauge.core.document import Value
from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.reports.evolution import EvolutionReport, PartResult
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.evolution.split import HELD_OUT, split_cases

pytestmark = pytest.mark.processes
SETTINGS: dict[str, Any] = {"metrics": ["hits"], "rounds": 8, "resamples": 500}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    return write_planted(tmp_path / "planted.jsonl", dict.fromkeys(repositories(), ("print", "except")))


class Searched(NamedTuple):
    bench: Path
    run: Path
    report: EvolutionReport


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """A search that is done, with its page."""
    top = tmp_path_factory.mktemp("searched")
    bench = write_planted(top / "planted.jsonl", dict.fromkeys(repositories(), ("print", "except")))
    return Searched(bench, top / "run", _evolve(bench, top / "run", page=top / "page.html"))


def _evolve(bench: Path, run: Path, **settings: Any) -> EvolutionReport:
    return evolve(str(bench), REVIEWER, run=run, **{**SETTINGS, **settings})


def _gain(report: EvolutionReport, part: str) -> float:
    (found,) = [one.difference for one in report.parts if one.name == part]
    assert found is not None and found.value is not None
    return found.value


def _lines(folder: Path) -> list[str]:
    return (folder / "lineage.jsonl").read_text().splitlines()


def test_the_planted_prompt_is_found(searched: Searched) -> None:
    report = searched.report
    assert report.finished and report.fake, report.stopped
    assert "bare except" in report.diff and "debugging" in report.diff
    assert _gain(report, HELD_OUT) == pytest.approx(2 / 3)
    assert report.conclusion.startswith(
        "The winner beats the seed on the 18 held-out cases of 3 repositories: +0.667 ["
    )
    assert report.evaluations <= 9 * 18
    assert "Look for this" in searched.run.with_name("page.html").read_text()
    assert "{{ diff_hunk }}" in Path(report.templates[0]).read_text()


def test_one_case_of_one_repository_is_said_so() -> None:
    part = PartResult(name=HELD_OUT, cases=1, repositories=1, hash="", difference=Value(value=0.5, n=1))
    assert "on the 1 held-out case of 1 repository: +0.500 reward" in _conclusion(part, False)


def test_the_baseline_at_random_has_no_more_evaluations(planted: Path, tmp_path: Path) -> None:
    report = _evolve(planted, tmp_path / "run", optimizer="random", rounds=5, evaluations=50)
    assert report.evaluations <= 50
    assert all(step.parent in ("", report.seed_candidate) for step in report.steps)


@pytest.mark.drill
def test_the_held_out_part_says_when_train_was_overfitted(planted: Path, tmp_path: Path) -> None:
    """People comment on output for debugging in the first two parts, and never in the third, where it is meant."""
    from reviewgauge.api.resolve import find_dataset

    first = list(find_dataset(str(planted)).cases())
    held = {case.change.repo for case in split_cases(first, (0.4, 0.3, 0.3), 0).parts[HELD_OUT]}
    wanted = {repo: () if repo in held else ("print",) for repo in repositories()}
    report = _evolve(write_planted(tmp_path / "shifted.jsonl", wanted), tmp_path / "run")
    assert _gain(report, "train") > 0 and _gain(report, "selection") > 0
    assert _gain(report, HELD_OUT) < 0
    assert "is worse than the seed" in report.conclusion


@pytest.mark.drill
def test_killed_and_resumed_the_lineage_is_the_same_and_nothing_is_paid_twice(planted: Path, tmp_path: Path) -> None:
    whole = _evolve(planted, tmp_path / "whole", models=ModelOptions(cache=False))
    run = tmp_path / "killed"
    code = (
        "import sys; from reviewgauge import evolve, ModelOptions\n"
        f"evolve({str(planted)!r}, {REVIEWER!r}, run={str(run)!r}, metrics=['hits'], rounds=8, resamples=500)"
    )
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code])
        before = len(list(run.glob("runs/*/reviews.jsonl")))
        for _ in range(400):
            time.sleep(0.02)
            if len(list(run.glob("runs/*/reviews.jsonl"))) > before or process.poll() is not None:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
    again = _evolve(planted, run)
    assert again.parts == whole.parts and again.steps == whole.steps
    assert _lines(run) == _lines(tmp_path / "whole")
    keys = [json.loads(line) for line in (run / "calls.jsonl").read_text().splitlines()]
    paid = [call["key"] for call in keys if call.get("paid", True)]
    assert len(paid) == len(set(paid))


def test_the_held_out_part_is_computed_once(searched: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb._Work, "run", None)  # nothing is computed any more
    assert _evolve(searched.bench, searched.run) == searched.report
    with pytest.raises(UserError, match="was looked at"):
        _evolve(searched.bench, searched.run, rounds=9)


def test_a_budget_that_ends_in_the_middle_keeps_what_there_is(planted: Path, tmp_path: Path) -> None:
    stop = Interruption()
    report = _evolve(planted, tmp_path / "run", rounds=2, models=ModelOptions(budget=0.01, cache=False), stop=stop)
    assert not report.finished and stop.error is not None and "budget" in report.stopped
    assert report.parts[-1].seed is None and not (tmp_path / "run" / "held-out").exists()
    assert _evolve(planted, tmp_path / "run", rounds=2).finished


def test_failures_are_counted_and_said(planted: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in planted.read_text().splitlines()]
    for row in rows[::6]:
        row["change"]["files"] = []
    planted.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = _evolve(planted, tmp_path / "run", rounds=1)
    assert sum(part.failed for part in report.parts) > 0
    assert any("failed, and count as the worst" in warning for warning in report.warnings)


def test_a_context_is_chosen_from_a_list(planted: Path, tmp_path: Path) -> None:
    report = _evolve(planted, tmp_path / "run", contexts=["none", "pr"], rounds=6)
    assert {step.component for step in report.steps} == {"", "template", "context"}
    assert report.context in ("none", "pr")


def test_the_mean_of_three_tasks_is_one_reward(tmp_path: Path) -> None:
    """ContextCRBench's reward (arXiv:2511.07017, 5.1): the mean of three tasks, each by its own prompt."""
    presets = [
        f'prompt(model="fake:rules", preset="contextcrbench_{task}")' for task in ("assess", "locate", "comment")
    ]
    bench, weighted = str(write_tasks(tmp_path / "tasks.jsonl")), ["assess*0.33", "pass_at_k*0.33", "rouge*0.33"]
    report = evolve(bench, *presets, run=tmp_path / "run", metrics=weighted, rounds=1, reserve=3, resamples=200)
    assert report.finished and len(report.templates) == 3, report.stopped
    assert [(part.cases, part.failed, part.silent) for part in report.parts] == [(18, 0, 0)] * 3
    alone = [
        evolve(bench, *presets, run=tmp_path / word[:4], metrics=[word], rounds=1, reserve=3, resamples=200)
        .parts[2]
        .seed
        for word in weighted
    ]
    means = [one.value for one in alone if one is not None and one.value is not None]
    whole = report.parts[2].seed
    assert whole is not None and whole.value == pytest.approx(sum(means) / 3)


def test_builds_of_several_tasks_are_joined_and_their_ids_told_apart(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in write_tasks(tmp_path / "tasks.jsonl").read_text().splitlines()]
    presets = [f'prompt(model="fake:rules", preset="contextcrbench_{task}")' for task in ("assess", "locate")]
    for task in ("assess", "locate"):  # the same hunks under the same ids, as two builds have them
        own = [{**row, "id": row["id"].replace(task, "hunk")} for row in rows if row["change"]["task"] == task]
        (tmp_path / f"{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
    one, other = (str(tmp_path / f"{task}.jsonl") for task in ("assess", "locate"))
    metrics: dict[str, Any] = {"metrics": ["assess", "pass_at_k"], "rounds": 1, "resamples": 200}
    report = evolve(one, *presets, run=tmp_path / "run", also=[other], **metrics)
    assert report.finished and report.dataset == "assess.jsonl + locate.jsonl"
    assert sum(part.cases for part in report.parts) == sum(row["change"]["task"] != "comment" for row in rows)
    with pytest.raises(UserError, match="is in two of the data sets"):
        evolve(one, *presets, run=tmp_path / "again", also=[one], **metrics)


def test_another_benchmark_other_settings_and_a_moved_folder_are_refused(searched: Searched, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it rests on other metrics"):
        _evolve(searched.bench, searched.run, metrics=["chrf"])
    other = write_planted(tmp_path / "planted.jsonl", dict.fromkeys(repositories(), ("print",)))
    with pytest.raises(UserError, match="the benchmark changed since"):
        _evolve(other, searched.run)
    shutil.copytree(searched.run, tmp_path / "moved")
    with pytest.raises(UserError, match="was moved from"):
        _evolve(searched.bench, tmp_path / "moved")


@pytest.mark.parametrize(
    ("reviewer", "settings", "words"),
    [
        ("silent", {}, "silent has no template"),
        (REVIEWER, {"metrics": ["nonsense"]}, "nonsense"),
        (REVIEWER, {"metrics": ["hits*lots"]}, "the weight 'lots' is not a number"),
        (REVIEWER, {"metrics": ["hits*-1"]}, "must be positive"),
        (REVIEWER, {"metrics": []}, "no metric given"),
        (REVIEWER, {"metrics": ["assess"], "reserve": 20}, "cannot be reserved"),
        (REVIEWER, {"contexts": ["nonsense"]}, "nonsense"),
        (REVIEWER, {"optimizer": "luck"}, "unknown optimizer 'luck'"),
        (REVIEWER, {"models": ModelOptions(dry_run=True)}, "no --dry-run"),
        ('prompt(model="fake:rules", prompt="published")', {}, "stays as it is"),
    ],
)
def test_bad_input(planted: Path, tmp_path: Path, reviewer: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        evolve(str(planted), reviewer, run=tmp_path / "run", **{**SETTINGS, **settings})


def test_without_gepa_the_error_says_which_install(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[evolve\]"):
        _evolve(planted, tmp_path / "run")
