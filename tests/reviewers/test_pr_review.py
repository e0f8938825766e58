"""The report on a whole change: what is shown, few and severe findings, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fake_server import FakeServer
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, ChangedFile, Severity, Side, Span, Task
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.reviewers.pr_review import PrReview

BAD = "@@ -1,1 +1,4 @@\n a = 1\n+print(a)\n+b = eval(a)\n+# TODO"
SHELL = "@@ -5,0 +6,1 @@\n+run(a, shell=True)"
CHANGE = Change(
    id="c1",
    repo="o/r",
    title="Add b",
    description="+ eval(never)",
    files=(
        ChangedFile(path="package-lock.json", patch="@@ -1,0 +1,60 @@\n" + "\n".join(["+eval(x)"] * 60)),
        ChangedFile(path="a.py", patch=BAD),
        ChangedFile(path="b.py", patch=SHELL),
    ),
)


def finding(severity: str, code: str, area: str = "other", file: str = "a.py") -> dict[str, str]:
    comment = f"the {severity} problem of {code or 'all'}"
    return {"area": area, "severity": severity, "file": file, "code": code, "comment": comment}


def report(*findings: Any, **texts: Any) -> str:
    return json.dumps({"tests": "There is none.", "security": "No.", "findings": list(findings), **texts})


def test_one_call_shows_the_important_files_and_names_the_others() -> None:
    with FakeServer() as server, ChatClient(ChatSettings()):
        review = PrReview(server.spec(), most=2, tokens=100).review(CHANGE)
        assert len(server.asked) == 1
        (asked,) = server.asked
    assert [(one.span, one.severity, one.category) for one in review.comments] == [
        (Span(path="a.py", start=3, end=3, side=Side.NEW), Severity.HIGH, "security"),
        (Span(path="b.py", start=6, end=6, side=Side.NEW), Severity.HIGH, "security"),
    ]
    assert review.trace is not None
    assert review.trace.splitlines() == [
        "package-lock.json: left out for the budget of 100 tokens",
        "tests: The fake model does not look at tests.",
        "security: Dangerous lines come first.",
    ]
    text = str(asked)
    assert "Also changed, and not shown:" in text
    assert "Report at most 2 problems" in text


def test_the_most_severe_findings_are_kept_and_the_rest_is_counted() -> None:
    said = report(finding("low", "+print(a)"), finding("critical", "+b = eval(a)", "security"), finding("high", ""))
    answer = PrReview("fake:rules", most=2).read(said)
    assert [(one.severity, one.category) for one in answer.comments] == [
        (Severity.CRITICAL, "security"),
        (Severity.HIGH, None),
    ]
    assert answer.remark.splitlines() == [
        "tests: There is none.",
        "security: No.",
        "1 more than the 2 most severe findings were left out",
    ]


@pytest.mark.parametrize("text", [
    "LGTM", json.dumps({"findings": []}),
    report(finding("severe", "+print(a)")),
    report(finding("high", "+print(a)", "style")),
    report({**finding("high", ""), "comment": "what goes wrong and when, and what to do about it"}),
    report("c is not used"), report()[:-3], report(tests=["no"]),
    report(*[finding("low", "+print(a)")] * 201),
])  # fmt: skip
def test_a_report_that_is_not_one_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        PrReview("fake:rules").read(text)


def test_it_says_what_it_cannot_review() -> None:
    reviewer = load(Reviewer, 'pr_review(model="fake:rules", tokens=100)')
    assert load(Reviewer, signature(reviewer)) == reviewer
    assert "prompt='own'" in signature(reviewer)
    drops = {drop.item: drop.reason for drop in reviewer.prepare([CHANGE])}
    assert drops == {"c1 package-lock.json": "left out for the budget of 100 tokens: not shown to the model"}
    with pytest.raises(UserError, match="pr_review: the task is locate") as other:
        reviewer.check([CHANGE.model_copy(update={"task": Task.LOCATE})])
    assert other.value.remedy == 'use prompt with preset="contextcrbench_locate"', "pr_review has no presets itself"
    with pytest.raises(UserError, match="must be positive"):
        PrReview("fake:rules", most=0).prepare([CHANGE])
    with FakeServer(fail="garbage") as server, ChatClient(ChatSettings()), pytest.raises(Failed) as failed:
        PrReview(server.spec()).review(CHANGE)
    assert failed.value.kind is FailureKind.UNREADABLE
