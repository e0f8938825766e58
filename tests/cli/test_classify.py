"""`reviewgauge score --labels`, and the slices of score and report by what it found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewgauge.api.classify import classify
from reviewgauge.api.score import score
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
from reviewgauge.core.reports.leaderboard import SliceSummary
from reviewgauge.core.results import NOT_STATED, Outcome
from reviewgauge.engine.run.folder import RunFolder

PATCH = "@@ -1,2 +1,3 @@\n a\n+b\n c\n"
BODIES = {
    "r1": "SQL injection through the name",
    "r2": "a bug: the loop never ends",
    "c1": "SQL injection through the name",
    "c2": "the password is in the log",
    "c3": "a bug: the loop never ends",
    "c4": "please split this up",
}


def comment(name: str, line: int = 2, **fields: object) -> Comment:
    return Comment.model_validate({"id": name, "body": BODIES[name], "span": Span(path="a.py", start=line), **fields})


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Path]:
    """One change; of four comments, the first and the third are right. The fourth stands outside of the diff."""
    before = os.environ.get("REVIEWGAUGE_CACHE")
    os.environ["REVIEWGAUGE_CACHE"] = str(tmp_path / "cache")
    change = Change(repo="o/r", title="Fix it", files=(ChangedFile(path="a.py", patch=PATCH),))
    case = Case(id="one", change=change, references=(comment("r1", category="security"), comment("r2", category="x")))
    with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=[case]) as folder:
        folder.add_systems({"s": {}}, "s()")
        said = (comment("c1"), comment("c2"), comment("c3"), comment("c4", 40))
        folder.append_outcome(Outcome(case="one", system="s", review=Review(case="one", system="s", comments=said)))
    yield tmp_path / "run"
    if before is None:
        del os.environ["REVIEWGAUGE_CACHE"]
    else:
        os.environ["REVIEWGAUGE_CACHE"] = before


def measures(pieces: tuple[SliceSummary, ...], fact: str, measure: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for piece in pieces:
        if piece.fact == fact:
            estimate = piece.systems[0].estimate(measure)
            found[piece.value] = None if estimate is None else estimate.value
    return found


@pytest.mark.slow
def test_precision_recall_and_f1_of_a_category(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Worked by hand. Of four comments c1 hits r1 (security) and c3 hits r2 (x, to the data); c2 and c4 are false.

    The model calls c1 and c2 security, c3 a defect; nobody classified c4. So of security one of two comments is right
    and the one finding is hit: F1 is 2 * .5 * 1 / (.5 + 1). Defect has a right comment and no finding in the data's
    words, x has a finding that is hit and no comment.
    """
    classify(run, "fake:rules")
    name = "classified_both:category"
    board = score(run, "hits(judge='dice')", slices=[name], resamples=50).leaderboards[0]
    assert measures(board.slices, name, "precision") == {"security": 0.5, "defect": 1.0, NOT_STATED: 0.0, "x": None}
    assert measures(board.slices, name, "recall") == {"security": 1.0, "x": 1.0, "defect": None, NOT_STATED: None}
    f1 = measures(board.slices, name, "f1")
    assert f1["security"] == pytest.approx(2 / 3)
    assert [f1["defect"], f1["x"], f1[NOT_STATED]] == [None, None, None]
    for part in ("comments", "said", "right", "references", "hit", "missed"):
        assert sum(piece.systems[0].parts[part] for piece in board.slices) == board.systems[0].parts[part]
    assert any("fake" in warning for warning in board.warnings)
    assert main(["score", str(run), "hits(judge='dice')", "--slice", name, "--resamples", "50"]) == 0
    said = capsys.readouterr().out
    assert [f"{measure} by classified both:category" in said for measure in ("recall", "precision", "F1")] == [True] * 3
    out = tmp_path / "both.html"
    assert main(["report", str(run), "-o", str(out), "--slice", name, "--resamples", "50"]) == 0
    classify(run, 'category(model="fake:rules", of="references")')
    board = score(run, "hits(judge='dice')", slices=[name], resamples=50).leaderboards[0]
    f1 = measures(board.slices, name, "f1")
    assert f1["defect"] == 1.0, "what the data calls x is a defect to the model, in the same words"
    assert f1["security"] == pytest.approx(2 / 3), "what the data states in these words counts"
    with pytest.raises(UserError, match="classified_both: and one of"):
        score(run, slices=["classified_both:domain"], resamples=50)


