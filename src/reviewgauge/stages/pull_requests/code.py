"""Reads the code of pull requests: from a git mirror where git reaches the forge, else from patches of the API."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.building import BuildContext
from reviewgauge.core.errors import UserError
from reviewgauge.core.history import PullRequest, Revision
from reviewgauge.core.json_reader import Json, nodes, number, text
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.core.results import Failed
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.pulls import read_files
from reviewgauge.repo.forge.reading import PullReader, Raw
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import first_mentions, push_time
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import REFS, fetch_commits, mirror_local, mirror_remote
from reviewgauge.stages.pull_requests.candidates import LARGEST_FILE, merge_base

CodeFrom = Literal["auto", "mirror", "api"]
CLONE_REFS = ("refs/pull", "refs/reviewgauge")  # the refs of GitHub and of a build's mirror
COMPARE_SHOWS = 300  # files that `compare` lists; `pulls/N/files` lists 3,000
_LATEST = 253_402_300_799  # the end of the year 9999: authors' clocks go wrong
_BRANCH = re.compile(r"\w[\w./-]{0,200}", re.ASCII)
_STATUSES = {
    FileStatus.ADDED: "added",
    FileStatus.DELETED: "removed",
    FileStatus.RENAMED: "renamed",
    FileStatus.COPIED: "copied",
    FileStatus.TYPE_CHANGED: "changed",
}


class CodeOfPull(NamedTuple):
    """The changed files of a pull request since its merge base `base`."""

    base: str | None
    files: tuple[ChangedFile, ...]


def mirror_folder(context: BuildContext, repo: str) -> Path:
    """The mirror of `owner/name` in the folder of a build."""
    return context.code / f"{repo.replace('/', '+')}.git"


class Mirror:
    """The commits of a repository's pull requests. `why` is the reason where there is none, else empty."""

    def __init__(
        self, context: BuildContext, repo: str, *, url: str = "", token: str = "", clone: str = "", branch: str = ""
    ) -> None:
        self.folder, self.why = mirror_folder(context, repo), ""
        self._url, self._token, self._branch = url, token, branch
        if clone:
            mirror_local(Path(clone), self.folder, refs=(*REFS, *CLONE_REFS))

    @property
    def repository(self) -> Repository | None:
        """The mirror, where there is one."""
        return Repository(self.folder) if not self.why and self.folder.is_dir() else None

    def fetch(self, pulls: Sequence[PullRequest]) -> None:
        """Fetch all states and the bases of these pull requests, and first the main branch.

        A repository that git cannot read is not tried again. Raises Failed for network errors.
        """
        if self.why or not self._url:
            return
        wanted = [commit for pull in pulls for commit in _commits(pull)]
        scheme = urllib.parse.urlsplit(self._url).scheme
        try:
            if self._branch:  # later fixes are there
                branch, self._branch = self._branch, ""
                mirror_remote(self._url, self.folder, branch, (scheme,), token=self._token)
            fetch_commits(self._url, self.folder, wanted, (scheme,), token=self._token)
        except Failed:
            raise
        except UserError as error:
            self.why = error.problem

    def read(self, pull: PullRequest) -> CodeOfPull | None:
        """The files it changed; None where its commits are missing."""
        code = self.repository
        if code is None or pull.head is None or pull.base is None:
            return None
        if not (code.exists(pull.head) and code.exists(pull.base)):
            return None
        base = merge_base(code, pull.base, pull.head, pull.merge_commit)
        return None if base is None else CodeOfPull(base, code.changed_files(base, pull.head, LARGEST_FILE))

    def revisions(self, pull: PullRequest) -> tuple[Revision, ...]:
        """Its states, with bases and commits where they are in the mirror."""
        code = self.repository
        if code is None or pull.base is None or not code.exists(pull.base):
            return pull.revisions
        mentions = [(thread.commit, thread.remarks[0].created) for thread in pull.threads]
        first = first_mentions([*mentions, *((review.commit, review.created) for review in pull.reviews)])
        return tuple(_completed(code, pull, revision, first.get(revision.head)) for revision in pull.revisions)

    def states(self, pull: PullRequest) -> list[JsonValue]:
        """The commented states before the last, with their files, for the archive of a build."""
        code = self.repository
        mentions = {thread.commit for thread in pull.threads} | {review.commit for review in pull.reviews}
        entries: list[JsonValue] = []
        for one in pull.revisions if code is not None else ():
            if code is None or one.base is None or one.head not in mentions - {pull.head} or not code.exists(one.head):
                continue
            with suppress(UserError):  # a state that git cannot read is left out
                files = code.changed_files(one.base, one.head, LARGEST_FILE)
                state: Raw = {"head": one.head, "base": one.base, "commits": list(one.commits)}
                pushed = {"pushed": one.pushed.isoformat()} if one.pushed is not None else {}
                entries.append({**state, **pushed, "files": as_listed(files)})
        return entries


