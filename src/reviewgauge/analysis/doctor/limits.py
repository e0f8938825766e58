"""What no reviewer can help: comments that the metric cannot decide, and labels of a benchmark that do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.core.records import Case, Origin, Tier, findings
from reviewgauge.core.results import CommentState
from reviewgauge.stages.sampling.label_checks import CLEAN_FACT, LABELS_FACT, people_found

_UNCHECKED = 0.2  # of the labels: what the sentence on labels that nobody checked is said for


def unsure(told: Trial, wordless: Trial) -> str:
    """How much of what is said on the lines of the findings is unsure; empty where the metric is sure of everything."""
    parts = []
    for trial, words in ((told, "that tell the finding in other words"), (wordless, "with empty words on its lines")):
        matchings = [answer.measured.matching for answer in trial.answers if answer.measured.matching is not None]
        states = [outcome.state for matching in matchings for outcome in matching.comments]
        if states:
            share = states.count(CommentState.UNSURE) / len(states)
            parts.append((share, f"{share:.0%} of {len(states):,} comments {words}"))
    return f"unsure: {', '.join(text for _, text in parts)}" if any(share for share, _ in parts) else ""


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
