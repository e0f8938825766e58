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

from __future__ import annotations

from reviewgauge.models.fake.rules.slots import holds, last_slot
from reviewgauge.models.request.messages import Request

OPENING = "classifying GitHub Pull Requests based on their Title and Description"
WORDS = (
    ("SV", ("security", "CVE", "vulnerab")),
    ("BF", ("fix", "bug", "crash", "correct", "repair")),
    ("DE", ("bump", "upgrade", "dependenc")),
    ("TC", ("test", "CI", "coverage")),
    ("DU", ("doc", "readme", "typo")),
    ("PO", ("speed", "performance", "faster", "cache", "optimi")),
    ("CA", ("refactor", "clean", "move", "rename", "extract", "split")),
    ("CLF", ("lint", "format", "style")),
)


def reply(request: Request) -> str:
    """The code of the domain."""
    title = last_slot(request, "PR Title:\n", "\n\nPR Description:")
    return next((code for code, words in WORDS if holds(title, words)), "NFA")
