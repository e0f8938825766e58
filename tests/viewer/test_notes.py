"""Comments and findings on the lines of a change, and what a reader says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.records import Case, Comment, Span
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.notes import label_of, notes_of
from reviewgauge.viewer.selection import Selection
from viewed_runs import WRONG, finds, misses, selected, write_run


def elsewhere(case: Case) -> list[Comment]:
    """Comments without a place, on a file that is not there, and on a line that is not there."""
    spans = (None, Span(path="src/other.py", start=1), Span(path="src/load.py", start=900))
    return [Comment(id=f"e{at}", body=f"words {at}", span=span) for at, span in enumerate(spans)]


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    folder: Path = tmp_path_factory.mktemp("notes")
    return selected(write_run(folder / "run", {"finder": finds, "half": misses, "lost": elsewhere}))


def test_what_has_a_line_stands_on_it_and_the_rest_apart(chosen: Selection) -> None:
    notes = notes_of(chosen, chosen.case(1), 1)
    shown = [(note.kind, note.text.span.start) for note in notes.on_lines if note.text.span]
    assert shown.count(("known", 2)) == shown.count(("known", 3)) == 1, "each finding once"
    assert sorted(line or 0 for kind, line in shown if kind == "said") == [2, 2, 3, 5, 900]
    apart = {one.anchor: one.text for column in notes.view.columns for one in column.said if one.anchor in notes.off}
    assert sorted(apart.values()) == ["words 0", "words 1"]
    assert [note.number for note in notes.on_lines] == list(range(1, len(notes.on_lines) + 1))


def test_a_reader_is_asked_where_it_is_served_alone(chosen: Selection) -> None:
    notes, quiet = (notes_of(chosen, chosen.case(1), asking) for asking in (1, 0))
    asked = "".join(str(note.markup) for note in notes.on_lines)
    assert asked.count("Does it raise the finding?") == 3
    assert asked.count("<b>perhaps missed</b>") == 1, "the judge was not sure"
    assert asked.count("Is it right all the same?") >= 1
    assert len(notes.off) == 2 and all("Is it right all the same?" in text for text in notes.off.values())
    assert "<form" not in "".join([*(str(note.markup) for note in quiet.on_lines), *quiet.off.values()])


def test_a_change_without_files_has_no_lines(chosen: Selection) -> None:
    notes = notes_of(chosen, chosen.case(4), 4)
    assert notes.on_lines == [] and len(notes.off) == 4


@pytest.mark.parametrize(("finding", "says", "kind", "dimension", "value"), [
    ("r0", True, "pair", "same_issue", True),
    ("r0", False, "pair", "same_issue", False),
    ("", True, "comment", "false_positive", False),
    ("", False, "comment", "false_positive", True),
])  # fmt: skip
def test_a_label_is_what_judges_read(finding: str, says: bool, kind: str, dimension: str, value: bool) -> None:
    label = label_of({"case": "c", "system": "s", "comment": "x"}, finding, says=says)
    assert (label.subject.kind, label.dimension, label.value) == (kind, dimension, value)
    assert label.subject.reference == (finding or None)


def said(system: str | None, value: bool, rater: str = "Ann", attempt: int = 1, **more: object) -> Label:
    subject = Subject(
        kind=SubjectKind.PAIR, case="shop-1", system=system, attempt=attempt, comment="c2", reference="r0"
    )
    return Label(subject=subject, rater=rater, dimension="same_issue", value=value).model_copy(update=more)


@pytest.mark.parametrize(("labels", "shown"), [
    ([said("finder", True)], ["<b>Ann</b>: it raises r0"]),
    ([said(None, True)], ["<b>Ann</b>: it raises r0"] * 2),  # of both systems that have such a comment
    ([said("finder", True), said("finder", False)], ["<b>Ann</b>: it does not raise r0"]),
    ([said("finder", True), said("finder", False, "<Bo>")], ["<b>Ann</b>: it raises", "<b>&lt;Bo&gt;</b>: it does"]),
    ([said("finder", True, attempt=2)], []),
    ([said("finder", True, rater_kind=RaterKind.MODEL)], []),
    ([said("finder", True, dimension="quality")], []),
])  # fmt: skip
def test_what_people_said_is_shown(tmp_path: Path, labels: list[Label], shown: list[str]) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds, "half": misses})
    with RunFolder.open(folder, write=True) as run:
        run.add_labels(labels)
    chosen = selected(folder)
    text = "".join(str(note.markup) for note in notes_of(chosen, chosen.case(1), 1).on_lines)
    assert text.count("</b>: it ") == len(shown)
    assert ("a person: it does not raise r0</strong>" in text) == ("it does" in "".join(shown))
    assert "a person: it raises" not in text and ("Figures do not change" in text) == bool(shown)
    assert all(words in text for words in shown)
    assert WRONG[0] in text
