"""Reads the changes that a history took in: merged branches, squashed pull requests and single commits.

A change is what a reviewer would have had before them: the diff from where a branch left the main line to its last
commit, with the text of its own commits. What became known only later is left out: the message of the merge, the number
of the pull request, trailers of reviewers, ids of commits that the change does not build on, e-mail addresses.
`later_commits` is for a person who doubts that a change was sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.repo.diff.diffs import normal, parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit, read_history
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.repo.tables import pattern, read_table

LARGEST_FILE = 2_000_000  # bytes; the diff of a larger file is not read, as nobody reviews it line by line
LONGEST_TEXT = 10_000  # characters of a description
LONGEST_TITLE = 1000  # characters
MOST_COMMITS = 1000  # of one branch; a longer one is a line of development, not a change
_SHOWN = 50  # commits of one branch whose messages make its description


class MergeKind(StrEnum):
    """How a change came into the main line."""

    MERGE = "merge"
    SQUASH = "squash"
    COMMIT = "commit"


class LandedChange(Record):
    """One change of the main line. `commit` is the commit there that brought it in.

    `commits` are the change's own, oldest first, merges left out. The message of `commit` may tell what came after the
    change was written, so it is for whoever looks for fixes, never for a reviewer; `title` and `description` are for
    both.
    """

    landing: MergeKind
    commit: Commit
    base: str
    head: str
    commits: tuple[str, ...]
    title: str
    description: str
    authored: datetime


_TABLE = read_table(__package__, "landed_changes")
_MERGE_OF = pattern(_TABLE["merge_of"])
_LINE = pattern(_TABLE["line"])
_PULL = pattern(_TABLE["pull"])
_NUMBER = re.compile(r"(?<!\s)\s*\((?:#\d+|!\d+|pr[ #]*\d+)(?:,\s*#\d+)*\)\s*$", re.IGNORECASE)
_PULL_NUMBER = pattern(_TABLE["pull_number"])
_APPROVAL = re.compile(r"\[\s*(?:mrg|merge|wip|lgtm|r?f?c)\b[^\]]{0,20}\]:?\s*", re.IGNORECASE)
_TRAILER = pattern(_TABLE["trailer"])
_MAIL = re.compile(r"<?(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?")
_ID = pattern(_TABLE["id"], 0)
_TOOLS = pattern(_TABLE["tools"])
_CONTROL = re.compile(r"[\x01-\x08\x0b-\x1f\x7f]")
_RULE = re.compile(r"^\s*-{3,}\s*$")


def read_changes(repository: Repository, tip: str = "HEAD") -> Iterator[LandedChange | Drop]:
    """The changes of the main line that ends at `tip`, oldest first; a Drop for every commit on it that brought none.

    The main line is the chain of first parents. Where it took in another line (a merge of `develop` into `master`, or
    of what others had pushed meanwhile), the changes of that line are read in its place. A branch is compared with
    where it left, as a pull request is. Raises UserError where git fails.
    """
    read: set[bytes] = set()
    for item in _read_line(repository, tip, ()):
        landed = bytes.fromhex(item.item if isinstance(item, Drop) else item.commit.id)
        if landed in read:  # where clocks were wrong git may take the commits of one line for another's too
            continue
        read.add(landed)
        if not isinstance(item, Drop):
            read.update(bytes.fromhex(commit) for commit in item.commits)
        yield item


def _read_line(repository: Repository, tip: str, without: tuple[str, ...]) -> Iterator[LandedChange | Drop]:
    for commit in read_history(repository, (tip,), without=without, first_parent=True, reverse=True):
        if not commit.sound_times:
            yield _drop(commit, "git cannot read its date")
        elif not commit.parents:
            yield _drop(commit, "first commit: nothing to compare it with")
        elif len(commit.parents) > 2:
            yield _drop(commit, "merge of several branches at once")
        elif len(commit.parents) == 1:
            yield _single(repository, commit)
        elif _joins_lines(commit):
            yield _drop(commit, "merge of two lines: the changes of the other line are read one by one")
            yield from _read_line(repository, commit.parents[1], (*without, commit.parents[0]))
        else:
            yield from _branch(repository, commit, without)


def _joins_lines(commit: Commit) -> bool:
    """Whether the merged branch is a line of development with changes of its own, by its name."""
    if _PULL.match(commit.subject):
        return False
    named = _MERGE_OF.match(commit.subject)
    if named is None or named["what"] is None:
        return False
    return _LINE.fullmatch(named["what"]) is not None or named["what"].rpartition("/")[2] == (named["into"] or "")


def _single(repository: Repository, commit: Commit) -> LandedChange:
    squashed = _NUMBER.search(commit.subject) is not None
    return LandedChange(
        landing=MergeKind.SQUASH if squashed else MergeKind.COMMIT,
        commit=commit,
        base=commit.parents[0],
        head=commit.id,
        commits=(commit.id,),
        title=_for_reviewers(repository, _title(commit), commit.id),
        description=_for_reviewers(repository, own_text(commit.body), commit.id),
        authored=commit.authored,
    )


def _branch(repository: Repository, merge: Commit, without: tuple[str, ...]) -> Iterator[LandedChange | Drop]:
    """The branch that `merge` took in, or the changes of the line that it turns out to be."""
    first, head = merge.parents
    past = (*without, first)
    inner = list(read_history(repository, (head,), without=past, reverse=True, most=MOST_COMMITS + 1))
    own = [commit for commit in inner if not commit.is_merge]
    if any(commit.is_merge and _PULL.match(commit.subject) for commit in inner) or len(inner) > MOST_COMMITS:
        yield _drop(merge, "merge of two lines: the changes of the other line are read one by one")
        yield from _read_line(repository, head, past)
        return
    if not own:
        yield _drop(merge, "merge that brings no commit of its own")
        return
    base = _base(repository, first, head, inner)
    if not base:
        yield _drop(merge, "merge of a history that has nothing in common")
        return
    yield LandedChange(
        landing=MergeKind.MERGE,
        commit=merge,
        base=base,
        head=head,
        commits=tuple(commit.id for commit in own),
        title=_for_reviewers(repository, _title(_first_by_people(own)), head),
        description=_for_reviewers(repository, own_text(own[0].body) if len(own) == 1 else _list_messages(own), head),
        authored=own[-1].authored,
    )


def _base(repository: Repository, first: str, head: str, inner: Sequence[Commit]) -> str:
    """Where the branch left: its only parent outside of itself, else git's merge base; empty where there is none."""
    ids = {commit.id for commit in inner}
    exits = {parent for commit in inner for parent in commit.parents if parent not in ids}
    if len(exits) == 1 and all(commit.parents for commit in inner):
        return exits.pop()
    try:
        return repository.run("merge-base", first, head).decode("ascii").split("\n")[0].strip()
    except UserError:
        return ""


