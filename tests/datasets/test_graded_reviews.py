from __future__ import annotations

import zipfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import Case, Review, Task
from reviewgauge.datasets.graded_reviews import GradedReviews
from reviewgauge.repo.diff.diffs import parse_patch

TOOLS = ("Tufano's", "commentFinder", "Auger", "LLaMA-Reviewer")
HEAD = ("ID", "groundTruth", "relatedCode", "one", "Grade", "two", "Grade")
ROW = (1, "Say why.", "code2comment :int f() { return 1; }", "Why?", 4, "nit", 1)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> GradedReviews:
    return GradedReviews(path=str(shared_data / "graded-reviews"))


@pytest.fixture(scope="module")
def cases(real: GradedReviews) -> Sequence[Case]:
    return real.cases()


@pytest.fixture(scope="module")
def recorded(real: GradedReviews) -> tuple[Sequence[Review], Sequence[Label]]:
    return real.recorded()


def sheet(folder: Path, *rows: Sequence[object], head: Sequence[object] = HEAD) -> GradedReviews:
    book = openpyxl.Workbook()
    page = book.worksheets[0]
    for row in (head, *rows):
        page.append(list(row))
    book.save(folder / "dataset.xlsx")
    return GradedReviews(path=str(folder))


@pytest.mark.slow
def test_the_counts_of_the_published_file(real: GradedReviews, cases: Sequence[Case]) -> None:
    """Section 4 of arXiv:2501.05176 (its text counts 88 reviews of grade 4 or 5; its file has 87)."""
    assert real.counts() == real.card.expected
    assert len(cases) == len({case.id for case in cases}) == 1291
    assert all(len(case.references) == 1 and case.change.task is Task.COMMENT for case in cases)
    assert {case.facts["language"] for case in cases} == {"java"}


@pytest.mark.slow
def test_every_review_has_one_consensus_grade(recorded: tuple[Sequence[Review], Sequence[Label]]) -> None:
    reviews, labels = recorded
    assert Counter(review.system for review in reviews) == dict.fromkeys(TOOLS, 1291)
    assert Counter(label.value for label in labels) == {1: 4690, 2: 323, 3: 64, 4: 48, 5: 39}
    assert all(label.consensus and label.rater_kind is RaterKind.HUMAN for label in labels)
    judged = {(label.subject.case, label.subject.system) for label in labels}
    assert judged == {(review.case, review.system) for review in reviews} and len(labels) == 5164
    per_tool = Counter((label.subject.system, label.value) for label in labels)
    assert [per_tool[tool, 1] for tool in TOOLS] == [1095, 1222, 1246, 1127]
    assert [per_tool[tool, 5] for tool in TOOLS] == [29, 6, 0, 4]


def test_grade_5_means_identical(cases: Sequence[Case], recorded: tuple[Sequence[Review], Sequence[Label]]) -> None:
    """The paper's criterion, held against the file: the reason for the row set `grade < 5`."""
    reference = {case.id: case.references[0].body for case in cases}
    text = {(r.case, r.system): r.comments[0].body for r in recorded[0]}
    equal: dict[object, int] = defaultdict(int)
    near: dict[object, int] = defaultdict(int)
    for label in recorded[1]:
        said, wanted = text[label.subject.case, label.subject.system or ""], reference[label.subject.case]
        equal[label.value] += said == wanted
        near[label.value] += "".join(said.split()).rstrip(".") == "".join(wanted.split()).rstrip(".")
    assert equal == {1: 0, 2: 0, 3: 0, 4: 0, 5: 35}
    assert near == {1: 0, 2: 0, 3: 0, 4: 0, 5: 39}


def test_odd_cells_and_repeated_rows_are_kept_and_noted(
    real: GradedReviews, recorded: tuple[Sequence[Review], Sequence[Label]]
) -> None:
    text = {(r.case, r.system): r.comments[0].body for r in recorded[0]}
    assert text["337", "Tufano's"] == "7"
    assert text["850", "Tufano's"] == "#VALUE!"
    assert [note.item for note in real.notes()] == [
        "case 337, Tufano's", "case 850, Tufano's", "cases 312 and 1067", "cases 452 and 919", "cases 686 and 1172",
        "cases 771 and 1000",
    ]  # fmt: skip


