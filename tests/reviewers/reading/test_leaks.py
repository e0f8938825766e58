"""What a transcript may hold, and what only the pull request could have told."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.reviewers.reading.harbor_trials import find_leaks

HEAD = "b5a69673c1fd34e7f907e01e6b9867fa4876aed8"
CHANGE = Change(
    id="own/shop#12",
    repo="Own/Shop",
    head=HEAD,
    url="https://github.com/Own/Shop/pull/12",
    title="Fix the total",
    description="Goes on from own/shop#7; see also 0123456789abcdef0123456789abcdef01234567.",
    files=(ChangedFile(path="a.py", patch="@@ -1 +1 @@\n-a\n+b"),),
)


@pytest.mark.parametrize(("transcript", "found"), [
    ("Let me look at https://github.com/own/shop/pull/12/files", ["github.com/own/shop/pull/12", "own/shop/pull/12"]),
    ("curl https://api.github.com/repos/Own/Shop/pulls/12/comments", ["own/shop/pulls/12"]),
    (r'{"url": "https:\/\/gitlab.com\/own\/shop\/-\/merge_requests\/12"}', ["own/shop/-/merge_requests/12"]),
    ("as was said in own/shop#12", ["own/shop#12"]),
    ("git fetch origin pull/12/head", ["pull/12/head"]),
    ("gh pr view 12 --comments", ["gh pr view 12"]),
    (f"commit {HEAD}", [HEAD]), (f"at {HEAD[:12]}", [HEAD[:12]]),
    ("own/shop#123 and own/shop#7, the number 12, own/shop", []),
    ("0123456789abcdef0123456789abcdef01234567 and 1234567890", []),
    ("", []),
])  # fmt: skip
def test_addresses_numbers_and_commits(transcript: str, found: list[str]) -> None:
    assert find_leaks(transcript, CHANGE) == found


def test_later_commits_are_known_from_the_real_repository_and_what_the_code_says_is_no_leak(tmp_path: Path) -> None:
    history = Told(tmp_path / "code")
    base = history.commit("x", {"a.py": "a\n"})
    head = history.commit("x", {"a.py": "b\n", "ignored-revs": f"{base}\n"})
    later = history.commit("x", {"a.py": "c\n"})
    change = CHANGE.model_copy(update={"git": str(tmp_path / "code"), "base": base, "head": head})
    assert find_leaks(f"git show {later[:12]} {base} {'a' * 40}", change) == [later[:12]]
