"""The card of a build from a local history: fixes, blamed lines, what could not be seen, how sure the labels are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from statistics import median

from reviewgauge.core.base import Fact
from reviewgauge.core.building import CardSection
from reviewgauge.repo.history.commits import RepositoryHealth

BY = "from_git"
MORE = "Settings that give more labels"
LONGER = (365, 730)  # horizons, in days


@dataclass
class Counts:
    """Counts taken while changes are read."""

    changes: int = 0
    young: int = 0
    labelled: int = 0
    clean: int = 0
    days: list[float] = field(default_factory=list)
    holds: list[float] = field(default_factory=list)
    readings: Counter[str] = field(default_factory=Counter)


def history_section(health: RepositoryHealth, of: str = "") -> CardSection:
    """The history that was read, with its warnings."""
    figures: dict[str, Fact] = {"commits": health.commits, "merges": health.merges}
    if health.first is not None and health.last is not None:
        figures |= {"first": health.first.date().isoformat(), "last": health.last.date().isoformat()}
    return CardSection(by=BY, title=f"History{of}", figures=figures, warnings=health.warnings)


def fixes_section(counts: Counts, outcomes: Mapping[str, int], of: str = "") -> CardSection:
    """Which commits count as fixes, and the outcome of each."""
    rows = [("message", reason, count) for reason, count in counts.readings.most_common()]
    rows += [("fix", reason, count) for reason, count in Counter(outcomes).most_common()]
    traced = outcomes.get("traced", 0)
    return CardSection(
        by=BY,
        title=f"Fixes{of}",
        text="What the messages of the changes say about fixing, and the outcome of tracing the fixes.",
        columns=("of", "what", "changes"),
        rows=tuple(rows),
        figures={"fixes": sum(outcomes.values()), "fixes traced to lines that count": traced},
        warnings=() if counts.labelled else (_unlabelled(counts, sum(outcomes.values())),),
    )


def _unlabelled(counts: Counts, fixes: int) -> str:
    found = f"{fixes:,} fixes were found, and none mends a change that can be a case" if fixes else "no fix was found"
    return (
        f"{found} among the {counts.changes:,} changes that were read: none is known to be flawed, so there is nothing "
        "for clean ones to be matched with. Read more of the history (--set limit=0, an earlier since) or give fixes "
        "more time (a longer --set horizon)"
    )


def lines_section(lines: int, placed: int, skipped: Mapping[str, int], of: str = "") -> CardSection:
    """Why blamed lines did not become labels: of `lines`, `placed` did."""
    why = Counter(skipped)
    why["of a change that is not a case, or that is fixed later than the horizon"] = (
        lines - placed - sum(skipped.values())
    )
    return CardSection(
        by=BY,
        title=f"Blamed lines{of}",
        text="Lines that a fix deleted or changed, and why most of them are in no label. Every line is counted once.",
        columns=("why not", "lines"),
        rows=tuple((reason, count) for reason, count in why.most_common() if count),
        figures={"lines blamed": lines, "lines in labels, before the next stages": placed},
    )


def noise_section(counts: Counts, horizon: int, of: str = "") -> CardSection:
    """How much of the truth a history can show."""
    figures: dict[str, Fact] = {
        "changes read": counts.changes,
        "share observed for less than the horizon": _share(counts.young, counts.changes),
        "share labelled among labelled and clean": _share(counts.labelled, counts.labelled + counts.clean),
    }
    if counts.holds:
        figures["share of the labels that is expected to hold"] = round(sum(counts.holds) / len(counts.holds), 2)
    if counts.days:
        figures["half-life of a defect in days (median from change to fix)"] = round(median(counts.days), 1)
        early = sum(days <= horizon / 2 for days in counts.days)
        figures["share of fixes in the first half of the horizon"] = _share(early, len(counts.days))
    return CardSection(
        by=BY,
        title=f"What a history can show{of}",
        text=(
            "A clean change is one that no recognised fix spoke about and no small change rewrote within the horizon: "
            "defects that nobody found, or that were fixed silently by adding lines only, are in it. A label says "
            "that a fix had to change these lines, not that a reviewer could have known."
        ),
        figures=figures,
    )


def more_section(more: Mapping[str, Sized], of: str = "") -> CardSection:
    """How many changes without a label another setting gives one."""
    text = "Each alone, and before the next stages. What a longer horizon or a lower certainty adds is less sure."
    rows = tuple(Counter({setting: len(changes) for setting, changes in more.items() if changes}).most_common())
    return CardSection(by=BY, title=f"{MORE}{of}", text=text, columns=("setting", "further changes"), rows=rows)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
