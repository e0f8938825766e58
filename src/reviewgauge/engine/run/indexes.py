"""What a run folder holds, as sequences of stored records: which lines count, and where they are."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from pydantic import TypeAdapter

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput
from reviewgauge.core.files import open_within
from reviewgauge.core.labels import Label
from reviewgauge.core.parsing import parse_record, placed_lines
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.stored import KEPT, StoredRecords
from reviewgauge.engine.run.journal import Journal
from reviewgauge.engine.run.kept import Origin, remembered
from reviewgauge.engine.run.manifest import benchmark_hash

R = TypeVar("R", bound=Record)
OutcomeKey = tuple[str, str, int]  # case, system, attempt


class StoredCases(NamedTuple):
    """The cases, the position of each by its id, and a digest of the file."""

    cases: Sequence[Case]
    at: Mapping[str, int]
    digest: str


class StoredOutcomes(NamedTuple):
    """The outcomes, of each, in the same order, its key and its digest, and a digest of the file."""

    outcomes: Sequence[Outcome]
    keys: Sequence[OutcomeKey]
    digests: Sequence[str]
    digest: str = ""


class ScoreHead(NamedTuple):
    """What of a score is asked for without its evidence: the digest of what it measured, and whether that applied."""

    key: OutcomeKey
    metric: str
    of: str
    applies: bool


class StoredScores(NamedTuple):
    """The scores, of each, in the same order, its head, and a digest of the file."""

    scores: Sequence[Score]
    heads: Sequence[ScoreHead]
    digest: str = ""


class StoredLabels(NamedTuple):
    """The labels, and the positions of those on each case."""

    labels: Sequence[Label]
    on: Mapping[str, Sequence[int]]


Row = TypeVar("Row", str, tuple[OutcomeKey, str], ScoreHead)
_CASE_INDEX = TypeAdapter(tuple[list[int], list[int], list[str]])
_OUTCOME_INDEX = TypeAdapter(tuple[list[int], list[int], list[tuple[OutcomeKey, str]]])
_SCORE_INDEX = TypeAdapter(tuple[list[int], list[int], list[ScoreHead]])


@contextmanager
def _indexed(path: Path, model: type[R], keep: int = KEPT) -> Iterator[tuple[BinaryIO, StoredRecords[R]]]:
    """A file to make an index of, and its records, of which no place is known yet."""
    descriptor = open_within(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as stream:
        yield stream, StoredRecords(os.dup(descriptor), str(path), model, keep)


def _rows_of(
    stream: BinaryIO,
    records: StoredRecords[R],
    kind: TypeAdapter[tuple[list[int], list[int], list[Row]]],
    read: Callable[[], list[Row]],
    *of: str,
) -> tuple[list[Row], str]:
    """(a row a record, a digest of the file), with the places of the records noted.

    `read` goes through the whole file for it, where that was not done before. `of`: the file's path, a digest of what
    else `read` depends on, and which of the file's records these are, where not all.
    """
    whole = hashlib.sha256()
    while piece := stream.read(1 << 20):
        whole.update(piece)
    content, end = whole.hexdigest(), stream.tell()

    def index() -> tuple[list[int], list[int], list[Row]]:
        stream.seek(0)
        rows = read()
        return records.places.starts.tolist(), records.places.sizes.tolist(), rows

    path, known, *part = of
    origin = Origin(os.path.realpath(path), f"{content} {known}")
    starts, sizes, rows = remembered(f"index {part}", origin, kind, index, still=lambda: stream.tell() == end)
    if not records:
        records.places.starts.extend(starts)
        records.places.sizes.extend(sizes)
    return rows, content


def stored_cases(path: Path, benchmark: str) -> StoredCases:
    """The cases in a file. Raises BadInput when they are not those of this benchmark."""

    def read() -> list[str]:
        names: list[str] = []

        def each() -> Iterator[Case]:
            for number, start, line in placed_lines(stream, str(path)):
                case = parse_record(Case, line, str(path), number)
                names.append(case.id)
                cases.places.add(start, len(line))
                yield case

        if benchmark_hash(each()) != benchmark:
            raise BadInput(
                str(path), "does not hold the cases that the run was made on", remedy="restore it, or run again"
            )
        return names

    try:
        with _indexed(path, Case, keep=0) as (stream, cases):
            names, digest = _rows_of(stream, cases, _CASE_INDEX, read, str(path), benchmark)
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None
    return StoredCases(cases, {name: at for at, name in enumerate(names)}, digest)


def stored_outcomes(journal: Journal[Outcome], known: StoredCases, cases: str) -> StoredOutcomes:
    """One outcome per (case, system, attempt), in the order in which they first came.

    A failure gives way to whatever was recorded after it. Two reviews under one key, and one of a case that is not
    `known`, are errors.
    """
    path = str(journal.path)

    def read() -> list[tuple[OutcomeKey, str]]:
        reviewed = bytearray()
        found: dict[OutcomeKey, int] = {}
        digests: list[str] = []
        for number, start, size, outcome in journal.read_from(stream):
            _check_outcome(outcome, known.at, path, number, cases)
            outcomes.keep(start, size, outcome)
            key = (sys.intern(outcome.case), sys.intern(outcome.system), outcome.attempt)
            at = found.get(key)
            if at is None:
                found[key] = outcomes.places.add(start, size)
                reviewed.append(outcome.review is not None)
                digests.append(outcome.digest)
                continue
            if reviewed[at]:
                raise BadInput(
                    path,
                    f"is a second outcome for case {outcome.case}, {outcome.system}, attempt {outcome.attempt}",
                    record=number,
                    remedy="remove one of the two lines",
                )
            outcomes.places.replace(at, start, size)
            reviewed[at], digests[at] = outcome.review is not None, outcome.digest
        return list(zip(found, digests, strict=True))

    try:
        with _indexed(journal.path, Outcome) as (stream, outcomes):
            rows, digest = _rows_of(stream, outcomes, _OUTCOME_INDEX, read, path, known.digest)
    except FileNotFoundError:
        return StoredOutcomes([], [], [])
    return StoredOutcomes(outcomes, [key for key, _ in rows], [own for _, own in rows], digest)


def stored_scores(journal: Journal[Score], known: StoredCases, cases: str, metric: str | None) -> StoredScores:
    """One score per (case, system, attempt, metric signature); of two, the later line. All metrics, or one's."""
    path = str(journal.path)
    wanted = None if metric is None else _may_be_of(metric)

    def read() -> list[ScoreHead]:
        found: dict[tuple[OutcomeKey, str], int] = {}
        heads: list[ScoreHead] = []
        for number, start, size, score in journal.read_from(stream, wanted):
            if score.case not in known.at:
                raise BadInput(path, f"case {score.case!r} is not in {cases}", record=number, field="case")
            if metric is not None and score.metric != metric:
                continue
            scores.keep(start, size, score)
            key = (sys.intern(score.case), sys.intern(score.system), score.attempt)
            applies = score.parts is not None or score.failure is not None
            head = ScoreHead(key, sys.intern(score.metric), score.of, applies)
            if (at := found.get((key, head.metric))) is None:
                found[key, head.metric] = scores.places.add(start, size)
                heads.append(head)
            else:
                scores.places.replace(at, start, size)
                heads[at] = head
        return heads

    try:
        with _indexed(journal.path, Score) as (stream, scores):
            heads, digest = _rows_of(stream, scores, _SCORE_INDEX, read, path, known.digest, *filter(None, [metric]))
    except FileNotFoundError:
        return StoredScores([], [])
    return StoredScores(scores, heads, digest)


