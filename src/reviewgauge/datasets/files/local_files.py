"""The files of data sets on this machine: where they are, their JSON, and what several formats have in common."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.parsing import lines, parse_json, refuse_bytes
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Change, ChangedFile, FileStatus
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import plugin_name
from reviewgauge.core.trust import FilePath
from reviewgauge.repo.diff.diffs import count_changed, size_of, split_diff

LARGEST_FILE = 512 * 1024 * 1024  # bytes; no official file comes near, and a whole document is held in memory


def data_home() -> Path:
    """The folder of fetched data sets, one folder each.

    `$REVIEWGAUGE_DATA`, else `$XDG_DATA_HOME/reviewgauge`, else `~/.local/share/reviewgauge`. Nothing is created.
    """
    if own := os.environ.get("REVIEWGAUGE_DATA"):
        return Path(own).expanduser()
    # The XDG rule: a relative value is invalid and is ignored.
    if (shared := os.environ.get("XDG_DATA_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "reviewgauge"
    try:
        return Path.home() / ".local" / "share" / "reviewgauge"
    except RuntimeError:
        raise UserError("this user has no home folder to keep data in", remedy="set REVIEWGAUGE_DATA") from None


def locate(name: str, path: str) -> Path:
    """The files of data set `name`: `path` where one is given, else its folder in the data home.

    Raises UserError where there is nothing.
    """
    if path:
        given = Path(path).expanduser()
        if not given.exists():
            raise UserError(f"{path} does not exist", remedy=f"give the folder that holds {name}'s files")
        return given
    own = name.replace("_", "-")  # as the official repositories call their folders: aacr-bench, crscore
    homes = [data_home() / one for one in (name, own, own.removesuffix("-study"))]
    home = next(filter(Path.is_dir, homes), None)
    if home is None:
        raise UserError(f"the data set {name} is not on this machine", remedy=f"reviewgauge get {name}")
    return home


def read_json(file: Path, dataset: str) -> Node:
    """The JSON document in `file`. Raises UserError where it is absent, too large or not JSON."""
    source = file.name
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise UserError(f"{file} is not a plain file")
        if size > LARGEST_FILE:
            raise BadInput(source, f"is {size:,} bytes, over {LARGEST_FILE:,}")
        raw = read_file(file, 1 << 30)
    except FileNotFoundError:
        raise UserError(f"{file} is not there", remedy=f"reviewgauge get {dataset}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return Node(parse_json(raw, source, trusted=True), source)


def objects(file: Path) -> Iterator[Node]:
    """The object on each line of a file, or each item of a JSON array, read lazily."""
    if file.suffix == ".json":
        yield from read_json(file, file.stem).items()
        return
    if file.exists() and not file.is_file():
        raise UserError(f"{file} is not a plain file")  # a pipe would be waited for
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    refuse_bytes(line, file.name, number)
                    raise BadInput(file.name, "is not valid JSON", record=number) from None
                yield Node(value, file.name, number)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


_ADDRESS = re.compile(
    r"https://(?P<host>[A-Za-z0-9.-]+)/(?P<repo>[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/pull/(?P<n>\d{1,10})"
)


class PullAddress(NamedTuple):
    """A pull request on a forge; `repo` is `owner/name`."""

    repo: str
    number: int

    @property
    def id(self) -> str:
        """The case id: `owner/name#number`."""
        return f"{self.repo}#{self.number}"


def parse_pull(url: str) -> PullAddress | None:
    """The pull request behind an address such as `https://github.com/owner/name/pull/7`; None for anything else."""
    match = _ADDRESS.fullmatch(url.rstrip("/"))
    if match is None or any(set(part) == {"."} for part in match["repo"].split("/")):
        return None
    return PullAddress(match["repo"], int(match["n"]))


_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
NO_EMAIL = "(e-mail)"


def find_entry_files(name: str, path: str, pattern: str, remedy: str) -> list[Path]:
    """The official files below `path`, or `path` itself where it is a file. Raises UserError with `remedy`."""
    try:
        given = locate(name, path)
    except UserError as error:
        raise UserError(error.problem, remedy=remedy) from None
    if given.is_file():
        return [given]
    found = sorted(file for kind in ("jsonl", "json") for file in given.rglob(f"{pattern}.{kind}"))
    if not found:
        raise UserError(f"{given} holds no {pattern}.jsonl", remedy=remedy)
    return found


def without_emails(text: str) -> str:
    """`text` with every e-mail address replaced."""
    return _EMAIL.sub(NO_EMAIL, text)


def text_of(shape: Node, key: str) -> str:
    """A text field without e-mail addresses; empty where it is absent or null."""
    found = shape.get(key)
    return without_emails(found.as_text()) if found else ""


def name_of(shape: Node, key: str) -> str:
    """An id that is text or a number."""
    value = shape[key].value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else shape[key].as_text()


def moment(shape: Node, key: str) -> datetime | None:
    """An ISO time, UTC where it names no zone; None where it is absent, null or empty."""
    found = shape.get(key)
    if found is None or not found.as_text().strip():
        return None
    try:
        read = datetime.fromisoformat(found.as_text().strip())
    except ValueError:
        raise found.error("is not an ISO time") from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def files_of(at: Node, path: str, patch: str) -> tuple[ChangedFile, ...]:
    """The files of one patch: a whole diff, or hunks of the file `path` as GitHub's API gives them; none of no text.

    Raises BadInput at `at`.
    """
    if patch.lstrip().startswith(("diff --git ", "--- ")):
        return split_diff(patch.lstrip("\n"))
    if not path and not patch.strip():
        return ()
    if not path:
        raise at.error("is not a diff")
    status = FileStatus.MODIFIED
    if patch.startswith("@@ -0,0 "):
        status = FileStatus.ADDED
    elif patch.startswith("@@ ") and " +0,0 @@" in patch.partition("\n")[0]:
        status = FileStatus.DELETED
    shown = patch if patch.startswith("@@") else None
    return (build(ChangedFile, at, path=path, patch=shown, status=status),)


def join_files(files: Iterable[ChangedFile]) -> tuple[tuple[ChangedFile, ...], int]:
    """One entry per path, in order of first mention, and the number of paths that several commits change.

    Their patches are joined, oldest first, each with the line numbers of its own commit.
    """
    found: dict[str, ChangedFile] = {}
    twice: set[str] = set()
    for file in files:
        before = found.get(file.path)
        if before is None:
            found[file.path] = file
            continue
        twice.add(file.path)
        patches = [one.patch for one in (before, file) if one.patch]
        found[file.path] = before.model_copy(update={"patch": "\n".join(patches) if patches else None})
    return tuple(found.values()), len(twice)


def change_facts(change: Change, created: datetime | None, language: str) -> dict[str, Fact]:
    """The facts to slice by: day, year, language, size."""
    facts: dict[str, Fact] = {"language": language} if language else {}
    if created is not None:
        facts |= {"created": created.date().isoformat(), "year": created.year}
    if change.has_diff:
        lines = count_changed(change.files)
        facts |= {"changed_lines": lines, "changed_files": len(change.files), "size": size_of(lines)}
    return facts


@dataclass(frozen=True)
class EntryDataset(Dataset):
    """A data set of official JSON lines, one entry a case, read lazily. What was left out or corrected is noted."""

    path: FilePath = ""
    _notes: list[Drop] = field(default_factory=list, init=False, repr=False, compare=False)

    def entries(self, pattern: str, remedy: str) -> Iterator[tuple[Path, Node]]:
        """(file, entry) of the files that match `pattern`. Raises UserError with `remedy`."""
        self._notes.clear()
        for file in find_entry_files(plugin_name(self), self.path, pattern, remedy):
            for entry in objects(file):
                yield file, entry

    def note(self, item: str, reason: str, detail: str = "") -> None:
        """Say why an entry, or a part of it, was left out or corrected."""
        self._notes.append(Drop(item=item, by=plugin_name(self), reason=reason, detail=detail))

    def notes(self) -> Sequence[Drop]:
        """What was left out or corrected; complete once the cases were read."""
        return tuple(self._notes)

    @override
    def counts(self) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        repositories: set[str] = set()
        languages: set[object] = set()
        for case in self.cases():
            counts.update(changes=1, clean=case.clean, references=len(case.references))
            repositories.add(case.change.repo)
            languages.add(case.facts.get("language"))
        counts.update(repositories=len(repositories), languages=len(languages - {None}))
        return dict(+counts)
