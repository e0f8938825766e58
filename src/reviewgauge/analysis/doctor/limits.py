"""What no reviewer can help: comments that the metric cannot decide, labels that do not hold, and too few of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import median_low
from typing import NamedTuple

from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.analysis.stats.power import clusters_needed, detectable_difference
from reviewgauge.core.records import Case, Origin, Tier, findings
from reviewgauge.core.results import CommentState
from reviewgauge.core.shares import CLEAN_FACT, LABELS_FACT, margin, people_found

_UNCHECKED = 0.2  # of the labels: what the sentence on labels that nobody checked is said for

SIZE = "What the labels can tell"  # the title of a section on a build's card
_OLD = 5  # years
_APART = 0.5  # the difference between finding half of the labels and finding none


class LabelSize(NamedTuple):
    """What so many labels can tell. `problem`: why they tell nothing; empty where they do."""

    words: str
    problem: str


def label_size(labels: int, years: Sequence[int]) -> LabelSize:
    """What `labels` can tell, on one change for each of `years`, the year of that change or 0.

    Two reviewers who each find half of them, apart from each other, have recalls whose difference varies by 1/2 on a
    change; of one who finds half and one who finds none it varies by 1/4. Raises ValueError without a change.
    """
    n, known, now = len(years), sorted(filter(None, years)), datetime.now(UTC).year
    half = margin(n)
    if half is None:
        raise ValueError("no change has a label")
    alike, extremes = (math.sqrt(variance / n) for variance in (1 / 2, 1 / 4))
    seen = smallest_difference(n) or 1.0
    words = f"{labels:,} on {_count(n, 'change')}"
    if known:
        old = sum(now - year > _OLD for year in known)
        words += f" of {known[0]}" + (f" to {known[-1]}, median {median_low(known)}" if known[-1] > known[0] else "")
        words += f", {old} over {_OLD} years old" if old else ""
    words += f": recall is known within {half:.2f}, and two reviewers that each find other halves must differ by"
    words += f" {seen:.2f} to be told apart (by less if they find the same: plan)"
    if seen > 0.1:
        words += f"; {clusters_needed(alike, n, 0.1)} such changes show a difference of .10"
    needed = clusters_needed(extremes, n, _APART)
    found = (
        f"too small: {_count(n, 'change')} with labels cannot tell two reviewers apart, {needed} are needed "
        "(several repositories in one build, or settings that the card lists)"
    )
    return LabelSize(words, found if n < needed else "")


def smallest_difference(changes: int) -> float | None:
    """By how much the recalls of two reviewers that each find other halves must differ to be told apart; None: no n."""
    found = detectable_difference(math.sqrt(1 / 2 / changes), changes) if changes else None
    return None if found is None else min(found, 1.0)


def size_of_labels(cases: Sequence[Case]) -> LabelSize | None:
    """What the labels of these cases can tell; None where there are none."""
    years = [year if isinstance(year := case.facts.get("year"), int) else 0 for case in cases if case.references]
    labels = sum(one.same_as is None for case in cases for one in case.references)
    return label_size(labels, years) if years else None


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def unsure(told: Trial) -> str:
    """How much of what tells the findings in other words is unsure; empty where the metric is sure of everything."""
    states = [one.state for answer in told.answers if (found := answer.measured.matching) for one in found.comments]
    share = states.count(CommentState.UNSURE) / max(1, len(states))
    return f"unsure: {share:.0%} of {len(states):,} comments that tell the finding in other words" if share else ""


def label_noise(cases: Sequence[Case]) -> Iterator[str]:
    """The best figures that a reviewer who is always right can have, where labels come from fixes and may not hold."""
    tiers = [one[0].tier for case in cases for one in findings(case.references) if one[0].origin is Origin.FIX]
    labels, traced = len(tiers), sum(tier not in (Tier.CONFIRMED, Tier.VERIFIED) for tier in tiers)
    clean = sum(case.clean for case in cases)
    if not labels:
        return
    held, kept = people_found(cases, LABELS_FACT), people_found(cases, CLEAN_FACT)
    if held is None:
        best = _best(1 - _UNCHECKED * traced / labels, 1.0, labels, clean)
        yield (
            "labels: nobody has checked them (build --audit 40); were one in five wrong, a perfect reviewer would have "
            f"recall {best[1]:.2f}, F1 {best[2]:.2f}"
        )
        return
    of_clean = kept.ends if kept else (1.0, 1.0, 1.0)
    shares = [1 - (1 - end) * traced / labels for end in held.ends]  # what was confirmed or verified holds
    ends = [_best(one, other, labels, clean) for one, other in zip(shares, of_clean, strict=True)]
    shown = ", ".join(
        f"{name} {middle:.2f} [{low:.2f}, {high:.2f}]"
        for name, middle, low, high in zip(("precision", "recall", "F1"), *ends, strict=True)
    )
    unknown = "" if kept else ", if every clean change is clean"
    yield f"labels: by those that people checked, a perfect reviewer would have {shown}{unknown}"


def _best(held: float, kept: float, labels: int, clean: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of who finds each true label, and one defect in each clean change that is not clean."""
    hits = held * labels
    said = hits + (1 - kept) * clean
    precision = hits / said if said else 0.0
    return precision, held, 2 * hits / (said + labels)
