from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_forge import Forge, commit, git, serve
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Case, Change, FileStatus
from reviewgauge.datasets.files.code import DIFFS, Key, attach_code, fetch_code, mirror_path, read_diffs
from reviewgauge.repo.git.repository import Repository


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with serve(tmp_path / "forge") as made:
        yield made


@pytest.mark.slow
def test_the_diff_starts_at_the_merge_base(forge: Forge, tmp_path: Path) -> None:
    case = forge.add("owner/name")
    totals = fetch_code([case], tmp_path / "code", forge=forge.url)
    assert totals == (1, 0, ())
    forge.stop()  # from here on nothing can be fetched
    (found,), drops = attach_code([case], tmp_path / "code")
    assert drops == []
    files = {file.path: file for file in found.change.files}
    assert set(files) == {"a.py", "moved.py", "new.py"}  # and not main.py, which the main branch changed
    assert files["moved.py"].status is FileStatus.RENAMED and files["moved.py"].old_path == "gone.py"
    assert files["a.py"].patch is not None and "-two\n+TWO\n" in files["a.py"].patch
    assert found.change.base == forge.merge_bases[case.id] and found.change.head == case.change.head
    assert found.change.has_diff and not case.change.has_diff


@pytest.mark.slow
def test_the_mirror_holds_the_touched_files_and_is_partial_and_shallow(forge: Forge, tmp_path: Path) -> None:
    case = forge.add("owner/name", main_moves=30)
    assert fetch_code([case], tmp_path / "code", forge=forge.url).fetched == 1
    forge.stop()
    change = attach_code([case], tmp_path / "code")[0][0].change
    assert change.git is not None and change.base is not None and change.head is not None
    mirror = Repository(Path(change.git))
    assert mirror.blob(change.head, "a.py") == b"one\nTWO\nthree\n"
    assert mirror.blob(change.base, "gone.py") == b"x = 1\ny = 2\nz = 3\n"
    with pytest.raises(UserError):
        mirror.blob(change.head, "untouched.py")
    assert not (Path(change.git) / "hooks").exists()


