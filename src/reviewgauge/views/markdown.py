"""Markdown: tables, the card of a built benchmark (and its funnel for the terminal), and the README of a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.markup import escape
from rich.table import Table as RichTable

from reviewgauge.core.building import CardSection
from reviewgauge.core.document import Table
from reviewgauge.core.reports.build_card import BuildCard, FunnelRow
from reviewgauge.engine.bundle.contents import BundleManifest
from reviewgauge.views.values import first_text, legend, shown

REASONS = 3  # reasons of a stage shown in the terminal; the card has all


def funnel_table(rows: Sequence[FunnelRow]) -> RichTable:
    """One line a stage: items in, kept and dropped, and the first reasons."""
    head, *lines = _funnel(rows, REASONS)
    table = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column(head[0], max_width=38)
    for name in head[1:-1]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(head[-1], overflow="fold")
    for line in lines:
        table.add_row(*map(escape, line))
    return table


def _funnel(rows: Sequence[FunnelRow], most: int | None = None) -> list[list[str]]:
    """The head and one line a stage, with at most so many reasons; how many failed only where some did."""
    failed = any(row.failed for row in rows)
    lines = [["stage", "in", "kept", "dropped", *(["failed"] if failed else []), "why"]]
    for row in rows:
        counts = [str(row.entered or "–"), str(row.kept), str(row.dropped), *([str(row.failed)] if failed else [])]
        reasons = [f"{n} {reason}" for reason, n in (*row.reasons.items(), *row.failures.items())]
        if more := len(reasons[most:]) if most else 0:
            reasons[most:] = [f"{more} more reason{'s' * (more > 1)}"]
        lines.append([row.stage + (" (fake)" if row.fake else ""), *counts, "; ".join(reasons)])
    return lines


def markdown(card: BuildCard) -> str:
    """The card as Markdown; text from data is escaped, so it makes no heading, link, table or HTML."""
    parts = [f"# {plain_markdown(card.title)}", plain_markdown(card.summary)]
    if card.fake:
        parts.append("**(fake)** A fake model labelled parts of this benchmark: its labels mean nothing.")
    parts += [f"**Warning.** {plain_markdown(warning)}" for warning in card.warnings]
    facts = [
        ("source", card.source),
        ("recipe", card.recipe + (f" ({card.recipe_source})" if card.recipe_source else "")),
        ("built", f"{card.built.isoformat()} by reviewgauge {card.reviewgauge}"),
        ("benchmark", card.benchmark or "(no case is left)"),
        *((name, f"{count:,}") for name, count in card.counts.items()),
    ]
    parts.append(table_markdown(("what", "value"), facts))
    if card.funnel:
        stages = _funnel(card.funnel)
        parts += ["## Funnel", table_markdown(stages[0], stages[1:])]
    if card.spreads:
        rows = [
            (name, s.n, *(_number(v) for v in (s.smallest, s.lower, s.median, s.upper, s.largest, s.mean)))
            for name, s in card.spreads.items()
        ]
        head = ("per change", "n", "smallest", "lower quartile", "median", "upper quartile", "largest", "mean")
        parts += ["## Sizes", table_markdown(head, rows)]
    for section in card.sections:
        parts += _section(section)
    if card.distributions:
        parts.append("## What is in it")
        for name, counts in card.distributions.items():
            parts.append(table_markdown((name, "n"), list(counts.items())))
    if card.licences:
        note = "The code and its texts belong to their authors. The licence files of the repositories:"
        parts += ["## Licences", note, table_markdown(("repository", "licence file"), list(card.licences.items()))]
    settings = [*card.parameters.items(), *((row.stage, row.why) for row in card.funnel), *card.pins.items()]
    parts += ["## How it was made", table_markdown(("parameter, stage or pin", "value"), settings)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: CardSection) -> list[str]:
    parts = [f"## {plain_markdown(section.title)}", plain_markdown(section.text)]
    if section.figures:
        parts.append(table_markdown(("figure", "value"), [(name, _number(v)) for name, v in section.figures.items()]))
    if section.rows:
        parts.append(table_markdown(section.columns, [tuple(_number(v) for v in row) for row in section.rows]))
    return parts


def _number(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def document_table(table: Table) -> str:
    """A table with its title, and what it rests on below."""
    rows = [[first_text(row), *map(shown, row[1:], table.columns[1:])] for row in table.rows]
    notes = "\n".join(f"- {plain_markdown(line)}" for line in legend(table))
    return f"## {plain_markdown(table.title)}\n\n{table_markdown(table.titles, rows)}\n\n{notes}\n"


def table_markdown(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table; text from data is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(plain_markdown(str(cell)).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def plain_markdown(text: str) -> str:
    """The text on one line with Markdown and HTML escaped."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for mark in "\\`*[]<>":
        clean = clean.replace(mark, "\\" + mark)
    return clean


def readme(manifest: BundleManifest) -> str:
    """The README of a bundle: its contents and how to check it."""
    runs, data = [], ""
    for entry in manifest.runs:
        line = f"- `{entry.folder}`: {entry.dataset}, {entry.cases} cases. Licence of the data: {entry.licence}."
        if entry.texts != "all":
            line += f" The texts of the cases and of {entry.withheld:,} reviews are left out: {entry.why}."
            data = (
                "\nWhere texts are left out, get the data from its origin (`reviewgauge info NAME` says where), make a "
                "run on\nit, and name that run:\n\n    reviewgauge review NAME recorded --from DATA -o RUN\n"
                "    reviewgauge check bundle.zip --from RUN\n"
            )
        runs.append(line)
    return f"""# What this is

A bundle made by ReviewGauge {manifest.reviewgauge}: runs with their reviews and scores, and tables. Everything in it
can be recomputed without a network.

{chr(10).join(runs)}

# How to check it

With ReviewGauge {manifest.reviewgauge} installed, from its repository or, once released, by `pip install reviewgauge`:

    reviewgauge check bundle.zip

It scores every review again and makes every table again from the scores. At the first number that differs it names
the file, the row, the column and both values, and exits with 1.
{data}
# What is where

- `SHA256SUMS`: the sum of every file, for `sha256sum -c` too
- `bundle.json`: versions and settings
- `runs/NAME/`: the run folder: its manifest, cases, reviews, labels, one score a line with the evidence behind it, and
  the calls of chat models (`calls.jsonl`), from which what models scored is measured again without asking them
- `tables/`: each table as CSV (nothing rounded), Markdown and LaTeX

Tables were made with {manifest.resamples:,} resamples and seed {manifest.seed}, on Python {manifest.python} with
{", ".join(f"{name} {version}" for name, version in sorted(manifest.libraries.items()))}.
"""
