"""Reviews that your own tool wrote to files: SARIF, rdjson, GitHub comments and others.

Nothing is run: the tool's output is read, assigned to each change and placed by the anchor engine. The formats
and their sources are in `docs/reference/formats.md`; how a file finds its change is in `docs/guides/review.md`.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import files_below, plain_file
from reviewgauge.core.protocols import Parsed, Reviewer
from reviewgauge.core.records import Change, Comment, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath, Word
from reviewgauge.models.chat.client import current_tracker
from reviewgauge.repo.diff.positions import relative_path
from reviewgauge.repo.git.repository import Repository
from reviewgauge.reviewers.reading.review_files import (
    ODD,
    default_system,
    file_of,
    fingerprint,
    foreign_paths,
    forget_folders,
    names_case,
    names_change,
    on_added_lines,
    placed,
    read_reviews,
    unique,
)


@dataclass(frozen=True)
class Replay(Reviewer):
    """Replays `path`: a file, a folder, or a template with `{case}` or `{head}` (one file per change).

    `format` is a format's spec, found out from the content when empty. `tool` chooses among several in one file. `root`
    is the folder that absolute paths in the file start with. `missing="silent"` takes a change that a file does not
    speak of as reviewed without a comment; by default it is a failure, because nobody knows.

    `prepare`, which alone sees every change, sets how one file is split among them (`mapping`), and the repositories
    that a scan speaks of (`scanned`).
    """

    example: ClassVar[str] = 'replay(path="my-tool.sarif")'
    needs_diff: ClassVar[bool] = False

    path: FilePath = ""
    format: Word = ""
    tool: Word = ""
    root: Word = ""
    missing: Literal["failure", "silent"] = "failure"
    mapping: Literal["", "named", "scan", "whole"] = field(default="", init=False, repr=False, compare=False)
    scanned: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)

    @property
    def default_name(self) -> str:
        """The tool, or the name of the file or folder."""
        return self.tool or default_system(self.path)

    def pins(self) -> Mapping[str, str]:
        """The SHA-256 of the file, or of the folder's files."""
        if not self.path or names_case(self.path):
            return {}
        here = Path(self.path).expanduser()
        files = [here] if here.is_file() else sorted(map(plain_file, files_below(here)))
        return {"sha256": fingerprint(files)}

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Read everything once and report what will not be used. Raises UserError when nothing can be."""
        if not self.path:
            raise UserError("replay needs a path", remedy='replay(path="my-tool.sarif")')
        if self._one_file_each:
            forget_folders()
            return tuple(self._prepare_files(changes))
        whole = read_reviews(Path(self.path).expanduser(), self.format)
        object.__setattr__(self, "mapping", _mapping(whole, changes))
        parsed = self._choose(whole, rivals=self.mapping == "named")
        drops = list(_skipped(parsed))
        if self.mapping != "named" and len(tools := _systems(parsed)) > 1:
            drops.append(_drop(f"{len(tools)} tools", f"taken together as one reviewer: {', '.join(tools)}"))
        foreign = list(self._foreign(parsed, changes))
        if self.mapping == "named":
            drops += self._prepare_named(parsed, changes)
        elif self.mapping == "scan":
            drops += self._prepare_scan(parsed, changes)
        return (*drops, *foreign)

    def review(self, change: Change) -> Review:
        """The comments of the files on `change`, placed in it. Raises BadInput when there are none."""
        entries, scan = self._entries(change)
        whole = [entry.answer for entry in entries if isinstance(entry.answer, Review)]
        if len(whole) == len(entries) == 1:
            return whole[0]
        comments = self._place_scan(entries, change) if scan else placed(entries, change, self.root)
        return Review(case=change.id or change.repo, system=self.system, comments=unique(comments))

    @property
    def _one_file_each(self) -> bool:
        return names_case(self.path) or Path(self.path).expanduser().is_dir()

    def _choose(self, parsed: Sequence[Parsed], rivals: bool) -> list[Parsed]:
        """The entries by this tool. Raises UserError where there are several others, and none is chosen.

        Tools whose entries name changes are rivals. The runs of several tools in one scan are one reviewer, unless
        `tool` names one of them.
        """
        systems = _systems(parsed)
        wanted = self.default_name if rivals else self.tool
        if len(systems) > 1 and wanted in systems:
            return [entry for entry in parsed if entry.system == wanted]
        if (self.tool and self.tool not in systems) or (rivals and len(systems) > 1):
            shown = ", ".join(systems[:12]) + (", ..." if len(systems) > 12 else "")
            problem = f"{self.path} holds the reviews of {shown or 'a tool that it does not name'}"
            raise UserError(problem, remedy='choose one with tool="..."; name="..." is its name in tables')
        return list(parsed)

    def _of_file(self, file: Path, change: Change) -> list[Parsed]:
        """The entries of a file that is about one change, whatever name it calls the change by."""
        parsed = read_reviews(file, self.format)
        return self._choose(parsed, rivals=_mapping(parsed, [change]) == "named")

    def _entries(self, change: Change) -> tuple[list[Parsed], bool]:
        """What the files say of `change` in this attempt, and whether it is a scan of the whole repository."""
        if self._one_file_each:
            file = file_of(self.path, change)
            if file is None:
                raise BadInput(self.path, f"has no file for {_name(change)}")
            return self._of_attempt(self._of_file(file, change), change), False
        whole = read_reviews(Path(self.path).expanduser(), self.format)
        mapping = self.mapping or _mapping(whole, [change])
        parsed = self._choose(whole, rivals=mapping == "named")
        if mapping == "named":
            mine = [entry for entry in parsed if entry.key is not None and names_change(entry.key, change)]
            if not mine and self.missing == "failure":
                raise BadInput(self.path, f"does not name {_name(change)}")
            return self._of_attempt(mine, change), False
        if mapping == "scan" and self.missing == "failure" and change.repo not in self.scanned:
            raise BadInput(self.path, f"does not speak of {change.repo}")
        return parsed, mapping == "scan"

    def _of_attempt(self, entries: list[Parsed], change: Change) -> list[Parsed]:
        """The entries of the attempt that is asked for, where they tell. Raises BadInput where it is not there."""
        tracker = current_tracker()
        attempt = tracker.attempt if tracker else 1
        mine = [entry for entry in entries if entry.attempt in (None, attempt)]
        if entries and not mine:
            raise BadInput(self.path, f"has no attempt {attempt} at {_name(change)}")
        return mine

    def _foreign(self, parsed: Sequence[Parsed], changes: Sequence[Change]) -> Iterator[Drop]:
        """The comments on paths of another machine. Raises UserError where all are."""
        lost, example = foreign_paths(parsed, changes, self.root)
        if not lost:
            return
        total = sum(len(entry.comments) for entry in parsed)
        what = f"absolute paths outside of the repository, such as {example}"
        remedy = f'name the folder that they start with: root="{posixpath.dirname(example)}" or one above it'
        if lost == total:
            raise UserError(f"{self.path} names {what}, and no others", remedy=remedy)
        yield _drop(f"{lost} of {_count(total, 'comment')}", f"{what}; {remedy}")

    # --- one scan of the whole repository --------------------------------------------------------------------------

    def _place_scan(self, parsed: Iterable[Parsed], change: Change) -> Iterator[Comment]:
        """The comments that fall on lines which `change` adds."""
        names = {file.path.rpartition("/")[2] for file in change.files}
        near = [
            entry.model_copy(update={"comments": tuple(c for c in entry.comments if _base_name(c) in names)})
            for entry in parsed
        ]
        yield from (comment for comment in placed(near, change, self.root) if on_added_lines(comment, change))

    def _prepare_scan(self, parsed: Sequence[Parsed], changes: Sequence[Change]) -> Iterator[Drop]:
        blind = sum(not change.has_diff for change in changes)
        if blind == len(changes):
            raise UserError(
                f"{self.path} does not name the change of its comments, and there is no diff to find it by",
                remedy="one file per change needs none: path='reviews/{case}.json'",
            )
        yield from self._prepare_repositories(parsed, changes)
        total = sum(len(entry.comments) for entry in parsed)
        kept = sum(len({c.id for change in changes for c in self._place_scan([entry], change)}) for entry in parsed)
        scan = "the file names no change and is read as one scan of the repository"
        of = f"of {_count(total, 'comment')}"
        if total > kept:
            yield _drop(f"{total - kept} {of} left out", f"{scan}: these are on no line that a change adds")
        if kept:
            yield _drop(f"{kept} {of} kept", f"{scan}: lines may have moved between the scan and the change")
        if blind:
            yield _drop(_count(blind, "change"), "no diff at hand: they get no comment of the scan")

    def _prepare_repositories(self, parsed: Sequence[Parsed], changes: Sequence[Change]) -> Iterator[Drop]:
        """Tell which repositories were scanned: those with over half as many of its files as the one with most."""
        repos, named = Counter(change.repo for change in changes), _paths(parsed, self.root)
        found = dict.fromkeys(repos, int(not named and len(repos) == 1))
        for repo in repos if named else ():
            files = _files_of([change for change in changes if change.repo == repo])
            found[repo] = sum(any(end in files for end in _ends(path)) for path in named)
        scanned = frozenset(repo for repo, count in found.items() if count > max(found.values()) / 2)
        object.__setattr__(self, "scanned", scanned)
        if self.missing == "failure" and not scanned:
            what = f"names no file of {', '.join(sorted(repos)[:3])}" if named else "does not say what was scanned"
            raise UserError(f"{self.path} {what}", remedy='root="FOLDER" is where its paths start; missing="silent"')
        for repo in sorted(repos.keys() - scanned):
            yield _drop(_count(repos[repo], "change"), f"the file does not speak of {repo}: each is {self._taken}")

    @property
    def _taken(self) -> str:
        """What a change is that the file does not speak of."""
        return "a failure" if self.missing == "failure" else "a review without comments"

    # --- files that name their changes -----------------------------------------------------------------------------

    def _prepare_named(self, parsed: Sequence[Parsed], changes: Sequence[Change]) -> Iterator[Drop]:
        keys = {entry.key for entry in parsed if entry.key is not None}
        known = {key for key in keys if any(names_change(key, change) for change in changes)}
        if not known:
            shown = ", ".join(sorted(keys)[:3])
            raise UserError(
                f"{self.path} does not name any of {_count(len(changes), 'change')} (it names {shown})",
                remedy="name them by case id, head commit or address",
            )
        unnamed = sum(len(entry.comments) for entry in parsed if entry.key is None)
        if unnamed:
            yield _drop(_count(unnamed, "comment"), "name no change, in a file where others do")
        if (attempts := max((entry.attempt or 1 for entry in parsed), default=1)) > 1:
            yield _drop(f"{attempts} attempts in the file", f"review --attempts {attempts} takes them all")
        if keys - known:
            lost = sum(len(entry.comments) for entry in parsed if entry.key is not None and entry.key not in known)
            item = f"{_count(len(keys - known), 'change')}, {_count(lost, 'comment')}"
            yield _drop(item, "not in this benchmark")
        absent = sum(not any(names_change(key, change) for key in known) for change in changes)
        if absent:
            yield _drop(_count(absent, "change"), f"not named in the file: each is {self._taken}")

    def _prepare_files(self, changes: Sequence[Change]) -> Iterator[Drop]:
        owners: dict[Path, Change] = {}
        lost: list[str] = []
        broken: list[Drop] = []
        read: list[Parsed] = []
        for change in changes:
            file = file_of(self.path, change)
            if file is None:
                lost.append(_name(change))
                continue
            other = owners.setdefault(file, change)
            if other is not change and (change.head is None or other.head != change.head):
                raise UserError(f"{file} matches both {_name(other)} and {_name(change)}", remedy="rename it")
            try:
                read += self._of_file(file, change)
            except BadInput as error:  # the change's failure, not the run's
                broken.append(_drop(_name(change), str(error)))
        if not owners:
            such = f", such as {ODD.sub('_', lost[0])}" if lost else ""
            problem = f"{self.path} has no file for any of {_count(len(changes), 'change')}"
            raise UserError(problem, remedy=f"name the files by case id{such}, or by head commit")
        yield from _skipped(read)
        yield from self._foreign(read, [change for change in changes if change.has_diff])
        yield from broken
        if lost:
            names = ", ".join(lost[:3]) + (", ..." if len(lost) > 3 else "")
            yield _drop(_count(len(lost), "change"), f"no file: each is a failure ({names})")


def _drop(item: str, reason: str) -> Drop:
    return Drop(item=item, by="replay", reason=reason)


def _mapping(parsed: Sequence[Parsed], changes: Sequence[Change]) -> Literal["named", "scan", "whole"]:
    """How a file is split: by the names in it, by lines as one scan of the repository, or not at all.

    An address always names a change, be it another one, and so does what knows its attempt. Other words (SARIF's
    automation id, the commit of a scan) count only where one of them is a name of one of these changes.
    """
    keys = {entry.key for entry in parsed if entry.key is not None}
    if any(entry.attempt is not None for entry in parsed) or any(
        "://" in key or any(names_change(key, change) for change in changes) for key in keys
    ):
        return "named"
    return "scan" if len(changes) > 1 else "whole"


def _systems(parsed: Iterable[Parsed]) -> list[str]:
    return sorted({entry.system for entry in parsed if entry.system is not None})


def _paths(parsed: Iterable[Parsed], root: str) -> set[str]:
    claims = ((entry, comment.claimed) for entry in parsed for comment in entry.comments)
    return {relative_path(at.path, root or entry.root) for entry, at in claims if at is not None and at.path}


def _ends(path: str) -> Iterator[str]:
    """The path, and if it is absolute what may be left of it within a repository."""
    parts = posixpath.normpath(path).split("/")
    yield from ("/".join(parts[at:]) for at in range(len(parts) if path.startswith("/") else 1))


def _files_of(changes: Sequence[Change]) -> set[str]:
    """The files of a repository: those that changed, and with the code at hand all that the last change leaves."""
    changed = {path for change in changes for file in change.files for path in (file.path, file.old_path) if path}
    last = next((change for change in reversed(changes) if change.git and change.head), None)
    return changed.union(Repository(Path(last.git)).paths(last.head) if last and last.git and last.head else ())


def _name(change: Change) -> str:
    return change.id or change.url or change.head or change.repo


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _base_name(comment: Comment) -> str:
    path = comment.claimed.path if comment.claimed is not None else None
    return (path or "").replace("\\", "/").rpartition("/")[2]


def _skipped(parsed: Iterable[Parsed]) -> Iterator[Drop]:
    """The entries that the format left out, counted by reason."""
    counts = Counter((drop.by, drop.reason) for entry in parsed for drop in entry.skipped)
    for (by, reason), count in sorted(counts.items()):
        yield Drop(item=f"{count} entr{'y' if count == 1 else 'ies'}", by=by, reason=reason)
