"""What `reviewgauge evolve` found, as a document: tables, the winner's diff, and on a page the curve of the search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from reviewgauge.core.document import Block, Chart, Column, Document, Section, Series, Table, Text, Value, columns_of
from reviewgauge.core.reports.evolution import EvolutionReport, Step
from reviewgauge.views import figures
from reviewgauge.views.values import counted, note, or_dash


def evolution(report: EvolutionReport, *, page: bool = False) -> Document:
    """The sentence, the parts, the candidates that were tried on the whole selection part, the winner's diff.

    On a `page` it has charts, and the diff of every candidate.
    """
    words = f"its words: {', '.join(report.templates)}" if report.templates else ""
    context = f"context: {report.context}" if report.context else ""
    unchanged = Text(text="Nothing changed: the seed stays.")
    stopped = f"! Stopped: {report.stopped}. The same command goes on." if report.stopped else ""
    changed = Section(
        title="What changed in the winner",
        blocks=(
            Text(text=report.diff, kind="diff") if report.diff else unchanged,
            *(Text(text=line) for line in (context, words) if line),
        ),
    )
    return Document(
        headline=f"A better reviewer on {report.dataset}?",
        blocks=(
            Text(text=headline(report), kind="strong"),
            *([note(stopped)] if stopped else []),
            parts_table(report),
            *(_charts(report) if page else ()),
            steps_table(report),
            changed,
            *([Section(title="Every candidate", blocks=tuple(_lineage(report)))] if page else []),
            *map(note, footnotes(report)),
        ),
    )


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
            *columns_of("name", "part"),
            *(Column(key=key, kind="figure", priority=2) for key in ("cases", "repositories")),
            *(Column(key=key, priority=0, digits=3) for key in ("seed", "winner")),
            Column(key="gain", priority=0, digits=3, kind="difference"),
        ),
        rows=tuple(
            (
                Value(text=part.name),
                counted(part.cases),
                counted(part.repositories),
                *(or_dash(figure, "share") for figure in (part.seed, part.best, part.difference)),
            )
            for part in report.parts
        ),
    )


def steps_table(report: EvolutionReport) -> Table:
    """Round, candidate, parent, component and rewards of every candidate that came to the selection part."""
    return Table(
        name="candidates",
        title="Those that were tried on the whole selection part",
        columns=(
            *columns_of("name", "round", "candidate"),
            *columns_of("text", "of", "changed"),
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


def _lineage(report: EvolutionReport) -> Iterator[Block]:
    """Every candidate with its diff, and the rounds that brought none."""
    for step in report.steps:
        if step.diff:
            title = f"Round {step.round}: {step.candidate} of {step.parent}, {_outcome(step.selection)}"
            yield Section(title=title, blocks=(Text(text=step.diff, kind="diff"),), folded=True)
    for step in report.steps:
        if step.refused:
            yield Text(text=f"Round {step.round}: no usable proposal ({step.refused})")


def _outcome(selection: float | None) -> str:
    if selection is None:
        return "not better on its minibatch"
    return f"{figures.number(selection, digits=3)} on the selection part"


def _charts(report: EvolutionReport) -> Iterator[Chart]:
    """The reward of each candidate on the selection part by evaluations; seed and winner on each part."""
    known = [(float(step.evaluations), step.selection or 0.0) for step in tried(report)]
    best = zip([at for at, _ in known], accumulate((value for _, value in known), max), strict=True)
    lines = {"best so far": list(best), "candidate": known}
    yield Chart(
        title="Each candidate on the selection part",
        series=tuple(
            Series(name=name, points=tuple((at, or_dash(value)) for at, value in own)) for name, own in lines.items()
        ),
        across="evaluations",
    )
    pairs = {"seed": [part.seed for part in report.parts], "winner": [part.best for part in report.parts]}
    yield Chart(
        title="Seed and winner on the three parts",
        series=tuple(
            Series(name=who, points=tuple((float(at), or_dash(one, "share")) for at, one in enumerate(own)))
            for who, own in pairs.items()
        ),
        across="",
        ticks=tuple(float(at) for at in range(len(report.parts))),
        named=tuple(part.name for part in report.parts),
    )
