"""What a transcript holds that only somebody can know who saw the pull request, or the history after it.

A sandbox does not prevent it: agents read the reviews on the forge through a connector of their model's vendor
(ReviewBench, `docs/OFFLINE_EVAL.md`). A model may also remember the pull request, which comes to the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.git.search import search_text
from reviewgauge.reviewers.reading.change_text import diff_text
from reviewgauge.reviewers.reading.environment import pull_number

_COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{10,64}(?![0-9a-z])")
_MOST = 10_000  # commits of a transcript that are looked up


def find_leaks(transcript: str, change: Change) -> list[str]:
    """The addresses and numbers of the pull request in it, and the commits of the real repository.

    A workspace has commits of its own. What the change itself or its code says does not count.
    """
    shown = "\n".join([change.title, change.description, *(f"{i.title}\n{i.body}" for i in change.issues)])
    shown = f"{shown}\n{diff_text(change)}".lower()
    text = transcript.replace("\\/", "/").lower()
    found = dict.fromkeys([*_addresses(text, change), *_commits(text, change)])
    return [word for word in found if word not in shown and not _in_code(word, change)]


def _addresses(text: str, change: Change) -> Iterator[str]:
    number, repo = pull_number(change), re.escape(change.repo.lower())
    if change.url:
        address = re.escape(change.url.lower().partition("://")[2].rstrip("/"))
        yield from re.findall(rf"{address}(?!\d)", text)
    if number:
        ways = rf"(?:/(?:-/)?(?:pull|pulls|issues|merge_requests)/|[#!]){number}(?!\d)"
        yield from re.findall(rf"{repo}{ways}", text)
        yield from re.findall(rf"\bpull/{number}/(?:head|merge)\b|\bgh pr [a-z]+ {number}(?!\d)", text)


def _commits(text: str, change: Change) -> Iterator[str]:
    ends = [commit.lower() for commit in (change.head, change.base) if commit]
    words = list(dict.fromkeys(_COMMIT.findall(text)))[:_MOST]
    yield from (word for word in words if any(commit.startswith(word) for commit in ends))
    if change.git is not None and words:
        yield from _real_commits(words, Repository(Path(change.git)))


def _real_commits(words: Sequence[str], repository: Repository) -> Iterator[str]:
    try:
        answers = repository.run("cat-file", "--batch-check", stdin="".join(f"{word}\n" for word in words).encode())
    except UserError:  # its folder is gone
        return
    for word, answer in zip(words, answers.decode("utf-8", "replace").splitlines(), strict=False):
        if answer.split()[1:2] == ["commit"]:
            yield word


def _in_code(word: str, change: Change) -> bool:
    if change.git is None or change.head is None:
        return False
    try:
        return bool(search_text(Repository(Path(change.git)), change.head, word, ignore_case=True).found)
    except UserError:
        return False
