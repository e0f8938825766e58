"""A gate in the terminal: the verdict, its figures, and the cases won, lost and unstable."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.reports.gate import Gate, GateCase, GateVerdict, SmokeSet
from reviewgauge.views.terminal import figures
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain

SHOWN = 10  # cases of one kind
STYLE = {GateVerdict.NOT_WORSE: "bold green", GateVerdict.WORSE: "bold red", GateVerdict.CANNOT_TELL: "bold yellow"}


def gate(found: Gate) -> RenderableType:
    """The gate with its figures, cases and notes."""
    parts: list[RenderableType] = [Text(headline(found), style=STYLE[found.verdict]), plain(found.reason, 400)]
    parts += [Text(""), _figures(found)]
    for title, cases in (("lost", lost(found)), ("won", won(found)), ("unstable", unstable(found))):
        if cases:
            parts += [Text(""), _cases(found, title, cases)]
    return Group(*parts, Text(""), notes_below(*notes(found)))


def headline(found: Gate) -> str:
    """One line: the verdict, the reading and the margin."""
    fake = " (fake)" if found.fake else ""
    margin = figures.number(found.margin, found.unit, 3 if found.margin < 0.1 else 2)
    by = f"by more than {margin} in {figures.label(found.reading)}"
    what = {
        GateVerdict.NOT_WORSE: f"not worse than the baseline {by}",
        GateVerdict.WORSE: f"worse than the baseline in {figures.label(found.reading)} (margin {margin})",
        GateVerdict.CANNOT_TELL: f"cannot tell whether it is worse than the baseline {by}",
    }[found.verdict]
    return f"{found.verdict.upper()}{fake}: {what}"


def difference(found: Gate) -> str:
    """`+.03 [-.01, .07]`."""
    interval = figures.interval(found.low, found.high, found.unit)
    return f"{figures.signed(found.difference, found.unit)} {interval}".strip()


def counts(found: Gate) -> str:
    """The number of cases won, lost, tied and unstable."""
    parts = [f"{found.count('won')} won", f"{found.count('lost')} lost", f"{found.count('tied')} tied"]
    if undefined := found.count("undefined"):
        parts.append(f"{undefined} undefined")
    parts.append("unstable not known" if found.unstable is None else f"{found.unstable} unstable across attempts")
    return ", ".join(parts)


def notes(found: Gate) -> list[str]:
    """The settings behind the figures, and the warnings."""
    less = ", less is better" if found.lower_is_better else ""
    unit = "" if found.unit == "share" else f" ({found.unit})"
    lines = [
        f"{figures.label(found.reading)}{unit}{less}; paired on {found.n} of {found.of} cases, {found.clusters} "
        f"clusters by {found.clustered_by}; attempts {found.attempts[0]} and {found.attempts[1]}",
        f"{figures.percent(found.level)} interval: expanded percentiles of {found.resamples:,} resamples, "
        f"seed {found.seed}",
        f"{found.label} on {found.dataset}, benchmark {found.benchmark[:12]}",
    ]
    if found.needed is not None:
        by = "repositories" if found.clustered_by == "repository" else f"{found.clustered_by}s"
        lines.append(f"about {found.needed:,} {by} would be enough if the difference and its spread stay the same")
    if found.failed:
        worst = figures.number(found.low_if_worst, found.unit)
        lines.append(
            f"! the candidate failed on {found.failed} cases on which the baseline did not; if they count as worst, "
            f"the interval ends at {worst}"
        )
    if found.estimate_note:
        lines.append(f"! {found.estimate_note}")
    return [*lines, *(f"! {warning}" for warning in found.warnings)]


def lost(found: Gate) -> list[GateCase]:
    """The lost cases, the largest loss first."""
    return [case for case in found.cases if case.outcome == "lost"]


def won(found: Gate) -> list[GateCase]:
    """The won cases, the largest gain first."""
    return [case for case in reversed(found.cases) if case.outcome == "won"]


def unstable(found: Gate) -> list[GateCase]:
    """The cases on which attempts contradict each other."""
    return [case for case in found.cases if case.unstable]


def gain(case: GateCase, unit: str) -> str:
    """A case's gain, with one more digit than a reading."""
    return (
        figures.UNDEFINED if case.gain is None else ("+" if case.gain > 0 else "") + figures.number(case.gain, unit, 3)
    )


def _figures(found: Gate) -> RenderableType:
    table = bare_table()
    table.add_column("")
    table.add_column("system", overflow="fold")
    number_column(table, figures.label(found.reading))
    table.add_row("candidate", plain(found.candidate, 200), figures.number(found.candidate_value, found.unit))
    table.add_row("baseline", plain(found.baseline, 200), figures.number(found.baseline_value, found.unit))
    table.add_row("difference", "", difference(found))
    return Group(table, plain(f"cases: {counts(found)}"))


def _cases(found: Gate, title: str, cases: list[GateCase]) -> RenderableType:
    table = bare_table(f"{title}: {len(cases)}" + (f", the first {SHOWN}" if len(cases) > SHOWN else ""))
    table.add_column("case", overflow="fold")
    number_column(table, f"in {figures.label(found.reading)}")
    table.add_column("")
    for case in cases[:SHOWN]:
        table.add_row(plain(case.case, 200), gain(case, found.unit), "unstable" if case.unstable else "")
    return table


def smoke(found: SmokeSet) -> RenderableType:
    """The picked cases."""
    title = f"the {len(found.cases)} of {found.of} cases that separate {len(found.systems)} systems best"
    table = bare_table()
    table.add_column("case", overflow="fold")
    table.add_column("")
    for case in found.cases:
        table.add_row(plain(case.case, 200), "clean" if case.clean else "")
    rest = f"by {figures.label(found.reading)} of {found.label} on {found.dataset}, benchmark {found.benchmark[:12]}"
    return Group(Text(title, style="bold"), table, notes_below(rest, *(f"! {warning}" for warning in found.warnings)))