def _drop(commit: Commit, reason: str) -> Drop:
    return Drop(item=commit.id, by="changes", reason=reason)


# --- what a reviewer may read --------------------------------------------------------------------------------------


def _title(commit: Commit) -> str:
    """The subject without what was put to it when it was merged: numbers of pull requests, marks of approval."""
    title = _MAIL.sub("", _NUMBER.sub("", _APPROVAL.sub("", _CONTROL.sub("", commit.subject)))).strip()
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "\u2026"


def _first_by_people(commits: Sequence[Commit]) -> Commit:
    return next((commit for commit in commits if not is_of_tools(commit.subject)), commits[0])


def _list_messages(commits: Sequence[Commit]) -> str:
    """The messages of a branch's commits as a list, oldest first."""
    listed = []
    for commit in [one for one in commits[:_SHOWN] if not is_of_tools(one.subject)] or commits[:1]:
        body = own_text(commit.body)
        listed.append("- " + _title(commit) + ("\n\n  " + body.replace("\n", "\n  ") if body else ""))
    if len(commits) > _SHOWN:
        listed.append(f"- and {len(commits) - _SHOWN} more commits")
    return "\n".join(listed)


def pull_number(subject: str) -> int | None:
    """The number of the pull request that a commit landed, by what merging wrote into its subject."""
    found = _PULL_NUMBER.search(subject)
    return int(found[1] or found[2]) if found else None


def is_of_tools(line: str) -> bool:
    """Whether a line of a message stands for a commit that a tool made, or that only tidies up after one."""
    return _TOOLS.match(line.strip().removeprefix("* ").removeprefix("- ")) is not None


def own_text(body: str) -> str:
    """A message's body without trailers, notes and commits of tools, e-mail addresses and control characters.

    Runs of empty lines become one.
    """
    kept: list[str] = []
    for raw in _CONTROL.sub("", body.replace("\x00", "\ufffd")).split("\n"):
        line = _MAIL.sub("", raw).rstrip()
        if any(test(line) for test in (_TRAILER.match, _RULE.match, is_of_tools)):
            continue
        if not line and (not kept or not kept[-1]):
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def _for_reviewers(repository: Repository, text: str, head: str) -> str:
    return without_foreign_ids(repository, text, head)[:LONGEST_TEXT]


def without_ids(text: str) -> str:
    """`text` with "(a commit)" for every word that looks like the id of one."""
    return _ID.sub("(a commit)", text)


def without_foreign_ids(repository: Repository, text: str, head: str) -> str:
    """`text` without the ids of commits that are in the repository and that `head` does not build on.

    Such as the original of a cherry-pick, or a rebased copy: it leads to what came later.
    """

    def replacement(found: re.Match[str]) -> str:
        try:
            named = repository.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{found[0]}^{{commit}}")
            full = named.decode("ascii").strip()
            shared = repository.run("merge-base", full, head).decode("ascii").split()
        except UserError:  # not a commit of this repository, or one without anything in common
            return found[0] if not repository.exists(found[0]) else "(a commit)"
        return found[0] if full in shared else "(a commit)"

    return _ID.sub(replacement, text)


# --- what came later -------------------------------------------------------------------------------------------------

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
    return frozenset(text for line in lines if not trivial(line.text) and len(text := normal(line.text)) >= _SHORT)


def _touched(diff: str, wanted: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """`-` for each wanted line that a diff deletes, a blank for each that it shows beside an edit."""
    lines: frozenset[str] = frozenset()
    for line in diff.split("\n"):
        if line.startswith("--- "):
            lines = wanted.get(line[4:].removeprefix("a/"), frozenset())
        elif line[:1] in ("-", " ") and normal(line[1:]) in lines:
            yield line[0]
