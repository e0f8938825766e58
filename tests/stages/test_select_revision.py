"""The revision with most inline comments, rebuilt from its commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit
from pull_toys import ANN, BOB, BOT, candidate, pull, remark, thread
from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest, Revision
from reviewgauge.core.records import Issue
from reviewgauge.stages.select_revision import SelectRevision


@pytest.fixture
def history(tmp_path: Path) -> tuple[PullRequest, list[str]]:
    """A base and three states; one comment on the first, three on the second, none on the third."""
    commits = [commit(tmp_path / "r", {"a.py": "one\n" + f"two = {n}\n" * n}) for n in range(4)]
    base, first, second, third = commits
    threads = (
        thread("1", remark("a"), commit=first),
        thread("2", remark("b"), remark("c", ANN), commit=second, start=2, line=3),
        thread("3", remark("d", body="Please name it."), commit=second),
        thread("4", *(remark(f"bot{n}", BOT) for n in range(9)), commit=third),
    )
    revisions = tuple(Revision(head=head, base=base) for head in (first, second, third))
    behind = pull(*threads, base=base, head=third, revisions=revisions, git=str(tmp_path / "r" / ".git"))
    return behind, commits


def test_base_head_files_and_references_are_those_of_the_most_discussed_state(
    history: tuple[PullRequest, list[str]],
) -> None:
    behind, (base, _, second, _) = history
    before = candidate(behind, issues=(Issue(number=5),)).with_facts({"domain": "fix", "changed_lines": 99})
    kept = SelectRevision().narrow(before)
    assert isinstance(kept, Candidate)
    change = kept.case.change
    assert (change.base, change.head) == (base, second)
    assert change.files[0].patch == "@@ -1 +1,3 @@\n one\n+two = 2\n+two = 2"
    assert (change.title, change.issues) == (before.case.change.title, before.case.change.issues)
    assert [(c.id, c.body, c.span and (c.span.start, c.span.end)) for c in kept.case.references] == [
        ("thread-2", "Why?", (2, 3)),
        ("thread-3", "Please name it.", (2, 2)),
    ]
    assert kept.case.facts["revision"] == 2
    assert kept.case.facts["changed_lines"] == 2
    assert kept.case.facts["domain"] == "fix"
    assert kept.pull == behind


def test_answers_count(history: tuple[PullRequest, list[str]]) -> None:
    behind, (_, _, second, _) = history
    one, two, *_ = behind.threads
    even = behind.model_copy(update={"threads": (one, two)})
    by_comments = SelectRevision().narrow(candidate(even))
    assert isinstance(by_comments, Candidate)
    assert by_comments.case.change.head == second, "the answer counts"


def test_what_makes_no_reference_chooses_no_state(history: tuple[PullRequest, list[str]]) -> None:
    """An author who explains the last state line by line would else choose one that nobody reviewed."""
    behind, (_, first, second, third) = history
    own = tuple(thread(f"own{n}", remark(f"own{n}", ANN, "Here I load the rows."), commit=third) for n in range(5))
    fine = tuple(thread(f"ok{n}", remark(f"ok{n}", BOB, "LGTM"), commit=first) for n in range(5))
    kept = SelectRevision().narrow(candidate(behind.model_copy(update={"threads": (*behind.threads, *own, *fine)})))
    assert isinstance(kept, Candidate)
    assert kept.case.change.head == second
    assert SelectRevision().narrow(candidate(behind.model_copy(update={"threads": own + fine}))) == (
        "no inline comment on any revision"
    )


def test_what_cannot_be_rebuilt_is_dropped_with_the_reason(history: tuple[PullRequest, list[str]]) -> None:
    behind, (base, *_) = history
    only_bots = behind.model_copy(update={"threads": behind.threads[3:]})
    assert SelectRevision().narrow(candidate(only_bots)) == "no inline comment on any revision"
    elsewhere = behind.model_copy(update={"threads": (thread("1", remark("a", BOB), commit="f" * 40),)})
    assert SelectRevision().narrow(candidate(elsewhere)) == "no inline comment on any revision"
    without_code = behind.model_copy(update={"git": None})
    assert SelectRevision().narrow(candidate(without_code)) == "its commits are not at hand"
    gone = behind.model_copy(update={"revisions": (Revision(head="f" * 40, base=base),)})
    lost = gone.model_copy(update={"threads": (thread("1", remark("a"), commit="f" * 40),)})
    assert SelectRevision().narrow(candidate(lost)) == "its commits are not at hand"
    assert SelectRevision().narrow(candidate(None)) == "no pull request behind it"
    assert SelectRevision().narrow(candidate(behind.model_copy(update={"revisions": ()}))) == (
        "no inline comment on any revision"
    )
