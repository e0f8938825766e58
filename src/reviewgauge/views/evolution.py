"""What `reviewgauge evolve` found: its tables, for the terminal, and as a page with the curve and the winner's diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup
from rich.text import Text

from reviewgauge.core.document import Column, Table, Value
from reviewgauge.core.reports.evolution import EvolutionReport, Step
from reviewgauge.views import figures
from reviewgauge.views.html import table_html
from reviewgauge.views.pages import render_page
from reviewgauge.views.shapes import Frame, steps, svg_of, text
from reviewgauge.views.terminal.documents import table_view
from reviewgauge.views.terminal.tables import notes_below
from reviewgauge.views.values import or_dash

WIDTH, HEIGHT = 420, 220  # pixels
_SHOWN = 40  # lines of the diff in the terminal


def evolution(report: EvolutionReport) -> list[object]:
    """The sentence, the parts, the candidates that were tried on the whole selection part, the winner's words."""
    shown: list[object] = [headline(report), "", table_view(parts_table(report)), "", table_view(steps_table(report))]
    lines = report.diff.splitlines()
    if lines:
        cut = [f"... {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else []
        shown += ["", Text("\n".join([figures.visible(line) for line in lines[:_SHOWN]] + cut))]
    if report.templates:
        shown += ["", f"the winner's words: {', '.join(report.templates)}"]
    return [*shown, "", notes_below(*footnotes(report))]


def headline(report: EvolutionReport) -> str:
    """One sentence: what came of it."""
    fake = " (fake)" if report.fake else ""
    if not report.finished:
        return f"The search stopped before its end{fake}: the held-out part was not looked at."
    return report.conclusion + fake


def parts_table(report: EvolutionReport) -> Table:
    """Cases, repositories, seed, winner and gain of each part."""
    return Table(
        name="parts",
        title="Mean reward with 95% intervals; the gain is paired",
        columns=(
            Column(key="part", kind="name", priority=0),
            Column(key="cases", kind="figure", priority=2),
            Column(key="repositories", kind="figure", priority=2),
            Column(key="seed", priority=0, digits=3),
            Column(key="winner", priority=0, digits=3),
            Column(key="gain", priority=0, digits=3, kind="difference"),
        ),
        rows=tuple(
            (
                Value(text=part.name),
                Value(value=part.cases, unit="count"),
                Value(value=part.repositories, unit="count"),
                *(_value(figure) for figure in (part.seed, part.best, part.difference)),
            )
            for part in report.parts
        ),
    )


def _value(figure: Value | None) -> Value:
    if figure is None:
        return or_dash(None)
    return or_dash(figure.value, low=figure.low, high=figure.high, n=figure.n)


def steps_table(report: EvolutionReport) -> Table:
    """Round, candidate, parent, component and rewards of every candidate that came to the selection part."""
    return Table(
        name="candidates",
        title="Those that were tried on the whole selection part",
        columns=(
            *(Column(key=key, kind="name", priority=0) for key in ("round", "candidate")),
            Column(key="of", kind="text"),
            Column(key="changed", kind="text"),
            *(Column(key=key, kind="figure", priority=0, digits=3) for key in ("minibatch", "selection")),
        ),
        rows=tuple(
            (
                Value(text=str(step.round)),
                Value(text=step.candidate + (" (winner)" if step.candidate == report.best_candidate else "")),
                Value(text=step.parent or "seed"),
                Value(text=step.component or figures.UNDEFINED),
                or_dash(step.minibatch),
                or_dash(step.selection),
            )
            for step in tried(report)
        ),
        shown=1_000_000,
    )


def tried(report: EvolutionReport) -> list[Step]:
    """The candidates with a reward on all of the selection part, each once."""
    found: dict[str, Step] = {}
    for step in report.steps:
        if step.selection is not None:
            found.setdefault(step.candidate, step)
    return list(found.values())


def footnotes(report: EvolutionReport) -> Iterator[str]:
    """What the figures rest on; warnings begin with `!`."""
    yield from (f"! {warning}" for warning in report.warnings)
    reward = " + ".join(f"{weight:.2f} {metric}" for metric, weight in report.metrics)
    rejected = len({step.candidate for step in report.steps if step.candidate}) - len(tried(report))
    refused = sum(bool(step.refused) for step in report.steps)
    yield (
        f"reward: {reward}, one value a case; {report.optimizer}, proposals by {report.model}, {report.rounds} rounds, "
        f"{figures.count(report.evaluations)} evaluations; {rejected} candidates did not pass their minibatch, "
        f"{refused} proposals were unusable"
    )
    hash_of = figures.short_hash(report.benchmark)
    yield f"{report.dataset}, benchmark {hash_of}, split by {report.split_by}, seed {report.seed}"
    yield "the selection figure of the winner is the best of several, and so too high; the held-out one is not chosen"
    yield report.counted
    yield "the search had names, rewards and evidence of train and selection cases, and no held-out case"
    if report.bill:
        yield report.bill


# --- the page --------------------------------------------------------------------------------------------------------


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
        parts=table_html(parts_table(report)),
        steps=table_html(steps_table(report)),
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
