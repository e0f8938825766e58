"""The later commits that touched the lines of a change, or name it: for a person who doubts that it was sound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import pull_number
from reviewgauge.repo.syntax.languages import not_product, trivial

_SECONDS = 30.0
_TITLE = 300  # characters of a title that are compared
_DIFF = ("-U3", "--src-prefix=a/", "--dst-prefix=b/")
_SHORT = 8  # characters of a line, without blanks, from which on it is known again
_MARKS = re.compile(r"^(?:\[[^\]]{0,60}\]\s*)+|(?:\s*\(#\d+\))+$")  # what a backport puts around a title


class LaterCommit(NamedTuple):
    """A commit. `why` is empty where it changed a line of the change, else what else it has to do with it."""

    id: str
    day: str
    title: str
    why: str = ""


class LaterCommits(NamedTuple):
    """Those up to the date `until`, oldest first. Backports of one another count once."""

    until: str
    commits: tuple[LaterCommit, ...]


def later_commits(repository: Repository, head: str, files: Sequence[ChangedFile], days: float) -> LaterCommits:
    """The commits of any branch within `days` that have to do with a change ending at `head`.

    They touch the product lines that it adds (known again by their text), or name its commit or pull request. Raises
    UserError where git fails or takes long.
    """
    wanted = {file.path: lines for file in files if not not_product(file.path) and (lines := _added(file))}
    stated, _, subject = repository.run("log", "-1", "--format=%ct%x09%s", "--end-of-options", head, "--").partition(
        b"\t"
    )
    start = int(stated)
    end = datetime.fromtimestamp(start, UTC) + timedelta(days=days)
    window = ("--all", f"^{head}", f"--until={end.isoformat()}")
    found: list[tuple[int, LaterCommit]] = []
    if wanted:
        for when, commit, diff in _log(repository, *window, "-p", *_DIFF, "--", *wanted):
            if kinds := set(_touched(diff, wanted)):
                found.append((when, commit if "-" in kinds else commit._replace(why="beside them")))
    number = _pull(repository, head, subject.decode("utf-8", "replace"))
    names = "|".join([head[:7], *([rf"(#|GH-){number}([^0-9]|$)"] if number else [])])
    found += [
        (when, one._replace(why="names it")) for when, one, _ in _log(repository, *window, "-E", f"--grep={names}")
    ]
    own, by_title = _MARKS.sub("", subject.decode("utf-8", "replace").strip()[:_TITLE]), dict[str, LaterCommit]()
    for when, one in sorted(found, key=lambda pair: (pair[0], pair[1].why)):
        title = _MARKS.sub("", one.title[:_TITLE])
        if when >= start and title != own:  # a branch may have begun before, and the change may have landed twice
            by_title.setdefault(title, one)
    return LaterCommits(end.date().isoformat(), tuple(by_title.values()))


def _log(repository: Repository, *options: str) -> Iterator[tuple[int, LaterCommit, str]]:
    """(time, commit, diff) of each commit that git lists, the oldest first; no merges."""
    shown = "--format=%x00%ct%x09%h%x09%cs%x09%s"
    out = repository.run("log", "--reverse", "--no-merges", shown, *options, seconds=_SECONDS)
    for text in out.decode("utf-8", "replace").split("\0")[1:]:
        heading, _, diff = text.partition("\n")
        when, name, day, title = (*heading.split("\t", 3), "", "", "")[:4]
        yield int(when), LaterCommit(name, day, title), diff


def _pull(repository: Repository, head: str, subject: str) -> int | None:
    """The number of the pull request of a change: in its own title, or in that of the merge that brought it."""
    if number := pull_number(subject):
        return number
    out = repository.run("log", "--all", f"^{head}", "--merges", "--format=%P%x09%s", seconds=_SECONDS)
    for line in out.decode("utf-8", "replace").split("\n"):
        parents, _, title = line.partition("\t")
        if head in parents.split(" ")[1:]:
            return pull_number(title)
    return None


def _added(file: ChangedFile) -> frozenset[str]:
    lines = (line for hunk in parse_patch(file.patch or "") for line in hunk.lines if line.kind == "+")
    return frozenset(text for line in lines if not trivial(line.text) and len(text := _normal(line.text)) >= _SHORT)


def _touched(diff: str, wanted: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """`-` for each wanted line that a diff deletes, a blank for each that it shows beside an edit."""
    lines: frozenset[str] = frozenset()
    for line in diff.split("\n"):
        if line.startswith("--- "):
            lines = wanted.get(line[4:].removeprefix("a/"), frozenset())
        elif line[:1] in ("-", " ") and _normal(line[1:]) in lines:
            yield line[0]


def _normal(text: str) -> str:
    return "".join(text.split())
