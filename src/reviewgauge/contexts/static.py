"""The report of static analysers on the changed lines: ruff, lizard, smells ...

Source: Hybrid-Review of SWR-Bench (arXiv:2509.01494) after Jaoua and others, arXiv:2502.06633: a static analysis report
as further context of a model. The tools are those of the reviewer `analyser`, with their sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.contexts.code.places import lines_on
from reviewgauge.contexts.code.readers import Code, code_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import AboveZero, Positive
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change, Severity, Side
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, Finding, analyse, check_tools, gaps, versions
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.processes import RecentlyUsed

_ORDER = {grade: number for number, grade in enumerate(Severity)}


@dataclass(frozen=True)
class Static(Context):
    """One excerpt with a line a finding, the most severe first. Empty `tools`: all that are installed.

    The parameters are those of the reviewer `analyser`, whose limits of smells are taken at their defaults.
    """

    needs_code: ClassVar[bool] = True

    tools: tuple[Word, ...] = ()
    complexity: Positive = 10
    seconds: AboveZero = 60.0

    def pins(self) -> Mapping[str, str]:
        """The version of every tool that is installed here."""
        return versions(self.tools or tuple(TOOLS))

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """The tools that are not installed and the files that no tool reads. Raises UserError."""
        check_tools(self.tools)
        return gaps(changes, self.tools or tuple(TOOLS))

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The findings on lines of `piece`; no excerpt where there is none."""
        code = code_of(change, "static")
        findings = _REPORTS.of((self, code), lambda: self._report(change))
        shown = lines_on(piece, Side.NEW)
        here = [one for one in findings if any(one.start <= line <= one.end for line in shown.get(one.path, ()))]
        if here:
            here.sort(key=lambda one: _ORDER[one.severity])
            yield Excerpt(name="the report of static analysers", text="\n".join(map(_line, here)))

    def _report(self, change: Change) -> Sequence[Finding]:
        if change.git is None:
            raise UserError("static needs a repository")
        settings = AnalyserSettings(
            tools=self.tools or tuple(TOOLS),
            complexity=self.complexity,
            seconds=self.seconds,
        )
        return analyse(Repository(Path(change.git)), change, settings).findings


_REPORTS: RecentlyUsed[tuple[Static, Code], Sequence[Finding]] = RecentlyUsed(64, at_once=4)  # of a change


def _line(finding: Finding) -> str:
    about = f" (in {finding.function})" if finding.function else ""
    tools = ", ".join([f"{finding.tool} {finding.rule}", *finding.agree])
    return f"{finding.path}:{finding.start}: {finding.severity.value}: {finding.message}{about} [{tools}]"
