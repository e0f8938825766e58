"""A gate for people and machines: terminal tables, Markdown for pull requests, JUnit XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.gate import Gate, GateCase, GateCheck, GateFinding, GateVerdict, SmokeSet
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain

SHOWN, LISTED = 10, 15  # cases of one kind in the terminal, and in Markdown
FINDINGS = 5
STYLE = {GateVerdict.NOT_WORSE: "bold green", GateVerdict.WORSE: "bold red", GateVerdict.CANNOT_TELL: "bold yellow"}
MARK = {GateVerdict.NOT_WORSE: "✅", GateVerdict.WORSE: "❌", GateVerdict.CANNOT_TELL: "⚠️"}
_MARKDOWN = "\\`*_{}[]()#+-.!|~:"
# GitHub links @name and #12 in the rendered page, also when escaped, and notifies the people.
_APART = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b", "#": "\\#\u200b"}
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate(found: Gate) -> RenderableType:
    """The gate with its figures, cases and notes."""
    parts: list[RenderableType] = [Text(headline(found), style=STYLE[found.verdict]), plain(found.reason, 400)]
    parts += [Text(""), _figures(found)]
    for title, cases in picked(found).items():
        parts += [Text(""), _cases(found, title, cases)]
    for title, findings in changed(found).items():
        parts += [Text(""), Text(title), *(plain(f"  {line}", 300) for line in findings)]
    return Group(*parts, Text(""), notes_below(*notes(found)))


def headline(found: Gate) -> str:
    """One line: the verdict, the measure and the margin."""
    fake = " (fake)" if found.fake else ""
    named: list[GateCheck] = [check for check in found.checks if not check.guard] or [found]
    if found.verdict is not GateVerdict.NOT_WORSE:
        named = [check for check in found.checks if check.verdict is found.verdict][:1] or [found]
    margins = [(figures.label(one.measure), margin(one)) for one in named]
    by = "by more than " + " and ".join(f"{size} in {name}" for name, size in margins)
    what = {
        GateVerdict.NOT_WORSE: f"not worse than the baseline {by}",
        GateVerdict.WORSE: f"worse than the baseline in {margins[0][0]} (margin {margins[0][1]})",
        GateVerdict.CANNOT_TELL: f"cannot tell whether it is worse than the baseline {by}",
    }[found.verdict]
    return f"{found.verdict.upper()}{fake}: {what}"


def margin(found: GateCheck) -> str:
    """The margin of a check."""
    return figures.number(found.margin, found.unit, 3 if found.margin < 0.1 else 2)


def changed(found: Gate) -> dict[str, list[str]]:
    """The findings lost and gained: the first few with place and first words, the rest counted."""

    def lines(findings: Sequence[GateFinding]) -> list[str]:
        shown = [f"{one.case} {one.place}: {one.text}" for one in findings[:FINDINGS]]
        more = len(findings) - FINDINGS
        return [*shown, f"and {more} more; --json has all"] if more > 0 else shown

    both = {
        f"findings lost, which only the baseline hit: {len(found.lost)}": found.lost,
        f"findings gained, which only the candidate hit: {len(found.gained)}": found.gained,
    }
    return {title: lines(findings) for title, findings in both.items() if findings}


def others(found: Gate) -> list[tuple[str, str, str, str, str, str]]:
    """The checks after the first: name, candidate, baseline, difference, margin, verdict."""
    return [
        (
            figures.label(one.measure) + (" (guard)" if one.guard else ""),
            figures.number(one.candidate_value, one.unit),
            figures.number(one.baseline_value, one.unit),
            difference(one),
            margin(one),
            one.verdict,
        )
        for one in found.checks[1:]
    ]


ALSO = ("also checked", "candidate", "baseline", "difference", "margin", "verdict")


def difference(found: GateCheck) -> str:
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
        f"{figures.label(found.measure)}{unit}{less}; paired on {found.n} of {found.of} cases, {found.clusters} "
        f"clusters by {found.clustered_by}; attempts {found.attempts[0]} and {found.attempts[1]}",
        f"{figures.percent(found.level)} interval: expanded percentiles of {found.resamples:,} resamples, "
        f"seed {found.seed}",
        f"{found.label} on {found.dataset}, benchmark {figures.short_hash(found.benchmark)}",
    ]
    if found.needed is not None:
        by = "repositories" if found.clustered_by == "repository" else f"{found.clustered_by}s"
        lines.append(f"about {found.needed:,} {by} would be enough if the difference and its spread stay the same")
    if found.failed:
        worst = figures.number(found.low_if_worst, found.unit)
        lines.append(
            f"! the candidate failed or has no review on {found.failed} cases on which the baseline has one; if they "
            f"count as worst, the interval ends at {worst}"
        )
    if found.estimate_note:
        lines.append(f"! {found.estimate_note}")
    return [*lines, *(f"! {warning}" for warning in found.warnings)]


def picked(found: Gate) -> dict[str, list[GateCase]]:
    """The cases lost and won, the largest difference first, and those on which attempts contradict each other."""
    groups = {
        "lost": [case for case in found.cases if case.outcome == "lost"],
        "won": [case for case in reversed(found.cases) if case.outcome == "won"],
        "unstable across attempts": [case for case in found.cases if case.unstable],
    }
    return {title: cases for title, cases in groups.items() if cases}


def gain(case: GateCase, unit: str) -> str:
    """A case's gain, with one more digit than a measure."""
    return ("+" if case.gain is not None and case.gain > 0 else "") + figures.number(case.gain, unit, 3)


