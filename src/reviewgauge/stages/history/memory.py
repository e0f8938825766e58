"""What a build remembers of a history between runs: the diffs between its commits, and the traces of its fixes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from pydantic import TypeAdapter

from reviewgauge.core.building import BuildContext
from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.szz.trace import Fix, SzzSettings, Trace, index_history, trace_many

_FILES = TypeAdapter(tuple[ChangedFile, ...])
_LARGEST = 100_000  # bytes of one value; a larger diff is read again


@cache
def code_fingerprint(package: str) -> str:
    """A hash of all code of a package: what other code found out is found out again.

    Else a folder that was begun with an older version would end as another benchmark than a new one.
    """
    return fingerprint(files(package))


def fingerprint(folder: Traversable) -> str:
    """A hash of the names and contents of all code and all tables below `folder`."""
    found = hashlib.sha256()
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found.update(entry.name.encode() + b"\0" + fingerprint(entry).encode() + b"\0")
        elif entry.name.endswith((".py", ".toml")):
            found.update(entry.name.encode() + b"\0" + entry.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class HistoryMemory:
    """Reads diffs of a repository and traces its fixes; what was found before comes out of the build's memory.

    Commits are named by their content, so what was read between two of them stays true.
    """

    repository: Repository
    context: BuildContext

    def files(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        """The files changed from `base` to `head`. Raises UserError where git fails."""
        key = ("history", self.repository.name, code_fingerprint("reviewgauge.repo"), "diff", base, head)
        if (known := self.context.recall(key)) is not None:
            return _FILES.validate_json(zlib.decompress(known))
        found = self.repository.changed_files(base, head, LARGEST_FILE)
        packed = zlib.compress(_FILES.dump_json(found, exclude_defaults=True), 1)
        if len(packed) <= _LARGEST:
            self.context.remember(key, packed)
        return found

    def text(self, commit: str, path: str) -> str:
        """A file at a commit; empty where it has none. Raises UserError where git fails."""
        found = self.repository.blob(self.repository.run("rev-parse", commit).decode().strip(), path) or b""
        return found.decode("utf-8", "replace")

    def traces(self, fixes: Sequence[Fix], settings: SzzSettings) -> Iterator[Trace]:
        """The trace of each fix, in order. All are traced first; each new one is on disk before the next begins."""
        missing = [fix for fix in fixes if self.context.recall(_trace_key(fix, settings)) is None]
        if missing:
            index_history(self.repository, self.context.code)
        with closing(trace_many(self.repository, missing, settings)) as found:
            for done, (fix, trace) in enumerate(zip(missing, found, strict=True), len(fixes) - len(missing) + 1):
                self.context.remember(_trace_key(fix, settings), trace.model_dump_json(exclude_defaults=True).encode())
                self.context.progress("tracing fixes", done, len(fixes))
        return (self.trace(fix, settings) for fix in fixes)

    def trace(self, fix: Fix, settings: SzzSettings) -> Trace:
        """The trace of a fix that was traced before."""
        known = self.context.recall(_trace_key(fix, settings))
        return Trace(fix=fix.commit) if known is None else Trace.model_validate_json(known)


def _trace_key(fix: Fix, settings: SzzSettings) -> tuple[str, ...]:
    opened = "" if fix.opened is None else fix.opened.isoformat()
    return ("trace", code_fingerprint("reviewgauge.repo"), repr(settings), fix.commit, opened)