def test_changes_by_domain(run: Path) -> None:
    result = classify(run, 'domain(model="fake:rules")')
    assert (result.sorted.of, result.sorted.classes) == ("changes", {"Bug Fix": 1})
    board = score(run, "hits(judge='dice')", slices=["classified:domain"], resamples=50).leaderboards[0]
    assert measures(board.slices, "classified:domain", "recall") == {"Bug Fix": 1.0}


def test_a_slice_that_nobody_classified_says_what_to_do(run: Path) -> None:
    with pytest.raises(UserError, match="reviewgauge score RUN --labels 'category"):
        score(run, slices=["classified:category"], resamples=50)
    with pytest.raises(UserError, match=r"classified: and one of category, domain, type, context"):
        score(run, slices=["classified:colour"], resamples=50)
    classify(run, "fake:rules")
    with pytest.raises(UserError, match=r'of="references"'):
        score(run, slices=["classified_references:category"], resamples=50)


def test_of_two_models_one_must_be_named(run: Path) -> None:
    classify(run, "fake:rules")
    classify(run, "fake:noisy-0")
    with pytest.raises(UserError, match=r"fake:noisy-0, fake:rules .name one: classified:category:fake:noisy-0"):
        score(run, slices=["classified:category"], resamples=50)
    name = "classified:category:fake:rules"
    board = score(run, "hits(judge='dice')", slices=[name], resamples=50).leaderboards[0]
    assert measures(board.slices, name, "precision")["defect"] == 1.0


def test_other_metrics_cannot_be_sliced_so(run: Path) -> None:
    classify(run, "fake:rules")
    with pytest.raises(UserError, match=r"cannot be sliced by classified:category"):
        score(run, "points(model='fake:rules')", slices=["classified:category"], resamples=50)


def test_on_the_command_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(run), "--labels", 'category(model="fake:rules", votes=3)']) == 0
    shown = capsys.readouterr().out
    assert "category of comments, by fake:rules (fenced prompt " in shown
    assert ", 3 votes): fake" in shown
    assert "3 sorted" in shown
    assert "not asked: 1 (no diff hunk: The comment stands on a line that the diff does not show)" in shown
    assert "without_code=True asks without the hunk" in shown
    assert main(["score", str(run), "--labels", 'category(model="fake:rules", votes=3)', "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sorted"]["done"], found["sorted"]["skipped"]) == (0, 3)


def test_a_dry_run_leaves_the_run_as_it_is(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    assert main(["score", str(run), "--labels", "openai:gpt-5", "--dry-run"]) == 0
    assert "Dry run: no model was asked. 3 calls" in " ".join(capsys.readouterr().out.split())
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("arguments", "said"), [
    (["gpt-5"], "is not a model"),
    (["domain"], "domain: model: Field required"),
    (['type(model="fake:rules", prompt="published")'], "no paper prints a prompt for the type"),
    (['domain(model="fake:rules", of="comments")'], 'domain is a question about changes (of="changes")'),
    (['category(model="fake:rules", votes=0)'], "votes must be from 1 to 99, got 0"),
])  # fmt: skip
def test_bad_input_is_one_line(run: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(run), "--labels", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_nothing_but_failures_is_exit_code_1(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fake_server import FakeServer

    with FakeServer(fail="garbage:1") as server:
        assert main(["score", str(run), "--labels", server.spec()]) == 1
        assert "failed (unreadable): 3" in capsys.readouterr().out
        server.change(fail="")
        assert main(["score", str(run), "--labels", server.spec()]) == 0
