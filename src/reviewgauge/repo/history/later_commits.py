"""The later commits that touched the lines of a change: what a person looks at who asks whether it was sound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.product import not_product, trivial

_SECONDS = 30.0
_TITLE = 300  # characters of a title that are compared
_SHORT = 8  # characters of a line, without blanks, from which on it is known again
_MARKS = re.compile(r"^(?:\[[^\]]{0,60}\]\s*)+|(?:\s*\(#\d+\))+$")  # what a backport puts around a title


class LaterCommit(NamedTuple):
    """A commit; `rewrote`: it changed a line, else it worked within three lines of one."""

    id: str
    day: str
    title: str
    rewrote: bool


class LaterCommits(NamedTuple):
    """Those up to the date `until`, oldest first. Backports of one another count once."""

    until: str
    commits: tuple[LaterCommit, ...]


def later_commits(repository: Repository, head: str, files: Sequence[ChangedFile], days: float) -> LaterCommits:
    """The commits of any branch that touched the product lines which a change ending at `head` adds, within `days`.

    Lines are known again by their text. Raises UserError where git fails or takes long.
    """
    wanted = {file.path: lines for file in files if not not_product(file.path) and (lines := _added(file))}
    words = repository.run("log", "-1", "--format=%ct", "--end-of-options", head, "--").split()
    end = datetime.fromtimestamp(int(words[0]), UTC) + timedelta(days=days)
    if not wanted:
        return LaterCommits(end.date().isoformat(), ())
    options = (
        "--reverse",
        "--no-merges",
        "-p",
        "-U3",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        f"--until={end.isoformat()}",
        "--format=%x00%h%x09%cs%x09%s",
    )
    out = repository.run("log", *options, "--all", "--not", head, "--", *wanted, seconds=_SECONDS)
    found: dict[str, LaterCommit] = {}
    for text in out.decode("utf-8", "replace").split("\0")[1:]:
        heading, _, diff = text.partition("\n")
        name, _, rest = heading.partition("\t")
        day, _, title = rest.partition("\t")
        if kinds := set(_touched(diff, wanted)):
            found.setdefault(_MARKS.sub("", title[:_TITLE]), LaterCommit(name, day, title, "-" in kinds))
    return LaterCommits(end.date().isoformat(), tuple(found.values()))


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
