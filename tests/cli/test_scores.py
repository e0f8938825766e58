"""Metrics that apply to nothing leave nothing behind; what a run was scored with is listed, and can be removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, Comment, Review, Span
from reviewgauge.core.results import Score
from reviewgauge.engine.run.folder import RunFolder

ASKING = """hits(judge='same_concern(model="openai:gpt-5")')"""
CASES = [
    Case(
        id=name,
        change=Change(repo="shop"),
        references=(Comment(id=name, body=f"the {name} is never closed on error", span=Span(path="a.py", start=3)),),
    )
    for name in ("file", "socket", "lock")
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A reviewer that says something, and one that is silent and comes first."""
    bench = tmp_path / "cases.jsonl"
    bench.write_bytes(b"".join(case.to_line() for case in CASES))
    said = [
        Comment(id=case.id, body=f"close the {case.id} in finally", span=Span(path="a.py", start=3)) for case in CASES
    ]
    reviews = [Review(case=one.id, system="good", comments=(one,)) for one in said]
    (tmp_path / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    reviewgauge.review(str(bench), "silent", "recorded", run=tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(("metric", "says"), [
    ("hits(judge='recorded')", "the judge has no verdict on this review"),
    ("assess", "nobody knows whether the change could be merged"),
    (ASKING, "needs a key, and OPENAI_API_KEY is not set"),
])  # fmt: skip
def test_a_metric_of_silence_alone_refuses_before_it_writes(
    run: Path, metric: str, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for workers in ("1", "3"):
        assert main(["score", str(run), metric, "--workers", workers]) == 2
        out, err = capsys.readouterr()
        assert "F1" not in out and ".00" not in out
        assert says in err
        assert (run / "scores.jsonl").read_bytes() == b""
    reviewgauge.score(run, "hits")
    assert main(["score", str(run), metric]) == 2
    assert main(["compare", str(run)]) == 0
    assert main(["report", str(run), "-o", str(run.parent / "report.html")]) == 0
    assert main(["gate", str(run), "--system", "good", "--against", "silent", "--margin", ".1"]) != 2


def test_silence_is_measured_where_nobody_speaks(run: Path, tmp_path: Path) -> None:
    reviewgauge.review(str(run.parent / "cases.jsonl"), "silent", run=tmp_path / "quiet")
    assert reviewgauge.score(tmp_path / "quiet", "hits(judge='recorded')").totals[0].done == 3
    with pytest.raises(UserError, match="can measure none of the 3 reviews: nobody knows whether"):
        reviewgauge.score(tmp_path / "quiet", "assess")


def test_scores_that_apply_to_nothing_do_not_stand_in_the_way_of_others(run: Path) -> None:
    """As earlier versions left them."""
    board = reviewgauge.score(run, "hits").leaderboards[0]
    with RunFolder.open(run, write=True) as folder:
        for outcome in folder.outcomes():
            blank = {"metric": "assess(no_verdict='skip')", "parts": None, "matching": None, "reason": "no verdict"}
            known = next(s for s in folder.scores() if (s.case, s.system) == (outcome.case, outcome.system))
            folder.append_score(Score.model_validate({**known.model_dump(exclude={"votes", "facets"}), **blank}))
    assert [table.label for table in reviewgauge.compare(run)] == ["hits"]
    reviewgauge.report(run, out=run.parent / "report.html")
    assert reviewgauge.gate(run, system="good", against="silent", margin=0.1).label == board.label
    listed = reviewgauge.scores(run)
    assert [(one.label, one.measured, one.not_applicable) for one in listed.metrics] == [
        ("hits", 6, 0),
        ("assess", 0, 6),
    ]
    assert reviewgauge.scores(run, remove=["assess"]).removed == 6
    with pytest.raises(UserError, match="was not scored with assess"):
        reviewgauge.report(run, out=run.parent / "report.html", metric="assess")


def test_scores_are_listed_and_removed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(run)]) == 0
    assert "holds no scores" in capsys.readouterr().out
    reviewgauge.score(run, "hits", "chrf")
    kept = [line for line in (run / "scores.jsonl").read_bytes().splitlines() if b'"metric":"hits' in line]
    assert main(["info", str(run)]) == 0
    assert capsys.readouterr().out.splitlines() == ["hits: 2 systems; 6 measured", "chrf: 2 systems; 6 measured"]
    assert main(["info", str(run), "--remove", "chrf", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["removed"], [one["label"] for one in result["metrics"]]) == (6, ["hits"])
    assert (run / "scores.jsonl").read_bytes().splitlines() == kept
    assert main(["info", str(run), "--remove", "chrf"]) == 2
    assert "was not scored with chrf (it holds: hits)" in capsys.readouterr().err
    assert reviewgauge.score(run, "chrf").totals[0].done == 6
