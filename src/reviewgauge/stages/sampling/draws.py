"""Seeded draws, the facts to draw by, and how a sample compares with the whole.

A draw takes the items with the smallest hash of seed, stratum and id. It does not depend on the order of the stream, on
a random number generator or on the machine, and when the source grows, few of the drawn items change.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.building import CardSection
from reviewgauge.core.records import Case, Change
from reviewgauge.repo.diff.diffs import count_changed, hunk_count, parse_patch, size_of
from reviewgauge.repo.syntax.languages import language
from reviewgauge.repo.syntax.product import not_product, trivial

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


DESCRIBED = ("repo", "language", "domain", "size", "year", "verdict", "changed_lines", "changed_files", "commits")
_FEW = 5  # expected items in a cell of a chi-square test; smaller ones are put together
_EXACT = 10_000  # pairs of values up to which the exact p-value is computed
Row = tuple[str | int | float | None, ...]


def draw_key(seed: int, *parts: object) -> int:
    """A pseudo-random number of 64 bits."""
    joined = "\x1f".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def draw(seed: int, stratum: object, members: Iterable[tuple[str, int]], count: int) -> list[int]:
    """The positions of `count` of the members (id, position), or of all where there are fewer."""
    ordered = sorted(members, key=lambda member: (draw_key(seed, stratum, member[0]), member))
    return [position for _, position in ordered[:count]]


def share_out(sizes: Mapping[str, int], shares: Mapping[str, float], seed: int) -> dict[str, str]:
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


@dataclass
class Described:
    """The facts for comparing a sample with the whole stream. Stores values, not items."""

    names: Sequence[str] = DESCRIBED
    columns: dict[str, list[Fact | None]] = field(default_factory=dict)
    count: int = 0

    def add(self, case: Case) -> None:
        """Add the facts of one item."""
        for name in self.names:
            self.columns.setdefault(name, []).append(value_of(case, name))
        self.count += 1

    def section(self, by: str, chosen: Collection[int]) -> CardSection:
        """The differences between the items at the positions `chosen` and all items."""
        rows = [row for name in self.names if (row := self._row(name, chosen)) is not None]
        return CardSection(
            by=by,
            title="Is the sample like the whole?",
            text=(
                "Each fact of what was drawn beside all that could be. The p-value is that of the drawn against the"
                " rest: chi-square for words, cells of fewer than 5 expected items put together; Kolmogorov-Smirnov for"
                " numbers, its p-value exact or asymptotic. A sample that was balanced on purpose differs on purpose."
            ),
            columns=("fact", "test", "drawn", "of", "statistic", "p", "largest difference"),
            rows=tuple(rows),
        )

    def _row(self, name: str, chosen: Collection[int]) -> Row | None:
        values = [(value, at in chosen) for at, value in enumerate(self.columns.get(name, ())) if value is not None]
        drawn = [value for value, inside in values if inside]
        rest = [value for value, inside in values if not inside]
        if not values or len({value for value, _ in values}) < 2:
            return None
        numeric = name != "year" and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v, _ in values)
        test = "KS" if numeric else "chi-square"
        if not drawn or not rest:
            return name, test, len(drawn), len(values), None, None, "all of them" if drawn else "none of them"
        if not numeric:
            return name, test, len(drawn), len(values), *_chi_square(drawn, rest)
        one, other = [float(v) for v in drawn], [float(v) for v in rest]
        found, whole = kolmogorov_smirnov(one, other), one + other
        shown = f"mean {sum(one) / len(one):.1f}, of all {sum(whole) / len(whole):.1f}"
        return name, f"KS, {found.method}", len(drawn), len(values), round(found.statistic, 4), found.p, shown


class Gap(NamedTuple):
    """The largest gap between two distributions, and its p-value: `exact` (but for ties) or `asymptotic`."""

    statistic: float
    p: float
    method: str


def kolmogorov_smirnov(one: Sequence[float], other: Sequence[float]) -> Gap:
    """The two-sample test; exact for up to 10,000 pairs of values, asymptotic where there are more or it fails."""
    from scipy.stats import ks_2samp

    if len(one) * len(other) <= _EXACT:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # rounding can bring the exact p-value over 1
                found = ks_2samp(one, other, method="exact")
            return Gap(float(found.statistic), float(found.pvalue), "exact")
        except RuntimeWarning:
            pass
    found = ks_2samp(one, other, method="asymp")
    return Gap(float(found.statistic), float(found.pvalue), "asymptotic")


def _chi_square(drawn: Sequence[Fact], rest: Sequence[Fact]) -> tuple[float | None, float | None, str]:
    from scipy.stats import chi2_contingency

    inside, outside = Counter(map(str, drawn)), Counter(map(str, rest))
    total = len(drawn) + len(rest)
    names = sorted(inside.keys() | outside.keys())
    shares = {name: (inside[name] / len(drawn), (inside[name] + outside[name]) / total) for name in names}
    most = max(names, key=lambda name: (abs(shares[name][0] - shares[name][1]), name))
    shown = f"{most}: {100 * shares[most][0]:.1f}%, of all {100 * shares[most][1]:.1f}%"
    table = _table(names, inside, outside)
    if len(table) < 2:
        return None, None, shown
    found = chi2_contingency(list(zip(*table, strict=True)), correction=False)
    return round(float(found.statistic), 4), float(found.pvalue), shown


def _table(names: Sequence[str], inside: Counter[str], outside: Counter[str]) -> list[tuple[int, int]]:
    """(drawn, rest) by value; those with too few expected items are one row, and none if that has too few as well."""
    drawn, rest = inside.total(), outside.total()
    fewest = min(drawn, rest) / (drawn + rest)
    rows, others = [], (0, 0)
    for name in names:
        if (inside[name] + outside[name]) * fewest >= _FEW:
            rows.append((inside[name], outside[name]))
        else:
            others = others[0] + inside[name], others[1] + outside[name]
    if sum(others) * fewest >= _FEW:
        rows.append(others)
    return rows
