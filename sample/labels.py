"""Holds the labels that `from_git` finds in the sample's history against what was planted and mended in it.

    python sample/labels.py   # prints the tables of docs/reference/sample.md

A label is one fix on one change. It is right when the fix was made to mend a problem that this change brought.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from runpy import run_path
from typing import Protocol

from reviewgauge.api.build import build as build_benchmark
from reviewgauge.api.demo import SETTINGS
from reviewgauge.core.records import Case, Comment, Span
from reviewgauge.core.shares import wilson
from reviewgauge.datasets.jsonl import Jsonl

BUILDER = Path(__file__).with_name("build.py")
NOWHERE = "not known"


class Finding(Protocol):
    """A planted problem, as sample/build.py has it."""

    @property
    def id(self) -> str: ...
    @property
    def commit(self) -> str: ...
    @property
    def spans(self) -> tuple[Span, ...]: ...
    @property
    def mended(self) -> str | None: ...
    @property
    def said(self) -> bool: ...


@dataclass(frozen=True)
class Label:
    """What one fix says of one change, and the planted problems that it was made to mend there."""

    case: str
    fix: str
    spans: tuple[Span, ...]
    mended: tuple[Finding, ...]

    @property
    def on_the_lines(self) -> bool:
        """Whether one of its places holds lines that a planted problem was found on."""
        wanted = [span for finding in self.mended for span in finding.spans]
        return any(overlap(mine, other) for mine in self.spans for other in wanted)


@dataclass
class Held:
    """The labels of a benchmark, the clean changes that are none, and why planted problems were not found."""

    labels: list[Label] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)  # of each labelled change: whether something was planted
    clean: list[bool] = field(default_factory=list)  # of each clean change: whether nothing was planted
    said: list[Finding] = field(default_factory=list)  # what a later commit was made to mend
    missed: Counter[str] = field(default_factory=Counter)


def overlap(one: Span, other: Span) -> bool:
    """Whether two places share a line."""
    if one.path != other.path or None in (one.start, one.end, other.start, other.end):
        return False
    return one.start <= other.end and other.start <= one.end  # type: ignore[operator]


def hold(findings: Sequence[Finding], cases: Sequence[Case], drops: dict[str, str]) -> Held:
    """Compare; `drops` is why commits are not cases, by the first letters of their ids."""
    by_commit: dict[str, list[Finding]] = {}
    for finding in findings:
        by_commit.setdefault(finding.commit, []).append(finding)
    held = Held(said=[finding for finding in findings if finding.said])
    found: set[str] = set()
    heads = {case.change.head: case for case in cases}
    for case in cases:
        planted = by_commit.get(case.change.head or "", [])
        if not case.references:
            held.clean.append(not planted)
            continue
        held.changed.append(bool(planted))
        by_fix: dict[str, list[Comment]] = {}
        for comment in case.references:
            by_fix.setdefault(str(comment.extra["fix"]), []).append(comment)
        for fix, comments in by_fix.items():
            mended = tuple(finding for finding in planted if finding.said and finding.mended == fix)
            spans = tuple(comment.span for comment in comments if comment.span is not None)
            held.labels.append(Label(case.id, fix, spans, mended))
            found |= {finding.id for finding in mended}
    for finding in held.said:
        if finding.id not in found:
            held.missed[why_missed(finding, heads, drops)] += 1
    return held


def why_missed(finding: Finding, heads: dict[str | None, Case], drops: dict[str, str]) -> str:
    """What became of the change that brought a problem which was not found."""
    case = heads.get(finding.commit)
    if case is not None:
        return "its change is labelled by other fixes only" if case.references else "its change is called clean"
    return f"no case: {next((why for start, why in drops.items() if finding.commit.startswith(start)), NOWHERE)}"


def drops_of(bench: Path) -> dict[str, str]:
    """Why commits are not cases, by the first letters of their ids."""
    lines = (json.loads(line) for line in (bench / "drops.jsonl").read_bytes().splitlines())
    return {row["item"].rpartition("/")[2]: row["reason"] for row in lines}


def table(held: Held) -> Iterator[str]:
    """Lines for the data set's page."""
    placed = [label for label in held.labels if label.mended and label.spans]
    found = len(held.said) - sum(held.missed.values())
    yield "| of | are | n | share, 95% |"
    yield "|---|---|---|---|"
    for of, what, right, n in (
        (
            "labels",
            "about a planted problem that the fix mends",
            sum(bool(x.mended) for x in held.labels),
            len(held.labels),
        ),
        ("those with lines", "on its lines", sum(x.on_the_lines for x in placed), len(placed)),
        ("labelled changes", "flawed", sum(held.changed), len(held.changed)),
        ("clean changes", "clean", sum(held.clean), len(held.clean)),
        ("planted problems that a fix says it mends", "found", found, len(held.said)),
    ):
        low, high = wilson(right, n) or (0.0, 1.0)
        yield f"| {of} | {what} | {right} of {n} | {right / n:.0%} [{low:.0%}, {high:.0%}] |"
    yield ""
    yield "Not found: " + "; ".join(f"{count}: {why}" for why, count in held.missed.most_common()) + "."


def held_against_history(repository: Path, findings: Sequence[Finding], folder: Path) -> Held:
    """Build the demo's benchmark into `folder` and compare it."""
    build_benchmark(repository, out=folder, settings=SETTINGS)
    return hold(findings, list(Jsonl(path=str(folder)).cases()), drops_of(folder))


def main() -> None:
    """Print what docs/reference/sample.md shows."""
    build_sample = run_path(str(BUILDER))["build"]
    with tempfile.TemporaryDirectory() as folder:
        built = build_sample(Path(folder))
        held = held_against_history(built.maker.git_dir, built.findings, Path(folder) / "bench")
    print("\n".join(table(held)))
    for label in held.labels:
        if not label.mended:
            print(f"wrong: {label.case} by {label.fix[:12]}")


if __name__ == "__main__":
    main()
