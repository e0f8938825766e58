"""Link the issues that a pull request fixes: named in its words, confirmed by the forge, with a closing word.

Source: ContextCRBench (arXiv:2511.07017), section 2.2.1 and Algorithm 1. Step 1: references by pattern in title,
description and comments, each confirmed by a cross-reference event of the issue's timeline; step 2: a closing word in
the description only. The closing words are GitHub's nine ("Linking a pull request to an issue", docs.github.com).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import IssueHistory, PullRequest
from reviewgauge.stages.pull_requests.candidates import PullStage

_NAME = r"[A-Za-z0-9][\w.-]{0,99}"
_REPO = rf"{_NAME}(?:/[\w.-]{{1,100}}){{1,5}}?"  # GitLab has groups in groups
_URL = rf"https?://[\w.:-]{{1,200}}/(?P<url_repo>{_REPO})(?:/-)?/(?:issues|pull)/(?P<url_number>\d{{1,9}})\b"
_SHORT = rf"(?<![\w/&#-])(?P<repo>{_REPO})?(?:#|(?<!\w)GH-)(?P<number>\d{{1,9}})\b"
REFERENCE = re.compile(f"{_URL}|{_SHORT}", re.IGNORECASE)
CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?)(?:\s*+:)?\s+$", re.IGNORECASE)
Named = tuple[str, int]  # repository in lower case, number


@dataclass(frozen=True)
class LinkIssues(PullStage):
    """Put the fixed issues into the change; drop a candidate without one, with the step that failed."""

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        found, reason = fixed_issues(pull)
        if not found:
            return reason
        return item.with_change(issues=tuple(history.issue for history in found))


def fixed_issues(pull: PullRequest) -> tuple[list[IssueHistory], str]:
    """(the issues that it fixes, in order of mention; the reason where there are none)."""
    own = (pull.repo.lower(), pull.number)
    in_threads = [remark for thread in pull.threads for remark in thread.remarks]
    remarks = (*pull.conversation, *pull.reviews, *in_threads)
    texts = (pull.title, pull.body, *(remark.body for remark in remarks))
    known = {(one.repo.lower(), one.issue.number): one for one in pull.issues if not one.is_pull}
    named = [name for text in texts for name, _ in references(text, pull.repo) if name != own or name in known]
    if not named:
        return [], "names no issue"
    issues = [known[name] for name in dict.fromkeys(named) if name in known]
    if not issues:
        return [], "what it names is not an issue, or gone"
    slug = pull.slug.lower()
    linked = [one for one in issues if slug in (source.lower() for source in one.references)]
    if not linked:
        return [], "no cross-reference event confirms an issue that it names"
    closed = {name for name, closing in references(pull.body, pull.repo) if closing}
    fixed = [one for one in linked if (one.repo.lower(), one.issue.number) in closed]
    return fixed, "" if fixed else "no closing word before an issue in its description"


def references(text: str, repo: str) -> Iterator[tuple[Named, bool]]:
    """The issues that a text names (`#26`, `GH-26`, `owner/name#26`, a URL), and whether a closing word precedes."""
    for match in REFERENCE.finditer(text):
        where = match["url_repo"] or match["repo"] or repo
        name = (where.lower(), int(match["url_number"] or match["number"]))
        yield name, CLOSING.search(text, max(0, match.start() - 20), match.start()) is not None
