"""Who leads, whether that is sure, and what to do, in plain words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import twin_pairs
from analysis_toys import BENCHMARK, Errors, Mean, failed, make_cases, mean_scores
from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.compare.slices import telling_slices
from reviewgauge.api.report import report
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Comment, Review
from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable, Estimate, Leaderboard, SystemSummary
from reviewgauge.core.results import FailureKind, Outcome
from reviewgauge.engine.run.scored_run import ReviewedBy, ScoredRun, read_scored_runs
from reviewgauge.reviewers.silent import Silent
from reviewgauge.views.verdict import Verdict, verdict
from twin_pairs import told


def said(run: ScoredRun) -> Verdict:
    board = leaderboard(run, slices=telling_slices(run), least=5, resamples=200)
    several = sum(row.scored > 0 for row in board.systems) > 1
    return verdict(run, board, compare(run, resamples=200) if several else None)


# --- boards made by hand -------------------------------------------------------------------------------------------


def _board(*systems: str, **values: float | None) -> Leaderboard:
    """The systems in their order; `silent` and `parrot` are baselines, and what is named in `systems` is fake."""
    rows = tuple(
        SystemSummary(
            system=name,
            estimates=(Estimate(measure="value", value=value, low=0.1, high=0.9, n=40, clusters=40),),
            cases=40,
            scored=40,
            fake=name in systems,
            baseline=name in ("silent", "parrot"),
        )
        for name, value in values.items()
    )
    settings = {"metric": "m", "headline": "value", "benchmark": "b", "dataset": "d", "clustered_by": "change"}
    numbers = {"clusters": 40, "resamples": 1, "seed": 0, "common": 40}
    return Leaderboard.model_validate({**settings, **numbers, "systems": rows})


def _pair(other: str, p: float | None, difference: float = 0.11, **more: object) -> Comparison:
    found = {
        "measure": "value",
        "first": "A",
        "second": other,
        "first_value": 0.42,
        "second_value": 0.42 - difference,
        "difference": difference,
        "low": difference - 0.08,
        "high": difference + 0.08,
        "p": p,
        "p_holm": None if other == "silent" else p,
        "test": "sign flips",
        "detectable": 0.22,
        "n": 40,
        "clusters": 40,
        "worst": difference,
        "best": difference,
    }
    return Comparison.model_validate({**found, **more})


def _table(*pairs: Comparison) -> ComparisonTable | None:
    settings = {"metric": "m", "benchmark": "b", "dataset": "d", "clustered_by": "change", "resamples": 1, "seed": 0}
    return ComparisonTable.model_validate({**settings, "comparisons": pairs}) if pairs else None


TWO, THREE, BASE = _board(A=0.42, B=0.31), _board(A=0.42, B=0.31, C=0.3), _board(A=0.42, B=0.31, silent=0.31)
SURE = "(value .42 against .31, +.11 [.03, .19], p = .010, 40 changes)"
OPEN = "(value .42 against .31, +.11 [.03, .19], p = .20"
MORE = "Too few changes to decide between A and {}: about 110 more like these would show a difference as large as"
CASES = {
    "sure": (TWO, [_pair("B", 0.01)], f"A is ahead of B, and that is sure {SURE}.", "Take A."),
    "sure of all": (
        THREE,
        [_pair("B", 0.01), _pair("C", 0.001)],
        f"A is ahead of all 2 others, and that is sure (B comes next: {SURE[1:]}.",
        "Take A.",
    ),
    "tied": (TWO, [_pair("B", 0.2)], f"A and B cannot be told apart on these 40 changes {OPEN}).", MORE.format("B")),
    "tied with the second": (
        THREE,
        [_pair("B", 0.2), _pair("C", 0.01)],
        f"A and B cannot be told apart on these 40 changes {OPEN}); A is surely ahead of C.",
        MORE.format("B"),
    ),
    "tied with both": (
        THREE,
        [_pair("B", 0.2), _pair("C", 0.3)],
        f"A, B and C cannot be told apart on these 40 changes (A and B: {OPEN[1:]}).",
        MORE.format("B"),
    ),
    "the corrected p decides": (TWO, [_pair("B", 0.01, p_holm=0.2)], "A and B cannot be told apart", MORE.format("B")),
    "no difference": (
        TWO,
        [_pair("B", 1.0, 0.0)],
        "A and B cannot be told apart on these 40 changes (value .42 against .42, +.00 [-.08, .08], p = 1.00).",
        "No difference that these changes can show between A and B: choose the quieter one, or the cheaper one where "
        "prices are known.",
    ),
    "no difference among three": (
        THREE,
        [_pair("B", 1.0, 0.0), _pair("C", 1.0, 0.0)],
        "A, B and C cannot be told apart",
        "No difference that these changes can show between A and B: of the 3 that are tied choose the quietest,",
    ),
    "none that anybody could show": (TWO, [_pair("B", 0.9, 0.001)], "A and B cannot", "No difference that these"),
    "nothing was detectable": (TWO, [_pair("B", None, detectable=None)], "A and B cannot", "No difference that these"),
    "at the limit": (TWO, [_pair("B", 0.06, 0.3)], "A and B cannot be told apart", "Nearly decided between A and B"),
    "its failures would cost it the lead": (
        TWO,
        [_pair("B", 0.01, worst=-0.02)],
        f"A is ahead of B, and that is sure only if its failures are left out {SURE}.",
        "Make the failed reviews again before you take A",
    ),
    "behind where both were scored": (
        TWO,
        [_pair("B", 0.01, -0.1)],
        "A has the best figure on its own changes, but on those that both reviewed B is surely ahead (value",
        "Let A and B review the same changes",
    ),
    "not tested": (
        TWO,
        [],
        "A comes first and B next (value .42 against .31, +.11, 40 changes), but the difference was not tested.",
        "No choice before the difference between A and B is tested.",
    ),
    "fake": (_board("A", A=0.42, B=0.31), [_pair("B", 0.01)], "A (fake) is ahead of B", "Figures of a fake model"),
    "the other is fake": (_board("B", A=0.42, B=0.31), [_pair("B", 0.2)], "A and B (fake) cannot", "Figures of a fake"),
    "one": (
        _board(A=0.42),
        [],
        "One system can be ranked: A (value .42 [.10, .90], 40 changes).",
        "One system leaves no choice",
    ),
    "one and a baseline": (
        _board(A=0.42, silent=0.31),
        [_pair("silent", 0.01)],
        f"One system can be ranked, A, and it is surely ahead of the best baseline, silent {SURE}.",
        "One system leaves no choice",
    ),
    "a baseline is in no ranking": (
        BASE,
        [_pair("B", 0.01), _pair("silent", 0.01)],
        f"A is ahead of B, and that is sure {SURE}.",
        "Take A.",
    ),
    "no better than a baseline": (
        BASE,
        [_pair("B", 0.01), _pair("silent", 0.4, -0.02)],
        "No system beats the best baseline, silent; A comes closest (value .42 against .44, -.02 [-.10, .06], p = .40",
        "Take none: the best baseline, silent, is as good.",
    ),
    "perhaps better than a baseline": (
        BASE,
        [_pair("B", 0.01), _pair("silent", 0.2)],
        f"No system is surely ahead of the best baseline, silent; A comes first {OPEN}",
        MORE.format("silent"),
    ),
    "a baseline, not tested": (_board(A=0.3, silent=0.3), [], "No system beats the best", "Take none"),
    "equal baselines": (
        _board(A=0.42, parrot=0.31, silent=0.31),
        [_pair("parrot", 0.001), _pair("silent", 0.2)],
        "No system is surely ahead of the best baseline, silent; A comes first",
        MORE.format("silent"),
    ),
    "an interval with 0": (TWO, [_pair("B", 0.001, low=0.0)], "A and B cannot be told apart", MORE.format("B")),
    "baselines": (_board(silent=0.0), [], "Only baselines were measured: silent.", ""),
    "undefined": (_board(A=None), [], "No system has a figure: value is undefined for all of them.", ""),
    "nothing": (_board(), [], "No system was measured.", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_who_leads_and_what_to_do(name: str) -> None:
    board, pairs, lead, advice = CASES[name]
    found = verdict(ScoredRun(Mean(), (), ()), board, _table(*pairs))
    assert found.lead.startswith(lead)
    assert found.recommendation.startswith(advice) and bool(found.recommendation) == bool(advice)


# --- runs ----------------------------------------------------------------------------------------------------------


def made(metric: Metric | None = None, **values: list[float]) -> ScoredRun:
    cases = make_cases(12)
    metric = metric or Mean()
    scores = [one for name, own in values.items() for one in mean_scores(name, cases, own, metric)]
    return ScoredRun(metric, cases, scores, benchmark=BENCHMARK)


def test_less_is_better_where_the_metric_says_so() -> None:
    found = said(made(Errors(), low=[0.0, 0.1] * 6, high=[0.9, 0.7] * 6))
    assert found.lead.startswith("low is ahead of high, and that is sure (value .05 against .80, -.75 [")
    assert found.recommendation == "Take low."


def test_nobody_is_taken_for_findings_that_the_systems_wrote() -> None:
    run = made(a=[0.9, 0.7] * 6, b=[0.0, 0.1] * 6)
    assert said(run).recommendation == "Take a."
    own = {"references": (Comment(id="own", body="Close the file.", author="a"),)}
    cases = [case.model_copy(update=own) if at < 6 else case for at, case in enumerate(run.cases)]
    found = said(replace(run, cases=cases))
    assert "that is sure" in found.lead
    assert found.recommendation.startswith("Do not choose on this: many of the findings are")
    assert found.short.endswith(", but many findings are the systems' own comments")
    assert found.caveat.startswith("6 of ") and "(a 6)" in found.caveat


def test_where_all_failed_there_is_no_verdict_but_the_reason() -> None:
    cases = make_cases(3)
    scores = [failed(Mean(), name, case, FailureKind.TIMEOUT) for name in ("a", "b") for case in cases]
    found = said(ScoredRun(Mean(), cases, scores, benchmark=BENCHMARK))
    assert found.lead == "No system has a figure: value is undefined for all of them."
    assert found.recommendation == found.misses == found.noise == ""
    assert found.caveat.startswith("not scored (never counted as 0): a, b: 3 failed (timeout 3)")


def test_baselines_alone_lead_nowhere() -> None:
    run = made(silent=[0.0] * 12)
    known = replace(run, reviewers={"silent": ReviewedBy((), (), Silent())})
    found = verdict(known, leaderboard(known, resamples=50))
    assert (found.lead, found.recommendation) == ("Only baselines were measured: silent.", "")
    assert not found.beside_answer


def test_one_system_of_a_metric_without_matchings() -> None:
    run = made(only=[0.2, 0.4] * 6)
    outcomes = [Outcome(case=case.id, system="only", review=Review(case=case.id, system="only")) for case in run.cases]
    found = said(replace(run, outcomes=outcomes))
    assert found.lead == "One system can be ranked: only (value .30 [.25, .35], 12 changes)."
    assert (found.misses, found.noise, found.cost) == ("", "", "Cost was not recorded.")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped sample, reviewed by its recorded system, a fake model and two baselines."""
    folder: Path = tmp_path_factory.mktemp("verdict") / "run"
    review("sample", "recorded", "prompt(model='fake:varied', name='pretender')", "parrot", "silent", run=folder)
    score(folder, "hits", resamples=50)
    return folder


