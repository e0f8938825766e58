"""The lines under a result: what was done, what failed, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.core.results import Drop
from reviewgauge.engine.review import ReviewTotals
from reviewgauge.engine.run.model_options import Spending
from reviewgauge.engine.run.progress import WorkTotals
from reviewgauge.engine.score import ScoreTotals

MOST_SYSTEMS = 20  # more systems than this are counted, not named
MOST_NOTES = 12


def count(n: int, what: str) -> str:
    """`1 case`, `3 cases`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


# --- review --------------------------------------------------------------------------------------------------------


def review_line(totals: ReviewTotals, spent: Spending) -> str:
    """What one reviewer did, or all recorded systems."""
    names = ", ".join(totals.systems[:MOST_SYSTEMS])
    if len(totals.systems) > MOST_SYSTEMS:
        names += f" and {len(totals.systems) - MOST_SYSTEMS} more systems"
    if spent.estimated:
        return f"{names}: {count(totals.left, 'review')} to make"
    parts = [f"{count(totals.done, 'review')} with {count(totals.comments, 'comment')}", *_failed(totals)]
    if totals.skipped:
        before = f", {totals.failed_before} of them failures" if totals.failed_before else ""
        parts.append(f"{totals.skipped} already there{before}")
    parts += _left(totals)
    if totals.cost.calls and not spent.sentence:
        price = "price unknown" if totals.cost.dollars is None else f"${totals.cost.dollars:.2f}"
        parts.append(f"{totals.cost.calls} model calls, {price}")
    return f"{names}: {'; '.join(parts)}; {totals.seconds:.1f} s"


def after_review(run: str, totals: Sequence[ReviewTotals]) -> list[str]:
    """Suggested next command, and what to do about failures; empty if interrupted."""
    if any(one.stopped for one in totals):
        return []
    failed = _count_failed(totals)
    useless = [", ".join(one.systems) for one in totals if one.all_failed]
    lines = [f"{names}: every review failed; {run}/reviews.jsonl says why" for names in useless]
    if failed:
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    return lines if len(useless) == len(totals) else [*lines, f"next: reviewgauge score {run} hits"]


def drop_notes(drops: Sequence[Drop]) -> list[str]:
    """What was dropped or could not be used, the most frequent reason first, with one example each."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for drop in drops:
        by_reason.setdefault((drop.by, drop.reason), []).append(drop.item)
    ranked = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    lines = [
        f"note: {by}: {reason} ({items[0] if len(items) == 1 else f'{len(items)} times, first {items[0]}'})"
        for (by, reason), items in ranked[:MOST_NOTES]
    ]
    if len(ranked) > MOST_NOTES:
        lines.append(f"note: {len(ranked) - MOST_NOTES} more kinds of notes; --json has all")
    return lines


# --- score, validate and calibrate ---------------------------------------------------------------------------------


def score_line(totals: ScoreTotals, estimated: bool) -> str:
    """What measuring one metric did."""
    if estimated:
        return f"{totals.left} reviews to measure"
    parts = [f"{totals.done} reviews measured"]
    parts += [f"{totals.skipped} measured before"] if totals.skipped else []
    parts += [f"{totals.not_applicable} not applicable"] if totals.not_applicable else []
    parts += _failed(totals)
    parts += [f"{totals.failed_reviews} reviews had failed"] if totals.failed_reviews else []
    return f"{'; '.join([*parts, *_left(totals)])}; {totals.seconds:.1f} s"


def nothing_scored(board: Leaderboard) -> bool:
    """Whether all that the metric has by now are failures, its own or those of the reviews."""
    worked = sum(row.scored + row.not_applicable for row in board.systems)
    return not worked and any(row.failed for row in board.systems)


def after_score(run: str, totals: Sequence[ScoreTotals], boards: Sequence[Leaderboard]) -> list[str]:
    """What to do about failures; empty if interrupted."""
    if any(one.stopped for one in totals):
        return []
    lines = [
        f"{board.label}: nothing could be measured; {run}/scores.jsonl says why"
        for board in boards
        if nothing_scored(board)
    ]
    if failed := _count_failed(totals):
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    if any(one.failed_reviews for one in totals):
        lines.append("failed reviews are made again by the command that made them, with --only failed")
    return lines


def measuring_line(totals: Sequence[ScoreTotals], seconds: float, estimated: bool, unchanged: bool = False) -> str:
    """What measuring all metrics did."""
    left = sum(one.left for one in totals)
    if estimated:
        return f"{left:,} reviews to measure"
    counts = {
        "reviews measured": sum(one.done for one in totals),
        "measured before": sum(one.skipped for one in totals),
        "not applicable": sum(one.not_applicable for one in totals),
        "failed": sum(sum(one.failed.values()) for one in totals),
        "failed before": sum(one.failed_before for one in totals),
        "reviews had failed": sum(one.failed_reviews for one in totals),
    }
    parts = [f"{n:,} {what}" for what, n in counts.items() if n or what == "reviews measured"]
    parts += ["nothing changed, so the figures are those of the last time"] if unchanged else []
    parts += [f"{left:,} left undone"] if left else []
    return f"{'; '.join(parts)}; {seconds:.1f} s"


def after_measuring(totals: Sequence[ScoreTotals]) -> list[str]:
    """What to do about failures; empty if interrupted."""
    failed = _count_failed(totals)
    if not failed or any(one.stopped for one in totals):
        return []
    return [f"{failed:,} failed: the same command with --retry-failed tries them again"]


def _count_failed(totals: Sequence[WorkTotals]) -> int:
    return sum(sum(one.failed.values()) + one.failed_before for one in totals)


def _failed(totals: WorkTotals) -> list[str]:
    kinds = ", ".join(f"{kind} {n}" for kind, n in totals.failed.items())
    return [f"{sum(totals.failed.values())} failed ({kinds})"] if totals.failed else []


def _left(totals: WorkTotals) -> list[str]:
    return [f"{totals.left} left undone"] if totals.stopped and totals.left else []
