from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import documented
import reviewgauge
from reviewgauge.api.gate import smoke, split_reading
from reviewgauge.core.errors import UserError


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scored runs of the sample: parrot, which is bad, and analyser, which is better; and both in one."""
    home = tmp_path_factory.mktemp("runs")
    for name, reviewer in (("old", "analyser"), ("new", "silent"), ("both", "silent")):
        if name == "both":
            shutil.copytree(home / "old", home / name)
        reviewgauge.review("sample", reviewer, run=home / name)
        reviewgauge.score(home / name, "hits", resamples=50)
    return home


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return documented.run(shlex.join(["reviewgauge", "gate", *arguments]), Path.cwd())


@pytest.mark.slow
def test_silence_does_not_replace_an_analyser_and_ci_is_told(runs: Path, tmp_path: Path) -> None:
    files = ["--markdown", str(tmp_path / "gate.md"), "--junit", str(tmp_path / "gate.xml")]
    done = run(str(runs / "new"), "--baseline", str(runs / "old"), "--metric", "hits.f1", "--margin", ".02", *files)
    assert done.returncode == 1, done.stderr
    assert "WORSE" in done.stdout
    assert "| baseline | analyser |" in (tmp_path / "gate.md").read_text("utf-8")
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"


def test_the_other_way_round_passes_and_a_wide_margin_too(runs: Path) -> None:
    assert run(str(runs / "old"), "--baseline", str(runs / "new"), "--margin", ".02").returncode == 0
    assert run(str(runs / "new"), "--baseline", str(runs / "old"), "--margin", "1").returncode == 0


@pytest.mark.slow
def test_what_cannot_be_told_is_exit_code_3(runs: Path) -> None:
    done = run(str(runs / "new"), "--baseline", str(runs / "old"), "--metric", "hits.precision", "--margin", ".02")
    assert done.returncode == 3, done.stdout  # silence has no precision
    assert "undefined" in done.stdout


def test_two_systems_of_one_run_and_json(runs: Path) -> None:
    names = ["--system", "silent", "--against", "analyser"]
    done = run(str(runs / "both"), *names, "--margin", ".02", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert (result["verdict"], result["candidate"], result["n"]) == ("worse", "silent", result["of"])


@pytest.mark.slow
def test_one_system_under_one_name_in_two_runs(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "old", tmp_path / "again")
    found = reviewgauge.gate(tmp_path / "again", baseline=runs / "old", margin=0.0)
    assert (found.verdict, found.candidate, found.baseline) == ("not worse", "again:analyser", "old:analyser")


def test_mistakes_are_one_line_and_exit_code_2(runs: Path) -> None:
    for arguments, problem in (
        ([str(runs / "new"), "--baseline", str(runs / "old")], "no --margin given"),
        ([str(runs / "new"), "--margin", ".1"], "no baseline given"),
        ([str(runs / "both"), "--baseline", str(runs / "old"), "--margin", ".1"], "holds 2 systems"),
        ([str(runs / "new"), "--baseline", str(runs / "old"), "--margin", ".1", "--metric", "hits.f9"], "no reading"),
        ([str(runs / "new"), "--baseline", str(runs / "old"), "--margin", ".1", "--metric", "chrf"], "was not scored"),
        ([str(runs / "both"), "--smoke", "4", "--margin", ".1"], "--margin has no meaning with --smoke"),
        ([str(runs / "both"), "--smoke", "4", "--junit", "a.xml"], "--junit has no meaning with --smoke"),
        ([str(runs / "new"), "--baseline", str(runs / "old"), "--margin", ".1", "-o", "x"], "-o has no meaning"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert problem in done.stderr
        assert done.stderr.count("\n") == 1


def test_smoke_writes_the_cases_that_separate(runs: Path, tmp_path: Path) -> None:
    done = run(str(runs / "both"), "--smoke", "5", "-o", str(tmp_path / "cases.txt"))
    assert done.returncode == 0, done.stderr
    ids = (tmp_path / "cases.txt").read_text("utf-8").split()
    assert len(ids) == 5
    assert "--only case=@" in done.stderr
    with pytest.raises(UserError, match="fewer than 500"):
        smoke(runs / "both", count=500)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("hits.f1", ("hits", "f1")),
        ("hits", ("hits", "")),
        ("hits(policy='any').recall", ("hits(policy='any')", "recall")),
        ("hits(judge='openai:m@http://h/v1.2').f0.5", ("hits(judge='openai:m@http://h/v1.2')", "f0.5")),
        ("mine.metric", ("mine.metric", "")),
        ("", ("", "")),
    ],
)
def test_the_reading_stands_after_a_dot(word: str, parts: tuple[str, str]) -> None:
    assert split_reading(word) == parts
