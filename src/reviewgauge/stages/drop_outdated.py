"""Drop review comments on lines that the final diff no longer has, and changes that are left without one.

Source: ContextCRBench's filter of outdated hunks (arXiv:2511.07017, section 2.3.2): a `position` that is null or
invalid says that the comment can no longer be mapped to the final diff.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import Thread
from reviewgauge.stages.pull_requests.candidates import NO_PULL, is_bot, stands, thread_of, without_references


@dataclass(frozen=True)
class DropOutdated(Stage):
    """Remove the references of outdated threads. A comment on a whole file is outdated only where the forge says so.

    Where the forge gives no positions, its outdated flag counts; without either the thread is removed too. The pull
    request keeps its threads. A candidate without comments of people passes. With `task="assess"` all pass:
    `split_hunks` takes a hunk as it was when it was commented on, and has its own parameter `outdated`.
    """

    needs_pulls: ClassVar[bool] = True

    task: Literal["", "assess", "locate", "comment"] = ""

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        if self.task == "assess":
            return item
        if item.pull is None:
            return NO_PULL
        if any(thread_of(comment) is None for comment in item.case.references):
            return "a reference that was made from no thread"
        current = {one.id: _stands(one) for one in item.pull.threads if not is_bot(one.opened_by)}
        gone = {name for name, is_kept in current.items() if not is_kept}
        kept = without_references(item, gone)
        if (current and len(gone) == len(current)) or (item.case.references and not kept.case.references):
            unknown = any(current[name] is None for name in gone)
            return "not known whether its comments are outdated" if unknown else "every comment is outdated"
        return kept


def _stands(thread: Thread) -> bool | None:
    return thread.outdated is not True if thread.whole_file else stands(thread)
