"""What was said about one change, as notes on its lines, and which of it has no line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Span
from reviewgauge.repo.diff.positions import find_file
from reviewgauge.viewer.selection import Selection
from reviewgauge.viewer.templating import part_of
from reviewgauge.views.changes.code import ShownText
from reviewgauge.views.changes.rows import Note
from reviewgauge.views.report.answers import SaidView
from reviewgauge.views.report.change_views import ChangeView, ColumnView, view_changes
from reviewgauge.views.report.diff_views import Remark

SAME, FALSE = "same_issue", "false_positive"  # the dimensions of what a reader says; judges and `agree` read them
JUDGED = {"matched": SAME, "unsure": SAME, "duplicate": SAME, "false": FALSE, "rejected": FALSE}


@dataclass(frozen=True)
class ChangeNotes:
    """One change: `on_lines` are notes with a place, `off` is what has none, by its anchor."""

    view: ChangeView
    on_lines: Sequence[Note]
    off: Mapping[str, str]


def notes_of(chosen: Selection, case: Case, asking: int) -> ChangeNotes:
    """The notes of one change; `asking` is its number, where the reader may say whether a comment's result is right."""
    outcomes, scores = chosen.outcomes_of(case.id), chosen.scores_of(case.id)
    view = next(iter(view_changes([case], outcomes, scores, chosen.systems, chosen.metric)))
    placed = (one for file in view.files for one in chain(file.remarks, *(line.remarks for line in file.lines)))
    columns = {one.anchor: column for column in view.columns for one in column.said}
    said = (one for column in view.columns for one in column.said)
    notes: list[Note] = []
    off: dict[str, str] = {}
    for remark in {one.anchor: one for one in chain(view.findings, placed, said)}.values():
        span = _span(case.change, remark)
        if isinstance(remark, SaidView):
            whole = remark.comment is not None and "#" not in remark.comment.id  # labels are not on points of a comment
            asked = JUDGED.get(remark.state, "") if asking and whole else ""
            people = list(people_on(chosen.people_of(case), remark, columns[remark.anchor]))
            about = columns[remark.anchor], people, asked, asking, span is not None
            markup = part_of("notes.html.j2", "said_note", remark, *about)
        else:
            markup = part_of("notes.html.j2", "finding_note", remark)
        if span is None:
            off[remark.anchor] = markup
            continue
        kind = "known" if remark.state == "finding" else "said"
        notes.append(Note(len(notes) + 1, "", kind, ShownText(body="", span=span), markup=markup))
    return ChangeNotes(view, notes, off)


def _span(change: Change, remark: Remark) -> Span | None:
    """The first place of a remark in a file of the change, by the name that the file has there."""
    for span in remark.spans:
        if (file := find_file(span.path, change)) is not None:
            return span.model_copy(update={"path": file.path})
    return None


def people_on(labels: Sequence[Label], said: SaidView, review: ColumnView) -> Iterator[tuple[str, str, bool]]:
    """(who, what they say, whether the metric says so) of a comment; data sets may name no system where one is."""
    raises = said.state in ("matched", "duplicate")
    for label in labels:
        of = label.subject
        ours = said.comment is not None and of.comment == said.comment.id
        if not ours or of.system not in (None, review.system) or of.attempt != review.attempt:
            continue
        if label.dimension == SAME:
            found = raises and any(name == of.reference for _, name in said.links)
            says = "raises" if label.value is True else "does not raise"
            yield label.rater, f"{says} {of.reference}", found is (label.value is True)
        elif label.dimension == FALSE:
            wrong = said.state in ("false", "rejected")
            yield label.rater, "is false" if label.value is True else "is right", wrong is (label.value is True)


def label_of(about: Mapping[str, Any], finding: str, *, says: bool) -> Label:
    """What a reader says of a comment: whether it raises a finding, or without one, whether it is right."""
    kind = SubjectKind.PAIR if finding else SubjectKind.COMMENT
    subject = Subject(kind=kind, reference=finding or None, **about)
    return Label(subject=subject, rater="", dimension=SAME if finding else FALSE, value=says if finding else not says)
