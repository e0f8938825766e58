"""The command line in odd surroundings: one clear line and a code, whatever the terminal and the disk are like."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from documented import run_here
from reviewgauge.cli.main import main
from reviewgauge.core.records import Case, Change, Comment


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    case = Case(id="ünï", change=Change(repo="r"), references=(Comment(id="g", body="never closed"),))
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    assert main(["review", "cases.jsonl", "silent", "-o", "run"]) == 0
    assert main(["score", "run"]) == 0
    capsys.readouterr()
    return tmp_path


def test_no_verb_prints_the_help_on_its_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    err = capsys.readouterr().err
    assert "\nMeasure:\n" in err and "error" not in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_cannot_show_a_character_gets_another_one(run: Path, encoding: str) -> None:
    shown = run_here(run, "score", "run", encoding=encoding)
    assert shown.returncode == 0, shown.stderr
    assert "silent" in shown.stdout
    data = run_here(run, "info", "cases.jsonl", "--json", encoding=encoding)
    assert json.loads(data.stdout)["counts"]["changes"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the output")
@pytest.mark.slow
def test_closed_output_is_no_crash(run: Path) -> None:
    command = f"{sys.executable} -m reviewgauge score run >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=run, check=False).returncode == 0


@pytest.mark.parametrize("words", [
    ["score", "run", "--seed", "-1"], ["compare", "run", "--seed", "-1"],
    ["review", "cases.jsonl", "silent", "-o", "run", "--in-flight", "0"],
    ["review", "cases.jsonl", "silent", "-o", "run", "--attempts", "0"],
])  # fmt: skip
def test_numbers_that_cannot_be_are_refused(run: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "is not in the range" in capsys.readouterr().err


def test_each_problem_that_check_names_is_one_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "bad.jsonl").write_text(json.dumps({"id": "../" + "x" * 200, "change": {"repo": "r"}}) + "\n")
    assert main(["check", "bad.jsonl"]) == 2
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("bad.jsonl, line 1, field id: climbs out") and last.endswith("1 bad")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.slow
def test_a_report_that_does_not_fit_says_where_and_leaves_nothing_half(run: Path) -> None:
    # -B: under the limit Python itself would leave a compiled file cut in half, and every later import would fail.
    limited = f"ulimit -f 8; {sys.executable} -B -m reviewgauge report run -o page.html"
    done = subprocess.run(["bash", "-c", limited], cwd=run, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"error: page.html: no room left to write" in done.stderr
    assert not list(run.glob("page.html*"))


def test_a_file_that_ends_too_early_is_no_interruption(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
from dataclasses import dataclass
from reviewgauge.core.protocols import Dataset
@dataclass(frozen=True)
class Data(Dataset):
    path: str = ""
    @property
    def card(self):
        raise EOFError("compressed data ended")
    def cases(self):
        raise EOFError("compressed data ended")
"""
    (run / "cut_short.py").write_text(source)
    assert main(["info", "cut_short.Data"]) == 2
    assert capsys.readouterr().err.strip() == "error: a file ends too early: compressed data ended"


SLIPPED = """
from dataclasses import dataclass
from reviewgauge.core.protocols import Metric

@dataclass(frozen=True)
class Slipped(Metric):
    def part(self, case, review): return {}
"""


@pytest.mark.parametrize(("line", "error"), [
    ("review sample prompt(model='fake:exmaple') -o new", "no fake model is called 'exmaple' (there are fake:example"),
    ("score run hits(judge='gpt-5')", "no judge is called 'gpt-5' (a chat model is named with its provider"),
    ("review sample command(run='./bot.sh') -o new", "the program ./bot.sh is not executable (chmod +x ./bot.sh)"),
    ("review sample command(run='good.sh') -o new", "no program on PATH is called good.sh (write ./good.sh for"),
    ("review sample command(run='./bott.sh') -o new", "the program ./bott.sh does not exist (give its path)"),
    ("info sample --remove hits", "sample is not a run folder"),
    ("annotate init j.db smaple", "no dataset is called 'smaple' (did you mean sample?)"),
    ("list revewers", "'recipes'. (did you mean reviewers?)"),
    ("score rum", "Directory 'rum' does not exist. (did you mean run?)"),
    ("compare run deep/../rub", "'deep/../rub' does not exist. (did you mean deep/../run?)"),
    ("score goood.sh", "'goood.sh' does not exist. (see --help)"),
    ("revew sample silent", "there is no verb 'revew' (did you mean review?)"),
    ("score run slips.Slipped", "slips.Slipped has no method parts (rename part to parts)"),
])  # fmt: skip
def test_a_slip_is_said_with_its_mending(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, error: str
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name, mode in (("bot.sh", 0o644), ("good.sh", 0o755)):
        Path(name).write_text("#!/bin/sh\necho hello\n")
        Path(name).chmod(mode)
    Path("slips.py").write_text(SLIPPED)
    Path("deep").mkdir()
    assert main(line.split(" ")) == 2
    assert error in capsys.readouterr().err
    assert not Path("new").exists()


def test_info_suggests_what_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "martian", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["example"] == "reviewgauge review martian recorded -o runs/mine"