@pytest.mark.slow
def test_a_nearer_merge_base_behind_the_cut_is_looked_for(forge: Forge, tmp_path: Path) -> None:
    """A long way leads to the true merge base, a short one (through a merge) to an older common ancestor."""
    case = forge.add("owner/name", main_moves=1)
    folder = forge.root / "owner" / "name.git"
    old = case.change.base or ""
    nearer = commit(folder, "nearer", late="late = 1\n")
    base = nearer
    for n in range(6):
        base = commit(folder, f"main {n}", main=f"m = {n}\n")
    git(folder, "checkout", "-q", nearer)
    for n in range(6):
        commit(folder, f"feature {n}", feature=f"f = {n}\n")
    head = git(folder, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", old, "-m", "short way")
    lone = git(folder, "commit-tree", f"{base}^{{tree}}", "-p", base, "-p", old, "-m", "short way")
    git(folder, "update-ref", "refs/pull/2/head", head)
    git(folder, "update-ref", "refs/pull/3/head", lone)
    change = case.change.model_copy(update={"base": lone, "head": head})
    case = case.model_copy(update={"change": change})
    assert fetch_code([case], tmp_path, forge=forge.url, depths=(2, 3, 50)).fetched == 1
    assert attach_code([case], tmp_path)[0][0].change.base == nearer


@pytest.mark.slow
def test_a_second_fetch_asks_for_nothing(forge: Forge, tmp_path: Path) -> None:
    cases = [forge.add("owner/one"), forge.add("owner/two")]
    seen: list[tuple[int, int, str]] = []
    fetch_code(cases, tmp_path, forge=forge.url, progress=lambda *call: seen.append(call))
    assert seen == [(1, 2, "owner/one"), (2, 2, "owner/two")]
    forge.stop()
    assert fetch_code(cases, tmp_path, forge=forge.url) == (0, 2, ())


@pytest.mark.slow
def test_what_fails_is_counted_and_tried_again(forge: Forge, tmp_path: Path) -> None:
    here, later = forge.add("owner/here"), forge.add("owner/later")
    gone = here.model_copy(update={"id": "owner/here#2", "change": here.change.model_copy(update={"head": "1" * 40})})
    hidden = forge.root / "owner" / "hidden.git"
    (forge.root / "owner" / "later.git").rename(hidden)
    totals = fetch_code([here, gone, later], tmp_path, forge=forge.url)
    assert (totals.fetched, totals.at_hand) == (1, 0)
    assert [drop.item for drop in totals.failed] == [
        f"owner/here {str(here.change.base)[:10]}...1111111111",
        "owner/later, 1 changes",
    ]
    assert all("\n" not in drop.reason and drop.reason for drop in totals.failed)
    made, drops = attach_code([here, gone, later], tmp_path)
    assert [case.change.has_diff for case in made] == [True, False, False]
    assert [drop.item for drop in drops] == ["owner/here#2", "owner/later#1"]
    hidden.rename(forge.root / "owner" / "later.git")
    totals = fetch_code([here, later], tmp_path, forge=forge.url)
    assert totals == (1, 1, ())


@pytest.mark.slow
def test_a_half_written_line_is_done_again(forge: Forge, tmp_path: Path) -> None:
    cases = [forge.add("owner/one"), forge.add("owner/two")]
    fetch_code(cases, tmp_path, forge=forge.url)
    file = tmp_path / DIFFS
    file.write_bytes(file.read_bytes()[:-20])
    assert fetch_code(cases, tmp_path, forge=forge.url) == (1, 1, ())
    assert len(read_diffs(tmp_path)) == 2


@pytest.mark.slow
def test_unrelated_histories_have_no_diff(forge: Forge, tmp_path: Path) -> None:
    case = forge.add("owner/name")
    folder = forge.root / "owner" / "name.git"
    git(folder, "checkout", "-q", "--orphan", "lone")
    lone = commit(folder, "lone")
    case = case.model_copy(update={"change": case.change.model_copy(update={"head": lone})})
    totals = fetch_code([case], tmp_path, forge=forge.url)
    assert totals.fetched == 0 and "no common ancestor" in totals.failed[0].reason


@pytest.mark.parametrize(("repo", "base", "head"), [
    ("owner/name", "--upload-pack=touch x", "b" * 40),
    ("owner/name", "a" * 40, "main"), ("owner/name", None, "b" * 40), ("name", "a" * 40, "b" * 40),
    ("owner/name --x", "a" * 40, "b" * 40),
])  # fmt: skip
def test_odd_commits_and_names_never_reach_git(tmp_path: Path, repo: str, base: str | None, head: str) -> None:
    case = Case(id="c", change=Change(repo=repo, base=base, head=head))
    totals = fetch_code([case], tmp_path, forge="git://127.0.0.1:1")
    assert (totals.fetched, len(totals.failed)) == (0, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("forge_url", ["ext::sh -c id", "file:///tmp", "/tmp", "https://x\n[core]", '-c"'])
def test_a_forge_is_an_address(tmp_path: Path, forge_url: str) -> None:
    with pytest.raises(UserError, match="not the address of a forge"):
        fetch_code([], tmp_path, forge=forge_url)


def test_names_and_files(tmp_path: Path) -> None:
    assert mirror_path(tmp_path, "a/b.c") == tmp_path / "a+b.c.git"
    for name in ("../x", "a/..", "a", "a/b/c"):
        with pytest.raises(UserError):
            mirror_path(tmp_path, name)
    assert read_diffs(tmp_path) == {}
    assert attach_code([], tmp_path) == ([], [])
    (tmp_path / DIFFS).write_bytes(b'{"repo": 1}\n')
    with pytest.raises(BadInput, match="delete"):
        read_diffs(tmp_path)
    assert Key("a/b", "c", "d") == ("a/b", "c", "d")
