from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.analysis.compare.cuts import expand_cutoffs, stated_cutoffs
from reviewgauge.core.errors import UserError

GPT = "prompt(model='openai:gpt-4.1')"


def test_a_stated_cutoff_becomes_a_cut_at_the_day_after_it() -> None:
    assert stated_cutoffs([GPT, "silent()", "recorded"]) == {"openai:gpt-4.1": date(2024, 6, 1)}
    slices, said = expand_cutoffs(["language", "cutoff"], {"a": GPT})
    assert slices == ["language", "created<2024-06-02"]
    assert expand_cutoffs(["cutoff", "language", "cutoff"], {"a": GPT})[0] == ["created<2024-06-02", "language"]
    assert said == ["created<2024-06-02: openai:gpt-4.1 was trained on data up to 2024-06-01"]


def test_without_the_word_nothing_is_asked() -> None:
    assert expand_cutoffs(["language"], {"a": "no such reviewer"}) == (["language"], [])


def test_no_known_cutoff_is_an_error_that_names_the_way() -> None:
    with pytest.raises(UserError, match="--slice 'created<"):
        expand_cutoffs(["cutoff"], {"a": "silent()"})


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
