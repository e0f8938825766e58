"""What people said to each other, for a prompt: who spoke is told by role, never by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reviewgauge.core.history import Account, PullRequest, Remark, Thread
from reviewgauge.models.request.prompts import fence
from reviewgauge.stages.pull_requests.threads import is_bot


class Turn(NamedTuple):
    """One message: the role of who spoke, and what was said."""

    role: str
    body: str


class Roles:
    """The roles of one pull request's accounts: author, bot, or reviewer with a number where there are several."""

    def __init__(self, pull: PullRequest) -> None:
        self._author = pull.author.login
        self._reviewers: dict[str, int] = {}
        spoken = [remark for thread in pull.threads for remark in thread.remarks]
        for remark in (*spoken, *pull.reviews, *pull.conversation):
            if self._is_reviewer(remark.author):
                self._reviewers.setdefault(remark.author.login, len(self._reviewers) + 1)

    def _is_reviewer(self, account: Account) -> bool:
        return not is_bot(account) and (not account.login or account.login != self._author)

    def of(self, account: Account) -> str:
        """The role of an account. A vanished account is a reviewer."""
        if is_bot(account):
            return "bot"
        if not self._is_reviewer(account):
            return "author"
        return "reviewer" if len(self._reviewers) < 2 else f"reviewer {self._reviewers.get(account.login, 0)}"


def turns_of(thread: Thread, roles: Roles) -> list[Turn]:
    """The messages of a thread that say something, in their order."""
    return turns(thread.remarks, roles)


def turns(remarks: Iterable[Remark], roles: Roles) -> list[Turn]:
    """The messages that say something, in their order."""
    return [Turn(roles.of(remark.author), remark.body.strip()) for remark in remarks if remark.body.strip()]


def plain_conversation(said: Iterable[Turn]) -> str:
    """`role: words`, with an empty line between two messages."""
    return "\n\n".join(f"{turn.role}: {turn.body}" for turn in said)


def fenced_conversation(said: Iterable[Turn]) -> str:
    """The same with each message fenced on its own, so that none can speak in another's name."""
    return "\n\n".join(f"{turn.role}:\n{fence(turn.body)}" for turn in said)
