"""Tells people from bots, apps and deleted accounts.

Source: GitHub's account types, the suffix `[bot]` of apps in its REST API (GraphQL leaves it out: it is added again),
and the names of well-known bots that run as ordinary accounts.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from reviewgauge.core.history import Account, AccountType
from reviewgauge.core.json_reader import text

GHOST = "ghost"
_SUFFIX = "[bot]"
_BOT_NAME = re.compile(r"(?:.*[-_])?(?:bot|robot)|(?:bot|robot)[-_].*", re.IGNORECASE)
_KNOWN_NAMES = """
allcontributors azure-pipelines bors changeset-bot claassistant codacy-production codecov codecov-commenter
codecov-io codeclimate coderabbitai codiumai-pr-agent codiumai-pr-agent-pro copilot copilot-pull-request-reviewer
copilot-swe-agent coveralls copybara-service deepsource-autofix dependabot dependabot-preview ellipsis-dev
facebook-github-bot gemini-code-assist chatgpt-codex-connector github-actions github-advanced-security
github-code-quality googlebot graphite-app greenkeeper greptile-apps greptileai highfive homu imgbot k8s-ci-robot
korbit-ai lgtm-com mergify microsoft-github-policy-service msftbot pep8speaks pre-commit-ci pytorchmergebot pyup-bot
qodo-merge-pro renovate renovate-bot rust-highfive rust-log-analyzer rust-timer rustbot semantic-release-bot
sonarcloud sonarqubecloud sourcery-ai tensorflow-copybara vercel
"""
_KNOWN = frozenset(_KNOWN_NAMES.split())
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
