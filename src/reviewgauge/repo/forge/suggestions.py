"""GitHub's suggestion blocks: the code that a review comment proposes in place of the commented lines."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"^(`{3,})suggestion[^\n`]*\n(.*?)\n?^\1\s*\Z", re.DOTALL | re.MULTILINE)


def split_suggestion(body: str) -> tuple[str, str | None]:
    """(what is said, the proposed code) of a comment that ends in a suggestion; the body and None of any other."""
    found = _BLOCK.search(body)
    if found is None:
        return body, None
    return body[: found.start()].rstrip() or body, found[2]
