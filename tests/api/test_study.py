"""`study`: the same tables after kills, nothing done twice, and bad days that are named."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fake_server import FakeServer
from fickle_changes import fickle_case
from reviewgauge.api.study import StudyResult, study
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.reports.study import Estimate
from reviewgauge.engine.run.journal import Lock
from reviewgauge.engine.run.model_options import ModelOptions
from small_studies import SMALL, enter_study, made_files, write_bench

ELSEWHERE = "points(model='openai:m@http://127.0.0.1:9/v1')"
TEXT = f"""
title = "which model?"
attempts = 2
metrics = ["hits", "points(model='fake:example')"]
[axes]
model = {{ steady = "fake:example", fickle = "fake:varied" }}
[[reviewer]]
name = "{{model}}"
spec = 'prompt(model="{{model}}", scope="change")'
{SMALL}
[[table]]
kind = "overlap"
of = "attempts"
reviewers = ["fickle"]
[[table]]
kind = "cost"
metric = "points"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    enter_study(tmp_path, monkeypatch, TEXT, small_cases(8))
    return tmp_path


def small_cases(count: int) -> list[Case]:
    return [fickle_case(number, 4) for number in range(count)]


def made(result: StudyResult) -> dict[str, dict[str, str]]:
    """By table, the second column of each row by its name."""
    assert result.report is not None
    return {
        table.name: {row[0].text: row[1].text or f"{row[1].value:.3f}" for row in table.rows}
        for table in result.report.tables
    }


