"""The history that a build reads: what it is called, where it ends, and which of its changes a person could review."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import count_changed
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.languages import not_product, trivial

MOST_LINES, MOST_FILES = 500, 50  # of a change that a person reviews at once


def find_tip(repository: Repository, name: str, branch: str = "HEAD", until: str = "") -> tuple[str, datetime]:
    """The last commit that is looked at, and the end of what was observed: no later than the branch's last commit.

    Raises UserError where the branch does not exist, or has no commit so early.
    """
    try:
        named = repository.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{branch}^{{commit}}")
    except UserError:
        raise _no_branch(repository, name, branch) from None
    newest = named.decode("ascii").strip()
    ends = [datetime.now(UTC), _committed(repository, newest)[1]]  # a clock may have been ahead
    if not (last := day(until)):
        return newest, min(ends)
    found = _committed(repository, newest, "--first-parent", f"--before={last.isoformat()}T23:59:59Z")
    if not found[0]:
        raise UserError(f"{branch} has no commit up to {last}", remedy="name a later date")
    return found[0], min(*ends, datetime.combine(last, time.max, UTC))


def why_unfit(files: Sequence[ChangedFile], max_lines: int, max_files: int) -> str:
    """Why a diff makes no case; empty where it does."""
    if not files:
        return "changes nothing"
    if len(files) > max_files:
        return f"changes more than {max_files} files"
    if count_changed(files) > max_lines:
        return f"changes more than {max_lines} lines"
    return "" if any(map(_adds_code, files)) else "adds no line of the product's code"


def _adds_code(file: ChangedFile) -> bool:
    if not_product(file.path) or file.patch is None:
        return False
    return any(line[:1] == "+" and not trivial(line[1:]) for line in file.patch.split("\n"))


def day(word: str) -> date | None:
    """The day that a word names; None for an empty word. Raises ValueError."""
    return date.fromisoformat(word) if word else None


def _committed(repository: Repository, tip: str, *limits: str) -> tuple[str, datetime]:
    """The newest commit that `tip` reaches within `limits`, empty where there is none, and its date."""
    words = repository.run("rev-list", "-1", "--format=%ct", *limits, "--end-of-options", tip, "--").split()
    if len(words) < 3:
        return "", datetime.fromtimestamp(0, UTC)
    try:
        return words[1].decode("ascii"), datetime.fromtimestamp(max(int(words[2]), 0), UTC)
    except (ValueError, OverflowError):  # a date that no calendar has
        return words[1].decode("ascii"), datetime.now(UTC)


def _no_branch(repository: Repository, name: str, branch: str) -> UserError:
    listed = repository.run(
        "for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads", "refs/remotes"
    )
    branches = listed.decode("utf-8", "replace").split("\n")[:-1]
    alike = [ref for ref in branches if ref.rpartition("/")[2] == branch.rpartition("/")[2]]
    shown = ", ".join((alike or branches)[:5]) or "none"
    problem = (
        f"HEAD of {name} does not name a commit"
        if branch == "HEAD"
        else f"{name} has no branch, tag or commit {branch!r}"
    )
    return UserError(problem, remedy=f"--set branch=NAME; its branches: {shown}")


def repository_name(source: str) -> str:
    """The name of the repository at a path: its folder, without characters that ids may not hold."""
    folder = Path(source or ".").absolute().resolve()
    within = folder.name == ".git" or (
        folder.name == "repo" and (folder / "HEAD").is_file()
    )  # a bare `repo` says nothing
    named = folder.parent if within else folder
    return re.sub(r"[^\w.-]+", "-", named.name.removesuffix(".git")).strip("-.") or "repository"


def pooled_names(sources: Sequence[str]) -> tuple[str, ...]:
    """The names of several repositories: that of the folder, with the folder around it where two have the same."""
    names = [repository_name(source) for source in sources]
    if len(set(names)) < len(names):
        names = [
            f"{repository_name(str(Path(source).absolute().parent))}-{repository_name(source)}" for source in sources
        ]
    if len(set(names)) < len(names):
        raise UserError("two of the repositories have the same name", remedy="rename a folder")
    return tuple(names)
