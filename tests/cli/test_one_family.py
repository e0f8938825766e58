"""One question has one answer: score, compare, report, their JSON and the gate agree to the digit."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span

PATCH = "@@ -1,2 +1,4 @@\n a\n+b\n+c\n d"
SKILL = {"best": 0.9, "next": 0.5, "last": 0.2}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three reviewers and two baselines on twelve changes: so few that intervals are expanded."""
    dice = random.Random(3)
    cases = []
    for n in range(12):
        said = Comment(id=f"r{n}", body=f"the handle of channel {n} is never closed", span=Span(path="a.py", start=2))
        change = Change(repo="shop", files=(ChangedFile(path="a.py", patch=PATCH),))
        cases.append(Case(id=f"c{n}", change=change, references=(said,)))
    other = Comment(id="o", body="please rename this variable", span=Span(path="a.py", start=3))
    reviews = [
        Review(case=case.id, system=name, comments=case.references if dice.random() < skill else (other,))
        for name, skill in SKILL.items()
        for case in cases
    ]
    bench = tmp_path / "cases.jsonl"
    bench.write_bytes(b"".join(case.to_line() for case in cases))
    (tmp_path / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    reviewgauge.review(str(bench), "recorded", "silent", "parrot", run=tmp_path / "run")
    return tmp_path / "run"


def as_json(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    return found[0] if isinstance(found, list) else found


def test_every_surface_gives_the_same_differences(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = as_json(capsys, "score", run, "hits(judge='dice')")["comparisons"]
    table = as_json(capsys, "compare", run)
    assert scored == [table]
    comparisons = {c["second"]: c for c in table["comparisons"]}
    assert set(comparisons) == {"next", "last", "silent", "parrot"}
    keys = ("difference", "low", "high")
    for name, one in comparisons.items():
        told = as_json(capsys, "gate", run, "--system", "best", "--against", name, "--margin", ".1")
        assert [told[key] for key in keys] == [one[key] for key in keys]
    assert main(["compare", str(run)]) == 0
    terminal = capsys.readouterr().out
    reviewgauge.report(run, out=run.parent / "report.html")
    page = html.unescape(re.sub(r"<[^>]+>", " ", (run.parent / "report.html").read_text())).replace("\u2212", "-")
    section = page.partition("Systems compared pairwise")[2].partition("Failures")[0]
    for figure in re.findall(r"[+-]?\.\d\d\*?\s+\[[^]]+\]", terminal):
        assert "".join(figure.replace("*", "").split()) in "".join(section.split())


def test_baselines_are_in_no_ranking_and_no_plan(run: Path) -> None:
    board = reviewgauge.score(run, "hits(judge='dice')").leaderboards[0]
    assert [(row.system, row.baseline) for row in board.systems[-2:]] == [("parrot", True), ("silent", True)]
    (found,) = reviewgauge.plan(run, detect=0.1).changes
    assert [(pair.first, pair.second) for pair in found.pairs] == [("best", "next"), ("best", "last")]
