"""Bare mirrors: the repositories that a benchmark reads its code from.

A mirror holds what its source's branches and tags reach, in packs of its own, and nothing else of it: no configuration,
hooks, alternates, grafts, replaced objects, stashes or objects that nothing reaches. Every object's id is
computed again on the way in, so that it matches the content. Nothing is ever pruned from a mirror, and a second call
brings only what is new.
"""

from __future__ import annotations

import base64
import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import REMEDY, check_tree, write_whole
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.git.containment import check_own
from reviewgauge.repo.git.repository import Repository, is_full, no_room
from reviewgauge.repo.mirrors.objects import (
    NotAllThere,
    common_folder,
    copy_objects,
    cuts,
    missing_objects,
    object_format,
    plain_config,
    present,
)

REFS = ("refs/heads", "refs/tags", "refs/remotes")
"""What is taken from a local repository besides its HEAD: no stash, notes or replaced objects."""

_OWN = "refs/reviewgauge/"  # refs that are a mirror's own, and stay when its source loses what they name
_HEAD = _OWN + "HEAD"
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ELSEWHERE = "commondir"  # names the folder that git keeps refs and objects in instead


# --- from a repository on this machine -----------------------------------------------------------------------------


def mirror_local(source: Path, target: Path, refs: Sequence[str] = REFS) -> Repository:
    """Mirror what HEAD and `refs` of `source` reach in a bare repository at `target`; a second call adds what is new.

    `source` may be bare, a checkout, a linked work tree, shallow or partial (see `missing_objects`); the mirror is
    then the same. Where HEAD of `source` names no commit, that of the mirror names none either. Raises UserError for
    what is not a repository, is empty, is damaged, or borrows its objects.
    """
    theirs = _open(source)
    wanted, head = _refs(theirs, refs, source)
    mirror = _open_mirror(target, object_format(theirs))
    known = _known_refs(mirror)
    cut = cuts(common_folder(theirs))
    stale = cut != cuts(target)  # history was deepened or cut since: what is here says nothing of what is missing
    have = frozenset() if stale else frozenset(known.values())
    if missing := sorted(frozenset(wanted.values()) - have):
        _copy(theirs, mirror, missing, sorted(have), source)
    _write(target / "shallow", "".join(f"{commit}\n" for commit in sorted(cut)))
    own = {name: commit for name, commit in known.items() if name.startswith(_OWN)}
    _write_refs(target, wanted | own | ({_HEAD: wanted["HEAD"]} if "HEAD" in wanted else {}))
    _write(target / "HEAD", f"{head}\n")
    return mirror


def _open(source: Path) -> Repository:
    if not source.exists():
        raise UserError(f"{source} does not exist", remedy="name a folder that holds a git repository")
    repository = Repository(source)
    if not (repository.git_dir / "HEAD").is_file():
        raise UserError(
            f"{source} is not a git repository", remedy="name the folder that holds .git, or a bare repository"
        )
    check_own(source)
    return repository


def _refs(repository: Repository, patterns: Sequence[str], source: Path) -> tuple[dict[str, str], str]:
    """(ref to object id, HEAD included where it names a commit), and what the mirror's HEAD file is to say."""
    found = _list_refs(repository, *patterns)
    try:
        head = repository.run("rev-parse", "--verify", "--quiet", "HEAD").decode("ascii").strip()
    except UserError:
        if not found:
            raise UserError(f"{source} has no commits", remedy="name a repository with a history") from None
        return found, "ref: refs/heads/none"
    branch = repository.run("rev-parse", "--symbolic-full-name", "HEAD").decode("utf-8", "surrogateescape").strip()
    return {"HEAD": head, **found}, f"ref: {branch}" if found.get(branch) == head else head


def _copy(theirs: Repository, mirror: Repository, wanted: Sequence[str], have: Sequence[str], source: Path) -> None:
    """Bring what `wanted` reach and `have` do not. Raises UserError where it is not all there.

    What a partial repository never fetched is skipped, and is missing in the mirror too.
    """
    asked = [*wanted, *(f"^{oid}" for oid in present(theirs, have))]
    partial = missing_objects(theirs).partial
    try:
        copy_objects(theirs, mirror, asked, "--revs", *(["--missing=allow-any"] if partial else []))
    except NotAllThere as error:
        if is_full(error.problem):
            raise no_room(mirror.git_dir) from None
        if partial:
            message = f"{source} is a partial clone that lacks more than the content of files: {error.problem}"
            raise UserError(message, remedy="clone it again without --filter") from None
        raise UserError(
            f"{source} is damaged: {error.problem}", remedy="run git fsck for details, or clone it again"
        ) from None
    if partial:  # the mirror says of itself that it is
        for pack in (mirror.git_dir / "objects" / "pack").glob("*.pack"):
            pack.with_suffix(".promisor").touch()


