"""What a build from a local history says about its own labels: fixes, lines, what could not be seen, how sure it is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from reviewbench.core.building import CardSection
from reviewbench.core.errors import UserError
from reviewbench.core.records import ChangedFile, Side
from reviewbench.repo.changes import LandedChange
from reviewbench.repo.diffs import changed_lines
from reviewbench.repo.git import Repository
from reviewbench.stages._git_lines import forward, not_product

SAMPLE = 100  # clean changes whose lines are looked up again at the end of their horizon
BY = "from_git"


@dataclass
class Seen:
    """What is counted while changes go by."""

    changes: int = 0
    young: int = 0
    labelled: int = 0
    clean: int = 0
    days: list[float] = field(default_factory=list)
    readings: Counter[str] = field(default_factory=Counter)


class CleanSample:
    """A draw of clean changes, each equally likely, whatever their number (reservoir sampling)."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._seen = 0
        self.drawn: list[tuple[LandedChange, tuple[ChangedFile, ...]]] = []

    def offer(self, change: LandedChange, files: tuple[ChangedFile, ...]) -> None:
        """Perhaps take a change into the sample."""
        self._seen += 1
        if len(self.drawn) < SAMPLE:
            self.drawn.append((change, files))
        elif (at := self._draw.randrange(self._seen)) < SAMPLE:
            self.drawn[at] = (change, files)


def lines_gone(
    repository: Repository, change: LandedChange, files: tuple[ChangedFile, ...], later: str
) -> tuple[int, int]:
    """(added lines of product code, how many of them are no longer as they were at the commit `later`)."""
    added = {file.path: changed_lines(file, Side.NEW) for file in files if not not_product(file.path)}
    try:
        between = repository.changed_files(change.head, later)
    except UserError:
        return 0, 0
    gone = sum(forward(between, path, line) is None for path, lines in added.items() for line in lines)
    return sum(map(len, added.values())), gone


def fixes_section(seen: Seen, outcomes: Mapping[str, int]) -> CardSection:
    """Which commits count as fixes, and what became of each."""
    rows = [("message", reason, count) for reason, count in seen.readings.most_common()]
    rows += [("fix", reason, count) for reason, count in Counter(outcomes).most_common()]
    traced = outcomes.get("traced", 0)
    return CardSection(
        by=BY,
        title="Fixes",
        text="What the messages of the changes say about mending, and what tracing the fixes came to.",
        columns=("of", "what", "changes"),
        rows=tuple(rows),
        figures={"fixes": sum(outcomes.values()), "fixes traced to lines that count": traced},
    )


def lines_section(lines: int, skipped: Mapping[str, int]) -> CardSection:
    """Why blamed lines did not become labels."""
    return CardSection(
        by=BY,
        title="Blamed lines",
        text="Lines that a fix deleted or changed, and why some of them are in no label.",
        columns=("why not", "lines"),
        rows=tuple(Counter(skipped).most_common()),
        figures={"lines blamed": lines, "lines left out": sum(skipped.values())},
    )


def noise_section(seen: Seen, horizon: int, gone: tuple[int, int]) -> CardSection:
    """How much of the truth a history can show at all."""
    added, lost = gone
    figures: dict[str, str | int | float | bool] = {
        "changes read": seen.changes,
        "share observed for less than the horizon": _share(seen.young, seen.changes),
        "share labelled among labelled and clean": _share(seen.labelled, seen.labelled + seen.clean),
    }
    if seen.days:
        figures["half-life of a defect in days (median from change to fix)"] = round(median(seen.days), 1)
        early = sum(days <= horizon / 2 for days in seen.days)
        figures["share of fixes in the first half of the horizon"] = _share(early, len(seen.days))
    if added:
        figures["share of the lines of clean changes rewritten or deleted within the horizon without a fix"] = _share(
            lost, added
        )
    return CardSection(
        by=BY,
        title="What a history can show",
        text=(
            "A clean change is one that no recognised fix spoke about within the horizon: defects that nobody found, "
            "that were mended without saying so, or by adding lines only, are in it. The longer a line stays, the more "
            "can be found in it: lines that were rewritten early could not show a defect. A label says that a fix had "
            "to change these lines, not that a reviewer could have known; docs/from-git.md has what people say of 20."
        ),
        figures=figures,
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
