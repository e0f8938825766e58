"""What `annotate pool` and `annotate grow` say: counts that add up, in words."""

from __future__ import annotations

from collections.abc import Mapping

from reviewgauge.core.reports.annotation import GrowResult, PoolResult


def pool_lines(made: PoolResult) -> list[str]:
    """What became of every comment of the runs."""
    known = f", {made.known:,} were there already" if made.known else ""
    return [
        f"{sum(made.counts.values()):,} comments: {_counted(made.counts)}",
        f"{made.distinct:,} distinct ones{known}: {made.items:,} items, for {made.raters} raters each",
    ]


def grown_lines(grown: GrowResult) -> list[str]:
    """What became of every pooled comment, and what the next version gained."""
    made = f"{grown.references:,} new findings, {grown.phrasings:,} other phrasings, {grown.rejected:,} known wrong"
    return [
        f"{sum(grown.findings.values()):,} findings were pooled: {_counted(grown.findings)}",
        f"{sum(grown.comments.values()):,} comments: {_counted(grown.comments)}",
        f"version {grown.version} in {grown.folder}: {made}",
        f"benchmark {grown.benchmark[:12]}, before {grown.before[:12]}",
    ]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "none"
