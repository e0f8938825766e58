"""Static analysers on the changed lines, with no model: ruff, lizard, smells ...

The offline baseline that needs no model. What each tool reads, and how it is kept from the repository's own
settings, is in `repo/analysers/run.py`, with the tools' sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Anchoring, Change, Comment, Review, Side, Span
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.analysers.findings import SmellLimits
from reviewgauge.repo.analysers.programs import SHIPPED
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, Finding, analyse, check_tools, gaps, versions
from reviewgauge.repo.diff.edits import EDITS
from reviewgauge.repo.git.repository import Repository
from reviewgauge.reviewers.reading.change_text import with_patches


@dataclass(frozen=True)
class Analyser(Reviewer, AnalyserSettings):
    """Runs `tools` on the files that a change touches, in their head version.

    The default is what comes with ReviewGauge, so figures are the same on every machine; `tools=()` runs all that are
    installed. `complexity` to `comprehension_length` are the highest figures that are not reported (SmellLimits says
    what each counts and where its default comes from), but for `cohesion`, the lowest percentage of a class. Comments
    such as `noqa` and `eslint-disable` are not obeyed. A tool that takes longer than `seconds` fails that change.
    """

    needs_diff: ClassVar[bool] = True

    tools: tuple[Word, ...] = SHIPPED

    @property
    def _chosen(self) -> tuple[str, ...]:
        return self.tools or tuple(TOOLS)

    def pins(self) -> Mapping[str, str]:
        """The version of every tool that is installed here."""
        return versions(self._chosen)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Name the tools that are not installed and the files that no tool reads. Raises UserError, NeedsCode."""
        check_tools(self.tools)
        for name in ("seconds", *(limit.name for limit in fields(SmellLimits))):
            if getattr(self, name) <= 0:
                raise UserError(f"{name} of analyser must be above 0, got {getattr(self, name)}")
        if changes and not any(change.git is not None and change.head is not None for change in changes):
            raise NeedsCode("analyser")
        return gaps(changes, self._chosen)

    def review(self, change: Change) -> Review:
        """One comment per complaint about a changed line; files that did not parse are in the review's trace."""
        if change.git is None or change.head is None:
            raise NeedsCode("analyser")
        change = with_patches(change, "analyser")
        found = analyse(Repository(Path(change.git or "")), change, replace(self, tools=self._chosen))
        comments = {comment.id: comment for comment in map(_comment, found.findings)}
        trace = "\n".join(f"{drop.item}: {drop.reason} ({drop.by})" for drop in found.unread)
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=tuple(comments.values()),
            trace=trace or None,
        )


def _comment(finding: Finding) -> Comment:
    extra: dict[str, object] = {"tool": finding.tool, "rule": finding.rule}
    if finding.agree:
        extra["agree"] = list(finding.agree)
    if finding.edits:
        extra[EDITS] = [edit.model_dump(exclude_none=True) for edit in finding.edits]
    return Comment.model_validate(
        {
            "id": content_id(finding.tool, finding.rule, finding.path, finding.start, finding.end, finding.message),
            "body": _sentence(finding),
            "span": Span(path=finding.path, start=finding.start, end=finding.end, side=Side.NEW),
            "quote": finding.quote or None,
            "anchoring": Anchoring.AS_GIVEN,
            "category": finding.category,
            "severity": finding.severity,
            "author": finding.tool,
            "extra": extra,
        }
    )


def _sentence(finding: Finding) -> str:
    """The text of the comment: the rule's message and the function that it is about."""
    message = finding.message.rstrip(".").replace("\x00", "")
    if finding.rule == "cyclomatic":
        nameless = finding.function.startswith(("anonymous", "(anonymous"))  # lizard's word for closures
        name = "This function" if nameless else f"`{finding.function}`"
        return f"{name} is hard to follow: {message}. Consider splitting it."
    if finding.tool == "smells":  # it names what it is about
        return f"{message}."
    return f"{message} (in `{finding.function}`)." if finding.function else f"{message}."
