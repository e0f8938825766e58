"""Records that stay on the disk: a sequence that knows where each line is, and reads it when it is asked for.

A benchmark of 68,000 cases takes 300 MB as text and over 1 GB as records. Only the places of the lines are held here,
so that what walks over the cases of a run takes as much memory for many as for few.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, overload

from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_error
from reviewgauge.core.parsing import LONGEST_LINE, parse_record

A = TypeVar("A")
B = TypeVar("B")
K = TypeVar("K")
R = TypeVar("R", bound=Record)


class Unstorable(UserError):
    """A record that no line of JSON can carry."""


def checked_line(record: Record) -> bytes:
    """The record's line, sure to be read again. Raises Unstorable for NaN, half a surrogate pair and the like."""
    model = type(record)
    try:
        line = record.to_line()
        parse_record(model, line, model.__name__)
    except UserError as error:
        raise Unstorable(f"the record cannot be stored: {error}") from None
    except ValueError as error:  # pydantic's serialisation errors are ValueErrors
        raise Unstorable(f"the record cannot be stored: {error}") from None
    if len(line) > LONGEST_LINE:
        raise Unstorable(f"the record cannot be stored: {len(line):,} bytes, and a line may hold {LONGEST_LINE:,}")
    return line


class Lazy(Sequence[B]):
    """As many items as `count` says, each made by `make` from its position each time that it is asked for.

    Equal to any other sequence of equal items.
    """

    def __init__(self, count: int, make: Callable[[int], B]) -> None:
        """`make` gets a position from 0 to `count` - 1."""
        self._count, self._maker = count, make

    @classmethod
    def of(cls, items: Sequence[A], make: Callable[[A], B]) -> Lazy[B]:
        """What `make` returns for each of `items`."""
        return Lazy(len(items), lambda at: make(items[at]))

    @override
    def __len__(self) -> int:
        return self._count

    def _make(self, at: int) -> B:
        return self._maker(at)

    @overload
    def __getitem__(self, at: int) -> B: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[B]: ...
    @override
    def __getitem__(self, at: int | slice) -> B | Sequence[B]:
        if isinstance(at, slice):
            return Lazy.of(range(len(self))[at], self._make)
        return self._make(range(len(self))[at])

    @override
    def __iter__(self) -> Iterator[B]:
        return map(self._make, range(len(self)))

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @override
    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self))}]"


def chained(parts: Sequence[Sequence[A]]) -> Sequence[A]:
    """All items of several sequences, one after the other."""
    if len(parts) == 1:
        return parts[0]
    owner = array("L", (number for number, part in enumerate(parts) for _ in range(len(part))))
    before = [sum(map(len, parts[:number])) for number in range(len(parts))]
    return Lazy(len(owner), lambda at: parts[owner[at]][at - before[owner[at]]])


class Places:
    """Where lines are in a file: their starts and sizes, 16 bytes a line."""

    def __init__(self) -> None:
        self.starts, self.sizes = array("Q"), array("Q")

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, size: int) -> int:
        """Note one more line; returns its position."""
        self.starts.append(start)
        self.sizes.append(size)
        return len(self.starts) - 1

    def replace(self, at: int, start: int, size: int) -> None:
        """Note another line in the place of one."""
        self.starts[at], self.sizes[at] = start, size


KEPT = 4_000_000  # bytes of lines whose records may be kept, for those that are read again and again


class StoredRecords(Lazy[R]):
    """The records in some lines of a file, which is read through a descriptor: replacing the file changes nothing.

    Safe for several threads.
    """

    def __init__(self, descriptor: int, name: str, model: type[R], keep: int = 0) -> None:
        """`descriptor` is closed with this object. The records of the first `keep` bytes of lines are parsed once."""
        self._descriptor, self._name, self._model, self.places = descriptor, name, model, Places()
        self._kept: dict[tuple[int, int], R] = {}
        self._room = keep

    def __del__(self) -> None:
        os.close(self._descriptor)

    @override
    def __len__(self) -> int:
        return len(self.places)

    def line(self, at: int) -> bytes:
        """The line of a record, as it is in the file."""
        return os.pread(self._descriptor, self.places.sizes[at], self.places.starts[at])

    @override
    def _make(self, at: int) -> R:
        start, size = self.places.starts[at], self.places.sizes[at]
        known = self._kept.get((start, size))
        return (
            self.keep(start, size, parse_record(self._model, self.line(at), self._name, at + 1))
            if known is None
            else known
        )

    def keep(self, start: int, size: int, record: R) -> R:
        """Keep the record of a line that was read, if there is room; returns it."""
        if size <= self._room:
            self._room -= size
            self._kept[start, size] = record
        return record


class ByKey(Mapping[K, R]):
    """Records by their key, each read when it is asked for."""

    def __init__(self, places: Mapping[K, int], records: Sequence[R]) -> None:
        self._places, self._records = places, records

    @override
    def __getitem__(self, key: K) -> R:
        return self._records[self._places[key]]

    @override
    def __contains__(self, key: object) -> bool:
        return key in self._places

    @override
    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    @override
    def __len__(self) -> int:
        return len(self._places)


class ReplayableStream(StoredRecords[R]):
    """Takes records as they come, and reads them again: in a file without a name that is gone with this object."""

    def __init__(self, model: type[R], records: Iterable[R] = (), folder: Path | None = None) -> None:
        """Takes `records` first; `folder` is one with room. Raises as `add` does."""
        self._folder = folder or Path(tempfile.gettempdir())
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(buffering=0, dir=self._folder) as file:
                super().__init__(os.dup(file.fileno()), "a temporary file", model)
        except OSError as error:
            raise write_error(self._folder, error) from None
        self._end = 0
        for record in records:
            self.add(record)

    def add(self, record: R) -> None:
        """Keep one more record. Raises Unstorable, and UserError for a disk without room."""
        line = checked_line(record)
        done = 0
        try:
            while done < len(line):
                done += os.pwrite(self._descriptor, memoryview(line)[done:], self._end + done)
        except OSError as error:
            raise write_error(self._folder, error) from None
        self.places.add(self._end, len(line))
        self._end += len(line)


def replayable(model: type[R], records: Iterable[R]) -> Sequence[R]:
    """The records as a sequence that holds none of them in memory; what is a sequence stays as it is."""
    return records if isinstance(records, Sequence) else ReplayableStream(model, records)
