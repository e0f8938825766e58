"""Drop pull requests that bots opened or only bots reviewed; remove bot comments from the rest.

Source: ContextCRBench's bot removal (arXiv:2511.07017, section 2.3.1). Who is a bot is the forge's word (the account's
type) or a known name; it stands on each account as its `standing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import Account, AccountType, PullRequest, Remark, Thread
from reviewgauge.core.protocols import Stage
from reviewgauge.core.trust import Word
from reviewgauge.stages.pull_requests.candidates import NO_PULL, is_bot, keep_threads


@dataclass(frozen=True)
class DropBots(Stage):
    """Drop by author (`authors`) and by reviewers (`reviewers`).

    `also` names further bot accounts; with `ghosts`, deleted accounts count as bots.
    """

    authors: bool = True
    reviewers: bool = True
    also: tuple[Word, ...] = ()
    ghosts: bool = False

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        if item.pull is None:
            return NO_PULL
        if self.authors and self._is_bot(item.pull.author):
            return "opened by a bot"
        if not self.reviewers:
            return item
        had = bool(item.pull.threads)
        kept = keep_threads(item, lambda thread: not self._is_bot(thread.opened_by))
        assert kept.pull is not None
        if had and not kept.pull.threads:
            return "reviewed by bots only"
        return kept.model_copy(update={"pull": self._people_only(kept.pull)})

    def _is_bot(self, account: Account) -> bool:
        if is_bot(account) or account.login.lower() in {name.lower() for name in self.also if name}:
            return True
        return self.ghosts and account.standing is AccountType.GHOST

    def _people_only(self, pull: PullRequest) -> PullRequest:
        threads = tuple(self._answers_of_people(thread) for thread in pull.threads)
        conversation, reviews = self._said_by_people(pull.conversation), self._said_by_people(pull.reviews)
        if (threads, conversation, reviews) == (pull.threads, pull.conversation, pull.reviews):
            return pull
        return pull.model_copy(update={"threads": threads, "conversation": conversation, "reviews": reviews})

    def _answers_of_people(self, thread: Thread) -> Thread:
        remarks = self._said_by_people(thread.remarks)
        return thread if len(remarks) == len(thread.remarks) else thread.model_copy(update={"remarks": remarks})

    def _said_by_people(self, remarks: Iterable[Remark]) -> tuple[Remark, ...]:
        return tuple(remark for remark in remarks if not self._is_bot(remark.author))
