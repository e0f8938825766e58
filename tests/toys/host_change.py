"""A recent change of a small repository with its code, as a host for defects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.records import Case, Change
from reviewgauge.repo.history.landed_changes import LARGEST_FILE

BEFORE = {"shop/cart.py": "def first(items):\n    return items[0]\n"}
AFTER = {
    "shop/cart.py": ("def first(items):\n    return items[0]\n\n\ndef fits(items, limit):\n"
        "    # never more than the limit\n    if len(items) < limit:\n        return True\n"
        "    names = None\n    return names\n"),
}  # fmt: skip


def host(
    folder: Path, before: Mapping[str, str | bytes] = BEFORE, after: Mapping[str, str | bytes] = AFTER, name: str = "1"
) -> Candidate:
    """The change from some files to others, in a repository of its own."""
    told = Told(folder)
    base = told.commit("begin", dict(before))
    head = told.commit("Say what fits", dict(after))
    repository = told.repository
    change = Change(
        repo="acme/shop",
        base=base,
        head=head,
        title="Say what fits",
        files=repository.changed_files(base, head, LARGEST_FILE),
        git=str(repository.git_dir),
    )
    return Candidate(case=Case(id=f"acme/shop/{name}", change=change))
