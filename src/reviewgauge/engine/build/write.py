"""Writes what a build made: the benchmark, the reviews that came with it, and what there is to say of both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.engine.run.benchmark import benchmark_hash
from reviewgauge.engine.build.card import Census
from reviewgauge.engine.run.journal import checked_line, sync_folder, write_error
from reviewgauge.engine.build.folder import MEMORY

CASES, REVIEWS = "cases.jsonl", "reviews.jsonl"


@dataclass
class Written:
    """What was written. `mirrors` are the folders of bare repositories that the cases name."""

    benchmark: str = ""
    cases: int = 0
    reviews: int = 0
    twice: list[str] = field(default_factory=list)
    mirrors: set[str] = field(default_factory=set)
    census: Census = field(default_factory=Census)


def refuse_foreign(folder: Path) -> None:
    """Raise UserError where `folder` holds cases that no build wrote: a build would replace them."""
    if (folder / CASES).exists() and not any((folder / name).exists() for name in (MEMORY, "card.json")):
        raise UserError(f"{folder / CASES} was made by no build, and would be replaced", remedy="name another folder")


def write_benchmark(folder: Path, items: Iterable[Candidate]) -> Written:
    """Write `cases.jsonl`, and `reviews.jsonl` where there are any; both replace older ones when all went through.

    A case whose id was there before is not written: it stands in `twice`. Paths of git directories below `folder`
    become relative, so that the folder can be moved. Raises UserError, and whatever the stream raises.
    """
    written = Written()
    temporary = {name: folder / f"{name}.tmp" for name in (CASES, REVIEWS)}
    try:
        with ExitStack() as files:
            cases, reviews = (files.enter_context(temporary[name].open("wb")) for name in (CASES, REVIEWS))
            written.benchmark = benchmark_hash(_writing(folder, items, cases, reviews, written))
            for file in (cases, reviews):
                file.flush()
                os.fsync(file.fileno())
        if written.reviews:
            temporary[REVIEWS].replace(folder / REVIEWS)
        else:
            (folder / REVIEWS).unlink(missing_ok=True)
        temporary[CASES].replace(folder / CASES)
        sync_folder(folder)
    except OSError as error:
        raise write_error(folder / CASES, error) from None
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)
    return written


def _writing(
    folder: Path, items: Iterable[Candidate], cases: BinaryIO, reviews: BinaryIO, written: Written
) -> Iterator[Case]:
    seen: set[str] = set()
    for item in items:
        case = _movable(item.case, folder, written)
        if case.id in seen:
            written.twice.append(case.id)
            continue
        seen.add(case.id)
        cases.write(checked_line(case))
        written.cases += 1
        written.census.add(case)
        for review in item.reviews:
            reviews.write(checked_line(review.model_copy(update={"case": case.id})))
            written.reviews += 1
        yield case


def _movable(case: Case, folder: Path, written: Written) -> Case:
    if case.change.git is None:
        return case
    git = Path(case.change.git)
    try:
        inside = git.relative_to(folder)
    except ValueError:
        return case
    written.mirrors.add(inside.name)
    return case.model_copy(update={"change": case.change.model_copy(update={"git": inside.as_posix()})})