def _figures(found: Gate) -> RenderableType:
    table = bare_table()
    table.add_column("")
    table.add_column("system", overflow="fold")
    number_column(table, figures.label(found.measure))
    table.add_row("candidate", plain(found.candidate, 200), figures.number(found.candidate_value, found.unit))
    table.add_row("baseline", plain(found.baseline, 200), figures.number(found.baseline_value, found.unit))
    table.add_row("difference", "", difference(found))
    parts: list[RenderableType] = [table, plain(f"cases: {counts(found)}")]
    if rows := others(found):
        more = bare_table()
        more.add_column(ALSO[0], overflow="fold")
        for name in ALSO[1:]:
            number_column(more, name)
        for row in rows:
            more.add_row(*row)
        parts += [Text(""), more]
    return Group(*parts)


def _cases(found: Gate, title: str, cases: list[GateCase]) -> RenderableType:
    table = bare_table(f"{title}: {len(cases)}" + (f", the first {SHOWN}" if len(cases) > SHOWN else ""))
    table.add_column("case", overflow="fold")
    number_column(table, f"in {figures.label(found.measure)}")
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
    benchmark = figures.short_hash(found.benchmark)
    rest = f"by {figures.label(found.measure)} of {found.label} on {found.dataset}, benchmark {benchmark}"
    return Group(Text(title, style="bold"), table, notes_below(rest, *(f"! {warning}" for warning in found.warnings)))


# --- Markdown and JUnit XML -----------------------------------------------------------------------------------------


def plain_markdown(text: str) -> str:
    """Text from data escaped for Markdown: no links, mentions, issue references, HTML or table cells."""
    return "".join(_APART.get(c) or (f"\\{c}" if c in _MARKDOWN else c) for c in one_line(text, 300))


def markdown(found: Gate) -> str:
    """The gate as a comment on a pull request."""
    name = figures.label(found.measure)
    lines = [
        f"### {MARK[found.verdict]} {plain_markdown(headline(found))}",
        "",
        plain_markdown(found.reason[:1].upper() + found.reason[1:]) + ".",
        "",
        f"| | system | {name} |",
        "|---|---|---:|",
        f"| candidate | {plain_markdown(found.candidate)} | {figures.number(found.candidate_value, found.unit)} |",
        f"| baseline | {plain_markdown(found.baseline)} | {figures.number(found.baseline_value, found.unit)} |",
        f"| difference | | {difference(found)} |",
        "",
        f"Cases: {counts(found)}.",
        "",
    ]
    if rows := others(found):
        lines += [f"| {' | '.join(row)} |" for row in (ALSO, ["---"] + ["---:"] * 5, *rows)] + [""]
    for title, findings in changed(found).items():
        lines += [f"{title.capitalize()}", *(f"- {plain_markdown(line)}" for line in findings), ""]
    for title, cases in picked(found).items():
        lines += _details(found, title, cases)
    lines += [f"<sub>{plain_markdown(note.removeprefix('! '))}</sub><br>" for note in notes(found)]
    return "\n".join(lines).rstrip() + "\n"


def _details(found: Gate, title: str, cases: list[GateCase]) -> list[str]:
    rows = [f"| {plain_markdown(c.case)} | {gain(c, found.unit)} |" for c in cases[:LISTED]]
    more = [f"| and {len(cases) - LISTED} more | |"] if len(cases) > LISTED else []
    head = ["", f"| case | in {figures.label(found.measure)} |", "|---|---:|"]
    return [
        f"<details><summary>{title.capitalize()}: {len(cases)}</summary>",
        *head,
        *rows,
        *more,
        "",
        "</details>",
        "",
    ]


def junit(found: Gate) -> bytes:
    """JUnit XML: one test for the gate, and one for each case, which reports its outcome and never fails.

    "Cannot tell" is an error, so that nobody takes it for a pass.
    """
    suite = ET.Element("testsuite", name="reviewgauge gate", tests=str(1 + len(found.cases)))
    suite.set("failures", str(int(found.verdict is GateVerdict.WORSE)))
    suite.set("errors", str(int(found.verdict is GateVerdict.CANNOT_TELL)))
    main = ET.SubElement(suite, "testcase", classname="gate", name=_xml(f"{found.label} {found.measure}"))
    summary = f"{headline(found)}. {found.reason}. Difference {difference(found)}"
    if found.verdict is not GateVerdict.NOT_WORSE:
        kind = "failure" if found.verdict is GateVerdict.WORSE else "error"
        ET.SubElement(main, kind, message=_xml(summary), type=found.verdict.replace(" ", "_"))
    out = ET.SubElement(main, "system-out")
    out.text = _xml("\n".join([summary, f"cases: {counts(found)}", *notes(found)]))
    for case in found.cases:
        test = ET.SubElement(suite, "testcase", classname=f"case.{case.outcome}", name=_xml(case.case))
        text = ET.SubElement(test, "system-out")
        again = ", unstable across attempts" if case.unstable else ""
        text.text = _xml(f"{case.outcome}, {gain(case, found.unit)} in {found.measure}{again}")
    written: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _xml(text: str) -> str:
    """`text` with characters that XML 1.0 cannot represent replaced."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
