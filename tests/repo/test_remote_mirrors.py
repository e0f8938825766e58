"""Mirrors of a forge, over HTTP from git's own server program, which asks for a token where it is told to."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from git_project import commit, run_git
from recorded_forge import git_answer
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.mirrors.mirrors import Gone, fetch_commits, mirror_remote
from scripted_endpoint import Asked, Rule, Say, Scripted

TOKEN = "not-a-real-token-0123456789"


def served(root: Path, token: str = "") -> Rule:
    """What git answers for the repositories below `root`; with a `token` to who has it alone."""
    right = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()

    def answer(asked: Asked) -> Say:
        if token and asked.headers.get("authorization") != right:
            return Say(status=401, headers={"WWW-Authenticate": "Basic"})
        method = "GET" if asked.body is None else "POST"
        found = git_answer(root, method, asked.path, asked.headers, asked.body or b"")
        return Say(found.body, found.status, found.headers)

    return answer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if not (Path(run_git(tmp_path, "--exec-path")) / "git-http-backend").exists():
        pytest.skip("git http-backend is not installed: no real git server to fetch from")
    return tmp_path / "served"


@pytest.fixture
def server(root: Path) -> Iterator[Scripted]:
    made = Scripted(served(root))
    yield made
    made.stop()


@pytest.fixture
def project(root: Path) -> Path:
    """acme/shop, with main, a tag, a pull request whose branch is gone, and a commit that was pushed over."""
    folder = root / "acme" / "shop.git"
    commit(folder, {"a.py": "one\n"})
    run_git(folder, "tag", "v1")
    run_git(folder, "checkout", "-q", "-b", "feature")
    old = commit(folder, {"b.py": "first try\n"})
    run_git(folder, "update-ref", "refs/old", old)
    run_git(folder, "reset", "-q", "--hard", "main")
    commit(folder, {"b.py": "second try\n"})
    run_git(folder, "update-ref", "refs/pull/1/head", "HEAD")
    run_git(folder, "checkout", "-q", "main")
    run_git(folder, "branch", "-q", "-D", "feature")
    commit(folder, {"a.py": "two\n"})
    run_git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    run_git(folder, "config", "uploadpack.hideRefs", "refs/old")
    return folder


@pytest.mark.slow
def test_a_mirror_of_a_forge_and_commits_that_no_branch_names(tmp_path: Path, server: Scripted, project: Path) -> None:
    url = f"{server.url}/acme/shop.git"
    mirror = mirror_remote(url, tmp_path / "m.git", "main", ("http",))
    assert run_git(mirror.git_dir, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert mirror.blob("main", "a.py") == b"two\n"
    assert url not in (mirror.git_dir / "config").read_text()
    old, pulled = run_git(project, "rev-parse", "refs/old"), run_git(project, "rev-parse", "refs/pull/1/head")
    assert not mirror.exists(old) and not mirror.exists(pulled)
    gone = ["1" * 40, "2" * 40]
    lost = fetch_commits(url, tmp_path / "m.git", [gone[0], old, pulled, gone[1], "main"], ("http",))
    assert set(lost) == {*gone, "main"} and "no longer has the commit" in lost[gone[0]]
    assert mirror.blob(old, "b.py") == b"first try\n" and mirror.blob(pulled, "b.py") == b"second try\n"
    assert run_git(mirror.git_dir, "fsck", "--full", "--unreachable") == ""

    server.asked.clear()
    assert fetch_commits(url, tmp_path / "m.git", [old, pulled], ("http",)) == {}
    assert server.asked == []  # what is here is not asked for
    new = commit(project, {"a.py": "three\n"})
    mirror_remote(url, tmp_path / "m.git", "main", ("http",))
    assert mirror.exists(new) and mirror.exists(old)


@pytest.mark.slow
def test_the_token_goes_to_the_host_and_nowhere_else(tmp_path: Path, server: Scripted, project: Path) -> None:
    server.always, url = served(project.parents[1], TOKEN), f"{server.url}/acme/shop.git"
    mirror = mirror_remote(url, tmp_path / "m.git", "main", ("http",), token=TOKEN)
    assert mirror.exists("main")
    encoded = base64.b64encode(f"x-access-token:{TOKEN}".encode())
    for file in mirror.git_dir.rglob("*"):
        assert file.is_dir() or (TOKEN.encode() not in file.read_bytes() and encoded not in file.read_bytes())
    for token in ("", "wrong-token-9876543210"):
        with pytest.raises(Failed, match="not allowed") as refused:
            fetch_commits(url, tmp_path / "n.git", ["3" * 40], ("http",), token=token)
        assert refused.value.stops and "wrong-token" not in str(refused.value)
    server.always = lambda asked: Say(status=301, headers={"Location": asked.path.replace("/acme/", "/elsewhere/")})
    with pytest.raises(Gone, match="has moved"):
        mirror_remote(url, tmp_path / "o.git", "main", ("http",), token=TOKEN)
    assert not any("elsewhere" in asked.path for asked in server.asked)


@pytest.mark.slow
def test_what_cannot_be_had_is_said_in_one_line(
    tmp_path: Path, server: Scripted, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Gone, match="the repository does not exist"):
        mirror_remote(f"{server.url}/acme/none.git", tmp_path / "m.git", "main", ("http",))
    with pytest.raises(Failed) as refused:
        mirror_remote("http://127.0.0.1:1/x.git", tmp_path / "m.git", "main", ("http",))
    assert refused.value.kind is FailureKind.NETWORK
    with pytest.raises(UserError, match="couldn't find remote ref refs/heads/none"):
        mirror_remote(f"{server.url}/acme/shop.git", tmp_path / "m.git", "none", ("http",))
    server.always = lambda _: Say(hangs=True)
    monkeypatch.setattr("reviewgauge.repo.mirrors.mirrors._SECONDS", 0.5)
    with pytest.raises(Failed) as late:
        mirror_remote(f"{server.url}/acme/shop.git", tmp_path / "m.git", "main", ("http",))
    assert late.value.kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("url", [
    "https://user:hunter2@host.invalid/x.git",
    "ext::sh -c touch", "file:///etc", "--upload-pack=evil", "https://host.invalid/../x", "ssh://host.invalid/x",
])  # fmt: skip
def test_addresses_that_are_not_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(UserError, match="is not an https address") as refused:
        mirror_remote(url, tmp_path / "m.git", "main")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(UserError, match="is not an https address"):
        fetch_commits(url, tmp_path / "m.git", ["1" * 40])
    assert not (tmp_path / "m.git").exists()


@pytest.mark.parametrize("branch", ["a:b", "a/../../x", "a b", "*", ""])
def test_branches_that_are_none(tmp_path: Path, branch: str) -> None:
    with pytest.raises(UserError, match="is not the name of a branch"):
        mirror_remote("https://host.invalid/x.git", tmp_path / "m.git", branch)
