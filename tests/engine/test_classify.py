"""Labels of a run's comments, references and changes: only what is missing, and nothing that is not decided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_server import FakeServer
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, RequiredContext, Review, Span
from reviewgauge.core.results import Outcome
from reviewgauge.engine.classify import FAKE as FAKE_BATCH
from reviewgauge.engine.classify import classify
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.judges.classes.classes import Classifier
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import ChatSettings

FAKE = "fake:rules"
PATCH = "@@ -1,2 +1,3 @@\n a\n+b\n c\n"


def comment(name: str, body: str, line: int | None = 2, **fields: object) -> Comment:
    span = None if line is None else Span(path="a.py", start=line)
    return Comment.model_validate({"id": name, "body": body, "span": span, **fields})


def cases() -> list[Case]:
    with_diff = Change(repo="o/r", title="Fix the crash", files=(ChangedFile(path="a.py", patch=PATCH),))
    return [
        Case(id="one", change=with_diff, references=(comment("r1", "a bug in the loop", category="defect",
            needs=RequiredContext.DIFF), comment("r2", "every caller breaks", category="maintainability",
            needs=RequiredContext.FILE)), facts={"domain": "Bug Fix"}),
        Case(id="two", change=Change(repo="o/r"), references=(comment("r3", "slow", category="performance"),)),
    ]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    """Two cases and the reviews of one system, which made two attempts on the first."""
    with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=cases()) as folder:
        folder.add_systems({"s": {}}, "s()")
        said = {
            ("one", 1): (comment("c1", "SQL injection"), comment("c2", "a bug", 40), comment("c3", " ")),
            ("one", 2): (comment("c1", "split this up"),),
            ("two", 1): (comment("c1", "slow"),),
        }
        for (case, attempt), comments in said.items():
            review = Review(case=case, system="s", attempt=attempt, comments=comments)
            folder.append_outcome(Outcome(case=case, system="s", attempt=attempt, review=review))
        yield folder


@pytest.fixture(autouse=True)
def calls() -> Iterator[list[Call]]:
    """The calls that a test makes."""
    made: list[Call] = []
    with ChatClient(ChatSettings(cache=False), record=made.append):
        yield made


def labels(run: RunFolder, dimension: str) -> dict[tuple[str, int, str], str]:
    return {
        (label.subject.case, label.subject.attempt, label.subject.comment or label.subject.reference or ""): str(
            label.value
        )
        for label in run.labels()
        if label.dimension == dimension
    }


def test_comments_with_a_hunk_get_a_label_each(run: RunFolder, calls: list[Call]) -> None:
    found = classify(run, Classifier(FAKE, "category", votes=3))
    assert labels(run, "category") == {("one", 1, "c1"): "security", ("one", 2, "c1"): "maintainability"}
    assert found.left_out == {
        "it says nothing": 1,
        "no diff hunk: The comment stands on a line that the diff does not show": 1,
        "no diff hunk: The diff is not at hand": 1,
    }
    assert (found.done, found.skipped, found.failed, found.fake) == (2, 0, {}, True)
    assert found.classes == {"maintainability": 1, "security": 1}
    assert found.cost.calls == len(calls) == 6
    label = next(label for label in run.labels() if label.subject.attempt == 1)  # they come as they are finished
    assert (label.rater, label.rater_kind, label.confidence) == (FAKE, RaterKind.MODEL, 1.0)
    assert label.subject.kind is SubjectKind.COMMENT
    assert label.batch is not None
    assert label.batch.startswith(f"{FAKE_BATCH}fenced prompt ")
    assert "Security Vulnerability" in (label.reason or "")
    assert {call.attempt for call in calls} == {1, 2}  # attempts are different calls


def test_what_is_wrong_for_every_comment_stops_and_fails_none(run: RunFolder, calls: list[Call]) -> None:
    found = classify(run, Classifier("openai:gpt-5?top_k=3", "category"))
    assert (found.done, found.failed, found.left) == (0, {}, 2)
    assert found.stopped
    assert calls == []


def test_the_prompt_holds_the_hunk(run: RunFolder, calls: list[Call]) -> None:
    classify(run, Classifier(FAKE, "category", prompt="published"))
    assert "Diff Hunk:\n@@ -1,2 +1,3 @@\n a\n+b\n c\n\nReview Comment:\nSQL injection\n=====" in "".join(
        call.request.messages[0].text for call in calls
    )


def test_it_goes_on_where_it_stopped(run: RunFolder, calls: list[Call]) -> None:
    first = classify(run, Classifier(FAKE, "category"))
    made = len(calls)
    again = classify(run, Classifier(FAKE, "category"))
    assert (again.done, again.skipped, again.left_out) == (0, first.done, first.left_out)
    assert len(calls) == made
    other = classify(run, Classifier(FAKE, "category", votes=3))  # another way of asking is another question
    assert other.done == first.done


def test_references_are_held_against_what_the_data_says(run: RunFolder) -> None:
    found = classify(run, Classifier(FAKE, "category"), of="references")
    assert labels(run, "category") == {("one", 1, "r1"): "defect", ("one", 1, "r2"): "maintainability"}
    assert (found.agree, found.known) == (2, 2)
    assert all(label.subject.system is None for label in run.labels())
    found = classify(run, Classifier(FAKE, "context"), of="references")
    assert (found.agree, found.known, found.classes) == (1, 2, {"diff": 1, "repo": 1})


def test_without_code_is_another_setting(run: RunFolder, calls: list[Call]) -> None:
    classify(run, Classifier(FAKE, "category"), of="references")
    found = classify(run, Classifier(FAKE, "category"), of="references", without_code=True)
    assert (found.done, found.left_out) == (3, {})
    assert found.setting.endswith(", hunks missing")
    assert any("(not at hand)" in call.request.messages[-1].text for call in calls)


def test_types_need_no_hunk(run: RunFolder) -> None:
    found = classify(run, Classifier(FAKE, "type"), of="references")
    assert (found.done, found.left_out) == (3, {})


def test_changes_need_a_title(run: RunFolder) -> None:
    found = classify(run, Classifier(FAKE, "domain"), of="changes")
    assert labels(run, "domain") == {("one", 1, ""): "Bug Fix"}
    assert (found.agree, found.known) == (1, 1)
    assert found.left_out == {"its title and description are not at hand": 1}
    with pytest.raises(UserError, match=r"domain is a question about changes .of=\"changes\"."):
        classify(run, Classifier(FAKE, "domain"), of="comments")
    with pytest.raises(UserError, match="category is a question about comments and references"):
        classify(run, Classifier(FAKE, "category"), of="changes")


def test_what_cannot_be_read_is_no_label_and_is_tried_again(run: RunFolder) -> None:
    with FakeServer(fail="garbage") as server:
        found = classify(run, Classifier(server.spec(), "category"))
        assert (found.done, found.failed) == (0, {"unreadable": 2})
        assert "no readable answer in 3 asks" in found.reasons["unreadable"]
        assert run.labels() == []
    with FakeServer() as server:
        again = classify(run, Classifier(server.spec(), "category"))
    assert (again.done, again.failed, again.fake) == (2, {}, True)
    assert len(run.labels()) == 2


def test_a_label_by_people_is_none_of_the_models(run: RunFolder) -> None:
    subject = Subject(kind=SubjectKind.COMMENT, case="one", system="s", comment="c1")
    run.add_labels([Label(subject=subject, rater="ann", dimension="category", value="defect")])
    assert classify(run, Classifier(FAKE, "category")).skipped == 0


def test_a_budget_that_is_spent_leaves_the_rest_undone(run: RunFolder) -> None:
    with ChatClient(ChatSettings(cache=False, budget=1e-9)):
        found = classify(run, Classifier("fake:noisy-0", "category"))
    assert (found.done, found.failed, found.left) == (0, {}, 2)
    assert "budget" in found.stopped
    assert run.labels() == []
