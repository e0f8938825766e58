"""Workspaces: scrubbed checkouts for reviewers that read or run in code, in which nothing later than head exists.

A workspace is a repository of its own with one branch and no remote, tag, reflog, alternate or other object than what
that branch reaches. Files are written from blobs by this module, never by git's checkout: no filter, attribute,
hook or submodule applies. By default its history is two commits made here, the base and the head on top of it:
that is the same for every repository, however long its history, shallow or partial, costs the same in a large one,
and its commit ids cannot be looked up at a forge, where reviews of the change may be. With `history` the real
commits come along under their real ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.folders import MODULE, read_tree, scratch_folder, write_files
from reviewgauge.repo.git.repository import Repository, TreeEntry, check_commit
from reviewgauge.repo.mirrors.objects import (
    NotAllThere,
    common_folder,
    copy_objects,
    cuts,
    object_format,
    plain_config,
    present,
)
from reviewgauge.repo.paths import encode_path

BRANCH = "review"
_CONFIG = """[core]
\tbare = false
\tsymlinks = false
\tlogAllRefUpdates = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\tfsmonitor = false
\tautocrlf = false
[protocol]
\tallow = never
[submodule]
\trecurse = false
"""
_BY = "reviewgauge <reviewgauge@localhost>"


@dataclass(frozen=True)
class Workspace:
    """A folder with code in it. `base` and `head` are its commits; `left_out` are files that are not as they were."""

    folder: Path
    head: str
    base: str | None
    left_out: tuple[Drop, ...] = ()

    def __fspath__(self) -> str:
        return str(self.folder)


@contextmanager
def workspace(
    repository: Repository,
    head: str,
    base: str | None = None,
    *,
    history: bool = False,
    whole: bool = True,
    hidden: Callable[[str], bool] | None = None,
    within: Path | None = None,
) -> Iterator[Workspace]:
    """A scrubbed checkout of `head` in a new folder, which is removed afterwards with everything in it.

    With `history` it has every real commit that head reaches, else two commits made here. A base that is not an
    ancestor of head is replaced by their merge base: it may be later than head.
    `whole=False` accepts missing files: by default a file that the repository lacks (a partial
    mirror) is an error. Files whose path is `hidden` are in the commits and not in the folder, and git reports no
    change for them. `within` is the folder to work in, the system's own for temporary files by default.
    Raises UserError.
    """
    head, base = _full_ids(repository, head, base)
    with scratch_folder(within) as top:
        try:
            (top / "code").mkdir()
            maker = _WorkspaceMaker(repository, top / "code", whole, hidden or (lambda path: False))
            made = maker.with_history(head, base) if history else maker.snapshot(head, base)
        except OSError as error:
            raise UserError(f"cannot make a workspace in {top}: {error.strerror}") from None
        yield made


def workspace_problem(repository: Repository, head: str, base: str | None = None) -> tuple[str, str] | None:
    """Why no workspace can be made, as (reason, details); None where one can."""
    for role, name in (("head", head), ("base", base)):
        if name is not None and not repository.exists(name):
            return f"its {role} commit is not in the mirror", name
    try:
        for commit in _full_ids(repository, head, base):
            if commit is not None and (found := read_tree(repository, commit)).missing:
                return "not all of its files are in the mirror", found.words(repository.name, commit)
    except UserError as error:
        return "its commits cannot be read", str(error)
    return None


def _full_ids(repository: Repository, head: str, base: str | None) -> tuple[str, str | None]:
    """The ids of head and base; the merge base where the base is not an ancestor of head."""
    head = _commit_id(repository, head)
    return head, None if base is None else _base(repository, head, _commit_id(repository, base))


def _commit_id(repository: Repository, name: str) -> str:
    check_commit(name)
    if not repository.git_dir.is_dir():
        raise UserError(
            f"there is no repository at {repository.git_dir}", remedy="check whether its folder was moved or removed"
        )
    try:
        found = repository.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except UserError:
        raise UserError(f"{repository.name} has no commit {name}") from None
    return found.decode("ascii").strip()


def _base(repository: Repository, head: str, base: str) -> str:
    """`base`, or the merge base where it is not an ancestor of `head`."""
    try:
        return repository.run("merge-base", base, head).decode("ascii").split()[0]
    except UserError:  # none, or history is cut before it
        if _seconds(repository, base) > _seconds(repository, head):
            pair = f"base {base[:12]} is later than head {head[:12]}"
            raise UserError(f"{pair}, and no common ancestor of them is in {repository.name}") from None
        return base


def _seconds(repository: Repository, commit: str) -> int:
    """When it was committed, in seconds since 1970."""
    return int(repository.run("rev-list", "--no-walk", "--timestamp", commit).split()[0])


@dataclass(frozen=True)
class _WorkspaceMaker:
    """Makes a workspace from the objects of `source` in the empty `folder`."""

    source: Repository
    folder: Path
    whole: bool
    hidden: Callable[[str], bool]

    def snapshot(self, head: str, base: str | None) -> Workspace:
        """Two commits made here, base and head; one where there is no base. The same input gives the same ids."""
        git = self._repository()
        trees = {commit: self._usable(commit) for commit in (base, head) if commit is not None}
        blobs = dict.fromkeys(entry.id for entries, _ in trees.values() for entry in entries if entry.mode != MODULE)
        self._copy(git, blobs, "--window=0")
        ids: dict[str, str] = {}
        for commit, (entries, _) in trees.items():  # the last one stays in the index
            _fill_index(git, entries)
            tree = git.run("write-tree").decode("ascii").strip()
            text = _commit_text(tree, list(ids.values()), _seconds(self.source, commit))
            printed = git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
            ids[commit] = printed.decode("ascii").strip()
        return self._finish(git, Workspace(self.folder, ids[head], None if base is None else ids[base]), *trees[head])

    def with_history(self, head: str, base: str | None) -> Workspace:
        """The real commits."""
        git = self._repository()
        cut = cuts(common_folder(self.source))
        _write_cuts(git, cut)
        asked = [*(f"--shallow {commit}" for commit in sorted(cut)), head]
        self._copy(git, asked, "--revs", "--shallow", *([] if self.whole else ["--missing=allow-any"]))
        _write_cuts(git, present(git, sorted(cut)))  # git does not accept a cut at a commit that it does not have
        entries, left_out = self._usable(head)
        _fill_index(git, entries)
        return self._finish(git, Workspace(self.folder, head, base), entries, left_out)

    def _repository(self) -> Repository:
        git = self.folder / ".git"
        for part in ("objects", "refs/heads"):
            (git / part).mkdir(parents=True)
        (git / "config").write_text(plain_config(object_format(self.source)) + _CONFIG)
        (git / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n")
        return Repository(self.folder)

    def _copy(self, git: Repository, asked: Iterable[str], *options: str) -> None:
        try:
            copy_objects(self.source, git, asked, *options)
        except NotAllThere as error:
            raise UserError(
                f"{self.source.name} does not hold all that a workspace needs: {error.problem}", remedy=_PARTIAL
            ) from None

    def _usable(self, commit: str) -> tuple[list[TreeEntry], list[Drop]]:
        found = read_tree(self.source, commit)
        if found.missing and self.whole:
            raise UserError(found.words(self.source.name, commit), remedy=_PARTIAL)
        return found.entries, found.left_out

    def _finish(
        self, git: Repository, made: Workspace, entries: Sequence[TreeEntry], left_out: Sequence[Drop]
    ) -> Workspace:
        """Write the files and the refs."""
        (git.git_dir / "refs" / "heads" / BRANCH).write_text(f"{made.head}\n")
        out_of_sight = [entry for entry in entries if self.hidden(entry.path)]
        if out_of_sight:
            paths = b"".join(encode_path(entry.path) + b"\x00" for entry in out_of_sight)
            git.run("update-index", "--skip-worktree", "-z", "--stdin", stdin=paths)
        hidden = {entry.path for entry in out_of_sight}
        drops = [*left_out, *(Drop(item=path, by="workspace", reason=_HIDDEN) for path in sorted(hidden))]
        drops += write_files(self.source, self.folder, [entry for entry in entries if entry.path not in hidden])
        return replace(made, left_out=tuple(drops))


_PARTIAL = "fetch the whole repository, or accept missing files with whole=False"
_HIDDEN = "was left out of the folder"


def _fill_index(git: Repository, entries: Sequence[TreeEntry]) -> None:
    (git.git_dir / "index").unlink(missing_ok=True)
    lines = (b"%s %s\t%s\x00" % (e.mode.encode(), e.id.encode(), encode_path(e.path)) for e in entries)
    git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))


def _commit_text(tree: str, parents: Sequence[str], seconds: int) -> bytes:
    by = f"{_BY} {seconds} +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {by}", f"committer {by}"]
    return "\n".join([*lines, "", "head" if parents else "base", ""]).encode()


def _write_cuts(git: Repository, cut: Collection[str]) -> None:
    file = git.git_dir / "shallow"
    file.write_text("".join(f"{commit}\n" for commit in sorted(cut)))
    if not cut:
        file.unlink()