def test_a_reviewer_can_read_the_method(cases: Sequence[Case]) -> None:
    for case in cases[::50]:
        (file,) = case.change.files
        (hunk,) = parse_patch(file.patch or "")
        assert [line.kind for line in hunk.lines] == ["+"]
        assert not hunk.lines[0].text.startswith("code2comment")
        assert case.change.focus is not None and case.change.focus.path == file.path
        assert "not part of the data" in case.change.description


def test_the_scale() -> None:
    scale = GradedReviews().scales()["grade"]
    assert (scale.low, scale.high, scale.row_sets) == (1, 5, {"grade < 5": (1, 4)})
    assert GradedReviews().human_systems == ()


def test_a_small_sheet(tmp_path: Path) -> None:
    data = sheet(tmp_path, ROW, (2, "Use a\nlist.", "code2comment :int a;\nint b;", None, 1, "  ", 2))
    assert [case.id for case in data.cases()] == ["1", "2"]
    reviews, labels = data.recorded()
    assert [len(review.comments) for review in reviews] == [1, 1, 0, 0]
    assert [label.value for label in labels] == [4, 1, 1, 2]
    assert all(label.subject.kind is SubjectKind.REVIEW and label.subject.attempt == 1 for label in labels)
    assert [note.item for note in data.notes()] == ["case 2, one", "case 2, two"]
    (hunk,) = parse_patch(data.cases()[1].change.files[0].patch or "")
    assert [line.text for line in hunk.lines] == ["int a;", "int b;"]
    assert GradedReviews(path=str(tmp_path / "dataset.xlsx")).cases() == data.cases()


@pytest.mark.parametrize(("row", "message"), [
    ((1, *ROW[1:]), "the ID 1 occurs twice: also in row 2"),
    (("x", *ROW[1:]), "row 3, field ID: 'x' is not a whole number"),
    ((2, None, *ROW[2:]), "row 3: has no reference or no code"),
    ((2, *ROW[1:4], 6, *ROW[5:]), "row 3, field Grade of one: 6 is not a grade from 1 to 5"),
    ((2, *ROW[1:4], 1.5, *ROW[5:]), "1.5 is not a grade from 1 to 5"),
    ((2, *ROW[1:6], None), "row 3, field Grade of two: None is not a grade from 1 to 5"),
    ((2, *ROW[1:6], "NaN"), "'NaN' is not a grade from 1 to 5"),
    ((2, *ROW[1:3], True, *ROW[4:]), "row 3, field one: should be text or a number, not True"),
])  # fmt: skip
def test_bad_rows_are_named(tmp_path: Path, row: Sequence[object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        sheet(tmp_path, ROW, row).cases()
    assert str(caught.value).startswith("dataset.xlsx") and message in str(caught.value)


@pytest.mark.parametrize("head", [(), HEAD[:3], HEAD[:4], (*HEAD[:6], "Points"), ("Id", *HEAD[1:])])
def test_other_columns_are_refused(tmp_path: Path, head: Sequence[object]) -> None:
    with pytest.raises(BadInput, match="row 1: has the columns"):
        sheet(tmp_path, ROW, head=head).cases()


def test_what_is_no_workbook(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="reviewgauge get graded_reviews"):
        GradedReviews(path=str(tmp_path)).cases()
    file = tmp_path / "dataset.xlsx"
    file.write_bytes(b"ID;groundTruth\n")
    with pytest.raises(BadInput, match="not a readable xlsx workbook"):
        GradedReviews(path=str(tmp_path)).cases()
    with zipfile.ZipFile(file, "w") as parts:
        parts.writestr("hello.txt", "hello")
    with pytest.raises(BadInput, match="not a readable xlsx workbook"):
        GradedReviews(path=str(tmp_path)).cases()
    with pytest.raises(BadInput, match="holds no rows"):
        sheet(tmp_path).cases()
    with pytest.raises(UserError, match="no parameter"):
        sheet(tmp_path, ROW).recorded(judge="me")
