"""What `reviewgauge evolve` found, as a page: a sentence, the curve, the gap between the parts, the winner's diff."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from markupsafe import Markup

from reviewgauge.core.reports.evolution import EvolutionReport, PartResult
from reviewgauge.views import figures
from reviewgauge.views.report.plots import ACCENT, MUTED, SERIES, available, draw, load_altair, ticks_axis
from reviewgauge.views.report.report import render_page
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
        plots=[Markup(_curve(report)), Markup(_gap(report))] if available() else [],
        plots_missing=not available(),
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
    alt = load_altair()
    steps = [(step.evaluations, step.selection) for step in tried(report) if step.selection is not None]
    best = list(accumulate((value for _, value in steps), max))
    rows = [{"x": used, "y": value} for used, value in steps]
    so_far = [{"x": used, "y": value} for (used, _), value in zip(steps, best, strict=True)]
    so_far += [{"x": report.evaluations, "y": best[-1]}] if best else []
    x, y = _axes(alt, "evaluations", "reward on selection")
    layers = [
        alt.Chart(alt.NamedData("best"))
        .mark_line(interpolate="step-after", color=ACCENT, strokeWidth=2)
        .encode(x=x, y=y),
        alt.Chart(alt.NamedData("rows")).mark_point(filled=True, color=MUTED, size=40, opacity=1).encode(x=x, y=y),
    ]
    said = "; ".join(f"{row['y']:.3f} after {row['x']}" for row in rows)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, padding=3)
    return draw(chart, "curve", "Reward on the selection part by evaluations", said, {"rows": rows, "best": so_far})


def _gap(report: EvolutionReport) -> str:
    """Seed and winner on each part with their intervals."""
    alt = load_altair()
    rows = [row for part in report.parts for row in _of_part(part)]
    scale = alt.Scale(domain=["seed", "winner"], range=[SERIES[1], ACCENT])
    x = alt.X("part:N", title=None, sort=[part.name for part in report.parts], axis=alt.Axis(labelAngle=0))
    y = alt.Y("y:Q", title="reward", axis=ticks_axis(alt, True, 5, grid=True), scale=alt.Scale(zero=False))
    off = alt.XOffset("who:N", sort=["seed", "winner"])
    base = alt.Chart(alt.NamedData("rows"))
    colour = alt.Color("who:N", scale=scale, legend=None)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=x, xOffset=off, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, xOffset=off, y=y, color=colour),
        base.mark_text(dx=8, align="left", fontSize=11).encode(x=x, xOffset=off, y=y, text="who:N", color=colour),
    ]
    said = "; ".join(f"{row['part']}, {row['who']}: {row['y']:.3f}" for row in rows)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, padding=3)
    return draw(chart, "gap", "Seed and winner on the three parts", said, {"rows": rows})


def _of_part(part: PartResult) -> Sequence[dict[str, Any]]:
    pairs = (("seed", part.seed), ("winner", part.best))
    return [
        {"part": part.name, "who": who, "y": one.value, "low": one.low, "high": one.high}
        for who, one in pairs
        if one is not None and one.value is not None
    ]


def _axes(alt: Any, across: str, up: str) -> tuple[Any, Any]:
    x = alt.X("x:Q", title=across, axis=ticks_axis(alt, False, 5), scale=alt.Scale(nice=False, zero=False))
    return x, alt.Y("y:Q", title=up, axis=ticks_axis(alt, True, 5, grid=True), scale=alt.Scale(zero=False, nice=True))
