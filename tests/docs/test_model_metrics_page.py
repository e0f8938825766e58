"""docs/reference/model-metrics.md: its commands print what it shows, and its definitions hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from documented import commands, run, write_files
from reviewgauge.models.answers.readers import Unreadable, whole_number

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "model-metrics.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_its_commands_print_what_it_shows(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    found = [run(command, tmp_path) for command in commands(PAGE)]
    assert [done.returncode for done in found] == [0] * 6, [done.stderr for done in found]
    _, grade, relevance, _, ours, published = (done.stdout for done in found)
    grade_shown, _, *points_shown = (block.split("```")[0] for block in PAGE.split("```text\n")[1:])
    for shown, printed in zip([grade_shown, *points_shown], [grade, ours, published], strict=True):
        assert flat(shown) in flat(printed)
    assert "not scored" in relevance and "(fake)" in relevance
    scores = (tmp_path / "runs" / "texts" / "scores.jsonl").read_text(encoding="utf-8")
    assert '"rater":"fake:example (trial 3)","value":3,"reason":"Grade=3"' in scores


def test_both_ways_of_counting_points(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    review, *scores = commands(PAGE)[3:]
    assert run(review, tmp_path).returncode == 0
    expected = [
        {"precision": 3 / 5, "recall": 3 / 5, "f1": 3 / 5, "functional_precision": 1 / 3, "duplicate_share": 1 / 6},
        {"precision": 4 / 6, "recall": 4 / 5, "f1": 8 / 11, "functional_precision": 1 / 2},
    ]
    for command, values in zip(scores, expected, strict=True):
        toy = command.replace("fake:example", "fake:rules")  # which answers as the arrows of the page say
        found = json.loads(run(f"{toy} --json", tmp_path).stdout)["leaderboards"][0]["systems"][0]["estimates"]
        measures = {estimate["measure"]: estimate["value"] for estimate in found}
        assert {name: measures[name] for name in values} == pytest.approx(values)


def test_the_answers_that_it_names_are_read_or_not() -> None:
    part = PAGE.split("## What counts as a grade\n")[1].split("\n## ")[0]
    readable, unreadable = part.split("are read")
    for answer in re.findall("`([^`]+)`", readable):
        assert whole_number(answer, 1, 5) == 4
    refused = [answer for answer in re.findall("`([^`]+)`", unreadable) if "<think>" not in answer]
    assert len(refused) == 4
    for answer in refused:
        with pytest.raises(Unreadable):
            whole_number(answer, 1, 5)