def _completed(code: Repository, pull: PullRequest, revision: Revision, mentioned: datetime | None) -> Revision:
    """A state with its base and commits, and with the time of its commit where the forge has none."""
    if not code.exists(revision.head) or pull.base is None:
        return revision
    revision = revision.model_copy(update={"files": None})  # the commits are more precise than a dump
    if revision.pushed is None:
        dated = code.run("rev-list", "--no-walk", "--timestamp", "--end-of-options", revision.head).split()[0]
        pushed = push_time(pull.created, datetime.fromtimestamp(min(int(dated), _LATEST), UTC), mentioned)
        revision = revision.model_copy(update={"pushed": pushed})
    base = merge_base(code, pull.base, revision.head, pull.merge_commit)
    if base is None:
        return revision
    listed = code.run("rev-list", "--reverse", "--topo-order", "--end-of-options", revision.head, f"^{base}")
    return revision.model_copy(update={"base": base, "commits": tuple(listed.decode("ascii").split())})


def _commits(pull: PullRequest) -> list[str]:
    named = (pull.head, pull.base, pull.merge_commit, *(revision.head for revision in pull.revisions))
    return [commit for commit in dict.fromkeys(named) if commit]


def mirror_of(context: BuildContext, forge: Forge, reader: PullReader, code: CodeFrom, clone: str) -> Mirror | None:
    """The mirror to read a repository's code from; None for the API alone."""
    if code == "api":
        return None
    if clone:
        return Mirror(context, reader.repo, clone=clone)
    token = forge.git_token if reader.about.get("private") is True else ""
    branch = text(reader.about, "default_branch")
    url = f"{forge.address.web}/{reader.repo}.git"
    return Mirror(context, reader.repo, url=url, token=token, branch=branch if _BRANCH.fullmatch(branch) else "")


def read_from_api(reader: PullReader, raw: Raw, pull: PullRequest) -> CodeOfPull:
    """The changed files according to the API: at most 3,000, large ones without patch."""
    compared: Json = {}
    if pull.base and pull.head and (number(raw, "pull", "changed_files") or 0) <= COMPARE_SHOWS:
        with suppress(Unavailable):
            compared = reader.compared(pull.base, pull.head)
    listed = compared.get("files")
    if not isinstance(listed, list) or len(listed) >= COMPARE_SHOWS:
        listed = reader.files(raw)
    return CodeOfPull(text(compared, "merge_base_commit", "sha") or pull.base, read_files(nodes(listed)))


def as_listed(files: Sequence[ChangedFile]) -> list[JsonValue]:
    """Changed files as the forge lists them, for the archive of a build."""
    entries: list[JsonValue] = []
    for file in files:
        entry: Raw = {"filename": file.path, "status": _STATUSES.get(file.status, "modified"), "patch": file.patch}
        if file.old_path is not None:
            entry["previous_filename"] = file.old_path
        entry["changes"] = 0 if file.binary or not file.patch else file.patch.count("\n") + 1
        entries.append(entry)
    return entries