# --- from a forge --------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"([a-z]+)://([A-Za-z0-9.:\[\]-]*)(/[A-Za-z0-9_.~+%/-]*)")
_BRANCH = re.compile(r"[A-Za-z0-9_./@+-]+")
_GONE = re.compile(r"not our ref|couldn't find remote ref|no such remote ref|bad object|unadvertised object", re.I)
_UNKNOWN = re.compile(
    r"repository .{0,1000}not found|does not appear to be a git repository|returned error: (?:404|410)", re.I
)
_DENIED = re.compile(r"authentication failed|could not read (?:username|password)|returned error: 40[13]", re.I)
_MOVED = re.compile(r"returned error: 30\d|unable to update url base from redirection", re.I)
_SECONDS = 3600.0  # of one request
_AT_ONCE = 100  # commits of one request: what is lost when it breaks


class Gone(UserError):
    """The forge does not have the repository, or does not show it to this account."""


def mirror_remote(
    url: str, target: Path, branch: str, protocols: Sequence[str] = ("https",), *, token: str = ""
) -> Repository:
    """Mirror a branch of the repository at `url` in a bare repository at `target`, whose HEAD names it.

    `url` comes from the user's own configuration and holds no password; `token` goes to its host alone, and is on no
    command line and in no file. A request may take an hour, and a minute without a byte. Redirects are not followed.
    Raises UserError, Gone, and Failed for problems of the network.
    """
    _check_address(url, protocols)
    if not _BRANCH.fullmatch(branch) or ".." in branch:
        raise UserError(f"{branch!r} is not the name of a branch", remedy="main")
    remote = _Remote(url, _open_mirror(target, "sha1"), tuple(protocols), token)
    remote.fetch([f"+refs/heads/{branch}:refs/heads/{branch}"])
    remote.mirror.run("pack-refs", "--all")
    _write(target / "HEAD", f"ref: refs/heads/{branch}\n")
    return remote.mirror


def fetch_commits(
    url: str,
    target: Path,
    commits: Iterable[str],
    protocols: Sequence[str] = ("https",),
    *,
    token: str = "",
) -> dict[str, str]:
    """Fetch `commits` (full ids) and all that they reach into the mirror at `target`; returns why some are unavailable.

    Present commits are not fetched. Commits come a hundred at a time and are kept by refs of the mirror's own, so a
    killed call goes on where it was. Otherwise as `mirror_remote`.
    """
    _check_address(url, protocols)
    remote = _Remote(url, _open_mirror(target, "sha1"), tuple(protocols), token)
    wanted = list(dict.fromkeys(commits))
    unavailable = {commit: "is not a full commit id" for commit in wanted if not _ID.fullmatch(commit)}
    present_ids = set(present(remote.mirror, [commit for commit in wanted if commit not in unavailable]))
    missing = [commit for commit in wanted if commit not in unavailable and commit not in present_ids]
    for start in range(0, len(missing), _AT_ONCE):
        unavailable |= remote.fetch_commits(missing[start : start + _AT_ONCE])
    remote.mirror.run("pack-refs", "--all")
    return unavailable


def _check_address(url: str, protocols: Sequence[str]) -> None:
    parts = _ADDRESS.fullmatch(url)
    if parts is None or parts[1] not in protocols or ".." in url:
        scheme, _, rest = url.partition("//")
        shown = f"{scheme}//***@{rest.rpartition('@')[2]}" if "@" in rest else url
        raise UserError(
            f"{shown} is not an {' or '.join(protocols)} address",
            remedy="https://HOST/OWNER/NAME.git, without a password",
        )


