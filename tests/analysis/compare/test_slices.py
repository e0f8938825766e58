from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

import reviewgauge
from analysis_toys import BENCHMARK, Mean, make_cases, mean_scores
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.compare.slices import Cut, expand_cutoffs, group_values, parse_cut, stated_cutoffs, tier_slice
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Comment, Tier
from reviewgauge.engine.run.scored_run import ScoredRun


def test_scores_before_and_after_a_day_add_up_to_the_whole() -> None:
    cases = make_cases(6, created=["2024-01-01", "2025-03-31T10:00:00Z", "2025-04-01"])
    cases[5] = cases[5].model_copy(update={"facts": {}})
    board = leaderboard(
        ScoredRun(Mean(), cases, mean_scores("a", cases, [0, 1, 1, 0, 1, 0.5]), dataset="toys", benchmark=BENCHMARK),
        resamples=50,
        slices=["created<2025-03-31"],
    )
    found = {piece.value: (piece.n, piece.systems[0].estimates[0].value) for piece in board.slices}
    assert found == {"before 2025-03-31": (2, 0.0), "2025-03-31 and later": (3, 1.0), "(not stated)": (1, 0.5)}


def test_numbers_are_cut_too() -> None:
    cases = make_cases(4, lines=[10, 99, 100, 1000])
    cut = parse_cut("lines<100")
    assert cut == Cut("lines", 100.0)
    assert [cut.side(case) for case in cases] == ["below 100", "below 100", "100 and above", "100 and above"]


def test_a_slice_without_a_limit_is_no_cut_and_a_bad_one_is_named() -> None:
    assert parse_cut("language") is None
    assert parse_cut("created<2025-03-31") == Cut("created", date(2025, 3, 31))
    for limit in ("soon", "nan", "inf", "2025-02-30"):
        with pytest.raises(UserError, match=f"{limit} is neither a number nor a date"):
            parse_cut(f"created<{limit}")
    cases = make_cases(1, created=["yesterday"])
    with pytest.raises(UserError, match="case-00000: created='yesterday' is not a date"):
        Cut("created", date(2025, 1, 1)).side(cases[0])


GPT = "openai:gpt-4.1"


def test_a_stated_cutoff_becomes_a_cut_at_the_day_after_it() -> None:
    assert stated_cutoffs([GPT, "openai:mine"]) == {GPT: date(2024, 6, 1)}
    slices, said = expand_cutoffs(["language", "cutoff"], [GPT], True)
    assert slices == ["language", "created<2024-06-02"]
    assert expand_cutoffs(["cutoff", "language", "cutoff"], [GPT], True)[0] == ["created<2024-06-02", "language"]
    assert said == ["created<2024-06-02: openai:gpt-4.1 was trained on data up to 2024-06-01"]


def test_no_known_cutoff_is_an_error_that_names_the_way() -> None:
    with pytest.raises(UserError, match="--slice 'created<"):
        expand_cutoffs(["cutoff"], [], True)
    with pytest.raises(UserError, match="no case says when it was made"):
        expand_cutoffs(["cutoff"], [], False)


def test_the_leaderboard_is_cut_where_the_model_of_the_run_was(tmp_path: Path) -> None:
    diff = "@@ -1,1 +1,2 @@\n a = 1\n+b = 2\n"
    lines = [
        json.dumps(
            {
                "id": f"c{i}",
                "change": {"repo": "me/mine", "title": "t", "files": [{"path": "a.py", "patch": diff}]},
                "verdict": True,
                "facts": {"created": day},
            }
        )
        for i, day in enumerate(["2024-01-01", "2024-06-01", "2024-06-02", "2025-01-01"])
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    prices = {"models": {"fake": {"input": 1, "output": 1, "cutoff": "2024-06-01"}}}
    (tmp_path / "prices.json").write_text(json.dumps(prices), encoding="utf-8")
    run = tmp_path / "run"
    reviewgauge.review(str(tmp_path / "cases.jsonl"), "prompt(model='fake:rules')", run=run)
    with pytest.raises(UserError, match="training cut-off is known"):
        reviewgauge.score(run, "hits", slices=["cutoff"], resamples=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REVIEWGAUGE_PRICES", str(tmp_path / "prices.json"))
        result = reviewgauge.score(run, "hits", slices=["cutoff"], resamples=20)
    board = result.leaderboards[0]
    assert {piece.value: piece.n for piece in board.slices} == {"before 2024-06-02": 2, "2024-06-02 and later": 2}
    assert any("fake:rules was trained on data up to 2024-06-01" in warning for warning in board.warnings)


def founded(case: Case, *tiers: Tier | None) -> Case:
    references = tuple(Comment(id=f"r{at}", body="x", tier=tier) for at, tier in enumerate(tiers))
    return case.model_copy(update={"references": references})


def test_the_upper_tiers_are_one_slice_and_changes_without_a_tier_are_in_none() -> None:
    tiers: list[tuple[Tier | None, ...]] = [
        (Tier.VERIFIED,), (Tier.CONFIRMED, Tier.VERIFIED), (Tier.TRACED,),
        (Tier.TRACED, Tier.VERIFIED),  # as well founded as its worst finding
        (), (None,),
    ]  # fmt: skip
    cases = [founded(case, *own) for case, own in zip(make_cases(6), tiers, strict=True)]
    run = ScoredRun(Mean(), cases, mean_scores("a", cases, [1, 0, 0, 0, 1, 1]), benchmark=BENCHMARK)
    assert tier_slice(cases) == ["tier"]
    found = {piece.value: piece for piece in leaderboard(run, slices=["tier"], resamples=50).slices}
    assert {value: piece.n for value, piece in found.items()} == {"checked": 2, "traced": 2}
    assert found["checked"].systems[0].estimates[0].value == 0.5
    assert tier_slice(cases[:2]) == tier_slice(cases[2:4]) == tier_slice(cases[4:]) == []


COMMITS: list[Fact | None] = [*[1] * 9, 2, 2, 2, 3, 3, 4, 7, 7, 31, None]


@pytest.mark.parametrize(("values", "least", "slices"), [
    (COMMITS, 5, {"1": 9, "2 to 31": 9, "(not stated)": 1}),
    (COMMITS[:-2], 5, {"1": 9, "2 to 7": 8}),
    (COMMITS[:10], 1, {"1": 9, "2": 1}),
    ([*range(100)], 5, {"0 to 16": 17, "17 to 33": 17, "34 to 50": 17, "51 to 67": 17, "68 to 99": 32}),
    ([2026, 2024, 2025, 2024] * 5, 5, {"2024": 10, "2025": 5, "2026": 5}),
    (["L", "XS", "M", "XL", "S"] * 5, 5, dict.fromkeys(("XS", "S", "M", "L", "XL"), 5)),
    (["Go", "C", *["Python"] * 6, "Rust", "Rust"], 5, {"Python": 6, "other (3 groups)": 4}),
    ([True, False, False], 5, {"false": 2, "true": 1}),
])  # fmt: skip
def test_small_slices_are_joined_and_all_are_in_order(
    values: list[Fact | None], least: int, slices: dict[str, int]
) -> None:
    groups = group_values(values, least)
    assert list(dict.fromkeys(groups.values())) == list(slices)
    assert Counter(groups[value] for value in values) == slices
