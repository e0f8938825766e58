"""The rules that sort comments and changes into classes by tables of words."""

from __future__ import annotations

from reviewgauge.models.fake.rules.points import type_of
from reviewgauge.models.fake.rules.prompts import holds, last_slot
from reviewgauge.models.request.messages import Request

CATEGORY = "classify the reported issue into exactly one of the following categories"
CONTEXT = "You judge how much code a reviewer must see"
DOMAIN = "classifying GitHub Pull Requests based on their Title and Description"
TYPE = "You sort code review comments by the type of change"

WordTable = tuple[tuple[str, tuple[str, ...]], ...]
CATEGORY_WORDS: WordTable = (
    ("Security Vulnerability", ("security", "injection", "attack", "vulnerab", "secret", "password", "token", "XSS")),
    ("Performance", ("performance", "slow", "latency", "inefficient", "O(n", "cache", "allocation", "redundant")),
    ("Code Defect", ("bug", "wrong", "crash", "error", "incorrect", "fail", "null", "none", "leak", "race", "never")),
)
CONTEXT_WORDS: WordTable = (
    ("repo", ("caller", "other file", "elsewhere", "other module", "other places", "codebase", "repository")),
    ("file", ("this file", "the file", "the class", "other function", "above", "below")),
)
DOMAIN_WORDS: WordTable = (
    ("SV", ("security", "CVE", "vulnerab")),
    ("BF", ("fix", "bug", "crash", "correct", "repair")),
    ("DE", ("bump", "upgrade", "dependenc")),
    ("TC", ("test", "CI", "coverage")),
    ("DU", ("doc", "readme", "typo")),
    ("PO", ("speed", "performance", "faster", "cache", "optimi")),
    ("CA", ("refactor", "clean", "move", "rename", "extract", "split")),
    ("CLF", ("lint", "format", "style")),
)


def category(request: Request) -> str:
    """The first category with a word that begins a word of the comment, else Maintainability and Readability.

    - Security Vulnerability: security, injection, attack, vulnerab, secret, password, token, XSS
    - Performance: performance, slow, latency, inefficient, O(n, cache, allocation, redundant
    - Code Defect: bug, wrong, crash, error, incorrect, fail, null, none, leak, race, never
    """
    comment = last_slot(request, "Review Comment:\n", "\n=====\nOutput:")
    return _first(CATEGORY_WORDS, comment) or "Maintainability and Readability"


def context(request: Request) -> str:
    """The first of these with a word that begins a word of the comment, else diff.

    - repo: caller, other file, elsewhere, other module, other places, codebase, repository
    - file: this file, the file, the class, other function, above, below
    """
    return _first(CONTEXT_WORDS, last_slot(request, "Review comment:\n", "\n\nAnswer with one word")) or "diff"


def domain(request: Request) -> str:
    """The first of these domains with a word that begins a word of the title, else NFA, a new feature.

    - SV: security, CVE, vulnerab
    - BF: fix, bug, crash, correct, repair
    - DE: bump, upgrade, dependenc
    - TC: test, CI, coverage
    - DU: doc, readme, typo
    - PO: speed, performance, faster, cache, optimi
    - CA: refactor, clean, move, rename, extract, split
    - CLF: lint, format, style
    """
    return _first(DOMAIN_WORDS, last_slot(request, "PR Title:\n", "\n\nPR Description:")) or "NFA"


def change_type(request: Request) -> str:
    """The type that the rule points_extract gives a change-point with the words of the comment."""
    return type_of(last_slot(request, "Review comment:\n", "\n\nAnswer with the code alone"))


def _first(table: WordTable, text: str) -> str | None:
    """The first name of the table with a word that begins a word of the text."""
    return next((name for name, words in table if holds(text, words)), None)
