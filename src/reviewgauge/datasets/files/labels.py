"""Reads labels from a file: one per row of a CSV table, or one per line of JSON (docs/guides/people.md).

A file is refused where guessing could make a figure wrong: values that are not numbers, two judgements of one subject
by one rater, names or words that differ only in case, numbers and words mixed in one dimension.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import Label, Scale, SubjectKind
from reviewgauge.core.records import Review
from reviewgauge.core.results import Drop
from reviewgauge.datasets.files.label_rows import from_csv, from_json

FILES = ("labels.csv", "labels.jsonl")  # what a folder's labels are called
LARGEST = 512 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file; `notes` count rows without a value and columns that were not read."""

    labels: tuple[Label, ...]
    lines: tuple[int, ...]  # the line of each label
    notes: tuple[Drop, ...] = ()


def read_labels(path: Path) -> list[Label]:
    """The labels in `path`: a CSV table, a JSON lines file, or a folder with labels.csv or labels.jsonl.

    A row without a system is about the change with that id. Raises BadInput with line and column, UserError.
    """
    return list(read_label_file(path).labels)


def read_label_file(path: Path) -> LabelFile:
    """Like `read_labels`, with the line of each label and notes on what was left out."""
    file = find_labels(path) if path.is_dir() else path
    if file is None:
        raise UserError(f"{path} holds no labels", remedy=f"put them into {FILES[0]}: docs/guides/people.md")
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(file.name, f"is {file.stat().st_size:,} bytes, over {LARGEST:,}")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file} does not exist") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    notes: list[Drop] = []
    found = from_json(raw, file.name) if file.suffix in (".jsonl", ".ndjson") else from_csv(raw, file.name, notes)
    labels, numbers = [], []
    missing: Counter[tuple[str, str]] = Counter()
    for number, label in found:
        if isinstance(label, Label):
            labels.append(label)
            numbers.append(number)
        else:
            missing[label] += 1
    if not labels:
        raise BadInput(file.name, "holds no label", remedy="one judgement a row: docs/guides/people.md")
    _refuse_twice(labels, numbers, file.name)
    _refuse_ambiguous(labels, numbers, file.name)
    notes.extend(
        Drop(
            item=f"{count} row{'s' * (count != 1)} of {rater} in {dimension}",
            by="labels",
            reason="the value is empty: missing",
        )
        for (rater, dimension), count in sorted(missing.items())
    )
    return LabelFile(tuple(labels), tuple(numbers), tuple(notes))


def find_labels(folder: Path) -> Path | None:
    """The file of labels in a folder, None where there is none. Raises UserError where there are two."""
    found = [folder / name for name in FILES if (folder / name).is_file()]
    if len(found) > 1:
        raise UserError(f"{folder} holds both {' and '.join(FILES)}", remedy="keep one of them")
    return found[0] if found else None


def on_reviews(read: LabelFile, reviews: Sequence[Review], source: str) -> list[Label]:
    """The labels as judgements of `reviews`: one on a case with a single review is on that review.

    Raises BadInput for a label without a matching review, or with several.
    """
    of_case: dict[str, list[tuple[str, int]]] = {}
    for review in reviews:
        of_case.setdefault(review.case, []).append((review.system, review.attempt))
    found: list[Label] = []
    for label, number in zip(read.labels, read.lines, strict=True):
        subject = label.subject
        there = of_case.get(subject.case, [])
        if not there:
            raise BadInput(source, f"there is no review of {subject.case!r}", record=number, field="id")
        if subject.kind is SubjectKind.CHANGE:
            if len(there) > 1:
                raise BadInput(
                    source,
                    f"{subject.case!r} has {len(there)} reviews: which one was judged?",
                    record=number,
                    remedy="add a column system (and attempt)",
                )
            update = {"kind": SubjectKind.REVIEW, "system": there[0][0], "attempt": there[0][1]}
            found.append(label.model_copy(update={"subject": subject.model_copy(update=update)}))
            continue
        if subject.system is not None and (subject.system, subject.attempt) not in there:
            raise BadInput(
                source,
                f"there is no review of {subject.case!r} by {subject.system!r}, attempt {subject.attempt}",
                record=number,
                field="system",
            )
        found.append(label)
    _refuse_twice(found, read.lines, source)  # one row may name the review's system, and another leave it out
    return found


def observed_scales(labels: Sequence[Label]) -> dict[str, Scale]:
    """The range of the numbers of each dimension; a dimension of words has no scale."""
    values: dict[str, list[float]] = {}
    for label in labels:
        if isinstance(label.value, int | float) and not isinstance(label.value, bool):
            values.setdefault(label.dimension, []).append(float(label.value))
    return {
        dimension: Scale(
            low=min(found),
            high=max(found),
            step=1.0 if all(value.is_integer() for value in found) else 0.0,
            meaning="the range that occurs in the labels",
        )
        for dimension, found in values.items()
    }


def _refuse_twice(labels: Sequence[Label], numbers: Sequence[int], source: str) -> None:
    """Raise BadInput for two judgements of one thing by one rater in one round."""
    seen: dict[tuple[object, ...], int] = {}
    for label, number in zip(labels, numbers, strict=True):
        key = (label.rater, label.subject, label.dimension, label.round)
        if key in seen:
            raise BadInput(
                source,
                f"{label.rater!r} judged {label.subject.case!r} in {label.dimension!r} twice: line {seen[key]} too",
                record=number,
                remedy="keep one of the two, or tell them apart in a column round",
            )
        seen[key] = number


def _refuse_ambiguous(labels: Sequence[Label], numbers: Sequence[int], source: str) -> None:
    """Raise BadInput for names and words that differ only in form, and for numbers mixed with words."""
    names = {"rater": _DistinctWords("rater"), "dimension": _DistinctWords("dimension")}
    values: dict[str, _DistinctWords] = {}
    numeric: dict[str, tuple[bool, int]] = {}
    for label, number in zip(labels, numbers, strict=True):
        names["rater"].add(label.rater, source, number)
        names["dimension"].add(label.dimension, source, number)
        is_number = not isinstance(label.value, str)
        before, line = numeric.setdefault(label.dimension, (is_number, number))
        if before != is_number:
            what = "a number" if is_number else "not a number"
            raise BadInput(
                source,
                f"{label.value!r:.40} is {what}, unlike the value of {label.dimension!r} in line {line}",
                record=number,
                field="value",
                remedy="use numbers or words, not both; an empty cell is a missing value",
            )
        if isinstance(label.value, str):
            values.setdefault(label.dimension, _DistinctWords("value")).add(label.value, source, number)


class _DistinctWords:
    """Words of one kind; refuses two that differ only in case, blanks or Unicode form."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._known: dict[str, str] = {}
        self._seen: set[str] = set()

    def add(self, word: str, source: str, number: int) -> None:
        """Add `word`. Raises BadInput."""
        if word in self._seen:
            return
        self._seen.add(word)
        plain = " ".join(unicodedata.normalize("NFKC", word).casefold().split())
        other = self._known.setdefault(plain, word)
        if other != word:
            raise BadInput(
                source,
                f"{word!r} and {other!r} are nearly the same: write them alike",
                record=number,
                field=self._field,
            )