def stored_labels(journal: Journal[Label]) -> StoredLabels:
    """The labels in their order."""
    on: dict[str, array[int]] = {}
    try:
        with _indexed(journal.path, Label) as (stream, labels):
            for _, start, size, label in journal.read_from(stream):
                labels.keep(start, size, label)
                at = labels.places.add(start, size)
                on.setdefault(sys.intern(label.subject.case), array("L")).append(at)
    except FileNotFoundError:
        return StoredLabels([], {})
    return StoredLabels(labels, on)


def _may_be_of(metric: str) -> Callable[[bytes], bool]:
    """Tells lines that can hold a score of the metric from those that surely do not, without reading them.

    Lines that were written here say `"metric":` and then its name; any other writing of it is left to the reader.
    """
    key = b'"metric":"'
    name = key + json.dumps(metric, ensure_ascii=False).encode()[1:]

    def wanted(line: bytes) -> bool:
        return name in line or key not in line or b"\\u" in line

    return wanted


def _check_outcome(outcome: Outcome, known: Mapping[str, int], path: str, number: int, cases: str) -> None:
    if outcome.case not in known:
        raise BadInput(path, f"case {outcome.case!r} is not in {cases}", record=number, field="case")
    if (outcome.review is None) == (outcome.failure is None):
        raise BadInput(path, "must hold either a review or a failure", record=number)
    review = outcome.review
    key = (outcome.case, outcome.system, outcome.attempt)
    if review is not None and (review.case, review.system, review.attempt) != key:
        raise BadInput(
            path, f"holds a review of case {review.case!r} by {review.system!r}", record=number, field="review"
        )
