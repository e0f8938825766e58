"""The main job with a model: review the sample, measure it, replay it, with the fake model behind the door."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from fake_server import FakeServer
from reviewgauge.cli.main import main
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.cache import call_cache
from reviewgauge.models.cache.vector_cache import open_file

PROMPT = 'prompt(model="fake:rules")'


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def lines(run: str) -> list[bytes]:
    return sorted(Path(run, "reviews.jsonl").read_bytes().splitlines())


@pytest.mark.slow
def test_the_sample_is_reviewed_measured_and_replayed_to_the_byte(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "sample", PROMPT, "--attempts", "2", "-o", "runs/p", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["totals"][0]["done"], first["totals"][0]["comments"], first["totals"][0]["fake"]) == (48, 6, True)
    assert first["spending"]["calls"] == first["totals"][0]["cost"]["calls"] == 280

    assert main(["review", "sample", PROMPT, "--attempts", "2", "-o", "runs/again", "--replay", "runs/p"]) == 0
    assert "280 calls replayed" in capsys.readouterr().out
    assert lines("runs/again") == lines("runs/p")

    assert main(["score", "runs/p", "hits", "--explain"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "(fake)" in out
    assert "F1 would vary by .000 (SD) if all 48 attempts at 24 changes were repeated" in out
    assert main(["report", "runs/p", "-o", "report.html"]) == 0
    assert "would vary by .000 (SD) if all 48 attempts" in Path("report.html").read_text(encoding="utf-8")
    # what the rule finds in the sample
    found = {o.case: o.review.comments for o in RunFolder.open("runs/p").outcomes() if o.review and o.attempt == 1}
    said = {case: [c.span.path for c in comments if c.span] for case, comments in found.items() if comments}
    assert sorted(path for paths in said.values() for path in paths) == [
        *("api/wayside/admin.py", "api/wayside/export.py", "api/wayside/notify.py")
    ]


@pytest.mark.slow
def test_a_dry_run_foretells_the_calls_and_leaves_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "sample", PROMPT, "-o", "runs/p", "--dry-run"]) == 0
    assert "140 calls to pay for" in capsys.readouterr().out
    assert list(tmp_path.rglob("*")) == []
    assert main(["review", "sample", PROMPT, "-o", "runs/p", "--only", "case=0*"]) == 0
    before = {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["review", "sample", PROMPT, "-o", "runs/p", "--dry-run"]) == 0
    assert "15 reviews to make" in capsys.readouterr().out
    assert main(["score", "runs/p", "hits", "--dry-run"]) == 0
    assert "9 reviews to measure" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()} == before


def test_a_data_set_without_code_is_refused_by_name(
    tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, folder in (("martian", "martian"), ("aacr_bench", "aacr-bench")):
        assert main(["review", name, PROMPT, "--from", str(shared_data / folder), "-o", f"runs/{name}"]) == 2
        assert "needs the code under review, which is not at hand for" in capsys.readouterr().err
        assert not (tmp_path / "runs" / name).exists(), "with the code it is another benchmark, for another folder"


def test_what_is_wrong_for_every_case_ends_the_run_and_fails_no_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache" / "chat.sqlite"
    cache.parent.mkdir()
    cache.write_bytes(b"no database" * 100)
    assert main(["review", "sample", PROMPT, "-o", "run"]) == 2
    assert "is broken" in capsys.readouterr().err
    assert not Path("run").exists()


@pytest.mark.slow
def test_the_first_failure_of_each_kind_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A number of failures tells nobody what to do."""
    assert main(["review", "sample", PROMPT, "-o", "runs/p"]) == 0
    capsys.readouterr()
    assert main(["review", "sample", PROMPT, "--attempts", "2", "-o", "runs/again", "--replay", "runs/p"]) == 0
    said = capsys.readouterr()
    assert "24 failed (request 24)" in said.out
    assert "24 failed: the same command with --only failed tries them again" in said.out
    assert "next: reviewgauge score runs/again hits" in said.out
    assert said.err.count("note: failed (request)") == 1
    assert "this call is not in the record" in said.err
    assert main(["score", "runs/p", 'hits(judge="fake:rules")']) == 0
    capsys.readouterr()
    assert main(["score", "runs/again", 'hits(judge="fake:rules?seed=1")', "--replay", "runs/p"]) == 0
    assert "this call is not in the record" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_of_failures_alone_is_not_all_well(capsys: pytest.CaptureFixture[str]) -> None:
    """A script must see it, and nobody is sent on to score nothing."""
    with FakeServer(fail="truncate:1") as server:
        asks = ["review", "sample", f'prompt(model="{server.spec()}", scope="change")', "-o", "runs/cut"]
        assert main(asks) == 1
        said = " ".join(capsys.readouterr().out.split())
        assert "24 failed (unreadable 24)" in said
        assert "every review failed; runs/cut/reviews.jsonl says why" in said
        assert "24 failed: the same command with --only failed tries them again" in said
        assert "next:" not in said
        assert main([*asks, "--json"]) == 1, "nothing to do, and still nothing there"
        assert json.loads(capsys.readouterr().out)["totals"][0]["failed_before"] == 24
        assert main(["score", "runs/cut"]) == 1
        assert "nothing could be measured" in capsys.readouterr().out
        server.change(fail="")
        assert main([*asks, "--only", "failed"]) == 0
        assert "next: reviewgauge score runs/cut hits" in capsys.readouterr().out


@pytest.mark.slow
def test_what_a_full_cache_could_not_take_is_not_paid_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def with_little_room(file: Path, table: str, wait: float) -> sqlite3.Connection:
        connection = open_file(file, table, wait)
        connection.execute("PRAGMA max_page_count = 4")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(call_cache, "open_file", with_little_room)
        assert main(["review", "sample", PROMPT, "-o", "runs/p"]) != 0
    assert "the disk is full" in capsys.readouterr().err
    paid = list(RunFolder.open("runs/p").unkept_calls())
    assert paid
    assert main(["review", "sample", PROMPT, "-o", "runs/p"]) == 0
    calls = Counter(call.key for call in RunFolder.open("runs/p").calls() if call.paid)
    raw = [json.loads(line) for line in Path("runs/p/calls.jsonl").read_text().splitlines()]
    assert all(sum(one["key"] == call.key and one.get("paid", True) for one in raw) == 1 for call in paid)
    assert set(calls) >= {call.key for call in paid}
