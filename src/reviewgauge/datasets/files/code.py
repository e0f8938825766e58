"""Fetches the code behind a data set's changes: one shallow, partial, bare mirror per repository, and the diffs.

A mirror holds the commits back to each change's merge base, and the trees and touched files of both sides.
The diff of a change is `base...head`: from the merge base of the two commits to the head, as a pull request shows it.
(From `base` itself it would also revert what the main branch did meanwhile.) Each finished change is a line of
`changes.jsonl` beside the mirrors, so an interrupted fetch resumes, and reading needs no git.
"""

from __future__ import annotations

import re
import urllib.parse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import Id, Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import write_whole, writing
from reviewgauge.core.parsing import records
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Change, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository

GITHUB = "https://github.com"
DEPTHS = (1000, 10_000, 2**31 - 1)  # commits to look back for the merge base, tried in turn; the last means all
CODE = "code"  # the folder beside a data set's files
DIFFS = "changes.jsonl"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPO = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_FORGE = re.compile(r"(https?|git|ssh)://[A-Za-z0-9_.:@\[\]-]+(/[A-Za-z0-9_./~-]*)?")
# A mirror's own configuration. Objects that are not here are known to be at the origin, and nothing is ever pruned.
# "noop": git must not tell the origin which commits are here, or it would leave out the trees and files that it takes
# for granted with them. A connection that stands still for a minute is given up.
_CONFIG = """[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = {url}
\tpromisor = true
\tpartialclonefilter = blob:none
[gc]
\tauto = 0
[http]
\tlowSpeedLimit = 1
\tlowSpeedTime = 60
"""


class Diff(Record):
    """One line of `changes.jsonl`: the diff of a change, from `merge_base` to `head`."""

    repo: Id
    base: str
    head: str
    merge_base: str
    files: tuple[ChangedFile, ...]


class Key(NamedTuple):
    """The key of a diff."""

    repo: str
    base: str
    head: str


class CodeTotals(NamedTuple):
    """Changes fetched now, changes fetched before, and each failure with its reason."""

    fetched: int
    at_hand: int
    failed: tuple[Drop, ...]


def is_address(url: str) -> bool:
    """Whether `url` is the address of a git server, and not a path of this machine or an option of git's."""
    return _FORGE.fullmatch(url) is not None


def mirror_path(folder: Path, repo: str) -> Path:
    """The mirror of `owner/name` below `folder`. Raises UserError for any other name."""
    if not _REPO.fullmatch(repo):
        raise UserError(f"{repo!r} is not a repository's name", remedy="owner/name")
    return folder / (repo.replace("/", "+") + ".git")


def fetch_code(
    cases: Iterable[Case],
    folder: Path,
    *,
    forge: str = GITHUB,
    path: str = "{owner}/{name}",
    progress: Progress | None = None,
    depths: Sequence[int] = DEPTHS,
) -> CodeTotals:
    """Fetch the commits of every case into mirrors below `folder`, and write their diffs.

    `forge` is the address that the `path` of each repository and `.git` are appended to; `depths` are the numbers of
    commits to look back for the merge base, tried in turn. Repositories and changes that cannot be fetched are skipped
    and reported; a second run fetches only what is missing. Raises UserError for a forge that is not an address.
    """
    if not is_address(forge):
        raise UserError(f"{forge!r} is not the address of a forge", remedy=GITHUB)
    wanted, failed = _wanted(cases)
    folder.mkdir(parents=True, exist_ok=True)
    _cut_partial_line(folder / DIFFS)
    there = read_diffs(folder)
    missing: defaultdict[str, list[Key]] = defaultdict(list)
    for key in wanted:
        if key not in there:
            missing[key.repo].append(key)
    at_hand = fetched = len(wanted) - sum(map(len, missing.values()))
    for repo, keys in missing.items():
        diffs, drops = _fetch_repository(repo, keys, folder, _address(forge, path, repo), depths)
        _append(folder / DIFFS, diffs)
        failed.extend(drops)
        fetched += len(diffs)
        if progress is not None:
            progress(fetched, len(wanted), repo)
    return CodeTotals(fetched - at_hand, at_hand, tuple(failed))


