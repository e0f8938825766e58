"""llm-metrics.md: its commands run, and print what it says that they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documented import commands, run, write_files
from reviewgauge.models.answers.readers import Unreadable, whole_number

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "llm-metrics.md").read_text(encoding="utf-8")


def test_its_commands_and_what_they_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    write_files(PAGE, tmp_path)
    done = [run(command, tmp_path) for command in commands(PAGE) if " DATA/" not in command]
    assert [one.returncode for one in done] == [0] * 4, [one.stderr for one in done]
    _, rehearsed, graded, scored = (one.stdout for one in done)
    shown = PAGE.split("The third command prints:\n\n```text\n")[1].split("```")[0]
    assert " ".join(shown.split()) in " ".join(graded.split())
    assert "3 calls" in rehearsed
    assert "not scored" in scored
    assert "(fake)" in scored
    kept = (tmp_path / "runs" / "texts" / "scores.jsonl").read_text(encoding="utf-8")
    assert '"rater":"fake:rules (trial 3)","value":3,"reason":"Grade=3"' in kept
    assert (tmp_path / "runs" / "texts" / "calls.jsonl").is_file()


def test_the_answers_that_it_names_are_read_or_not() -> None:
    part = " ".join(PAGE.split("## What counts as an answer\n")[1].split())
    usable, unusable = part.split(" are read, and so is ")
    for answer in re.findall("`([^`]+)`", usable):
        assert whole_number(answer, 1, 5) == 4
    named = [answer for answer in re.findall("`([^`]+)`", unusable) if "<think>" not in answer]
    assert len(named) == 4
    for answer in named:
        with pytest.raises(Unreadable):
            whole_number(answer, 1, 5)
