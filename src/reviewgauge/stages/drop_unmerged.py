"""Drop pull requests that were not merged, and linked issues that are not closed.

Source: ContextCRBench's status check (arXiv:2511.07017, section 2.3.1): "only PRs that have been merged and issues
that are closed".
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.stages.pull_requests.candidates import PullStage


@dataclass(frozen=True)
class DropUnmerged(PullStage):
    """Keep merged pull requests; of their linked issues the closed ones, of which one must be left."""

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        if not pull.merged:
            return "still open" if pull.state == "open" else "closed without being merged"
        linked = item.case.change.issues
        if not linked:
            return item
        histories = [history.issue for history in pull.issues if history.state == "closed"]
        closed = tuple(issue for issue in linked if issue in histories)
        if not closed:
            return "no linked issue is closed"
        return item if closed == linked else item.with_change(issues=closed)
