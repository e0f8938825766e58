"""Metrics that ask models in `validate`, `doctor`: at once, within a budget, killed and gone on with."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reviewgauge
from fake_server import FakeServer
from judged_toys import study, write_study
from reviewgauge.cli.main import main
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from waiting import until

FAST = ["--resamples", "40", "--folds", "3"]
STUDY = study(24)
REVIEWS = len(STUDY.outcomes)
SAID = {(o.case, o.review.comments[0].body) for o in STUDY.outcomes if o.review}
CALLS = 3 * len(SAID)  # three trials of each


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of cases with labels on them, and reviews beside them."""
    folder = write_study(tmp_path / "mine", STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as started:
        yield started


def grade(server: FakeServer) -> str:
    return f'grade(model="{server.spec()}")'


def shown(capsys: pytest.CaptureFixture[str], code: int, *arguments: str | Path) -> str:
    assert main([*map(str, arguments), *(FAST if arguments[0] != "doctor" else [])]) == code
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def found(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    assert main([*map(str, arguments), *(FAST if arguments[0] != "doctor" else []), "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.drill
def test_a_model_is_asked_many_times_at_once_and_a_fake_says_that_it_is_one(
    bench: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer_when(lambda: server.most_at_once > 1)
    said = shown(capsys, 0, "validate", bench, grade(server), "jaccard", "--in-flight", "12")
    assert 1 < server.stats()["peak_in_flight"] <= 12
    assert server.calls == CALLS
    assert f"{CALLS} calls paid" in said and "(fake)" in said and f"{2 * REVIEWS} reviews measured" in said
    folder = Path("validity-mine")
    with (folder / "metrics_correlations.csv").open(encoding="utf-8") as stream:
        fakes = {row["metric"].partition("(")[0]: row["fake"] for row in csv.DictReader(stream)}
    assert fakes["grade"] == "yes" and fakes["jaccard"] == "no"
    assert '<span class="tag fake">fake</span>' in (folder / "report.html").read_text(encoding="utf-8")
    again = found(capsys, "validate", bench, grade(server), "jaccard")
    assert again["spending"]["calls"] == 0 and server.calls == CALLS


@pytest.mark.drill
def test_a_budget_stops_before_a_report_and_a_larger_one_goes_on(
    bench: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(Path())
    said = shown(capsys, 0, "validate", bench, grade(server), "--dry-run")
    assert f"{REVIEWS} reviews to measure" in said and f"{CALLS} calls to pay for" in said
    assert (files(Path()), server.calls) == (before, 0)
    whole = found(capsys, "validate", bench, grade(server), "--dry-run")
    assert whole["report"] is None and whole["files"] == []
    budget = str(whole["spending"]["worst"] / CALLS + whole["spending"]["known"] / 3)  # one call more after a third
    said = shown(capsys, 2, "validate", bench, grade(server), "--budget", budget)
    assert "error: the budget of" in said and "left undone" in said and "calls paid" in said
    assert not files(Path("validity-mine")) & {"report.html", "validity.json", "metrics_correlations.csv"}
    calls = Path("validity-mine/calls.jsonl").read_text(encoding="utf-8").splitlines()
    spent = sum(json.loads(line)["answer"]["usage"]["dollars"] for line in calls)
    assert 0 < spent <= float(budget)
    assert 0 < server.calls < CALLS
    left = found(capsys, "validate", bench, grade(server), "--dry-run")["spending"]["calls"]
    assert left == CALLS - server.calls
    done = found(capsys, "validate", bench, grade(server))
    assert done["report"]["metrics"][0]["fake"] and server.calls == CALLS


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
@pytest.mark.drill
def test_killed_or_interrupted_it_goes_on_and_pays_for_nothing_twice(
    bench: Path, server: FakeServer, capsys: pytest.CaptureFixture[str], number: signal.Signals, code: int
) -> None:
    arguments = ["validate", str(bench), grade(server), "--in-flight", "4", "--no-report", *FAST]
    server.answer_when(lambda: server.calls < CALLS // 4)
    process = subprocess.Popen([sys.executable, "-m", "reviewgauge", *arguments], stderr=subprocess.PIPE, text=True)
    until(lambda: server.calls >= CALLS // 4, process)
    process.send_signal(number)
    server.answer_when()
    _, said = process.communicate()
    assert process.returncode == code, said
    assert CALLS // 4 <= server.calls < CALLS
    assert "left undone" in said or "nothing finished is lost" in said or code < 0
    assert not files(Path("validity-mine")) & {"validity.json"}
    done = found(capsys, "validate", bench, grade(server), "--no-report")
    under_way = 4 * 3 if code < 0 else 0  # trials of four reviews, on their way or about to be kept
    assert CALLS <= server.calls <= CALLS + under_way
    assert sum(one["done"] + one["skipped"] for one in done["totals"]) == REVIEWS


@pytest.mark.slow
def test_an_endpoint_that_is_wrong_stops_it_with_one_error(
    bench: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with FakeServer(key="right") as locked:
        said = shown(capsys, 2, "validate", bench, grade(locked))
        assert "96 left undone" in said and "error:" in said and "key" in said
        said = shown(capsys, 2, "validate", bench, grade(locked), "jaccard", "--fit", "mine.json")
        assert f"{2 * REVIEWS} left undone" in said and not Path("mine.json").exists()


@pytest.mark.drill
def test_where_all_fails_it_says_why_and_what_to_do(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(fail="refuse:1") as refusing:
        said = shown(capsys, 1, "validate", bench, grade(refusing), "--no-report")
        assert f"0 reviews measured; {REVIEWS} failed" in said and "note: failed (refusal): 3 of 3 trials" in said
        assert f"{REVIEWS} failed: the same command with --retry-failed tries them again" in said
        refusing.change(fail="")
        said = shown(capsys, 1, "validate", bench, grade(refusing), "--no-report")
        assert f"{REVIEWS} failed before" in said and "calls paid" not in said
        said = shown(capsys, 0, "validate", bench, grade(refusing), "--no-report", "--retry-failed")
        assert f"{REVIEWS} reviews measured;" in said


@pytest.mark.drill
def test_what_a_model_says_can_be_calibrated_and_stays_marked(
    bench: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    said = shown(capsys, 0, "validate", bench, grade(server), "jaccard", "--fit", "combined.json", "--dry-run")
    assert f"{CALLS} calls to pay for" in said and not Path("combined.json").exists()
    said = shown(capsys, 0, "validate", bench, grade(server), "jaccard", "--fit", "combined.json")
    assert f"{CALLS} calls paid" in said
    assert said.count("(fake)") >= 4  # the calibrated grade with and without its floor, the mean of ranks, the metric
    made = reviewgauge.validate(str(bench), grade(server), "jaccard", fit="x.json", resamples=40, folds=3).fit
    assert made is not None
    assert [one.fake for one in made.account if one.label.startswith("jaccard")] == [False]
    assert load(Metric, f"combined(file='combined.json', ask=('{server.spec()}',))").models == (server.spec(),)
    whole = found(capsys, "validate", bench, f"combined(file='combined.json', ask=('{server.spec()}',))", "--no-report")
    assert whole["report"]["metrics"][0]["fake"] and server.calls == CALLS


@pytest.mark.drill
def test_the_doctor_says_what_its_questions_cost(
    server: FakeServer, bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = f'hits(judge="{server.spec()}")'
    said = shown(capsys, 0, "doctor", "sample", judged, "--dry-run")
    assert "to pay for" in said and server.calls == 0 and "oracle" not in said
    foretold = found(capsys, "doctor", "sample", judged, "--dry-run")["calls"]
    server.answer_when(lambda: server.most_at_once > 1)
    said = shown(capsys, 0, "doctor", "sample", judged)
    assert f"{foretold} calls paid" in said and server.calls == foretold
    assert "a fake model answered" in said and "19 hold" in said
    assert server.stats()["peak_in_flight"] > 1
    said = shown(capsys, 2, "doctor", "sample", judged, "--no-cache", "--budget", "0.01")
    assert said.startswith("error: the budget of")
