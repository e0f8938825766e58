"""The card of a build from a local history: fixes, blamed lines, what could not be seen, how sure the labels are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from reviewgauge.core.base import Fact
from reviewgauge.core.building import CardSection
from reviewgauge.core.shares import margin
from reviewgauge.repo.history.commits import RepositoryHealth
from reviewgauge.stages.history.labels import OfferedLabel

BY = "from_git"
CURVE = "How many labels which certainty gives"
HOSTS = "recent changes that could take a defect"  # a figure: for the recipe `injected`
NEWEST = 1000  # changes of a history that count as recent
_CERTAINTIES = (0.8, 0.7, 0.6, 0.5, 0.0)


@dataclass
class Counts:
    """Counts taken while changes are read."""

    changes: int = 0
    young: int = 0
    labelled: int = 0
    clean: int = 0
    perhaps: int = 0
    hosts: int = 0
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
        "for clean ones to be matched with. Read more of the history (--set limit=0, an earlier since), take less sure "
        "labels (--set certainty=0), or let a model read messages that only may speak of a fix (--set perhaps=true "
        "--model SPEC)"
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
        "share observed for less than clean_days": _share(counts.young, counts.changes),
        "share labelled among labelled and clean": _share(counts.labelled, counts.labelled + counts.clean),
    }
    if counts.hosts:
        figures[HOSTS] = counts.hosts
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
            "A clean change is one that no recognised fix spoke about and no change rewrote within clean_days: "
            "defects that nobody found, or that were fixed silently by adding lines only, are in it. A label says "
            "that a fix had to change these lines, not that a reviewer could have known."
        ),
        figures=figures,
        warnings=(
            f"{counts.perhaps} labels rest on messages that only may speak of a fix (of 14 read, 3 did): --model asks "
            "a model of each, --audit people",
        )
        * bool(counts.perhaps),
    )


def curve_section(offered: Sequence[OfferedLabel], of: str = "") -> CardSection:
    """How many changes get a label at each certainty, how many of the labels should hold, and how old they are."""
    rows = list[tuple[Fact, ...]]()
    for least in _CERTAINTIES:
        if kept := [one for one in offered if one.holds >= least]:
            n, holds = len({one.change for one in kept}), sum(one.holds for one in kept) / len(kept)
            year = round(median(one.year for one in kept))
            rows.append((least, n, len(kept), round(holds, 2), round(margin(n) or 0.0, 2), str(year)))
    return CardSection(
        by=BY,
        title=f"{CURVE}{of}",
        text="Before the next stages. Fewer labels, more of them true: `--set certainty=...` chooses.",
        columns=("certainty", "changes", "labels", "should hold", "recall known within", "median year"),
        rows=tuple(rows),
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
