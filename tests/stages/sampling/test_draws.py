"""The facts that sources state, and the one form of a day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.repo.diff.diffs import size_of
from reviewgauge.stages.sampling.draws import change_facts, check_day
from reviewgauge.stages.split import Split
from reviewgauge.stages.stratify import Stratify

PATCH = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"


def test_language_by_changed_lines_size_and_counts() -> None:
    files = (
        ChangedFile(path="a.py", patch=PATCH),
        ChangedFile(path="b.cs", patch=PATCH + "@@ -9 +9,2 @@\n x\n+y\n"),
        ChangedFile(path="notes.md", patch="@@ -0,0 +1,20 @@\n" + "+z\n" * 20),
    )
    change = Change(repo="acme/shop", files=files)
    assert change_facts(change, datetime(2024, 5, 6, tzinfo=UTC), 3) == {
        "created": "2024-05-06", "year": 2024, "commits": 3, "changed_files": 3, "language": "C#", "changed_lines": 27,
        "size": "S", "hunks": 4,
    }  # fmt: skip


def test_without_a_diff_only_what_needs_none() -> None:
    assert change_facts(Change(repo="a/b", files=(ChangedFile(path="a.py"),))) == {"changed_files": 1}
    assert change_facts(Change(repo="a/b")) == {}
    assert "language" not in change_facts(Change(repo="a/b", files=(ChangedFile(path="a.md", patch=PATCH),)))


@pytest.mark.parametrize(
    ("lines", "size"),
    [(0, "XS"), (9, "XS"), (10, "S"), (29, "S"), (30, "M"), (99, "M"), (100, "L"), (500, "XL"), (1000, "XXL")],
)
def test_sizes(lines: int, size: str) -> None:
    assert size_of(lines) == size


@pytest.mark.parametrize("word", ["yesterday", "2024", "20240131", "2024-W05-3", "2024-13-01", "2024-1-31"])
def test_a_day_has_one_form_since_days_are_compared_as_text(word: str) -> None:
    check_day("since", "2024-01-31")
    with pytest.raises(ValueError, match=r"since=|month"):
        check_day("since", word)
    with pytest.raises(ValueError, match=r"periods=|month"):
        Stratify(by=("period",), periods=(word,), per_cell=1)
    with pytest.raises(ValueError, match=r"cuts=|month"):
        Split(by="time", cuts=(word, "2025-01-01"))
