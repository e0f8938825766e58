from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from unidiff.patch import PatchSet

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import FileStatus, Side
from reviewgauge.repo.diff.diffs import changed_lines, parse_patch
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository
from written_history import Written, write_history

Git = Callable[..., str]
Commit = Callable[[], str]
BODY = [f"line {n}" for n in range(1, 31)]


def write(folder: Path, files: dict[str | bytes, bytes | None]) -> None:
    for name, content in files.items():
        target = Path(os.fsdecode(os.path.join(os.fsencode(folder), os.fsencode(name))))  # noqa: PTH118 - bytes
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def text(lines: list[str], end: str = "\n") -> bytes:
    return end.join([*lines, ""]).encode()


def test_changed_files_of_a_real_repository(tmp_path: Path, git: Git, commit: Commit) -> None:
    folder = tmp_path / "repo"
    write(
        folder,
        {
            "kept.py": text(BODY),
            "moved from.py": text(BODY),
            "gone.py": b"x\ny\n",
            "crlf.txt": text(BODY, "\r\n"),
            "mode.sh": b"echo\n",
            "image.bin": b"\x00\x01",
            "latin.txt": "caf\xe9 1\n".encode("latin-1"),
            b'odd \xff\t"name".py': b"a\n",
            "naïve 文.py": b"a\n",
            "retyped": b"kept.py",
            "no newline": b"a\nb",
        },
    )
    base = commit()
    changed = [*BODY[:4], "CHANGED", *BODY[5:19], "-- looks like a header", "++ so does this", *BODY[20:]]
    write(
        folder,
        {
            "kept.py": text(changed),
            "gone.py": None,
            "crlf.txt": text([*BODY[:9], "CHANGED", *BODY[10:]], "\r\n"),
            "image.bin": b"\x00\x02",
            "latin.txt": "caf\xe9 2\n".encode("latin-1"),
            b'odd \xff\t"name".py': b"b\n",
            "naïve 文.py": b"b\n",
            "added/new.py": b"one\ntwo\n",
            "empty.py": b"",
            "no newline": b"a\nc",
        },
    )
    (folder / "moved to.py").write_bytes(text([*BODY[:14], "CHANGED", *BODY[15:]]))
    (folder / "moved from.py").unlink()
    (folder / "mode.sh").chmod(0o755)
    (folder / "retyped").unlink()
    (folder / "retyped").symlink_to("kept.py")
    git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    git("add", "-A")
    git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    git("commit", "-q", "-m", "b")
    head = git("rev-parse", "HEAD")

    repository = Repository(folder)
    files = {file.path: file for file in repository.changed_files(base, head)}
    odd = 'odd \uf0ff\uf009"name".py'
    status = {path: file.status.value for path, file in files.items()}
    assert status == {
        "added/new.py": "added",
        "crlf.txt": "modified",
        "empty.py": "added",
        "gone.py": "deleted",
        "image.bin": "modified",
        "kept.py": "modified",
        "latin.txt": "modified",
        "mode.sh": "modified",
        "module": "added",
        "moved to.py": "renamed",
        "naïve 文.py": "modified",
        "no newline": "modified",
        odd: "modified",
        "retyped": "type_changed",
    }
    assert files["moved to.py"].old_path == "moved from.py"
    assert files["image.bin"].binary and files["image.bin"].patch is None
    assert changed_lines(files["kept.py"], Side.NEW) == {5, 20, 21}
    assert changed_lines(files["kept.py"], Side.OLD) == {5, 20}
    assert changed_lines(files["moved to.py"], Side.NEW) == {15}
    assert changed_lines(files["crlf.txt"], Side.NEW) == {10}
    assert changed_lines(files["no newline"], Side.NEW) == {2}
    assert [len(h.lines) for h in parse_patch(files["kept.py"].patch or "")] == [8, 9]

    for path in ("kept.py", odd, "naïve 文.py", "no newline", "latin.txt"):  # every line is where git says it is
        content = repository.blob(head, path)
        assert content is not None
        lines = content.decode("utf-8", "replace").split("\n")
        for hunk in parse_patch(files[path].patch or ""):
            assert all(lines[x.new - 1] == x.text for x in hunk.lines if x.new is not None)

    oracle = PatchSet(git("diff", "-M", base, head, "--", "kept.py", "added/new.py", "gone.py"))
    for patched in oracle:
        mine = {line.target_line_no for hunk in patched for line in hunk if line.is_added}
        assert mine == changed_lines(files[patched.path], Side.NEW)


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


