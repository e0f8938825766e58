"""Drop pull requests whose commits were rewritten while they were open: rebased, amended or otherwise force-pushed.

Source: SWR-Bench (arXiv:2509.01494, step 1) removes pull requests "with rebase operations in their commit history",
since their states cannot be built again. The forge tells of forced pushes, not of what was done before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import PullRequest
from reviewgauge.stages.pull_requests.candidates import PullStage

FORCED = frozenset({"head_ref_force_pushed", "HeadRefForcePushedEvent"})  # as REST and GraphQL call it


@dataclass(frozen=True)
class DropRebased(PullStage):
    """Keep pull requests without a forced push; at most `pushes` of them."""

    needs_pulls: ClassVar[bool] = True

    pushes: int = 0

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        if not pull.events and not pull.revisions:
            return "neither events nor revisions are known"
        events = sum(event.kind in FORCED for event in pull.events)
        forced = max(events, sum(revision.forced for revision in pull.revisions))
        return item if forced <= self.pushes else "rebased or force-pushed"