def attach_code(cases: Iterable[Case], folder: Path) -> tuple[list[Case], list[Drop]]:
    """The cases with their diffs and mirrors, and a Drop for each that was not fetched.

    `Change.base` becomes the merge base, which is the old side of the diff and of every comment.
    """
    if not (folder / DIFFS).is_file():  # nobody fetched any
        return list(cases), []
    diffs = read_diffs(folder)
    attached: list[Case] = []
    drops: list[Drop] = []
    for case in cases:
        change = case.change
        diff = diffs.get(_key(change))
        if diff is None:
            drops.append(Drop(item=case.id, by="code", reason="its commits were not fetched: no diff"))
            attached.append(case)
            continue
        mirror = mirror_path(folder, change.repo)
        update = {"base": diff.merge_base, "files": diff.files, "git": str(mirror) if mirror.is_dir() else None}
        attached.append(case.model_copy(update={"change": change.model_copy(update=update)}))
    return attached, drops


def read_diffs(folder: Path) -> Mapping[Key, Diff]:
    """The finished diffs below `folder`, empty where none were fetched."""
    file = folder / DIFFS
    if not file.is_file():
        return {}
    try:
        with file.open("rb") as stream:
            return {Key(diff.repo, diff.base, diff.head): diff for diff in records(Diff, stream, file.name)}
    except BadInput as error:
        raise BadInput(error.source, error.problem, remedy=f"delete {file} and get the code again") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _wanted(cases: Iterable[Case]) -> tuple[list[Key], list[Drop]]:
    keys: dict[Key, None] = {}
    drops = []
    for case in cases:
        key = _key(case.change)
        if _COMMIT.fullmatch(key.base) and _COMMIT.fullmatch(key.head) and _REPO.fullmatch(key.repo):
            keys[key] = None
        else:
            reason = "does not name a repository with full base and head commits"
            drops.append(Drop(item=case.id, by="code", reason=reason))
    return list(keys), drops


def _key(change: Change) -> Key:
    return Key(change.repo, change.base or "", change.head or "")


def _cut_partial_line(file: Path) -> None:
    """Remove a partly written last line, so that its change is fetched again."""
    if not file.is_file():
        return
    whole = file.read_bytes()
    if whole and not whole.endswith(b"\n"):
        with file.open("r+b") as stream:
            stream.truncate(whole.rfind(b"\n") + 1)


def _append(file: Path, diffs: Sequence[Diff]) -> None:
    try:
        with writing(file, append=True) as stream:
            stream.writelines(diff.to_line() for diff in diffs)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None


def _address(forge: str, path: str, repo: str) -> str:
    owner, _, name = repo.partition("/")
    return f"{forge.rstrip('/')}/{path.format(owner=owner, name=name)}.git"


def _fetch_repository(
    repo: str, keys: Sequence[Key], folder: Path, url: str, depths: Sequence[int]
) -> tuple[list[Diff], list[Drop]]:
    protocol = urllib.parse.urlsplit(url).scheme
    try:
        mirror = _Mirror(mirror_path(folder, repo), url, protocol, depths)
        lost = mirror.fetch_commits([commit for key in keys for commit in (key.base, key.head)])
    except UserError as error:
        return [], [Drop(item=f"{repo}, {len(keys)} changes", by="code", reason=_reason(error))]
    diffs: list[Diff] = []
    drops: list[Drop] = []
    for key in keys:
        gone = [commit for commit in (key.base, key.head) if commit in lost]
        try:
            if gone:
                raise UserError(lost[gone[0]])
            diffs.append(mirror.diff(key))
        except UserError as error:
            drops.append(Drop(item=f"{repo} {key.base[:10]}...{key.head[:10]}", by="code", reason=_reason(error)))
    return diffs, drops


def _reason(error: UserError) -> str:
    """The last message of git, without its hints."""
    return error.problem.rpartition("fatal: ")[2]


