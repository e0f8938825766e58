"""What every source states of a change, so that a benchmark can be sliced: language, size, files, hunks."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime

from reviewgauge.core.base import Fact
from reviewgauge.core.records import Change, Side
from reviewgauge.repo.diff.diffs import changed_lines, hunk_count
from reviewgauge.repo.syntax.languages import language

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SIZES = (("XS", 10), ("S", 30), ("M", 100), ("L", 500), ("XL", 1000))


def change_facts(change: Change, created: datetime | None = None, commits: int | None = None) -> dict[str, Fact]:
    """The facts of a change: `language` by changed lines, `size` and its counts, and where known date and commits.

    `created` becomes an ISO date and a year. Without a diff only what needs none is stated.
    """
    facts: dict[str, Fact] = {}
    if created is not None:
        facts |= {"created": created.date().isoformat(), "year": created.year}
    if commits is not None:
        facts["commits"] = commits
    if change.files:
        facts["changed_files"] = len(change.files)
    if not change.has_diff:
        return facts
    by_language: Counter[str] = Counter()
    count = 0
    for file in change.files:
        lines = sum(len(changed_lines(file, side)) for side in Side)
        count += lines
        if named := language(file.path):
            by_language[named] += lines
    if by_language:
        facts["language"] = max(by_language, key=lambda name: (by_language[name], name))
    return facts | {"changed_lines": count, "size": size_of(count), "hunks": hunk_count(change) or 0}


def check_day(name: str, word: str) -> None:
    """Raise ValueError where `word` is not a day as the fact `created` has it: days are compared as text."""
    if not _DAY.fullmatch(word):
        raise ValueError(f"{name}={word!r} is not a day, which is written as 2024-01-31")
    date.fromisoformat(word)


def size_of(count: int) -> str:
    """XS below 10 changed lines, S below 30, M below 100, L below 500, XL below 1000, then XXL."""
    return next((name for name, below in _SIZES if count < below), "XXL")
