"""Tells people from bots, apps and deleted accounts, and review comments from the noise of bots.

Source: GitHub's account types, the suffix `[bot]` of apps in its REST API (GraphQL leaves it out: it is added again),
and the names of well-known bots that run as ordinary accounts.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from reviewgauge.core.json_reader import text
from reviewgauge.core.pull_requests import Account, AccountType
from reviewgauge.repo.diff.edits import OFFSETS
from reviewgauge.repo.tables import pattern, read_table

GHOST = "ghost"
_SUFFIX = "[bot]"
_BOT_NAME = re.compile(r"(?:.*[-_])?(?:bot|robot)|(?:bot|robot)[-_].*", re.IGNORECASE)
_TABLE = read_table(__package__, "accounts")
_KNOWN = frozenset(_TABLE["known"])
_ALSO = {"copilot": "copilot-pull-request-reviewer"}  # one reviewer under two names


def account(user: JsonValue, association: str = "") -> Account:
    """The account of a REST `user` or a GraphQL `actor`; a ghost for null, which stands for a deleted one."""
    login = text(user, "login").strip()
    if not login or login.lower() == GHOST:
        return Account(standing=AccountType.GHOST, association=association)
    kind = text(user, "type") or text(user, "__typename")
    if kind == "Bot" and not login.endswith(_SUFFIX) and text(user, "__typename"):
        login += _SUFFIX
    standing = AccountType.BOT if kind == "Bot" or is_bot_name(login) else AccountType.PERSON
    return Account(login=login, standing=standing, association=association)


def is_bot_name(login: str) -> bool:
    """Whether the name alone identifies a bot: `...[bot]`, `...-bot`, or a known one."""
    name = login.lower()
    return name.endswith(_SUFFIX) or name in _KNOWN or _BOT_NAME.fullmatch(name) is not None


def same_login(one: str, other: str) -> bool:
    """Whether two names belong to one account, ignoring case and `[bot]`."""
    return bool(one) and _bare(one) == _bare(other)


def _bare(login: str) -> str:
    name = login.strip().lstrip("@").lower().removesuffix(_SUFFIX)
    return _ALSO.get(name, name)


_TRIGGER = pattern(_TABLE["trigger"])
_NOTHING = pattern(_TABLE["nothing"])
_STATUS = pattern(_TABLE["status"])
_SERVICE = pattern(_TABLE["service"])


def is_trigger(body: str) -> bool:
    """Whether `body` only triggers an app: `@bot review`, `/review`."""
    return len(body) <= 120 and _TRIGGER.fullmatch(body) is not None


def bot_noise(body: str, placed: bool) -> str | None:
    """Why `body` is not a review comment, None where it is one. `placed`: it is on lines of a file.

    Summaries and status posts are recognised by their opening, unless they are on a line: such a comment may well
    begin with "Summary". What its bot marks as no code review is none, wherever it stands.
    """
    if not body.strip():
        return "empty"
    if is_trigger(body):
        return "command trigger"
    if len(body) <= 120 and _NOTHING.fullmatch(body):
        return "says that there is nothing to say"
    if (service := _SERVICE.search(body)) is not None:
        return f"marked by its bot: {service[1]}"
    if not placed and _STATUS.search(body[:600]):
        return "bot summary or status post"
    return None


def split_suggestion(body: str) -> tuple[str, str | None, dict[str, str]]:
    """(text, suggested code, GitLab's `OFFSETS`) of a comment that ends in a suggestion block; others are text."""
    head, _, mark = body.rstrip().rpartition("\n")
    if len(mark) < 3 or mark.strip("`"):
        return body, None, {}
    found = re.search(rf"^{mark}suggestion:?([-+\d]*+)[^\n`]*\n", f"{head}\n", re.MULTILINE)
    if found is None:
        return body, None, {}
    return body[: found.start()].rstrip() or body, head[found.end() :], {OFFSETS: found[1]} if found[1] else {}
