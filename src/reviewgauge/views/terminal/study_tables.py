"""The tables of a study in the terminal, and the estimate before them."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.reports.study import Estimate, StudyReport
from reviewgauge.models.request.budget import money
from reviewgauge.views.terminal.documents import table_view
from reviewgauge.views.terminal.tables import notes_below, plain


def estimate_lines(found: Estimate) -> list[str]:
    """What the study will take, in sentences."""
    cells = f"{_n(found.cells, 'cell')} of {_n(found.reviewers, 'reviewer')} on {_n(found.benchmarks, 'benchmark')}"
    lines = [f"Estimate: {cells}; {_n(found.reviews, 'review')} to make"]
    if found.calls or found.reused:
        price = "an unknown sum" if found.dollars is None else money(found.dollars)
        price += f" (no price is known for {', '.join(found.unpriced)})" if found.unpriced else ""
        price += f", at most {money(found.worst)}" if found.worst is not None and found.dollars else ""
        price += " (the fake model's price is invented)" if found.invented else ""
        lines[0] += (
            f"; {_n(found.calls, 'call')} to pay for, {found.reused:,} more are in the cache or shared; about "
            f"{found.tokens_in:,} tokens in and {found.tokens_out:,} out: {price}"
        )
    lines += [f"will fail: {one.benchmark}, {one.what}: {one.why}" for one in found.troubles]
    return lines


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def study_view(report: StudyReport) -> RenderableType:
    """Every table, then what has no result."""
    parts: list[RenderableType] = [plain(report.title, style="bold"), Text("")]
    for table in report.tables:
        parts += [table_view(table, files="tables"), Text("")]
    parts += [notes_below(*report.notes)] if report.notes else []
    parts += [notes_below(*(f"! {one.benchmark}, {one.what}: {one.why}" for one in report.troubles))]
    return Group(*parts)
