"""`reviewgauge check`: is this file what it should be, a JSON lines file or a bundle?

Memory stays bounded whatever the file holds: one line at a time, a line that is too long is skipped in pieces, and of
each record only a short hash of its identity is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import LONGEST_LINE, parse_record, refuse_bytes
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.check import CheckResult, Problem
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import load
from reviewgauge.datasets.files.labels import FILES as LABEL_FILES
from reviewgauge.datasets.files.labels import find_labels, read_label_file
from reviewgauge.datasets.jsonl import EXAMPLE, REVIEWS, case_files
from reviewgauge.engine.bundle.archive import is_bundle
from reviewgauge.engine.bundle.compare import DIGITS

_PIECE = 1024 * 1024
_MODELS: dict[str, type[Record]] = {"case": Case, "review": Review, "outcome": Outcome, "score": Score}


def check(
    path: str | Path,
    *,
    sources: Sequence[str | Path] = (),
    digits: int = DIGITS,
    plugins: Sequence[str] = (),
    keep: int = 1000,
    longest: int = LONGEST_LINE,
    progress: Progress | None = None,
) -> CheckResult:
    """Read every record of a file (cases, reviews, outcomes or scores) or folder, and name each bad record and field.

    At most `keep` problems are kept, all are counted. Raises UserError only where a file cannot be opened.

    Of a bundle, every number is recomputed without a network, up to the first that differs. `sources` are runs that
    hold the texts which the bundle leaves out. What is measured again must agree to `digits` digits; on another machine
    vectors of embedding models do not to more than six. `plugins`: code outside the package that the bundle may use.
    """
    if is_bundle(Path(path)):
        from reviewgauge.api.bundle_check import check_bundle  # what reads lines alone needs none of it

        return check_bundle(Path(path), sources, digits, plugins, progress)
    good: Counter[str] = Counter()
    problems: list[BadInput] = []
    bad = 0
    files = _files(Path(path))
    seen: dict[bytes, tuple[str, int]] = {}
    for file in files:
        for problem in _check_labels(file, good) if _holds_labels(file) else _check_file(file, good, seen, longest):
            bad += 1
            if len(problems) < keep:
                problems.append(problem)
    if not bad and not good:
        bad = 1
        problems.append(BadInput(files[0].name, "holds no record", remedy=f"one case a line, such as {EXAMPLE}"))
    return CheckResult(
        path=str(path),
        records=good,
        bad=bad,
        problems=tuple(Problem(file=p.source, line=p.record, field=p.field, problem=str(p)) for p in problems),
    )


def check_prompt(path: str | Path, reviewer: str) -> CheckResult:
    """Whether a file can be the template of `reviewer`, a spec of `prompt`. No model is asked. Raises UserError."""
    from reviewgauge.reviewers.prompt import Prompt  # what reads lines alone needs none of it

    asked = load(Reviewer, reviewer)
    if not isinstance(asked, Prompt):
        raise UserError(f"{reviewer} takes no template", remedy="--prompt 'prompt(model=\"fake:example\")'")
    asked = replace(asked, template=str(path))
    try:
        wrong = asked.template_problem(asked.words(bool(asked.context)))
        wrong = f"{path}: {wrong}" if wrong else ""
    except UserError as error:
        wrong = str(error)
    problems = (Problem(file=str(path), line=None, field="", problem=wrong),) if wrong else ()
    return CheckResult(path=str(path), records={} if wrong else {"prompt": 1}, bad=len(problems), problems=problems)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise UserError(f"there is nothing at {path}")
    if path.is_char_device():  # /dev/zero is one line without an end
        raise UserError(f"{path} is a device, not a file")
    files = case_files(path)
    if path.is_dir() and (path / REVIEWS).is_file():
        files.append(path / REVIEWS)
    if path.is_dir() and (labels := find_labels(path)):
        files.append(labels)
    return files


def _holds_labels(file: Path) -> bool:
    return file.name in LABEL_FILES or file.suffix == ".csv"


def _check_labels(file: Path, good: Counter[str]) -> Iterator[BadInput]:
    """The first problem of a file of labels: what is wrong in one row may make others wrong."""
    try:
        good["label"] += len(read_label_file(file).labels)
    except BadInput as problem:
        yield problem


def _check_file(file: Path, good: Counter[str], seen: dict[bytes, tuple[str, int]], longest: int) -> Iterator[BadInput]:
    try:
        with file.open("rb") as stream:
            for number, line in _numbered(stream, longest):
                try:
                    if line is None:
                        raise BadInput(
                            file.name, f"is longer than {longest:,} bytes", record=number, remedy="split the record"
                        )
                    kind, record = _read(line, file.name, number)
                    _once(record, kind, file.name, number, seen)
                    good[kind] += 1
                except BadInput as problem:
                    yield problem
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _numbered(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """(number, line) of the non-blank lines; None for one that is too long, whose rest is passed over."""
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_PIECE)
            yield number, None
        elif line.strip():
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def _read(line: bytes, source: str, number: int) -> tuple[str, Record]:
    refuse_bytes(line, source, number)
    kind = _kind(line)
    return kind, parse_record(_MODELS[kind], line, source, number)


def _kind(line: bytes) -> str:
    """Which record a line is meant to be, judged by its fields; a case where nothing speaks for another."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "case"
    keys = found.keys() if isinstance(found, dict) else set()
    if "change" in keys or not {"case", "system"} & keys:
        return "case"
    if "metric" in keys:
        return "score"
    return "outcome" if {"review", "failure"} & keys else "review"


def _once(record: Record, kind: str, source: str, number: int, seen: dict[bytes, tuple[str, int]]) -> None:
    if isinstance(record, Case):
        named, where = f"the case {record.id!r}", "id"
        identity: tuple[object, ...] = (record.id,)
    elif isinstance(record, Score):
        named, where = "the same score", ""
        identity = (record.case, record.system, record.attempt, record.metric, record.benchmark)
    else:
        assert isinstance(record, Review | Outcome)
        named, where = f"attempt {record.attempt} of {record.system!r} on {record.case!r}", ""
        identity = (record.case, record.system, record.attempt)
    key = hashlib.blake2b(repr((kind, *identity)).encode("utf-8", "surrogatepass"), digest_size=12).digest()
    if key in seen:
        file, line = seen[key]
        raise BadInput(
            source, f"{named} occurs twice: it stands in {file}, line {line} too", record=number, field=where
        )
    seen[key] = (source, number)
