"""Drop review comments on lines that the final diff no longer has, and changes that are left without one.

Source: ContextCRBench's filter of outdated hunks (arXiv:2511.07017, section 2.3.2): a `position` that is null or
invalid says that the comment can no longer be mapped to the final diff.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewbench.core.building import Candidate
from reviewbench.core.history import Thread
from reviewbench.core.protocols import Stage
from reviewbench.stages._threads import NO_PULL, is_bot, thread_of, without_references


@dataclass(frozen=True)
class DropOutdated(Stage):
    """Take out the references whose thread is outdated. `whole_files`: what was said of a whole file never is.

    The pull request keeps its threads. A candidate that no person commented on passes.
    """

    whole_files: bool = True

    def narrow(self, item: Candidate) -> Candidate | str:
        """The candidate with what still stands in the final diff, or that nothing of it does."""
        if item.pull is None:
            return NO_PULL
        if any(thread_of(comment) is None for comment in item.case.references):
            return "a reference that was made from no thread"
        opened = [thread for thread in item.pull.threads if not is_bot(thread.opened_by)]
        outdated = {thread.id for thread in opened if not self._stands(thread)}
        kept = without_references(item, outdated)
        if (opened and len(outdated) == len(opened)) or (item.case.references and not kept.case.references):
            return "every comment is outdated"
        return kept

    def _stands(self, thread: Thread) -> bool:
        if thread.whole_file and self.whole_files:
            return thread.outdated is not True
        return thread.position is not None and thread.position >= 1