def arm(folder: Path, git: Git, marker: Path) -> None:
    """Everything in a repository that git could be talked into running writes `marker`."""
    script = folder / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> "{marker}"\ncat\n')
    script.chmod(0o755)
    hooks = folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    (folder / ".gitattributes").write_text("* filter=evil diff=evil text merge=evil\n")
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    for key, value in {
        "core.fsmonitor": str(script),
        "core.pager": str(script),
        "core.editor": str(script),
        "core.sshCommand": str(script),
        "core.askPass": str(script),
        "core.alternateRefsCommand": str(script),
        "credential.helper": str(script),
        "filter.evil.smudge": str(script),
        "filter.evil.clean": str(script),
        "diff.evil.command": str(script),
        "diff.evil.textconv": str(script),
        "diff.evil.cachetextconv": "false",
        "diff.external": str(script),
        "merge.evil.driver": str(script),
        "log.showSignature": "true",
        "gpg.program": str(script),
        "pager.diff-tree": str(script),
        "pager.log": str(script),
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "extensions.partialClone": "origin",
        "uploadpack.packObjectsHook": str(script),
        "alias.ls-tree": f"!{script}",
    }.items():
        git("config", key, value)


def test_nothing_in_a_repository_runs(tmp_path: Path, git: Git, commit: Commit) -> None:
    folder, marker = tmp_path / "repo", tmp_path / "MARKER"
    write(folder, {"a.py": b"one\ntwo\n", "b.bin": b"\x00"})
    base = commit()
    write(folder, {"a.py": b"one\nthree\n", "b.bin": b"\x01\x00", ".gitattributes": b"* filter=evil diff=evil\n"})
    head = commit()
    arm(folder, git, marker)
    git("status")
    assert marker.exists(), "the traps must spring for plain git, or this test shows nothing"
    marker.unlink()

    repository = Repository(folder)
    files = {file.path: file for file in repository.changed_files(base, head)}
    assert changed_lines(files["a.py"], Side.NEW) == {2}
    assert files["b.bin"].status is FileStatus.MODIFIED
    assert repository.blob(head, "a.py") == b"one\nthree\n"
    repository.paths(head)
    export_files(repository, head, tmp_path / "out")
    assert (tmp_path / "out" / "a.py").read_bytes() == b"one\nthree\n"
    assert repository.exists(head) and not repository.exists("1" * 40)
    for command in (("log", "-p", "--stat"), ("show", head), ("blame", head, "--", "a.py"), ("diff-tree", "-p", head)):
        repository.run(*command)
    repository.run("update-ref", "refs/heads/other", head)
    for url in ("origin", f"ext::{folder}/evil.sh", str(folder), f"file://{folder}", "ssh://host.invalid/x"):
        with pytest.raises(UserError):
            repository.run("fetch", url, "main")
    with pytest.raises(UserError):
        repository.run("cat-file", "-p", "2" * 40)
    assert not marker.exists(), marker.read_text()


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


def test_a_fetch_that_was_asked_for_works(tmp_path: Path, git: Git, commit: Commit) -> None:
    write(tmp_path / "repo", {"a": b"a\n"})
    head = commit()
    (tmp_path / "mirror").mkdir()
    mirror = Repository(tmp_path / "mirror")
    mirror.run("init", "-q", "--bare")
    with pytest.raises(UserError):
        mirror.run("fetch", "-q", f"file://{tmp_path}/repo", "main")
    mirror.run("fetch", "-q", f"file://{tmp_path}/repo", "main:refs/heads/main", protocols=("file",))
    assert mirror.blob(head, "a") == b"a\n"


def test_a_huge_change_is_not_held(tmp_path: Path, git: Git, commit: Commit) -> None:
    """A patch of many megabytes is left out, the small ones beside it are there."""
    folder = tmp_path / "repo"
    write(folder, {"a": b"1\n"})
    base = commit()
    write(folder, {"a": b"2\n", "huge": b"a line of some forty characters of text\n" * 150_000, "z": b"1\n"})
    files = {file.path: file for file in Repository(folder).changed_files(base, commit())}
    assert files["huge"].patch is None and not files["huge"].binary
    assert files["a"].patch == "@@ -1 +1 @@\n-1\n+2" and files["z"].patch == "@@ -0,0 +1 @@\n+1"


def test_a_path_that_no_record_holds_is_refused(tmp_path: Path) -> None:
    ids = write_history(tmp_path / "long", [Written({b"a": b"1"}), Written({b"/".join([b"d" * 200] * 21): b"x\n"})])
    with pytest.raises(UserError, match="whose path is not a path"):
        Repository(tmp_path / "long").changed_files(ids[0], ids[1])
