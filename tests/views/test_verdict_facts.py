"""What a verdict says of misses, of noise and of cost."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from analysis_toys import Mean
from reviewgauge.analysis.compare.slices import FEWEST
from reviewgauge.core.records import Review, Usage
from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.core.results import NOT_STATED, Outcome
from reviewgauge.engine.run.scored_run import ReviewedBy, ScoredRun
from reviewgauge.reviewers.prompt import Prompt
from reviewgauge.reviewers.silent import Silent
from reviewgauge.views.verdict_facts import MOST_COSTS, cost_sentence, misses_sentence, noise_sentence


def system(name: str, parts: Mapping[str, float] | None = None, **shares: float) -> SystemSummary:
    estimates = tuple(
        Estimate(measure=key, value=value, low=max(0.0, value - 0.1), high=min(1.0, value + 0.1), n=40, clusters=40)
        for key, value in shares.items()
    )
    return SystemSummary(system=name, estimates=estimates, cases=40, scored=40, parts=parts or {})


def board(*pieces: tuple[str, str, int, Mapping[str, tuple[float, float]]]) -> Leaderboard:
    """Slices by fact, value and number of changes, with what each system found, and of how many."""
    slices = tuple(
        SliceSummary(
            fact=fact,
            value=value,
            facet=True,
            n=n,
            systems=tuple(
                system(name, {"hit": hit, "references": of}, recall=hit / of) for name, (hit, of) in rows.items()
            ),
        )
        for fact, value, n, rows in pieces
    )
    settings = {"metric": "m", "headline": "f1", "benchmark": "b", "dataset": "d", "clustered_by": "change"}
    numbers = {"clusters": 40, "resamples": 1, "seed": 0, "common": 40}
    return Leaderboard.model_validate({**settings, **numbers, "systems": (), "slices": slices})


A, B, C = system("A"), system("B"), system("C")
WORST = ("category", "security", 20, {"A": (8.0, 20.0), "B": (15.0, 20.0), "C": (9.0, 20.0), "parrot": (20.0, 20.0)})
FINE = ("category", "style", 20, {"A": (18.0, 20.0), "B": (1.0, 20.0)})
SEVERE = ("severity", "high", 9, {"A": (1.5, 10.0), "B": (1.0, 10.0)})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            board(FINE, WORST, SEVERE),
            "What A misses most: security findings, 12 of 20 (60% [50, 70]; B finds most, 15 of 20, "
            "75% [65, 85]); findings of high severity, 8.5 of 10 (85% [75, 95]; no other system finds more).",
        ),
        (
            board(("category", "defect", 9, {"A": (2.0, 10.0)})),
            "What A misses most: defect findings, 8 of 10 (80% [70, 90]).",
        ),
        (
            board(("type", "E.1 Logic", 9, {"A": (2.0, 10.0)})),
            "What A misses most: E.1 Logic findings, 8 of 10 (80% [70, 90]).",
        ),
        (
            board(("category", "defect", 9, {"A": (2.0, 10.0)}), ("category", "rare", FEWEST - 1, {"A": (0.0, 20.0)})),
            "What A misses most: defect findings, 8 of 10 (80% [70, 90]). Not told: 1 kind of finding with fewer than "
            "5 findings or changes.",
        ),
        (
            board(SEVERE).model_copy(update={"estimate_note": "offline estimate"}),
            "What A misses most (counted by probability): findings of high severity, 8.5 of 10 (85% [75, 95]; no "
            "other system finds more).",
        ),
        (board(("category", "rare", FEWEST - 1, {"A": (0.0, 20.0)})), ""),
        (board(("category", "few", 9, {"A": (0.0, FEWEST - 1.0)})), ""),
        (board(("category", NOT_STATED, 9, {"A": (0.0, 20.0)})), ""),
        (board(("language", "Go", 9, {"A": (0.0, 20.0)})), ""),
        (board(("category", "defect", 9, {"A": (19.5, 20.0)})), ""),
        (board(("category", "defect", 9, {"B": (2.0, 20.0)})), ""),
        (board(), ""),
    ],
)
def test_the_kind_that_is_missed_most(found: Leaderboard, said: str) -> None:
    assert misses_sentence(found, [A, B, C]) == said


HITS = {"comments": 20.0, "false": 10.0, "changes": 40.0, "hit": 5.0, "clean": 0.0, "clean_quiet": 0.0}


@pytest.mark.parametrize(
    ("ranked", "said"),
    [
        (
            [system("A", HITS, noise=0.5)],
            "A writes 0.25 comments a change that match no finding (50% [40, 60] of its comments, 40 changes), "
            "2.00 for each hit.",
        ),
        (
            [
                system("A", HITS, noise=0.5),
                system("B", HITS | {"false": 4.0, "hit": 0.0, "clean": 9.0, "clean_quiet": 3.0}, noise=0.2),
                system("C", HITS | {"false": 6.0}, noise=0.3),
            ],
            "A writes 0.25 comments a change that match no finding (50% [40, 60] of its comments, 40 changes), "
            "2.00 for each hit; the quietest other, B: 0.10 (20% [10, 30], n = 40), no hit, "
            "3 of 9 clean changes left alone (–).",
        ),
        (
            [system("A", {"predicted": 30.0, "false": 20.0, "changes": 40.0, "hit": 10.0}, precision=0.25)],
            "A raises 0.50 points a change that match no finding (75% [65, 85] of its points, 40 changes), "
            "2.00 for each hit.",
        ),
        ([system("A", HITS, augmented_precision=0.5)], ""),
        ([system("A", {"said_yes_is_no": 3.0}, accuracy=0.5)], ""),
        ([system("A")], ""),
    ],
)
def test_what_is_said_in_vain(ranked: list[SystemSummary], said: str) -> None:
    assert noise_sentence(ranked) == said


def test_who_chooses_by_noise_chooses_among_those_tied_with_the_leader() -> None:
    ranked = [
        system(name, HITS | {"false": false}, noise=0.5) for name, false in zip("ABCD", (10, 8, 6, 1), strict=True)
    ]
    assert "; of those tied with it C is the quietest: 0.15 (" in noise_sentence(ranked, ["B", "C"])
    assert "; the quietest other, D: 0.03 (" in noise_sentence(ranked)
    assert noise_sentence(ranked[2:], ["D"]).count("quietest") == 1
    assert noise_sentence([ranked[3], *ranked[:3]], ["A", "C"]).endswith("; nobody who is tied with it is quieter.")


def outcome(name: str, fake: bool = False, **usage: float) -> Outcome:
    review = Review(case="c", system=name, usage=Usage.model_validate(usage), fake=fake)
    return Outcome(case="c", system=name, review=review)


def test_what_a_review_costs_and_what_is_not_known() -> None:
    outcomes = [
        outcome("paid", calls=2, dollars=0.0123, seconds=31.4),
        outcome("pretender", fake=True, calls=1, dollars=0.5),
        outcome("unpriced", calls=1, seconds=2.25),
        outcome("tool", seconds=0.5),
        outcome("posted"),
    ]
    reviewers = {
        "tool": ReviewedBy((), (), Silent()),
        "posted": ReviewedBy(()),
        "gone": ReviewedBy((), (), Prompt("fake:varied")),
    }
    run = ScoredRun(Mean(), (), (), outcomes=outcomes, reviewers=reviewers)
    names = ("paid", "pretender", "unpriced", "tool", "posted", "gone")
    assert cost_sentence(run, [system(name) for name in names]) == (
        "paid: $0.012 a change and 31 s a change (n = 1); pretender: $0.50 a change at the invented price of a fake "
        "model (n = 1); unpriced: an unknown price and 2.2 s a change (n = 1); tool: no model asked and 0.5 s a change "
        "(n = 1); cost was not recorded for posted and gone."
    )
    assert cost_sentence(run, []) == ""


def test_of_many_systems_only_some_costs_are_told() -> None:
    names = [f"s{at}" for at in range(MOST_COSTS + 3)]
    run = ScoredRun(Mean(), (), (), outcomes=[outcome(name, dollars=1.0, calls=1) for name in names])
    assert cost_sentence(run, [system(name) for name in names]).endswith(
        "s5: $1.00 a change (n = 1); 3 more in the run."
    )
