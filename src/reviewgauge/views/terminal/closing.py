"""The lines under a result: what was measured, what failed, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.engine.score import ScoreTotals


def measured_words(totals: Sequence[ScoreTotals], seconds: float, estimated: bool, unchanged: bool = False) -> str:
    """The closing line on what was measured."""
    left = sum(t.left for t in totals)
    if estimated:
        return f"{left:,} reviews to measure"
    counts = {
        "reviews measured": sum(t.done for t in totals),
        "measured before": sum(t.skipped for t in totals),
        "not applicable": sum(t.not_applicable for t in totals),
        "failed": sum(sum(t.failed.values()) for t in totals),
        "failed before": sum(t.failed_before for t in totals),
        "reviews had failed": sum(t.failed_reviews for t in totals),
    }
    said = [f"{n:,} {what}" for what, n in counts.items() if n or what == "reviews measured"]
    said += ["nothing changed, so the figures are those of the last time"] if unchanged else []
    said += [f"{left:,} left undone"] if left else []
    return f"{'; '.join(said)}; {seconds:.1f} s"


def next_words(totals: Sequence[ScoreTotals]) -> list[str]:
    """What to do about failures. What was stopped says so itself."""
    failed = sum(sum(one.failed.values()) + one.failed_before for one in totals)
    if not failed or any(one.stopped for one in totals):
        return []
    return [f"{failed:,} failed: the same command with --retry-failed tries them again"]


def all_failed(totals: Sequence[ScoreTotals]) -> bool:
    """Whether all that a metric has by now are its own failures."""
    return any(
        (one.failed or one.failed_before) and not one.done + one.not_applicable + one.skipped - one.failed_before
        for one in totals
    )
