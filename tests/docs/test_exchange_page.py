"""The page of neighbours: its SQL runs in DuckDB on a real run, and gives our own figures."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import read_scored_runs

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "exchange.md"


def test_the_queries_of_the_page_give_our_own_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    review("sample", "recorded", "silent", "analyser", run="mine", limit=10)
    score("mine", "hits", "chrf", resamples=10)
    (script,) = re.findall(r'```sql title="run\.sql"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    base = duckdb.connect()
    statements = [one for one in script.split(";") if one.strip()]
    for one in statements[:2]:
        base.execute(one)
    did, recall, longest = (base.sql(one).fetchall() for one in statements[2:])
    outcomes = RunFolder.open("mine").outcomes()
    for system, reviews, failed, comments in did:
        own = [one for one in outcomes if one.system == system]
        assert (reviews, failed) == (len(own), sum(one.failure is not None for one in own))
        assert comments == sum(len(one.review.comments) for one in own if one.review)
    hits = next(one for one in read_scored_runs(["mine"]) if one.label == "hits")
    ours = {row.system: row.estimate("recall") for row in leaderboard(hits).systems}
    assert {name: pytest.approx(value) for name, value in recall} == {
        name: one.value for name, one in ours.items() if one is not None
    }
    assert len(longest) == 3 and longest[0][2] >= longest[2][2] > 0
