"""Issues that static analysers find on the changed lines, as claims: a tool's message with its place.

Source: CRScore (arXiv:2409.19801), 3.2, which takes PyScent's smells, PMD and JSHint; here every tool of
`repo/analysers` that is installed. Rules about security and performance are sources of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reviewgauge.core.records import Change, Claim, Severity
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, Finding, analyse, installed
from reviewgauge.repo.git.repository import Repository

MOST = 40  # issues of a change
SECURITY, PERFORMANCE = "security", "performance"
_SECURITY_RULE = re.compile(r"ruff:S\d")
_ORDER = {grade: number for number, grade in enumerate(Severity)}


def finding_claims(change: Change) -> tuple[Claim, ...]:
    """The findings on changed lines of the head version, the most severe first; none where no code is at hand.

    The sources are the tools that agree, and "security" or "performance" for such a rule, joined with "+". Raises
    AnalyserTimeout and AnalyserCrash.
    """
    if change.git is None or change.head is None or not change.has_diff:
        return ()
    settings = AnalyserSettings(tools=tuple(tool for tool in TOOLS if tool in installed()))
    found = analyse(Repository(Path(change.git)), change, settings).findings
    chosen = sorted(found, key=lambda one: _ORDER[one.severity])[:MOST]
    several = len(change.files) > 1
    return tuple(
        Claim(
            id=str(number),
            body=_sentence(one, several),
            kind="issue",
            source="+".join(dict.fromkeys(_sources(one))),
            line=one.start,
        )
        for number, one in enumerate(chosen, 1)
    )


def _sources(finding: Finding) -> Iterator[str]:
    yield finding.tool
    rules = [f"{finding.tool}:{finding.rule}", *finding.agree]
    yield from (rule.partition(":")[0] for rule in rules)
    if any(_SECURITY_RULE.match(rule) for rule in rules) or SECURITY in finding.category.lower():
        yield SECURITY
    if any(rule.startswith("ruff:PERF") for rule in rules) or PERFORMANCE in finding.category.lower():
        yield PERFORMANCE


def _sentence(finding: Finding, several: bool) -> str:
    message = " ".join(finding.message.replace("\x00", "").split()).rstrip(".")
    place = f"{finding.path}, line {finding.start}" if several else f"Line {finding.start}"
    if finding.rule == "cyclomatic" and finding.function:
        message = f"`{finding.function}` is hard to follow: {message}"
    elif finding.function and finding.tool != "smells":
        message += f" (in `{finding.function}`)"
    return f"{place}: {message}."
