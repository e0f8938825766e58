"""The trials of a Harbor job as reviews: attempts, cost, traces, failures, edited tasks, rewards, leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_job import write_trial
from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop, FailureKind, Outcome
from reviewgauge.engine.run.folder import RunFolder

CASE, OTHER = "20-monthly-statement", "02-pause-when-hidden"
SAID = [{"path": "api/wayside/statement.py", "line": 26, "body": "December becomes month 13.", "severity": "high"}]


def read_back(job: Path, run: Path, attempts: int = 1, more: str = "") -> tuple[dict[str, Outcome], list[Drop]]:
    """The outcomes by case and attempt, and what was said about the trials."""
    done = review("sample", f"harbor(path={str(job)!r}{more})", run=run, attempts=attempts)
    found = {f"{one.case} {one.attempt}": one for one in RunFolder.open(run).outcomes()}
    return found, [drop for drop in done.totals[0].drops if drop.item.startswith((CASE, OTHER))]


def test_trials_are_attempts_with_comments_cost_and_trace(tmp_path: Path) -> None:
    job = tmp_path / "job"
    write_trial(job, CASE, "zz", review=[], started="2026-11-28T11:00:00Z")
    write_trial(job, CASE, "aa", review=SAID, started="2026-11-28T12:00:00Z")
    found, said = read_back(job, tmp_path / "run", attempts=2)
    first, second = found[f"{CASE} 1"].review, found[f"{CASE} 2"].review
    assert first is not None
    assert second is not None
    assert first.comments == ()
    assert [(c.span and c.span.start, c.body) for c in second.comments] == [(26, "December becomes month 13.")]
    usage = second.usage
    assert (usage.tokens_in, usage.tokens_out, usage.dollars, usage.seconds) == (1200, 80, 0.25, 9.0)
    assert second.trace is not None
    assert '> bash {"command": "git log"}\nhead\nbase' in second.trace
    missing = found[f"{OTHER} 1"].failure
    assert missing is not None
    assert "has 0 trials" in missing.message
    assert not said


@pytest.mark.parametrize(("error", "written", "kind"), [
    ("AgentTimeoutError", None, FailureKind.TIMEOUT),
    ("AgentTimeoutError", SAID, None),
    ("VerifierTimeoutError", SAID, None),
    ("RewardFileNotFoundError", None, FailureKind.CRASH),
    ("AgentSafetyRefusalError", SAID, FailureKind.REFUSAL),
    ("ApiRateLimitError", None, FailureKind.NETWORK),
    ("BudgetExceededError", None, FailureKind.BUDGET),
    ("AuthenticationError", None, FailureKind.REQUEST),
    ("SomethingNew", SAID, FailureKind.CRASH),
    ("", None, FailureKind.UNREADABLE),
    ("", {"path": "no body"}, FailureKind.UNREADABLE),
])  # fmt: skip
def test_a_trial_that_broke_is_a_failure_and_costs(
    tmp_path: Path, error: str, written: object, kind: FailureKind | None
) -> None:
    write_trial(tmp_path / "job", CASE, "a", review=written, error=error, reward=None)
    found, _ = read_back(tmp_path / "job", tmp_path / "run")
    outcome = found[f"{CASE} 1"]
    assert (outcome.failure and outcome.failure.kind) == kind
    usage = outcome.usage if outcome.review is None else outcome.review.usage
    assert usage.dollars == 0.25


def test_what_is_wrong_with_a_trial_is_said_and_nothing_else_is_lost(tmp_path: Path) -> None:
    tasks, job = tmp_path / "tasks", tmp_path / "job"
    export("harbor", "sample", tasks)
    write_trial(job, CASE, "nan", review=SAID, reward=float("nan"))
    broken = write_trial(job, OTHER, "old")
    (broken / "result.json").write_text('{"task": "another version"}')
    running = write_trial(job, "01-locker-listing", "going")
    (running / "result.json").unlink()
    found, said = read_back(job, tmp_path / "run", more=f", tasks={str(tasks)!r}")
    kept = found[f"{CASE} 1"].review
    assert kept is not None
    assert kept.trace is not None
    assert kept.trace.startswith("its task was edited since it was exported")
    assert {drop.reason.partition(":")[0] for drop in said if drop.item.startswith(CASE)} == {
        "its task was edited since it was exported",
        "its reward is not a finite number; its review is measured here",
    }
    for case, why in ((OTHER, "agent_info: is missing"), ("01-locker-listing", "the trial did not end")):
        failure = found[f"{case} 1"].failure
        assert failure is not None
        assert why in failure.message


@pytest.mark.parametrize(("parameters", "says"), [
    ('path="nowhere"', "holds no trial of a Harbor job"),
    ("", "needs a path"),
    ('path="job"', "has trials of claude-code/opus, codex/opus"),
    ('path="job", agent="aider"', "has trials of claude-code/opus, codex/opus"),
    ('path="job", agent="codex", tasks="job"', "dataset.toml"),
    ('path="other"', "has no trial of these 24 cases (it has one of mine)"),
])  # fmt: skip
def test_a_job_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "job", CASE, "a")
    write_trial(tmp_path / "job", CASE, "b", agent="codex")
    write_trial(tmp_path / "other", "mine", "a")
    with pytest.raises(UserError) as caught:
        review("sample", f"harbor({parameters})", run=tmp_path / "run")
    assert says in str(caught.value)


def test_one_agent_of_several_is_chosen(tmp_path: Path) -> None:
    write_trial(tmp_path / "job", CASE, "a", review=SAID)
    write_trial(tmp_path / "job", CASE, "b", review=[], agent="codex")
    found, _ = read_back(tmp_path / "job", tmp_path / "run", more=', agent="codex/opus"')
    chosen = found[f"{CASE} 1"].review
    assert chosen is not None
    assert (chosen.system, chosen.comments) == ("codex/opus", ())


def test_a_leak_is_said_with_the_trial_and_in_its_trace(tmp_path: Path) -> None:
    sample = RunFolder.open(Path(review("sample", "silent", run=tmp_path / "silent").run))
    head = next(case.change.head for case in sample.cases() if case.id == CASE)
    clean = write_trial(tmp_path / "job", OTHER, "a")
    leaky = write_trial(tmp_path / "job", CASE, "a", review=SAID)
    (leaky / "agent" / "claude-code.txt").write_text(json.dumps({"stdout": f"commit {head}"}))
    found, said = read_back(tmp_path / "job", tmp_path / "run")
    assert [(drop.item, drop.detail) for drop in said] == [(leaky.name, f"claude-code.txt: {head}")]
    traces = [one.trace or "" for case in (CASE, OTHER) if (one := found[f"{case} 1"].review)]
    assert ["the review may rest on the answers" in trace for trace in traces] == [True, False]
    assert clean.exists()
