"""The first of these categories with a word that begins a word of the comment, else Maintainability and Readability.

- Security Vulnerability: security, injection, attack, vulnerab, secret, password, token, XSS
- Performance: performance, slow, latency, inefficient, O(n, cache, allocation, redundant
- Code Defect: bug, wrong, crash, error, incorrect, fail, null, none, leak, race, never
"""

from __future__ import annotations

from reviewgauge.models.fake.rules.slots import holds, last_slot
from reviewgauge.models.request.messages import Request

OPENING = "classify the reported issue into exactly one of the following categories"
WORDS = (
    ("Security Vulnerability", ("security", "injection", "attack", "vulnerab", "secret", "password", "token", "XSS")),
    ("Performance", ("performance", "slow", "latency", "inefficient", "O(n", "cache", "allocation", "redundant")),
    ("Code Defect", ("bug", "wrong", "crash", "error", "incorrect", "fail", "null", "none", "leak", "race", "never")),
)


def reply(request: Request) -> str:
    """The name of the category."""
    comment = last_slot(request, "Review Comment:\n", "\n=====\nOutput:")
    return next((name for name, words in WORDS if holds(comment, words)), "Maintainability and Readability")
