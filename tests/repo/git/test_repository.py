from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository

Git = Callable[..., str]
Commit = Callable[[], str]


def write(folder: Path, files: dict[str | bytes, bytes | None]) -> None:
    for name, content in files.items():
        target = Path(os.fsdecode(os.path.join(os.fsencode(folder), os.fsencode(name))))  # noqa: PTH118 - bytes
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def test_blobs_and_paths(tmp_path: Path, commit: Commit) -> None:
    write(
        tmp_path / "repo", {"a.txt": b"a\x00b\n\n", "d/new\nline": b"n", b"\xff": b"f", "empty": b"", "x missing": b"m"}
    )
    head = commit()
    repository = Repository(tmp_path / "repo" / ".git")
    assert set(repository.paths(head)) == {"a.txt", "d/new\uf00aline", "\uf0ff", "empty", "x missing"}
    wanted = ["a.txt", "nope", "\uf0ff", "../a.txt", "d", "", "./a.txt", "empty", "x missing", "a.txt"]
    expected = {"a.txt": b"a\x00b\n\n", "\uf0ff": b"f", "empty": b"", "x missing": b"m"}
    assert repository.blobs(head, wanted) == {path: expected.get(path) for path in wanted}
    assert repository.blobs(head, ["d/new\uf00aline", "empty", "nope"]) == {
        "d/new\uf00aline": b"n",
        "empty": b"",
        "nope": None,
    }
    assert repository.blob(head, "a.txt") == b"a\x00b\n\n"
    assert repository.blobs(head, []) == {}


@pytest.mark.parametrize("commit_name", ["0" * 40, "--help", "", "main:a", "-x", "a b", "main..main", "a\nb", "\x00"])
def test_commits_that_do_not_exist(git: Git, tmp_path: Path, commit: Commit, commit_name: str) -> None:
    head = commit()
    repository = Repository(tmp_path / "repo")
    assert repository.exists(head) and repository.exists("main")
    assert not repository.exists(commit_name)
    with pytest.raises(UserError):
        repository.changed_files(commit_name, head)
    with pytest.raises(UserError):
        repository.paths(commit_name)


def test_errors_are_one_line_and_tell_no_secret(tmp_path: Path, git: Git) -> None:
    repository = Repository(tmp_path / "repo")
    with pytest.raises(UserError, match="safe") as refused:
        repository.run("checkout", "main")
    assert "\n" not in str(refused.value)
    with pytest.raises(UserError) as failed:
        repository.run("fetch", "https://user:hunter2@host.invalid/x.git", "main")
    assert "hunter2" not in str(failed.value)
    with pytest.raises(UserError, match="is not a git directory"):
        Repository(tmp_path / "nowhere").run("rev-parse", "HEAD")
    with pytest.raises(UserError):
        repository.run("rev-parse", "a\x00b")


def test_export_writes_plain_files_and_names_what_it_refuses(tmp_path: Path, git: Git, commit: Commit) -> None:
    folder = tmp_path / "repo"
    write(folder, {"d/a.txt": b"a\r\n", "b.txt": b"b", ".gitattributes": b"* text eol=crlf\n"})
    (folder / "link").symlink_to("/etc/passwd")
    git("add", "-A")
    head = commit()
    repository = Repository(folder)
    drops = export_files(repository, head, tmp_path / "out")
    assert {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()} == {
        "d/a.txt",
        "b.txt",
        ".gitattributes",
    }
    assert (tmp_path / "out/d/a.txt").read_bytes() == (repository.blob(head, "d/a.txt") or b"")
    assert [(drop.item, drop.reason) for drop in drops] == [("link", "is a symbolic link")]
    some = export_files(repository, head, tmp_path / "some", ["b.txt", "../evil", "nope", "/etc/passwd"])
    assert [drop.item for drop in some] == ["../evil", "nope", "/etc/passwd"]
    assert [p.name for p in (tmp_path / "some").iterdir()] == ["b.txt"]
    with pytest.raises(UserError, match="not empty"):
        export_files(repository, head, tmp_path / "out")


def test_a_tree_with_names_that_climb_out_is_not_written(tmp_path: Path, git: Git) -> None:
    """git itself refuses such trees, so one is made object by object."""
    repository = Repository(tmp_path / "repo")
    blob = repository.run("hash-object", "-w", "--stdin", stdin=b"evil").decode().strip()
    inner = b"100644 evil\x00" + bytes.fromhex(blob)
    tree = repository.run("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=inner).decode().strip()
    for name in (b"..", b".git", b".GIT"):
        outer = b"40000 " + name + b"\x00" + bytes.fromhex(tree)
        root = repository.run("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=outer).decode().strip()
        out = tmp_path / f"out{name.hex()}"
        drops = export_files(repository, root, out)
        assert list(out.rglob("*")) == [] and len(drops) == 1
    assert not (tmp_path / "evil").exists()


def test_the_callers_git_environment_and_a_work_tree_setting_do_not_matter(
    tmp_path: Path, git: Git, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "repo", {"a": b"a\n"})
    head = commit()
    git("config", "core.worktree", str(tmp_path / "repo"))
    git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    for folder in ("repo", "linked"):
        assert Repository(tmp_path / folder).paths(head) == ["a"]


def test_a_huge_change_is_not_held(tmp_path: Path, git: Git, commit: Commit) -> None:
    """A patch of many megabytes is left out, the small ones beside it are there."""
    folder = tmp_path / "repo"
    write(folder, {"a": b"1\n"})
    base = commit()
    write(folder, {"a": b"2\n", "huge": b"a line of some forty characters of text\n" * 150_000, "z": b"1\n"})
    files = {file.path: file for file in Repository(folder).changed_files(base, commit())}
    assert files["huge"].patch is None and not files["huge"].binary
    assert files["a"].patch == "@@ -1 +1 @@\n-1\n+2" and files["z"].patch == "@@ -0,0 +1 @@\n+1"
