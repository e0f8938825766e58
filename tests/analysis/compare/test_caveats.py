"""A system that is judged by a model of its own family is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reviewgauge.analysis.compare.caveats import caveats, checked_by_people, families_in, judged_by_own_family
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.agreement import COHEN, agree
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.martian import Martian
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs
from reviewgauge.judges.lexical import Lexical
from reviewgauge.metrics.hits import Hits

GPT = "prompt(model='openai:gpt-5-mini', scope='change')"
CLAUDE = "prompt(model='anthropic:claude-sonnet-4-5?temperature=0.2', scope='hunk')"


def test_the_systems_of_the_judges_family_are_named_and_no_others() -> None:
    systems = {"mine": (GPT,), "other": (CLAUDE, "a pin"), "bot": ()}
    (line,) = judged_by_own_family(Hits(judge="openai:o3").models, systems)
    assert line == "judged by a model of its own family (gpt: openai:o3), which may prefer it: mine"
    panel = Hits(judge="panel(judges=('openai:gpt-5', 'anthropic:claude-opus-4-5', 'lexical'))")
    assert [line.rpartition(": ")[2] for line in judged_by_own_family(panel.models, systems)] == ["mine", "other"]
    assert judged_by_own_family(Hits().models, systems) == []
    assert judged_by_own_family(("openai:qwen3@http://localhost:8000/v1",), systems) == []


@pytest.mark.parametrize(("system", "texts", "families"), [
    ("a", ("x(model='openai:qwen/qwen3-32b@http://h:1/v1')",), ["qwen"]),
    ("a", ('prompt(model="openai:gpt-5")', "judge openai:gpt-4.1"), ["gpt", "gpt"]),
    ("openai:gpt-5", (), ["gpt"]), ("claude", (), ["claude"]), ("claude-code", (), ["claude"]),
    ("Gemini 3", (), ["gemini"]), ("codex", (), ["gpt"]), ("geminis", (), []),
    ("coderabbit", ("replay(path='findings.json')",), []),
    ("a", ("x(model='openai:')",), []),
])  # fmt: skip
def test_families_are_read_from_names_and_signatures(system: str, texts: tuple[str, ...], families: list[str]) -> None:
    assert families_in(system, texts) == families


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


RATER = "anthropic_claude-opus-4-5-20251101"


def test_on_martian_the_stored_verdicts_are_asked_for_a_sixth_of_the_pairs_and_hardly_lost(shared_data: Path) -> None:
    data = Martian(path=str(shared_data / "martian"))
    reviews, labels = data.recorded(extractor=RATER)
    cases: dict[str, Case] = {
        case.id: case.model_copy(update={"labels": tuple(x for x in labels if x.subject.case == case.id)})
        for case in data.cases()
    }

    def scores(judge: str) -> list[Score]:
        metric, found = Hits(judge=judge), []
        for review in reviews:
            value = metric.parts(cases[review.case], review)
            if not isinstance(value, str):
                found.append(
                    Score(
                        case=review.case,
                        system=review.system,
                        metric="m",
                        benchmark="b",
                        parts=value.parts,
                        matching=value.matching,
                    )
                )
        return found

    recorded = f"recorded(rater='{RATER}')"
    cascade = scores(f'cascade(then="{recorded}")')
    both = [
        [[float(g.hit) for s in own if s.matching for g in s.matching.groups] for own in (one, scores(recorded))]
        for one in (cascade, scores("lexical"))
    ]
    assert len(both[0][0]) == 1020
    found, alone = (agree(np.array(table), COHEN).value or 0.0 for table in both)
    asked, pairs = (sum((own.parts or {})[part] for own in cascade) for part in ("asked", "pairs"))
    assert pairs == 3343
    rows = [Lexical().judge(case := cases[r.case], r.comments, case.references, r) for r in reviews]
    assert sum(verdict.unsure for table in rows for row in table for verdict in row if verdict) == 577, "17.3%, as said"
    assert 0.08 < asked / pairs < 0.18, "in the band are 17.3%, and on some of them a verdict is stored"
    assert found > 0.95 > alone


def test_checked_labels_are_one_line_with_their_interval() -> None:
    case = Case(id="a", change=Change(repo="acme/shop"), facts={"labels_that_hold": "17 of 20"})
    other = case.model_copy(update={"facts": {"labels_that_hold": "17 of 20", "clean_that_hold": "10 of 10"}})
    assert checked_by_people([]) == [] == checked_by_people([case.model_copy(update={"facts": {}})])
    assert checked_by_people([case]) == ["labels: 17 of 20 checked hold, 64-95%"]
    both = "labels: 17 of 20 checked hold, 64-95%; clean changes: 10 of 10 checked hold, 72-100%"
    assert checked_by_people([other]) == [both]
    assert checked_by_people([case.model_copy(update={"facts": {"labels_that_hold": "most"}})]) == []


def test_findings_by_the_measured_systems_are_counted() -> None:
    said = [Comment(id=name, body=f"{name} found it", author=name) for name in ("mine", "other", "human")]
    case = Case(id="a", change=Change(repo="acme/shop"), references=(*said, said[0].model_copy(update={"id": "m2"})))
    named = {"case": "a", "metric": "hits", "benchmark": "b"}
    run = ScoredRun(Hits(), [case], [Score(**named, system=name, parts={}) for name in ("mine", "other", "new")])
    assert caveats(run) == [
        "3 of 4 findings are the measured systems' own comments, which favours who wrote most (mine 2, other 1)"
    ]
    assert caveats(replace(run, scores=run.scores[2:])) == []
