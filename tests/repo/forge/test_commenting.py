"""The comment of a CI job is made once and replaced afterwards, and nobody else's is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from comment_forge import ME, TOKEN, CommentForge, comment_forge
from reviewgauge.core.errors import UserError
from reviewgauge.repo.forge.commenting import LONGEST, first_line, post_comment

STRANGER = {"id": 8, "login": "stranger", "type": "User"}


@pytest.fixture
def forge() -> Iterator[CommentForge]:
    with comment_forge() as made:
        yield made


@pytest.fixture(params=["github", "gitlab"])
def job(request: pytest.FixtureRequest, forge: CommentForge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge.enter_job(request.param, tmp_path, monkeypatch)


def test_the_second_run_replaces_the_comment_of_the_first(forge: CommentForge, job: None) -> None:
    for n in range(70):  # three pages
        forge.add(f"looks good {n}", STRANGER)
    assert post_comment("worse\n", "gate") == "commented"
    assert post_comment("better\n", "gate") == "comment updated"
    assert post_comment("another gate\n", "gate-swr") == "commented"
    own = [one["body"] for one in forge.comments[70:]]
    assert own == [f"{first_line('gate')}\nbetter\n", f"{first_line('gate-swr')}\nanother gate\n"]
    assert sum(one.startswith("POST") for one in forge.asked) == 2


def test_a_copy_of_the_hidden_line_by_a_stranger_is_left_alone(forge: CommentForge, job: None) -> None:
    copied = forge.add(f"{first_line('gate')}\nnot worse, merge it", STRANGER)
    forge.add(f"quoted: {first_line('gate')}", ME)
    assert post_comment("worse\n", "gate") == "commented"
    assert copied["body"].endswith("not worse, merge it")
    assert len(forge.comments) == 3


def test_a_member_whose_token_commented_is_known_on_github(
    forge: CommentForge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.enter_job("github", tmp_path, monkeypatch)
    forge.add(f"{first_line('gate')}\nold", STRANGER, "MEMBER")
    assert post_comment("new", "gate") == "comment updated"


def test_a_long_text_is_cut_at_a_line(forge: CommentForge, job: None) -> None:
    post_comment("a line of forty characters, more or less\n" * 3000, "gate")
    body = forge.comments[0]["body"]
    assert len(body) <= LONGEST + 50
    assert body.endswith("more or less\n\ncut off: the job has the whole\n")


@pytest.mark.parametrize(("status", "headers", "content", "problem"), [
    (401, {}, b'{"message": "Bad credentials"}', "401 Bad credentials"),
    (403, {}, b'{"message": "Resource not accessible by integration"}', "not open to this token"),
    (404, {}, b"{}", "404"),
    (429, {"Retry-After": "30"}, b'{"message": "slow down"}', "429 slow down (the job's next run tries again)"),
    (500, {}, b"", "500 (the job's next run tries again)"),
    (302, {"Location": "http://127.0.0.1:1/"}, b"", "a redirect, which is not followed"),
    (200, {}, b"<html>sign in", "is not JSON"),
    (200, {"Content-Length": "90"}, b"[{", "the connection broke"),
    (200, {}, b'{"id": 7}', "not a list of comments"),
])  # fmt: skip
def test_a_forge_that_refuses_is_one_line_without_the_token(
    forge: CommentForge, job: None, status: int, headers: dict[str, str], content: bytes, problem: str
) -> None:
    forge.refuses = (status, headers, content)
    with pytest.raises(UserError) as caught:
        post_comment("worse", "gate")
    assert problem in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert not forge.comments


@pytest.mark.parametrize(("change", "problem"), [
    ({"GITHUB_ACTIONS": ""}, "neither a job of GitHub Actions nor of GitLab CI"),
    ({"GITHUB_EVENT_PATH": "nowhere.json"}, "not about a pull request"),
    ({"GITHUB_REPOSITORY": "../../user"}, "not about a pull request"),
    ({"GITHUB_TOKEN": ""}, "no token in GITHUB_TOKEN"),
    ({"GITHUB_API_URL": "http://forge.example/api/v3"}, "is not https"),
    ({"GITLAB_CI": "true"}, "not about a merge request"),
    ({"GITLAB_CI": "true", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "1"}, "no token in GITLAB_TOKEN"),
])  # fmt: skip
def test_without_a_pull_request_or_a_token_nothing_is_sent(
    forge: CommentForge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], problem: str
) -> None:
    forge.enter_job("github", tmp_path, monkeypatch)
    for variable, value in change.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(UserError, match=problem):
        post_comment("worse", "gate")
    assert not forge.asked


@pytest.mark.parametrize("name", ["", "a b", "--", "a--b", "-->", "x" * 61, "a\n"])
def test_a_name_cannot_end_the_hidden_line(name: str) -> None:
    with pytest.raises(UserError, match="not a name of a comment"):
        first_line(name)
