"""What a build remembers between runs: the changes of a history, the diffs between commits, verdicts on changes."""

from __future__ import annotations

import hashlib
import sys
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import count
from pathlib import Path

from pydantic import TypeAdapter
from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, LandedChange, read_changes


@cache
def tracing_code() -> str:
    """A fingerprint of all code that traces: a fix that other code traced is traced again.

    Else a folder that was begun with an older version would end as another benchmark than a new one.
    """
    return fingerprint(files("reviewgauge.repo"))


def fingerprint(folder: Traversable) -> str:
    """A hash of the names and contents of all Python files below `folder`."""
    found = hashlib.sha256()
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found.update(entry.name.encode() + b"\0" + fingerprint(entry).encode() + b"\0")
        elif entry.name.endswith(".py"):
            found.update(entry.name.encode() + b"\0" + entry.read_bytes() + b"\0")
    return found.hexdigest()[:16]


_FILES = TypeAdapter(tuple[ChangedFile, ...])
_CHANGES = TypeAdapter(tuple[LandedChange | Drop, ...])
_TOGETHER = 500  # changes that are remembered as one value
_LARGEST = 2_000_000  # bytes of one value; what is larger is read again
_LARGEST_DIFF = 100_000


@dataclass(frozen=True)
class HistoryMemory:
    """Reads a repository, and what was read before out of the build's memory. The code that reads is part of each key.

    Commits are named by their content, so what was read between two of them stays true.
    """

    repository: Repository
    context: BuildContext

    def files(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        """The files changed from `base` to `head`. Raises UserError where git fails."""
        key = self._key("diff", base, head)
        if (known := self.context.recall(key)) is not None:
            return _FILES.validate_json(zlib.decompress(known))
        found = self.repository.changed_files(base, head, LARGEST_FILE)
        self._remember(key, _FILES.dump_json(found, exclude_defaults=True), _LARGEST_DIFF)
        return found

    def text(self, commit: str, path: str) -> str:
        """A file at a commit; empty where it has none. Raises UserError where git fails."""
        key = self._key("text", commit, path)
        if (known := self.context.recall(key)) is not None:
            return zlib.decompress(known).decode("utf-8", "replace")
        found = self.repository.blob(self.repository.run("rev-parse", commit).decode().strip(), path) or b""
        self._remember(key, found, _LARGEST_DIFF)
        return found.decode("utf-8", "replace")

    def changes(self, tip: str) -> Iterator[LandedChange | Drop]:
        """As `read_changes`; the same tip has the same changes."""
        if self.context.recall(self._key("changes", tip, "all")) is not None:
            for number in count():
                known = self.context.recall(self._key("changes", tip, str(number)))
                if known is None:
                    return
                yield from _CHANGES.validate_json(zlib.decompress(known))
        kept: list[LandedChange | Drop] = []
        number, whole = 0, True
        for item in read_changes(self.repository, tip):
            kept.append(item)
            yield item
            if len(kept) == _TOGETHER:
                whole &= self._remember(self._key("changes", tip, str(number)), _CHANGES.dump_json(tuple(kept)))
                number, kept = number + 1, []
        if kept:
            whole &= self._remember(self._key("changes", tip, str(number)), _CHANGES.dump_json(tuple(kept)))
        if whole:
            self.context.remember(self._key("changes", tip, "all"), b"")

    def _key(self, *what: str) -> tuple[str, ...]:
        return ("history", self.repository.name, tracing_code(), *what)

    def _remember(self, key: tuple[str, ...], value: bytes, most: int = _LARGEST) -> bool:
        packed = zlib.compress(value, 1)
        if len(packed) > most:
            return False
        self.context.remember(key, packed)
        return True


@cache
def _code(module: str) -> str:
    """A fingerprint of the code that decides: another version decides anew."""
    own = Path(sys.modules[module].__file__ or "").read_bytes()
    return fingerprint(files("reviewgauge.repo")) + hashlib.sha256(own).hexdigest()[:16]


class RememberedVerdict(Stage):
    """Drops a case with a problem. A build remembers the verdict on each diff between two commits."""

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        why = _remembered(self, item.case, context)
        yield self.drop(item.id, why) if why else item

    @override
    def keep(self, case: Case) -> Case | str:
        return self.problem(case) or case

    @abstractmethod
    def problem(self, case: Case) -> str:
        """Why a case is dropped; empty where it stays."""


def _remembered(stage: RememberedVerdict, case: Case, context: BuildContext) -> str:
    change = case.change
    if not change.git or not change.base or not change.head:
        return stage.problem(case)
    shown = hashlib.sha256()
    for file in change.files:
        words = (file.old_path or "", file.path, file.status, file.patch or "", str(file.patch is None))
        shown.update("\0".join(words).encode("utf-8", "surrogatepass"))
    code = _code(type(stage).__module__)
    key = ("verdict", code, repr(stage), Path(change.git).name, change.base, change.head, shown.hexdigest())
    if (known := context.recall(key)) is not None:
        return known.decode()
    verdict = stage.problem(case)
    context.remember(key, verdict.encode())
    return verdict
