"""The commits of pull requests, in the folder of a build: what they changed, their states, and where comments stood.

A forge that lists every push leaves to git which were forced, and where comments stood when they were made: GitLab
moves the place of a discussion along with its lines, and tells no earlier one.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

from reviewgauge.core.building import BuildContext
from reviewgauge.core.pull_requests import PullRequest, Revision, Thread
from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.positions import map_line
from reviewgauge.repo.forge.api import PullReader
from reviewgauge.repo.forge.timeline import first_mentions, push_time
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import REFS, fetch_commits, mirror_local, mirror_remote
from reviewgauge.stages.pull_requests.candidates import LARGEST_FILE, merge_base

CLONE_REFS = ("refs/pull", "refs/merge-requests", "refs/reviewgauge")  # of GitHub, of GitLab, of a build's mirror
_LATEST = 253_402_300_799  # the end of the year 9999: authors' clocks go wrong
_BRANCH = re.compile(r"\w[\w./-]{0,200}", re.ASCII)


class Mirror:
    """The commits of a repository's pull requests, in the folder of a build; those of `clone`, if one is named."""

    def __init__(self, context: BuildContext, repo: str, clone: str = "") -> None:
        self.folder, self._has_branch = context.code / f"{repo.replace('/', '+')}.git", False
        if clone:
            mirror_local(Path(clone), self.folder, refs=(*REFS, *CLONE_REFS))

    def fetch(self, reader: PullReader, pulls: Sequence[PullRequest]) -> None:
        """Fetch the main branch, where later fixes are, then all states and the bases of these pull requests.

        Raises Failed for problems of the network, and UserError for a repository that git cannot read.
        """
        token, url, branch = reader.forge.git_token if reader.private else "", reader.url, reader.branch
        protocols = (urllib.parse.urlsplit(url).scheme,)
        if not self._has_branch and _BRANCH.fullmatch(branch):
            mirror_remote(url, self.folder, branch, protocols, token=token)
        self._has_branch = True
        fetch_commits(url, self.folder, [one for pull in pulls for one in _commits(pull)], protocols, token=token)

    def read(self, pull: PullRequest) -> PullRequest | None:
        """The pull request with its merge base, its files and its states; None where its commits are missing."""
        code, base = Repository(self.folder), pull.base
        if base is None or pull.head is None or not (code.exists(pull.head) and code.exists(base)):
            return None
        if (base := merge_base(code, base, pull.head, pull.merge_commit)) is None:
            return None
        mentions = [(thread.commit, thread.remarks[0].created) for thread in pull.threads]
        first = first_mentions([*mentions, *((review.commit, review.created) for review in pull.reviews)])
        revisions = tuple(_completed(code, pull, one, first.get(one.head)) for one in pull.revisions)
        threads = pull.threads
        if "versions" in pull.extra:
            revisions = with_forced(revisions)
            threads = as_said(code, threads, revisions)
        update = {
            "base": base,
            "files": code.changed_files(base, pull.head, LARGEST_FILE),
            "revisions": revisions,
            "threads": threads,
            "git": str(self.folder),
        }
        return pull.model_copy(update=update)


def _commits(pull: PullRequest) -> list[str]:
    listed = (pull.head, pull.base, pull.merge_commit, *(revision.head for revision in pull.revisions))
    return [commit for commit in dict.fromkeys(listed) if commit]


def _completed(code: Repository, pull: PullRequest, revision: Revision, mentioned: datetime | None) -> Revision:
    """A state with its base and commits, and with the time of its commit where the forge has none."""
    if not code.exists(revision.head) or pull.base is None:
        return revision
    if revision.pushed is None:
        dated = code.run("rev-list", "--no-walk", "--timestamp", "--end-of-options", revision.head).split()[0]
        pushed = push_time(pull.created, datetime.fromtimestamp(min(int(dated), _LATEST), UTC), mentioned)
        revision = revision.model_copy(update={"pushed": pushed})
    base = merge_base(code, pull.base, revision.head, pull.merge_commit)
    if base is None:
        return revision
    listed = code.run("rev-list", "--reverse", "--topo-order", "--end-of-options", revision.head, f"^{base}")
    return revision.model_copy(update={"base": base, "commits": tuple(listed.decode("ascii").split())})


def with_forced(revisions: Sequence[Revision]) -> tuple[Revision, ...]:
    """The states, of which those that do not go on from the one before were reached by a forced push."""
    pairs = ((after, bool(after.commits) and before.head not in after.commits) for before, after in pairwise(revisions))
    return (*revisions[:1], *(after.model_copy(update={"forced": forced}) for after, forced in pairs))


def as_said(code: Repository, threads: Sequence[Thread], revisions: Sequence[Revision]) -> tuple[Thread, ...]:
    """The threads on the pushes that they were opened on; one whose lines cannot be followed back stays where it is."""

    @cache
    def changed(before: str, after: str) -> dict[str, ChangedFile]:
        return {file.path: file for file in code.changed_files(before, after)}

    def moved(thread: Thread) -> Thread:
        said = thread.remarks[0].created
        there = [one for one in revisions if said is not None and one.pushed is not None and one.pushed <= said]
        now = next((one for one in revisions if one.head == thread.commit), None)
        if not there or now is None or there[-1].head == now.head or not (code.exists(there[-1].head)):
            return thread
        then = there[-1]
        if thread.side is Side.OLD:  # lines of the base, which is the same for both
            return thread.model_copy(update={"commit": then.head}) if then.base == now.base else thread
        file = changed(then.head, now.head).get(thread.path)
        start, end = thread.start, thread.line
        if file is not None:
            patch = file.patch or ""
            start, end = (None if at is None else map_line(patch, at, Side.NEW) for at in (start, end))
        if (start is None) != (thread.start is None) or (end is None) != (thread.line is None):
            return thread
        path = thread.path if file is None or file.old_path is None else file.old_path
        return thread.model_copy(update={"commit": then.head, "path": path, "start": start, "line": end})

    return tuple(moved(thread) for thread in threads)
