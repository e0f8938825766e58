"""`reviewgauge compare --attempts` on the command line: a table, JSON, a dry run, and errors in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fickle_changes import fickle_case
from reviewgauge.cli.main import main

FICKLE = "prompt(model='fake:fickle-30', scope='change')"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    bench = tmp_path / "bench.jsonl"
    bench.write_bytes(b"".join(fickle_case(number, 4).to_line() for number in range(3)))
    assert main(["review", str(bench), FICKLE, "--attempts", "3", "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    return tmp_path / "run"


def test_the_table_names_every_n_and_what_put_the_attempts_together(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(run), "--attempts", "all", "--model", "fake:rules", "--resamples", "100"]) == 0
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines() if line.startswith(("(one", "votes ", "fake:rules"))]
    assert [line[:3] for line in lines if line[1] != "of"] == [
        ["(one", "attempt)", "1"], ["votes", "2", "3"], ["votes", "3", "1"], ["fake:rules", "2", "3"],
        ["fake:rules", "3", "1"],
    ]  # fmt: skip
    assert "votes of 3 less one attempt: " in shown
    assert "model of 3 less votes of 3: " in shown
    assert "3 attempts of prompt(model='fake:fickle-30'" in shown
    assert re.search(r"\b1[0-2] calls paid", shown), (
        "one a change and subset; two equal sets of reviews are one question"
    )


def test_a_page_that_was_written_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = run.parent / "curve.html"
    assert main(["compare", str(run), "--attempts", "all", "--resamples", "100", "-o", str(page)]) == 0
    assert f"{page}: the curve as a page" in " ".join(capsys.readouterr().out.split()) and page.is_file()


def test_json_and_a_dry_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run), "--attempts", "3", "--resamples", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(point["by"], point["n"]) for point in found["curve"]["points"]] == [("alone", 1), ("votes", 3)]
    assert (
        main(
            [
                "compare",
                str(run),
                "--attempts",
                "all",
                "--model",
                "openai:gpt-5-mini",
                "--dry-run",
                "--resamples",
                "100",
            ]
        )
        == 0
    )
    assert re.search(r"Dry run: no model was asked. 1[0-2] calls to pay for.", capsys.readouterr().out)


@pytest.mark.parametrize(("words", "said"), [
    (("--judge", "nobody"), "no judge is called 'nobody'"),
    (("--model", "nobody"), "error: "),
    (("--attempts", "4"), "4 attempts cannot be drawn: the run holds 3"),
    (("--metric", "nothing"), "no metric is called 'nothing'"),
])  # fmt: skip
def test_errors_are_one_line(run: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run), "--attempts", "all", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
