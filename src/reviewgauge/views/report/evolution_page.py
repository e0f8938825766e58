"""What `reviewgauge evolve` found, as a page: a sentence, the curve, the gap between the parts, the winner's diff."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup

from reviewgauge.core.reports.evolution import EvolutionReport
from reviewgauge.views import figures
from reviewgauge.views.report.report import render_page
from reviewgauge.views.report.shapes import Frame, steps, svg_of, text
from reviewgauge.views.terminal.evolution_tables import footnotes, headline, part_rows, step_rows, tried

WIDTH, HEIGHT = 420, 220  # pixels


class DiffLine(NamedTuple):
    """One line of the diff; `kind` is add, del, hunk or empty."""

    kind: str
    text: str


class LineageView(NamedTuple):
    """One round that brought a candidate: what it is, and its diff."""

    title: str
    lines: list[DiffLine]


def evolution_page(report: EvolutionReport) -> str:
    """The page."""
    return render_page(
        "evolution.html.j2",
        ["report.css", "validity.css", "evolution.css"],
        {},
        title=f"A better reviewer on {report.dataset}?",
        conclusion=headline(report),
        stopped=report.stopped,
        parts=part_rows(report),
        steps=step_rows(report),
        plots=[Markup(_curve(report)), Markup(_gap(report))],
        diff=_lines(report.diff),
        templates=list(report.templates),
        context=report.context,
        lineage=[
            LineageView(
                f"Round {step.round}: {step.candidate} of {step.parent}, {_fate(step.selection)}", _lines(step.diff)
            )
            for step in report.steps
            if step.diff
        ],
        refused=[(step.round, step.refused) for step in report.steps if step.refused],
        notes=list(footnotes(report)),
    )


def _fate(selection: float | None) -> str:
    if selection is None:
        return "not better on its minibatch"
    return f"{figures.number(selection, digits=3)} on the selection part"


def _lines(diff: str) -> list[DiffLine]:
    found = []
    for line in diff.splitlines():
        head = line.startswith(("+++ ", "--- ", "@@ "))
        kind = "hunk" if head else {"+": "add", "-": "del"}.get(line[:1], "")
        found.append(DiffLine(kind, figures.visible(line)))
    return found


def _curve(report: EvolutionReport) -> str:
    """The reward of each candidate on the selection part by evaluations, and the best until then."""
    steps_ = [(float(step.evaluations), step.selection) for step in tried(report) if step.selection is not None]
    best = list(accumulate((value for _, value in steps_), max))
    values = [value for _, value in steps_] or [0.0, 1.0]
    last = float(report.evaluations)
    frame = _frame((min([at for at, _ in steps_] or [0.0]), last or 1.0), values, "reward on selection")
    frame.ticks_across(steps(*frame.across, 5, False), "evaluations")
    corners: list[tuple[float, float]] = []
    for (at, _), value in zip(steps_, best, strict=True):
        corners += [(at, corners[-1][1])] if corners else []
        corners.append((at, value))
    frame.path([*corners, *([(last, best[-1])] if best else [])], look='stroke-width="2"')
    for at, value in steps_:
        frame.point(at, value, colour="muted")
    said = "; ".join(f"{value:.3f} after {at:g}" for at, value in steps_)
    return svg_of("curve", "Reward on the selection part by evaluations", said, (WIDTH, HEIGHT + 44), frame.marks)


def _gap(report: EvolutionReport) -> str:
    """Seed and winner on each part with their intervals."""
    rows = [
        (at, who, one)
        for at, part in enumerate(report.parts)
        for who, one in (("seed", part.seed), ("winner", part.best))
        if one is not None and one.value is not None
    ]
    ends = [end for _, _, one in rows for end in (one.value, one.low, one.high) if end is not None]
    frame = _frame((-0.5, max(0.5, len(report.parts) - 0.5)), ends, "reward")
    frame.ticks_across([(at, part.name) for at, part in enumerate(report.parts)])
    for at, who, one in rows:
        place, colour = (at - 0.2, "false") if who == "seed" else (at + 0.1, "accent")
        frame.interval(place, one.low, one.high, look='stroke-width="2"', colour=colour)
        frame.point(place, one.value or 0.0, 4.4, colour=colour)
        frame.marks.append(text(frame.x(place) + 8, frame.y(one.value or 0.0), who, colour=colour))
    said = "; ".join(f"{report.parts[at].name}, {who}: {one.value:.3f}" for at, who, one in rows)
    return svg_of("gap", "Seed and winner on the three parts", said, (WIDTH, HEIGHT + 44), frame.marks)


def _frame(across: tuple[float, float], values: Sequence[float], title: str) -> Frame:
    low, high = min(values, default=0.0), max(values, default=1.0)
    edge = (high - low) * 0.05 or 0.05
    frame = Frame(50, 8, WIDTH - 58, HEIGHT, across, (low - edge, high + edge))
    frame.grid_up(title=title)
    return frame
