"""Take the state of each pull request that people commented on most, instead of its final one.

Source: AACR-Bench's revision selection (arXiv:2601.19494, B.1): "the revision containing the highest number of
review comments, along with all corresponding review data". Which of two with as many is not said: the earlier one here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.stages.pull_requests.candidates import PullStage, candidate_at, inline_comments, is_review


@dataclass(frozen=True)
class SelectRevision(PullStage):
    """Base, head, files and references are those of the chosen revision; title, description and issues stay.

    Answers count too, as a forge lists inline comments.
    Discussions that make no reference are not counted: what bots or the author began, approvals. The fact `revision`
    says which was chosen, from 1.
    """

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        counted: Counter[str] = Counter()
        for thread in pull.threads:
            if thread.commit is not None and is_review(pull, thread):
                counted[thread.commit] += inline_comments([thread])
        counts = [counted[revision.head] for revision in pull.revisions]
        if not any(counts):
            return "no inline comment on any revision"
        number = counts.index(max(counts))
        chosen = candidate_at(item, pull.revisions[number])
        return chosen if isinstance(chosen, str) else chosen.with_facts({"revision": number + 1})
