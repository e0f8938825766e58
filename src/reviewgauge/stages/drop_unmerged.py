"""Drop pull requests that were not merged, and linked issues that are not closed.

Source: ContextCRBench's status check (arXiv:2511.07017, section 2.3.1): "only PRs that have been merged and issues
that are closed".
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Issue
from reviewgauge.stages.pull_requests.candidates import NO_PULL


@dataclass(frozen=True)
class DropUnmerged(Stage):
    """Keep merged pull requests; with `issues`, of their linked issues the closed ones, of which one must be left."""

    issues: bool = True

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        if item.pull is None:
            return NO_PULL
        if not item.pull.merged:
            return "still open" if item.pull.state == "open" else "closed without being merged"
        linked = item.case.change.issues
        if not self.issues or not linked:
            return item
        closed = tuple(issue for issue in linked if self._closed(item, issue))
        if not closed:
            return "no linked issue is closed"
        return item if closed == linked else item.with_change(issues=closed)

    def _closed(self, item: Candidate, issue: Issue) -> bool:
        histories = item.pull.issues if item.pull is not None else ()
        return any(history.issue == issue and history.state == "closed" for history in histories)
