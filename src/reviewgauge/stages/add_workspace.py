"""Keep the changes whose code a reviewer can be given: base and head in the benchmark's mirror, every file there.

Source: SWR-Bench (arXiv:2509.01494) and AACR-Bench (arXiv:2601.19494) review in a checkout of the repository; a commit
of a deleted fork, or one that was pushed over, cannot be checked out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import REFS, mirror_local
from reviewgauge.repo.mirrors.workspaces import workspace_problem

_GONE = "its head commit is not in the mirror"


@dataclass(frozen=True)
class AddWorkspace(Stage):
    """Sets `change.git`, the mirror in the benchmark's folder that workspaces are made from.

    A change whose repository lies elsewhere on this machine has it mirrored first. A change without a head, whose
    commits are gone, or of which files are missing is dropped with the reason.
    """

    needs_build: ClassVar[bool] = True

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        mirrors: dict[str, Repository | str] = {}
        for done, item in enumerate(items):
            context.progress("looking for the code", done, None)
            yield self._with_code(item, context, mirrors)

    def _with_code(
        self, item: Candidate, context: BuildContext, mirrors: dict[str, Repository | str]
    ) -> Candidate | Drop:
        change = item.case.change
        if change.head is None:
            return self.drop(item.id, "it names no head commit")
        where = change.git or (item.pull.git if item.pull is not None else None)
        key = where or change.repo
        if key not in mirrors:
            mirrors[key] = _mirror(context, change.repo, where)
        mirror = mirrors[key]
        if isinstance(mirror, str):
            return self.drop(item.id, "its repository is not at hand", mirror)
        problem = workspace_problem(mirror, change.head, change.base)
        if problem is not None:
            reason, detail = problem
            return self.drop(item.id, reason + _because(reason, change.head, item.pull), detail)
        return item.with_change(git=str(mirror.git_dir))


def _mirror(context: BuildContext, repo: str, where: str | None) -> Repository | str:
    """The mirror of a repository in the benchmark's folder, made from `where` if that is elsewhere; or why none is."""
    code = context.code.resolve()
    if where is not None:
        found = Path(where) if Path(where).is_absolute() else context.folder / where
        if found.resolve().is_relative_to(code) and found.is_dir():
            return Repository(found)
        try:
            return mirror_local(
                found, code / f"{repo.replace('/', '+')}.git", refs=(*REFS, "refs/pull", "refs/reviewgauge")
            )
        except UserError as error:
            return str(error)
    for name in (repo.replace("/", "+"), repo.replace("/", "-")):
        if (code / f"{name}.git").is_dir():
            return Repository(code / f"{name}.git")
    return f"{repo} has no mirror in the folder of the build"


def _because(reason: str, head: str, pull: PullRequest | None) -> str:
    """What the forge knows of a head that is gone."""
    if reason != _GONE or pull is None:
        return ""
    if pull.fork_gone:
        return ": its fork was deleted"
    last = next((at for at, revision in enumerate(pull.revisions) if revision.head == head), len(pull.revisions))
    pushed_over = any(revision.forced for revision in pull.revisions[last + 1 :])
    return ": it was pushed over" if pushed_over else ""