class _Mirror:
    """One repository's mirror while it is being filled."""

    def __init__(self, path: Path, url: str, protocol: str, depths: Sequence[int]) -> None:
        self.git, self.protocols, self.depths = Repository(path), (protocol,), depths
        if not (path / "HEAD").is_file():
            path.mkdir(parents=True, exist_ok=True)
            self.git.run("init", "--bare", "--quiet")
        write_whole(path / "config", _CONFIG.format(url=url).encode())

    def fetch_commits(self, commits: Sequence[str]) -> dict[str, str]:
        """Fetch the commits at the first depth; returns those that the origin does not have, with the reason."""
        wanted = list(dict.fromkeys(commits))
        try:
            self._fetch_commits(wanted, self.depths[0])
        except UserError as together:
            if len(wanted) == 1 or "not our ref" not in together.problem:
                raise
            lost = {}
            for commit in wanted:  # one missing commit makes the whole request fail
                try:
                    self._fetch_commits([commit], self.depths[0])
                except UserError as error:
                    lost[commit] = _reason(error)
            return lost
        return {}

    def diff(self, key: Key) -> Diff:
        """The diff of one change, with the trees and the touched files of both sides fetched first."""
        merge_base = self._merge_base(key)
        self._fetch_objects([self._tree(merge_base), self._tree(key.head)])
        listed = self.git.run("diff-tree", "-r", "--raw", "--no-renames", "--full-index", "-z", merge_base, key.head)
        self._fetch_objects(_blobs(listed))
        files = self.git.changed_files(merge_base, key.head)
        return Diff(repo=key.repo, base=key.base, head=key.head, merge_base=merge_base, files=files)

    def _tree(self, commit: str) -> str:
        # rev-parse would ask for the tree itself, which is not here yet.
        return self.git.run("rev-list", "--no-walk", "--format=%T", commit).decode("ascii").split()[-1]

    def _merge_base(self, key: Key) -> str:
        for depth in (*self.depths[1:], 0):
            found = self._visible_merge_base(key, final=not depth)
            if found:
                return found
            if depth:
                self._fetch_commits([key.base, key.head], depth)
        raise UserError("base and head have no common ancestor")

    def _visible_merge_base(self, key: Key, final: bool) -> str:
        """The merge base within the fetched history; empty where there is none, or where a nearer one may be cut off.

        A nearer merge base could only be behind a cut that is younger than the one found.
        """
        try:
            found = self.git.run("merge-base", key.base, key.head).decode("ascii").strip()
        except UserError:
            return ""
        if final:
            return found
        when = int(self.git.run("rev-list", "--no-walk", "--timestamp", found).split()[0])
        ends = self.git.run("rev-list", "--max-parents=0", "--timestamp", key.base, key.head).decode("ascii")
        stamps = [int(stamp) for stamp, commit in map(str.split, ends.splitlines()) if commit != found]
        return found if all(stamp < when for stamp in stamps) else ""

    def _fetch_commits(self, commits: Sequence[str], depth: int) -> None:
        # Refs keep the commits from ever being pruned. Commits alone are small: trees and files come for two of them.
        refs = [f"+{commit}:refs/reviewgauge/{commit}" for commit in commits]
        options = ("--quiet", "--no-tags", f"--depth={depth}", "--filter=tree:0")
        self.git.run("fetch", *options, "origin", *refs, protocols=self.protocols)

    def _fetch_objects(self, objects: Sequence[str]) -> None:
        if objects:
            options = ("--quiet", "--no-tags", "--filter=blob:none", "--stdin", "origin")
            self.git.run("fetch", *options, stdin="\n".join(objects).encode() + b"\n", protocols=self.protocols)


def _blobs(listed: bytes) -> list[str]:
    """The blobs on both sides of `diff-tree --raw -z`, without submodules."""
    entries = (entry[1:].decode("ascii").split(" ") for entry in listed.split(b"\x00") if entry.startswith(b":"))
    sides = (side for entry in entries for side in zip(entry[:2], entry[2:4], strict=True))
    return list(dict.fromkeys(blob for mode, blob in sides if mode not in _NO_BLOB))


_NO_BLOB = {"000000", "160000"}
