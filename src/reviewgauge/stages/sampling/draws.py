"""Seeded draws, the facts to draw by, and how a sample compares with the whole.

A draw takes the items with the smallest hash of seed, stratum and id. It does not depend on the order of the stream, on
a random number generator or on the machine, and when the source grows, few of the drawn items change.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from reviewgauge.core.base import Fact
from reviewgauge.core.records import Case, Change
from reviewgauge.repo.diff.diffs import count_changed, hunk_count, parse_patch, size_of
from reviewgauge.repo.syntax.languages import language, not_product, trivial

_DEFINITION = re.compile(
    r"\s*+(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub|override|inline|virtual)\s++)*+"
    r"(?:def|func|function|fn|fun|class|interface|struct|enum|trait|impl|module)\b"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


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
        lines = count_changed([file])
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


Row = tuple[str | int | float | None, ...]


def draw_key(seed: int, *parts: object) -> int:
    """A pseudo-random number of 64 bits."""
    joined = "\x1f".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def draw(seed: int, stratum: object, members: Iterable[tuple[str, int]], count: int) -> list[int]:
    """The positions of `count` of the members (id, position), or of all where there are fewer."""
    ordered = sorted(members, key=lambda member: (draw_key(seed, stratum, member[0]), member))
    return [position for _, position in ordered[:count]]


def assign_groups(sizes: Mapping[str, int], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """The part of each group, the largest group first to the part that lacks most of its share of all items."""
    lacking = {part: share * sum(sizes.values()) for part, share in shares.items()}
    found: dict[str, str] = {}
    for group in sorted(sizes, key=lambda group: (-sizes[group], draw_key(seed, group), group)):
        part = max(lacking, key=lambda part: lacking[part])
        found[group] = part
        lacking[part] -= sizes[group]
    return found


def product_facts(change: Change) -> dict[str, int]:
    """Counts of the changed lines, files and functions of product code: without tests, docs, data and lock files.

    Lines are those that say something; functions are the definitions among them, and one for each hunk without any.
    Empty without a diff.
    """
    if not change.has_diff:
        return {}
    lines = files = functions = 0
    for file in change.files:
        if not_product(file.path):
            continue
        before = lines
        for hunk in parse_patch(file.patch or ""):
            said = [line.text for line in hunk.lines if line.kind != " " and not trivial(line.text)]
            lines += len(said)
            functions += max(sum(_DEFINITION.match(text) is not None for text in said), bool(said))
        files += lines > before
    return {"product_lines": lines, "product_files": files, "product_functions": functions}


def value_of(case: Case, name: str) -> Fact | None:
    """A fact of a case; `repo` is its repository, `verdict` whether it can be merged. None where it is not stated.

    Those of `product_facts` are counted where no fact states them.
    """
    if name == "repo":
        return case.change.repo
    if name.startswith("product_") and name not in case.facts:
        return product_facts(case.change).get(name)
    return case.verdict if name == "verdict" else case.facts.get(name)


def day_of(case: Case) -> str | None:
    """The day of the fact `created` (YYYY-MM-DD); None where it is not stated or no date."""
    created = case.facts.get("created")
    try:
        return None if not isinstance(created, str) else date.fromisoformat(created[:10]).isoformat()
    except ValueError:
        return None
