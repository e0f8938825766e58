"""A leaderboard says whose reviews were judged by a model of their own family, and what a cascade asked."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import load, signature
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import read_scored_runs

CASES = [
    Case(id=f"c{n}", change=Change(repo="a/b"), references=(Comment(id="r", body="The lock is released twice"),))
    for n in range(3)
]


def scored(folder: Path, judge: str, parts: dict[str, float]) -> tuple[str, ...]:
    """The warnings of a run of two systems whose scores say that `judge` gave them."""
    metric = load(Metric, f"hits(judge={judge!r})")
    run = RunFolder.create(folder, dataset="mine", dataset_path="mine.jsonl", cases=CASES)
    with run:
        run.add_systems({"mine": {}}, signature="prompt(model='openai:gpt-5-mini')")
        run.add_systems({"bot": {}}, signature="replay(path='bot.json')")
        for system in ("mine", "bot"):
            for case in CASES:
                outcome = Outcome(case=case.id, system=system, review=Review(case=case.id, system=system))
                run.append_outcome(outcome)
                score = Score(
                    case=case.id,
                    system=system,
                    metric=signature(metric),
                    benchmark=run.manifest.benchmark,
                    parts={"changes": 1, "references": 1, "missed": 1, **parts},
                )
                run.append_score(score)
    (found,) = read_scored_runs([folder])
    return leaderboard(found, resamples=20).warnings


def test_the_judges_own_family_is_named(tmp_path: Path) -> None:
    line = "judged by a model of its own family (gpt: openai:gpt-5), which may prefer it: mine"
    assert line in scored(tmp_path / "a", "openai:gpt-5", {"pairs": 4, "asked": 4})
    assert not any("family" in said for said in scored(tmp_path / "b", "anthropic:claude-opus-4-5", {}))
    assert not any("family" in said for said in scored(tmp_path / "c", "lexical", {}))


def test_what_a_cascade_asked_is_said(tmp_path: Path) -> None:
    said = scored(tmp_path / "a", "cascade(then='anthropic:claude-opus-4-5')", {"pairs": 4, "asked": 1})
    assert "asked about 6 of 24 pairs (25.0%)" in said
    assert not any("asked about" in line for line in scored(tmp_path / "b", "openai:gpt-5", {"pairs": 4, "asked": 4}))