DYING = """
import os, signal, sys
from reviewgauge.cli.main import main
from reviewgauge.engine.run.folder import RunFolder
left = int(sys.argv.pop(1))
def counted(append):
    def appended(self, record, **how):
        global left
        left -= 1
        append(self, record, **how)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return appended
RunFolder.append_outcome, RunFolder.append_score = map(counted, (RunFolder.append_outcome, RunFolder.append_score))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.drill
def test_killed_at_random_points_the_tables_are_the_same(here: Path) -> None:
    undisturbed = study("study.toml", out="whole", resamples=50)
    assert undisturbed.ok and set(made(undisturbed)) == {"leaderboard", "overlap", "overlap-times", "cost"}
    draw = random.Random(7)
    for _ in range(4):
        records = str(draw.randrange(1, 30))  # of 48 reviews and 96 scores
        dying = [sys.executable, "-c", DYING, records, "study", "study.toml", "-o", "killed", "--resamples", "50"]
        done = subprocess.run(dying, check=False, capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
    found = study("study.toml", out="killed", resamples=50)
    assert found.ok
    assert made_files(here / "killed") == made_files(here / "whole")
    assert study("study.toml", out="killed", resamples=50).calls == 0
    study("study.toml", out="alone", resamples=50, workers=1)
    assert made_files(here / "alone") == made_files(here / "whole")


def recorded(out: Path) -> int:
    files = [out / "runs" / "small" / name for name in ("reviews.jsonl", "scores.jsonl")]
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def test_what_the_file_gains_is_done_and_nothing_else(here: Path) -> None:
    study("study.toml", out="out", resamples=50)
    more = TEXT.replace('fickle = "fake:varied"', 'fickle = "fake:varied", third = "fake:varied?seed=1"')
    (here / "study.toml").write_text(more)
    seen: list[Estimate] = []
    found = study("study.toml", out="out", resamples=50, announce=seen.append)
    assert seen[0].reviews == 16
    assert list(made(found)["leaderboard"]) == list(dict.fromkeys(made(found)["leaderboard"])) and found.ok
    assert "third" in made(found)["leaderboard"]


def test_the_estimate_is_what_is_paid_and_writes_nothing(here: Path) -> None:
    foreseen = study("study.toml", out="out", models=ModelOptions(dry_run=True)).estimate
    assert not (here / "out").exists()
    assert (foreseen.cells, foreseen.reviews) == (3, 48)
    found = study("study.toml", out="out", resamples=50)
    assert found.calls == foreseen.calls
    assert found.dollars == pytest.approx(foreseen.dollars)


def test_a_model_that_vanishes_is_a_failed_cell_and_the_rest_goes_on(here: Path) -> None:
    with FakeServer() as server:
        gone = server.spec("rules")
    text = TEXT.replace('fickle = "fake:varied"', f'fickle = "fake:varied", gone = "{gone}?timeout=1"')
    (here / "study.toml").write_text(text)
    with pytest.raises(UserError, match=r"an address on the network, which a file may not decide \(.*--trust\)"):
        study("study.toml", out="out", resamples=50)
    found = study("study.toml", out="out", resamples=50, trust=True)
    board = made(found)["leaderboard"]
    assert board["gone"].startswith("failed: ") and float(board["steady"]) >= 0
    assert found.report is not None and [one.what for one in found.report.troubles] == ["gone"] and not found.ok


def test_a_budget_that_ends_in_the_middle_keeps_what_was_paid_for(here: Path) -> None:
    whole = study("study.toml", out="whole", resamples=50)
    assert whole.dollars
    out = study("study.toml", out="out", resamples=50, models=ModelOptions(budget=whole.dollars / 3, cache=False))
    assert "budget" in out.stopped and out.report is not None and not out.ok
    assert (out.dollars or 0) <= whole.dollars / 3
    assert 0 < recorded(here / "out") < recorded(here / "whole")
    board = made(out)["leaderboard"]
    assert board["parrot"] == made(whole)["leaderboard"]["parrot"]
    assert "failed: " in board["fickle"]
    rest = study("study.toml", out="out", resamples=50, models=ModelOptions(budget=whole.dollars + 1, cache=False))
    assert rest.ok and made(rest)["leaderboard"] == made(whole)["leaderboard"]
    assert (rest.dollars or 0) + (out.dollars or 0) == pytest.approx(whole.dollars, rel=0.2)


def test_changed_data_another_study_and_foreign_folders_are_named(here: Path) -> None:
    study("study.toml", out="out", resamples=50)
    before = made_files(here / "out")
    write_bench(here, small_cases(9))
    with pytest.raises(UserError, match=r"the benchmark 'small' is another than that of out.*: the data changed since"):
        study("study.toml", out="out")
    write_bench(here, small_cases(8))
    lock = Lock(here / "out" / "lock")
    try:
        with pytest.raises(UserError, match="out is being written by this process"):
            study("study.toml", out="out")
    finally:
        lock.release()
    (here / "other").mkdir()
    (here / "other" / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match=r"other is not the folder of a study: it holds letter\.txt"):
        study("study.toml", out="other")
    assert made_files(here / "out") == before
    (here / "study.toml").write_text(TEXT.replace("fake:varied", "fake:varied?seed=1"))
    found = study("study.toml", out="out", resamples=50)
    assert found.ok and found.estimate.reviews == 16, "another reviewer of that name has reviews of its own"


@pytest.mark.parametrize(("entry", "said"), [
    ('kind = "leaderboard"\nname = "b"\nmeasures = ["f1", "prec"]', r"measures of hits: there is no 'prec' .*f1"),
    ('kind = "leaderboard"\nname = "b"\nmetric = "chrf"', r"metric: there is no 'chrf' \(there is: hits, points"),
    ('kind = "slices"\nby = "langage"', r"slices\), by: there is no 'langage' .*category.*repo"),
    ('kind = "validity"\nmetric = "hots"', r"table.* 4 \(validity\): .*hots"),
    (f'kind = "validity"\nmetric = "{ELSEWHERE}"', "an address on the network, which a file may not decide"),
    ('kind = "distribution"\nmeasures = ["f1", "recall"]', "distribution.*: it shows one measure"),
])  # fmt: skip
def test_a_slip_in_a_table_is_named_before_anything_is_run(here: Path, entry: str, said: str) -> None:
    (here / "study.toml").write_text(f"{TEXT}[[table]]\n{entry}\n")
    for options in (ModelOptions(dry_run=True), ModelOptions()):
        with pytest.raises(UserError, match=said):
            study("study.toml", out="out", resamples=50, models=options)
    assert not (here / "out").exists()


def test_a_table_may_name_what_is_known_only_when_it_is_measured(here: Path) -> None:
    more = '[[table]]\nkind = "slices"\nby = "category"\nmeasures = ["f1_most"]\nreviewers = ["st*", "par*"]\n'
    (here / "study.toml").write_text(TEXT + more)
    study("study.toml", out="out", models=ModelOptions(dry_run=True))


def test_a_model_sorts_the_comments_once_and_a_table_slices_by_that(here: Path) -> None:
    sorts = """labels = ['category(model="fake:example")', 'category(model="fake:example", of="references")']\n[axes]"""
    more = '[[table]]\nkind = "slices"\nmetric = "hits"\nby = "classified_both:category"\nmeasures = ["precision"]\n'
    (here / "study.toml").write_text(TEXT.replace("[axes]", sorts, 1) + more)
    found = study("study.toml", out="out", resamples=50)
    assert found.ok and found.calls == found.estimate.calls
    assert any(column != "–" for column in made(found)["slices"].values())
    assert study("study.toml", out="out", resamples=50).calls == 0
    elsewhere = sorts.replace("fake:example", "openai:m@http://127.0.0.1:9/v1")
    (here / "study.toml").write_text(TEXT.replace("[axes]", elsewhere, 1))
    with pytest.raises(UserError, match=r"labels: .* is an address on the network, which a file may not decide"):
        study("study.toml", out="out", resamples=50)


def test_cells_that_are_one_reviewer_share_its_reviews(here: Path) -> None:
    again = "[[reviewer]]\nname = \"again\"\nspec = \"prompt(scope='change', model='fake:example')\"\n[[table]]"
    (here / "study.toml").write_text(TEXT.replace("[[table]]", again, 1))
    found = study("study.toml", out="out", resamples=50)
    board = made(found)["leaderboard"]
    assert board["again"] == board["steady"] and found.estimate.reviews == 48
    manifest = json.loads((here / "out" / "runs" / "small" / "manifest.json").read_text())
    assert len(manifest["systems"]) == 3


def test_a_study_of_a_paper_without_its_data_says_what_runs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(here / "nothing"))
    monkeypatch.setenv("XDG_DATA_HOME", str(here / "nothing"))
    with pytest.raises(UserError, match=r"swr_bench\.toml, benchmark swr: .*; or --on built or --on sample\)"):
        study("swr_bench", out="out")
    with pytest.raises(UserError, match=r"cannot read nowhere\.toml: .*one that ships: aacr_bench, context_crbench"):
        study("nowhere.toml", out="out")


def test_a_benchmark_on_which_nothing_can_be_run_is_refused_at_once(here: Path) -> None:
    blank = Case(id="1", change=Change(repo="r/r", base="0", head="1"))
    (here / "bench.jsonl").write_bytes(blank.to_line())
    (here / "study.toml").write_text(TEXT + "[on.other]\nattempts = 1\n")
    with pytest.raises(UserError, match=r"no reviewer can be run on small: .* needs the code .*\(or --on other\)"):
        study("study.toml", out="out")


def test_metrics_against_people_take_the_resamples_of_the_study(here: Path) -> None:
    said = [Review(case=f"c{n}", system="bot", comments=(Comment(id="c", body="eval runs " * n),)) for n in range(8)]
    (here / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in said))
    rows = "".join(f"c{n},ann,good,{n % 5}\n" for n in range(8))
    (here / "labels.csv").write_text("case,rater,dimension,value\n" + rows)
    text = 'title = "people"\nmetrics = ["chrf"]\n' + SMALL.replace("leaderboard", "validity")
    (here / "study.toml").write_text(text)
    found = study("study.toml", out="out", resamples=50).report
    assert found is not None and "50 bootstrap resamples" in found.tables[0].provenance
