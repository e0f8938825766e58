"""Which issues a pull request fixes: named, confirmed by an event, with a closing word in the description."""

from __future__ import annotations

import pytest

from pull_toys import candidate, pull, remark, thread
from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import IssueHistory, PullRequest
from reviewgauge.core.records import Issue
from reviewgauge.stages.link_issues import LinkIssues, fixed_issues, references

SLUG = "acme/shop#1"


def issue(number: int, *confirmed_by: str, repo: str = "acme/shop", is_pull: bool = False) -> IssueHistory:
    about = Issue(number=number, title=f"Issue {number}", body="It breaks.")
    return IssueHistory(repo=repo, issue=about, references=confirmed_by, is_pull=is_pull)


def made(body: str, *issues: IssueHistory, title: str = "Fix the parser", **more: object) -> PullRequest:
    return pull(title=title, body=body, issues=issues, **more)


@pytest.mark.parametrize(("text", "found"), [
    ("Fixes #26", [("acme/shop", 26, True)]),
    ("closes: #26", [("acme/shop", 26, True)]),
    ("RESOLVED acme/other#7.", [("acme/other", 7, True)]),
    ("fixed https://github.com/acme/other/issues/7", [("acme/other", 7, True)]),
    ("see https://github.com/acme/other/pull/7#issuecomment-1", [("acme/other", 7, False)]),
    ("fix GH-26", [("acme/shop", 26, True)]),
    ("Fixes #1, #2", [("acme/shop", 1, True), ("acme/shop", 2, False)]),
    ("closes #1 and resolves #2", [("acme/shop", 1, True), ("acme/shop", 2, True)]),
    ("close #1, closed #2, resolve #3", [("acme/shop", n, True) for n in (1, 2, 3)]),
    ("prefixes #26", [("acme/shop", 26, False)]),
    ("fixing #26, fix for #27", [("acme/shop", 26, False), ("acme/shop", 27, False)]),
    ("a#b &#39; page#26 10#3", []), ("#26abc, #", []),
    ("fixes\n#26", [("acme/shop", 26, True)]),
])  # fmt: skip
def test_what_a_text_refers_to(text: str, found: list[tuple[str, int, bool]]) -> None:
    assert [(*name, closing) for name, closing in references(text, "acme/shop")] == found


@pytest.mark.parametrize(("behind", "reason"), [
    (made("Nothing to see."), "names no issue"),
    (made("Part of #1, which this is."), "names no issue"),
    (made("Fixes #26"), "what it names is not an issue, or gone"),
    (made("Fixes #26", issue(26, SLUG, is_pull=True)), "what it names is not an issue, or gone"),
    (made("Fixes #26", issue(26)), "no cross-reference event confirms an issue that it names"),
    (made("Fixes #26", issue(26, "acme/shop#2")), "no cross-reference event confirms an issue that it names"),
    (made("See #26", issue(26, SLUG)), "no closing word before an issue in its description"),
    (made("", issue(26, SLUG), title="Fixes #26"), "no closing word before an issue in its description"),
    (made("", issue(26, SLUG), conversation=(remark("a", body="This fixes #26"),)),
        "no closing word before an issue in its description"),
    (made("Fixes #27, see #26", issue(26, SLUG), issue(27)), "no closing word before an issue in its description"),
])  # fmt: skip
def test_each_step_has_its_own_reason(behind: PullRequest, reason: str) -> None:
    assert LinkIssues().narrow(candidate(behind)) == reason


def test_fixed_issues_are_put_into_the_change_in_place_of_others() -> None:
    said = thread("9", remark("r9", body="Does this also help with #28?"))
    behind = made(
        "Fixes #27. Closes Acme/Other#5", issue(27, "Acme/Shop#1"), issue(28, SLUG), issue(5, SLUG, repo="acme/other")
    )
    behind = behind.model_copy(update={"threads": (said,)})
    kept = LinkIssues().narrow(candidate(behind, issues=(Issue(number=99),)))
    assert isinstance(kept, Candidate)
    assert [one.number for one in kept.case.change.issues] == [27, 5]
    assert fixed_issues(behind)[1] == ""
    assert LinkIssues().narrow(candidate(None)) == "no pull request behind it"
