"""Drop pull requests that bots opened or only bots reviewed; remove bot comments from the rest.

Source: ContextCRBench's bot removal (arXiv:2511.07017, section 2.3.1). Who is a bot is the forge's word (the account's
type) or a known name; it stands on each account as its `standing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import Account, AccountType, PullRequest, Remark
from reviewgauge.core.trust import Word
from reviewgauge.stages.pull_requests.candidates import PullStage, is_bot, without_references


@dataclass(frozen=True)
class DropBots(PullStage):
    """Drop by author (`authors`) and by reviewers (`reviewers`).

    `also` names further bot accounts; with `ghosts`, deleted accounts count as bots.
    """

    needs_pulls: ClassVar[bool] = True

    authors: bool = True
    reviewers: bool = True
    also: tuple[Word, ...] = ()
    ghosts: bool = False

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        if self.authors and self._is_bot(pull.author):
            return "opened by a bot"
        if not self.reviewers:
            return item
        kept = [thread for thread in pull.threads if not self._is_bot(thread.opened_by)]
        if pull.threads and not kept:
            return "reviewed by bots only"
        update = {
            "threads": tuple(one.model_copy(update={"remarks": self._by_people(one.remarks)}) for one in kept),
            "conversation": self._by_people(pull.conversation),
            "reviews": self._by_people(pull.reviews),
        }
        gone = {thread.id for thread in pull.threads} - {thread.id for thread in kept}
        return without_references(item, gone).model_copy(update={"pull": pull.model_copy(update=update)})

    def _is_bot(self, account: Account) -> bool:
        if is_bot(account) or account.login.lower() in {name.lower() for name in self.also if name}:
            return True
        return self.ghosts and account.standing is AccountType.GHOST

    def _by_people(self, remarks: Iterable[Remark]) -> tuple[Remark, ...]:
        return tuple(remark for remark in remarks if not self._is_bot(remark.author))