@dataclass(frozen=True)
class _Remote:
    """One remote repository while a mirror is filled from it."""

    url: str
    mirror: Repository
    protocols: tuple[str, ...]
    token: str

    def fetch(self, refspecs: Sequence[str]) -> None:
        options = ("--quiet", "--no-tags", "--force", "--stdin", self.url)
        lines = "".join(f"{refspec}\n" for refspec in refspecs).encode()
        settings = {"http.followRedirects": "false", "http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}
        secret = base64.b64encode(f"x-access-token:{self.token}".encode()).decode("ascii")
        if self.token:  # bound to the address's host
            host = urllib.parse.urlsplit(self.url)
            settings[f"http.{host.scheme}://{host.netloc}/.extraHeader"] = f"Authorization: Basic {secret}"
        try:
            self.mirror.run(
                "fetch", *options, stdin=lines, protocols=self.protocols, settings=settings, seconds=_SECONDS
            )
        except UserError as error:
            message = error.problem.rpartition("fatal: ")[2].replace(secret, "***")
            raise self._explained(message.replace(self.token, "***") if self.token else message) from None

    def fetch_commits(self, commits: Sequence[str]) -> dict[str, str]:
        """Fetch commits; why some are unavailable. One of them makes a request fail, so a failed request is halved."""
        try:
            self.fetch([f"+{commit}:{_OWN}{commit}" for commit in commits])
        except UserError as error:
            if isinstance(error, Gone | Failed) or not _GONE.search(error.problem):
                raise
            if len(commits) == 1:
                return {commits[0]: "the forge no longer has the commit"}
            half = len(commits) // 2
            return self.fetch_commits(commits[:half]) | self.fetch_commits(commits[half:])
        return {}

    def _explained(self, message: str) -> UserError:
        """The error that git's message means."""
        if _GONE.search(message):
            return UserError(message)
        if _UNKNOWN.search(message):
            return Gone(f"{self.url}: the repository does not exist, or this token may not see it")
        if _MOVED.search(message):
            return Gone(f"{self.url}: the repository has moved", remedy="name it by its new name")
        if _DENIED.search(message):
            remedy = "name another token" if self.token else "a private repository needs a token"
            return Failed(FailureKind.REQUEST, f"{self.url}: not allowed: {message}", remedy=remedy, stops=True)
        kind = FailureKind.TIMEOUT if "took longer than" in message else FailureKind.NETWORK
        again = "run the same command again: it continues where it stopped"
        return Failed(kind, f"{self.url}: {message}", remedy=again)


# --- the mirror itself ---------------------------------------------------------------------------------------------


def _open_mirror(target: Path, form: str = "sha1") -> Repository:
    """The bare repository at `target`, made where there is none, with a configuration of ours in either case.

    Raises UserError for one that may be somebody else's, and leads elsewhere.
    """
    try:
        check_tree(target)
        if (target / _ELSEWHERE).exists():
            raise UserError(f"{target / _ELSEWHERE} leads out of the folder", remedy=REMEDY)
        for part in ("objects/pack", "objects/info", "refs/heads"):
            (target / part).mkdir(parents=True, exist_ok=True)
        if not (target / "HEAD").is_file():
            _write(target / "HEAD", "ref: refs/heads/main\n")
        _write(target / "config", plain_config(form))
        (target / "objects" / "info" / "alternates").unlink(missing_ok=True)
        for leftover in (target / "objects" / "pack").glob("tmp_*"):
            leftover.unlink()
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    return Repository(target)


def _known_refs(mirror: Repository) -> dict[str, str]:
    """The mirror's refs, which are all in one file; what they name is here with all that it reaches."""
    mirror.run("pack-refs", "--all")
    return _list_refs(mirror)


def _list_refs(repository: Repository, *patterns: str) -> dict[str, str]:
    """The object id of each ref."""
    printed = repository.run("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
    lines = printed.decode("utf-8", "surrogateescape").splitlines()
    return {name: oid for oid, name in (line.split(" ", 1) for line in lines)}


def _write_refs(target: Path, refs: Mapping[str, str]) -> None:
    refs = {name: oid for name, oid in refs.items() if name.startswith("refs/")}
    _write(target / "packed-refs", "".join(f"{oid} {name}\n" for name, oid in sorted(refs.items())))


def _write(file: Path, text: str) -> None:
    """Write all of the text or nothing; an empty text removes the file."""
    if text:
        write_whole(file, text.encode("utf-8", "surrogateescape"))
    else:
        file.unlink(missing_ok=True)
