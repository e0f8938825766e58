"""Keep changes that are written mainly in the main language of their repository.

Source: AACR-Bench's language consistency (arXiv:2601.19494, B.1): "the programming language of the primarily
modified files must match the main language of the repository"; its preprocessing also reads the language off the files
that review comments are on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.records import Case
from reviewgauge.repo.diff.diffs import count_changed
from reviewgauge.repo.syntax.languages import language
from reviewgauge.stages.pull_requests.candidates import PullStage

HEADERS = frozenset({"C", "C++", "Objective-C"})  # `.h` belongs to each of them, its name does not say to which


@dataclass(frozen=True)
class KeepMainLanguage(PullStage):
    """The language with most changed lines counts; a repository's main language is the one with most bytes."""

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        main = max(pull.repo_languages, key=lambda name: pull.repo_languages[name], default="")
        if not main:
            return "the repository's languages are not known"
        weights = _changed(item.case, main)
        if not weights:
            return "no file in a programming language"
        found = max(weights, key=lambda name: (weights[name], name == main))
        return item if found == main else f"{found} in a repository of {main}"


def _changed(case: Case, main: str) -> Counter[str]:
    weights: Counter[str] = Counter()
    for file in case.change.files:
        if found := _language(file.path, main):
            weights[found] += count_changed([file])
    return +weights


def _language(path: str, main: str) -> str:
    return main if path.lower().endswith(".h") and main in HEADERS else language(path)
