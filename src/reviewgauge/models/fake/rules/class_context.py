"""The first of these with a word that begins a word of the comment, else diff.

- repo: caller, other file, elsewhere, other module, other places, codebase, repository
- file: this file, the file, the class, other function, above, below
"""

from __future__ import annotations

from reviewgauge.models.fake.rules.slots import holds, last_slot
from reviewgauge.models.request.messages import Request

OPENING = "You judge how much code a reviewer must see"
WORDS = (
    ("repo", ("caller", "other file", "elsewhere", "other module", "other places", "codebase", "repository")),
    ("file", ("this file", "the file", "the class", "other function", "above", "below")),
)


def reply(request: Request) -> str:
    """diff, file or repo."""
    comment = last_slot(request, "Review comment:\n", "\n\nAnswer with one word")
    return next((name for name, words in WORDS if holds(comment, words)), "diff")
