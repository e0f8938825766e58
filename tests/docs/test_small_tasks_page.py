"""small-tasks.md: its commands run, and give what the page's definitions say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from documented import commands, run, write_files

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "small-tasks.md").read_text(encoding="utf-8")


def test_its_commands_and_what_comes_out(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    review_assess, assess, review_locate, locate, review_model, locate_model = commands(PAGE)
    expected: dict[tuple[str, str], dict[str, float]] = {
        (review_assess, assess): {"balanced_accuracy": 3 / 4, "accuracy": 2 / 3, "merged_f1": 2 / 3,
            "not_merged_recall": 1 / 2, "not_merged_precision": 1, "always_merged_f1": 1 / 2, "always_not_f1": 4 / 5,
            "always_not_accuracy": 2 / 3},
        (review_locate, locate): {"pass@1": 0, "pass@3": 1, "pass@10": 1, "outside": 1 / 3},
        (review_model, locate_model): {"pass@1": 7 / 27, "pass@3": 10 / 27, "pass@10": 20 / 27, "outside": 0},
        (review_locate, f"{locate}(variant='published')"): {"pass@1": 0, "pass@3": 1},
    }  # fmt: skip
    for (review, score), values in expected.items():
        words = score.replace("pass_at_k(variant='published')", "\"pass_at_k(variant='published')\"")
        assert run(review, tmp_path).returncode == 0
        done = run(f"{words} --json", tmp_path)
        assert done.returncode == 0, done.stderr
        estimates = json.loads(done.stdout)["leaderboards"][0]["systems"][0]["estimates"]
        measures = {estimate["measure"]: estimate["value"] for estimate in estimates}
        assert {name: measures[name] for name in values} == pytest.approx(values)