def test_the_sample(sample: Path) -> None:
    found = said(read_scored_runs([sample])[0])
    assert found.lead.startswith(
        "blind-reader is ahead of pretender (fake), and that is sure (F1 .90 against .02, +.88 ["
    )
    assert found.recommendation == "Figures of a fake model say nothing about a real choice."
    assert "24 changes), 0.07 for each hit, 8 of 8 clean changes left alone (100% [68, 100]);" in found.noise
    assert "; the quietest other, pretender (fake): 2.75 (92% [" in found.noise
    assert found.cost.startswith("pretender (fake): $0.0052 a change at the invented price of a fake model")
    assert found.cost.endswith("; cost was not recorded for blind-reader.")
    assert found.misses == "", "the leader misses less than one finding of each kind"


def test_the_report_shows_what_its_answer_does_not(sample: Path, tmp_path: Path) -> None:
    report(sample, out=tmp_path / "r.html", resamples=200)
    page = (tmp_path / "r.html").read_text()
    assert page.count('<p class="verdict">') == 3
    assert page.index('<p class="answer">') < page.index("Figures of a fake model say nothing") < page.index("<nav")
    assert "blind-reader is ahead" not in page


def test_twins() -> None:
    hosts = twin_pairs.hosts(6)
    run = twin_pairs.scored_run(
        hosts,
        {"half": lambda case: told(case, ["defect"], [4]), "noisy": lambda case: told(case, ["defect", "twin"])},
    )
    found = said(run)
    assert found.lead.startswith("half is ahead of noisy, and that is sure (d′ ")
    assert found.misses == (
        "What half misses most: findings of medium severity, 6 of 6 (100% [61, 100]; noisy finds most, 6 of 6, "
        "100% [61, 100])."
    )
    assert found.noise.startswith("half raises a false alarm at 0 of 12 places without their defect (0% [0, ")
    assert "; the quietest other, noisy: 12 of 12 (100% [" in found.noise


def test_silence_is_not_praised_where_all_others_are_worse_than_chance() -> None:
    loud = twin_pairs.scored_run(
        twin_pairs.hosts(6), {"mute": lambda _case: [], "wrong": lambda case: told(case, ["twin"])}
    )
    assert [s.system for s in leaderboard(loud, resamples=50).systems] == ["mute", "wrong"], "d′ 0 is above -3"
    found = said(loud)
    assert found.lead.startswith("One system can be ranked: wrong (d′ -") and "mute" not in found.noise
