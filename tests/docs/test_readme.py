"""The README is true: its commands run, and its figures come out."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from documented import follow, run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short() -> None:
    assert len(README.split()) <= 800


def test_the_board_of_twelve_tools(tmp_path: Path, request: pytest.FixtureRequest, shared_data: Path) -> None:
    offline = README.replace("reviewgauge get martian\n", f"reviewgauge get martian --from {shared_data / 'martian'}\n")
    assert follow(offline, tmp_path, request) == 3
    recorded = run("reviewgauge score runs/martian 'hits(judge=\"recorded\")'", tmp_path).stdout
    assert [re.findall(rf"^{name} +(\.\d\d)", recorded, re.MULTILINE) for name in ("augment", "bugbot")] == [
        [".51"],
        [".42"],
    ]
    assert "cannot tell augment from" in recorded


def test_the_two_commands_are_the_makefile_s() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^\$ make (\w+)$", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(f"\n{target}:" in makefile for target in targets)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_demo_prints_what_the_readme_says(demo: tuple[Path, str]) -> None:
    assert README.split("$ make demo\n")[1].partition("\n")[0] in demo[1]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="the example needs shellcheck")
def test_the_example_is_what_shellcheck_says_of_the_sample(tmp_path: Path) -> None:
    spec = "command(run='shellcheck -f gcc {files:*.sh}', lines='added', accept=(0, 1))"
    assert run(f'reviewgauge review sample "{spec}" -o run --only case=16-*', tmp_path).returncode == 0
    assert run("reviewgauge score run", tmp_path).returncode == 0
    (review,) = [json.loads(line)["review"] for line in (tmp_path / "run" / "reviews.jsonl").open()]
    (score,) = [json.loads(line) for line in (tmp_path / "run" / "scores.jsonl").open()]
    bodies = {comment["id"]: comment["body"] for comment in review["comments"]}
    states = {bodies[one["comment"]]: one for one in score["matching"]["comments"]}
    rows = {
        row.split("|")[1].split()[1]: row.replace("\\|", "|")
        for row in README.splitlines()
        if row.startswith("| ") and row.split("|")[1].strip()[:1] in "●◌◇" and row.split("|")[1].strip()
    }
    for word, state in (("right", "matched"), ("unsure", "unsure")):
        (body,) = [body for body in bodies.values() if body in rows[word]]
        assert states[body]["state"] == state
    assert f"{states[next(b for b in bodies.values() if b in rows['right'])]['probability']:.2f}"[1:] in rows["right"]
    missed = {group["group"]: group["reason"] for group in score["matching"]["groups"] if not group.get("hit")}
    assert missed["16-backup-unchecked"].endswith("another file")
