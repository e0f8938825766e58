"""What a gate decided, scores on two versions of a benchmark, and whether benchmarks rank systems alike."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text as RichText

from reviewgauge.core.document import Column, Document, Table, Text, Value, columns_of
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.gate import (
    ChangedComments,
    Gate,
    GateCase,
    GateCheck,
    GateComment,
    GateFinding,
    GateVerdict,
)
from reviewgauge.core.reports.leaderboard import RankAgreement, Rankings, SystemVersions, VersionTable
from reviewgauge.views import figures
from reviewgauge.views.terminal.documents import document_view
from reviewgauge.views.values import first_text, note, or_dash, shown

SHOWN = 15  # cases of one kind
FINDINGS = 5
WORDS = 80  # characters of a finding or comment that a terminal shows
STYLE = {GateVerdict.NOT_WORSE: "bold green", GateVerdict.WORSE: "bold red", GateVerdict.CANNOT_TELL: "bold yellow"}
MARK = {GateVerdict.NOT_WORSE: "✅", GateVerdict.WORSE: "❌", GateVerdict.CANNOT_TELL: "⚠️"}
_MARKDOWN = "\\`*_{}[]()#+-.!|~:"
# GitHub links @name and #12 in the rendered page, also when escaped, and notifies the people.
_APART = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b", "#": "\\#\u200b"}
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate(found: Gate) -> RenderableType:
    """The gate with its figures, cases and notes."""
    checks, *others = gate_tables(found, WORDS)
    blocks = (Text(text=found.reason), checks, Text(text=f"cases: {counts(found)}"), *others, *map(note, notes(found)))
    return Group(RichText(headline(found), style=STYLE[found.verdict]), document_view(Document(blocks=blocks)))


def gate_tables(found: Gate, words: int = 1000) -> list[Table]:
    """Every check with figures, margin and verdict; findings, then other comments, lost and gained; the cases.

    Texts are cut to so many characters.
    """
    checks = Table(
        name="checks",
        title=f"candidate: {found.candidate}; baseline: {found.baseline}",
        columns=(
            *columns_of("name", "measure"),
            *columns_of("figure", "candidate", "baseline"),
            Column(key="difference", kind="difference", priority=0),
            Column(key="margin", kind="figure", digits=3),
            Column(key="verdict", kind="text", priority=0),
        ),
        rows=tuple(_check(one, found.fake) for one in (found, *found.checks[1:])),
    )
    cases = [_cases(found, title, cases) for title, cases in picked(found).items()]
    return [checks, *changed_tables(found, words), *cases]


def changed_tables(found: Gate | ChangedComments, words: int = WORDS) -> list[Table]:
    """What the candidate lost and gained beside the baseline; what is empty is left out."""
    changes = [
        _findings("findings lost", "which only the baseline hit", found.lost, words),
        _findings("findings gained", "which only the candidate hit", found.gained, words),
        _comments("comments lost", "about no known finding", found.comments_lost, words),
        _comments("comments gained", "about no known finding", found.comments_gained, words),
    ]
    return [table for table in changes if table.rows]


def _check(one: GateCheck, fake: bool) -> tuple[Value, ...]:
    guard = " (guard)" if one.guard else ""
    return (
        Value(text=figures.label(one.measure) + guard, fake=fake),
        or_dash(one.candidate_value, one.unit),
        or_dash(one.baseline_value, one.unit),
        or_dash(one.difference, one.unit, low=one.low, high=one.high),
        Value(value=one.margin, unit=one.unit),
        Value(text=one.verdict),
    )


def _cases(found: Gate, title: str, cases: Sequence[GateCase]) -> Table:
    unstable = any(one.unstable for one in cases)
    return Table(
        name=title,
        title=f"{title}: {len(cases)}",
        columns=(
            Column(key="case", kind="name", priority=0),
            Column(key="gain", title=f"in {figures.label(found.measure)}", kind="difference", digits=3),
            *(columns_of("text", "attempts") if unstable else []),
        ),
        rows=tuple(
            (
                Value(text=one.case),
                or_dash(one.gain, found.unit),
                *([Value(text="unstable" if one.unstable else "")] if unstable else []),
            )
            for one in cases
        ),
        shown=SHOWN,
    )


def _findings(name: str, what: str, findings: Sequence[GateFinding], words: int) -> Table:
    return Table(
        name=name,
        title=f"{name}, {what}: {len(findings)}",
        columns=(
            *columns_of("name", "case"),
            *columns_of("text", "place", "finding"),
            Column(key="comment", kind="text", priority=2),
        ),
        rows=tuple(_texts(words, one.case, one.place, one.text, one.comment) for one in findings),
        shown=FINDINGS,
    )


def _comments(name: str, what: str, comments: Sequence[GateComment], words: int) -> Table:
    return Table(
        name=name,
        title=f"{name}, {what}: {len(comments)}",
        columns=(*columns_of("name", "case"), *columns_of("text", "place", "counts as", "comment")),
        rows=tuple(_texts(words, one.case, one.place, one.state, one.text) for one in comments),
        shown=FINDINGS,
    )


def _texts(words: int, *texts: str) -> tuple[Value, ...]:
    return tuple(Value(text=one_line(text, words)) for text in texts)


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
            f"! the candidate has no scored attempt on {found.failed} cases on which the baseline has one; if failed "
            f"attempts and these count as worst, the interval ends at {worst}"
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


# --- Markdown and JUnit XML -----------------------------------------------------------------------------------------


def plain_markdown(text: str) -> str:
    """Text from data escaped for Markdown: no links, mentions, issue references, HTML or table cells."""
    return "".join(_APART.get(c) or (f"\\{c}" if c in _MARKDOWN else c) for c in one_line(text, 300))


def markdown(found: Gate) -> str:
    """The gate as a comment on a pull request."""
    checks, *groups = gate_tables(found)
    lines = [
        f"### {MARK[found.verdict]} {plain_markdown(headline(found))}",
        "",
        plain_markdown(found.reason[:1].upper() + found.reason[1:]) + ".",
        "",
        plain_markdown(checks.title),
        "",
        *_table(checks),
        "",
        f"Cases: {counts(found)}.",
        "",
    ]
    for table in groups:
        more = len(table.rows) - SHOWN
        lines += [f"<details><summary>{table.title.capitalize()}</summary>", "", *_table(table)]
        lines += [*(["", f"and {more} more"] if more > 0 else []), "", "</details>", ""]
    lines += [f"<sub>{plain_markdown(line.removeprefix('! '))}</sub><br>" for line in notes(found)]
    return "\n".join(lines).rstrip() + "\n"


def _table(table: Table) -> list[str]:
    """Names and texts are escaped, figures stay as they are."""
    lines = [[plain_markdown(title) for title in table.titles]]
    lines.append(["---" if column.kind in ("name", "text") else "---:" for column in table.columns])
    for row in table.rows[:SHOWN]:
        cells = zip(row[1:], table.columns[1:], strict=True)
        figures_of = (plain_markdown(one.text) if one.value is None else shown(one, column) for one, column in cells)
        lines.append([plain_markdown(first_text(row)), *figures_of])
    return [f"| {' | '.join(line)} |" for line in lines]


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


def versions_document(table: VersionTable) -> Document:
    """A row for each system and measure, and what each found of the new findings."""
    old, new = figures.short_hash(table.old_benchmark), figures.short_hash(table.new_benchmark)
    gained = f"! {table.newly_measured:,} changes can be measured only now, and are in no figure here"
    lines = [
        f"old: {table.label or table.metric} on {table.old_dataset}, benchmark {old}; new: {table.new_dataset}, {new}",
        "diff: new - old on the n changes measured in both; new found: of the findings that only the new version has; "
        "own: those that a comment of its own became",
        f"95% intervals from {table.resamples:,} resamples clustered by {table.clustered_by}, seed {table.seed}",
        f"! {table.estimate_note}" if table.estimate_note else "",
        gained if table.newly_measured else "",
        *(f"! {warning}" for warning in table.warnings),
    ]
    return Document(blocks=(_pair_table(table), *(note(line) for line in lines if line)))


def _pair_table(table: VersionTable) -> Table:
    return Table(
        name="versions",
        title="",
        columns=(
            *columns_of("name", "system", "measure"),
            *(Column(key=key, kind="figure", priority=0) for key in ("old", "new")),
            Column(key="diff", kind="difference", priority=0),
            Column(key="n", kind="figure", priority=2),
            Column(key="new found", kind="of"),
            Column(key="own", kind="figure"),
        ),
        rows=tuple(row for system in table.systems for row in _rows(system, table.new_findings)),
        shown=1_000_000,
    )


def _rows(system: SystemVersions, new_findings: int) -> Iterator[tuple[Value, ...]]:
    """The name and what was found stand in the first row of a system."""
    for at, one in enumerate(system.comparisons):
        found = Value(value=system.found, n=new_findings, unit="count"), Value(value=system.own, unit="count")
        yield (
            Value() if at else Value(text=system.system, fake=system.fake),
            Value(text=figures.label(one.measure)),
            or_dash(one.second_value, one.unit),
            or_dash(one.first_value, one.unit),
            or_dash(one.difference, one.unit, low=one.low, high=one.high, n=one.n),
            Value(value=one.n, unit="count"),
            *((Value(), Value()) if at else found),
        )


def rankings_document(found: Rankings) -> Document:
    """The systems on each benchmark, and a sentence on each two benchmarks."""
    columns = [*columns_of("name", "system")]
    columns += [
        Column(key=f"{board.dataset}: {board.measure}", short=figures.label(board.measure)) for board in found.boards
    ]
    rows = tuple(
        (Value(text=system), *(board.estimates[at] for board in found.boards))
        for at, system in enumerate(found.systems)
    )
    lines = [Text(text=_told(found, one), kind="strong") for one in found.agreements]
    notes = [note(f"{one.dataset}: {one.label}, benchmark {figures.short_hash(one.benchmark)}") for one in found.boards]
    return Document(blocks=(Table(name="rankings", title="", columns=tuple(columns), rows=rows), *lines, *notes))


def _told(found: Rankings, one: RankAgreement) -> str:
    names = " and ".join(found.boards[at].dataset for at in (one.first, one.second))
    tau = "" if one.tau is None else f" (Kendall's tau {one.tau:.2f})"
    apart = f", {one.surely} of them with intervals apart on both" if one.opposite else ""
    alike = f"{one.alike} of {one.pairs} pairs of systems in the same order{tau}"
    return f"{names}: {alike}, {one.opposite} in the opposite one{apart}"
