"""A gate for machines and pull requests: Markdown and JUnit XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.gate import Gate, GateCase, GateVerdict
from reviewgauge.views.terminal import figures, gate_tables

SHOWN = 15  # cases of one kind
MARK = {GateVerdict.NOT_WORSE: "✅", GateVerdict.WORSE: "❌", GateVerdict.CANNOT_TELL: "⚠️"}
_MARKDOWN = "\\`*_{}[]()#+-.!|~:"
# GitHub links @name and #12 in the rendered page, also when escaped, and notifies the people.
_APART = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b", "#": "\\#\u200b"}


def plain_markdown(text: str) -> str:
    """Text from data escaped for Markdown: no links, mentions, issue references, HTML or table cells."""
    return "".join(_APART.get(c) or (f"\\{c}" if c in _MARKDOWN else c) for c in one_line(text, 300))


def markdown(found: Gate) -> str:
    """The gate as a comment on a pull request."""
    name = figures.label(found.reading)
    lines = [
        f"### {MARK[found.verdict]} {plain_markdown(gate_tables.headline(found))}",
        "",
        plain_markdown(found.reason[:1].upper() + found.reason[1:]) + ".",
        "",
        f"| | system | {name} |",
        "|---|---|---:|",
        f"| candidate | {plain_markdown(found.candidate)} | {figures.number(found.candidate_value, found.unit)} |",
        f"| baseline | {plain_markdown(found.baseline)} | {figures.number(found.baseline_value, found.unit)} |",
        f"| difference | | {gate_tables.difference(found)} |",
        "",
        f"Cases: {gate_tables.counts(found)}.",
        "",
    ]
    groups = (("Lost", gate_tables.lost), ("Won", gate_tables.won), ("Unstable across attempts", gate_tables.unstable))
    for title, pick in groups:
        if cases := pick(found):
            lines += _details(found, title, cases)
    lines += [f"<sub>{plain_markdown(note.removeprefix('! '))}</sub><br>" for note in gate_tables.notes(found)]
    return "\n".join(lines).rstrip() + "\n"


def _details(found: Gate, title: str, cases: list[GateCase]) -> list[str]:
    rows = [f"| {plain_markdown(c.case)} | {gate_tables.gain(c, found.unit)} |" for c in cases[:SHOWN]]
    more = [f"| and {len(cases) - SHOWN} more | |"] if len(cases) > SHOWN else []
    head = ["", f"| case | in {figures.label(found.reading)} |", "|---|---:|"]
    return [f"<details><summary>{title}: {len(cases)}</summary>", *head, *rows, *more, "", "</details>", ""]


def junit(found: Gate) -> bytes:
    """JUnit XML: one test for the gate, and one for each case, which reports its outcome and never fails.

    "Cannot tell" is an error, so that nobody takes it for a pass.
    """
    suite = ET.Element("testsuite", name="reviewgauge gate", tests=str(1 + len(found.cases)))
    suite.set("failures", str(int(found.verdict is GateVerdict.WORSE)))
    suite.set("errors", str(int(found.verdict is GateVerdict.CANNOT_TELL)))
    main = ET.SubElement(suite, "testcase", classname="gate", name=_xml(f"{found.label} {found.reading}"))
    summary = f"{gate_tables.headline(found)}. {found.reason}. Difference {gate_tables.difference(found)}"
    if found.verdict is not GateVerdict.NOT_WORSE:
        kind = "failure" if found.verdict is GateVerdict.WORSE else "error"
        ET.SubElement(main, kind, message=_xml(summary), type=found.verdict.replace(" ", "_"))
    out = ET.SubElement(main, "system-out")
    out.text = _xml("\n".join([summary, f"cases: {gate_tables.counts(found)}", *gate_tables.notes(found)]))
    for case in found.cases:
        test = ET.SubElement(suite, "testcase", classname=f"case.{case.outcome}", name=_xml(case.case))
        text = ET.SubElement(test, "system-out")
        again = ", unstable across attempts" if case.unstable else ""
        text.text = _xml(f"{case.outcome}, {gate_tables.gain(case, found.unit)} in {found.reading}{again}")
    written: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _xml(text: str) -> str:
    """`text` with characters that XML 1.0 cannot represent replaced."""
    return "".join(
        c
        if c in "\t\n" or 0x20 <= ord(c) < 0xD800 or 0xE000 <= ord(c) < 0xFFFE or ord(c) > 0xFFFF
        else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )
