"""What `reviewgauge evolve` found, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from reviewgauge.core.reports.evolution import EvolutionReport, Step
from reviewgauge.core.reports.validity import Figure
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain

_SHOWN = 40  # lines of the diff


def evolution(report: EvolutionReport) -> list[object]:
    """The sentence, the parts, the candidates that were tried on the whole selection part, the winner's words."""
    shown: list[object] = [headline(report), "", _parts(report), "", _steps(report)]
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


def _parts(report: EvolutionReport) -> RenderableType:
    table = bare_table()
    table.add_column("part", no_wrap=True)
    for name in ("cases", "repositories", "seed", "winner", "gain"):
        number_column(table, name)
    for row in part_rows(report):
        table.add_row(*row)
    return table


def part_rows(report: EvolutionReport) -> list[list[str]]:
    """Name, cases, repositories, seed, winner and gain of each part."""
    return [
        [
            part.name,
            figures.count(part.cases),
            figures.count(part.repositories),
            shown(part.seed),
            shown(part.best),
            shown(part.difference, signed=True),
        ]
        for part in report.parts
    ]


def shown(figure: Figure | None, signed: bool = False) -> str:
    """`.412 [.301, .522]`, a dash where it was not computed."""
    if figure is None:
        return figures.UNDEFINED
    value = figures.number(figure.value, digits=3)
    plus = "+" if signed and (figure.value or 0) > 0 else ""
    return f"{plus}{value} {figures.interval(figure.low, figure.high, digits=3)}".rstrip()


def _steps(report: EvolutionReport) -> RenderableType:
    table = bare_table()
    for name in ("round", "candidate", "of", "changed"):
        table.add_column(name, no_wrap=True)
    for name in ("minibatch", "selection"):
        number_column(table, name)
    for row in step_rows(report):
        table.add_row(*(plain(cell, 60) for cell in row))
    return table


def step_rows(report: EvolutionReport) -> list[list[str]]:
    """Round, candidate, parent, component and rewards of every candidate that came to the selection part."""
    return [
        [
            str(step.round),
            step.candidate + (" (winner)" if step.candidate == report.best_candidate else ""),
            step.parent or "seed",
            step.component or figures.UNDEFINED,
            figures.number(step.minibatch, digits=3),
            figures.number(step.selection, digits=3),
        ]
        for step in tried(report)
    ]


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
