"""Where a client finds and keeps calls: the cache on disk, a record that is replayed, or memory.

A file of recorded calls is indexed by key and not held in memory.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from typing_extensions import override

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import reading
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.stored import ReplayableStream
from reviewgauge.models.request.messages import Call

CALLS = "calls.jsonl"
LARGEST_RECORD = 8 * 1024**3  # bytes of a compressed record when it is unpacked
MOST_CALLS = 2_000_000  # lines of a record, whose index is held in memory
_PIECE = 1 << 20
_KEY = re.compile(rb'\A\{"key":"([0-9a-f]{64})"')  # how a line begins that was written here


class RecordedCalls:
    """The calls in `calls.jsonl` or `calls.jsonl.gz`; of several under one key the last counts.

    A last line without its newline was torn and is left out, as in every file of a run. Raises BadInput for any other
    line that is not a call, UserError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = _open(path)
        self._index: dict[str, tuple[int, int, int]] = {}  # offset, length, number of the line
        for number, line in _whole_lines(self._stream, path):
            if number > MOST_CALLS:
                raise BadInput(str(path), f"is over the limit of {MOST_CALLS:,} lines", record=number)
            found = _KEY.match(line)
            key = found[1].decode() if found else parse_record(Call, line, str(path), number).key
            self._index[key] = (self._stream.tell() - len(line), len(line), number)

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._index)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def get(self, key: str) -> Call | None:
        """The last call under a key."""
        entry = self._index.get(key)
        if entry is None:
            return None
        offset, length, number = entry
        self._stream.seek(offset)
        return parse_record(Call, self._stream.read(length), str(self.path), number)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def read_calls(path: Path) -> Iterator[Call]:
    """Every call of a file, in its order; see `RecordedCalls`."""
    with _open(path) as stream:
        for number, line in _whole_lines(stream, path):
            yield parse_record(Call, line, str(path), number)


def calls_file(path: Path) -> Path:
    """The file of calls that a path names: itself, or the one in a run folder. Raises UserError."""
    if not path.is_dir():
        return path
    for name in (CALLS, f"{CALLS}.gz"):
        if (path / name).is_file():
            with reading(path / name):  # a link would lead out of the folder
                return path / name
    raise UserError(f"{path} holds no {CALLS}", remedy="a run that asks models records its calls there")


def _open(path: Path) -> BinaryIO:
    """The file to seek in; a compressed one is unpacked into a file without a name."""
    try:
        if path.suffix != ".gz":
            return path.open("rb")
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the record)
        with gzip.open(path) as stream:
            while piece := stream.read(_PIECE):
                unpacked.write(piece)
                if unpacked.tell() > LARGEST_RECORD:
                    raise BadInput(str(path), f"unpacks to more than {LARGEST_RECORD:,} bytes")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(str(path), f"is not a whole gzip file: {error}") from None
    except OSError as error:
        raise UserError(f"the record {path} cannot be read: {error.strerror or error}") from None
    unpacked.seek(0)
    return unpacked


def _whole_lines(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    for number, line in lines(stream, str(path)):
        if line.endswith(b"\n"):
            yield number, line


class CallStore(Protocol):
    """Looked up before a call, written after it and before anybody sees the answer."""

    payer: str = ""  # who pays for what is put: the name of a run, or ""

    def get(self, key: str) -> Call | None:
        """The call under a key. Raises Failed where only recorded calls may answer and this one is not among them."""

    def ours(self, key: str) -> bool:
        """Whether the payer has paid for what `get` found, now or before it was killed."""
        return False

    async def put(self, call: Call) -> None:
        """Keep a call; it is committed when this returns."""

    def forget(self, keys: Sequence[str]) -> None:
        """Remove calls."""

    def close(self) -> None:
        """Close it: nothing is read or written after this."""


class Memory(CallStore):
    """Keeps calls as long as the process runs: their keys in memory, and what was asked in a file without a name."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._calls: ReplayableStream[Call] | None = None

    @override
    def get(self, key: str) -> Call | None:
        at = self._places.get(key)
        return None if at is None or self._calls is None else self._calls[at]

    @override
    def ours(self, key: str) -> bool:
        return key in self._places

    @override
    async def put(self, call: Call) -> None:
        self._calls = self._calls or ReplayableStream(Call)
        self._calls.add(call)
        self._places[call.key] = len(self._calls) - 1

    @override
    def forget(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._places.pop(key, None)

    @override
    def close(self) -> None:
        pass


class Replay(CallStore):
    """Recorded calls answer and nothing else does: any other call is a failure, and nothing is sent."""

    def __init__(self, path: Path) -> None:
        self._calls = RecordedCalls(calls_file(path))

    @override
    def get(self, key: str) -> Call | None:
        call = self._calls.get(key)
        if call is None:
            raise Failed(
                FailureKind.REQUEST,
                f"this call is not in the record {self._calls.path}, and a replay asks no model",
                remedy="a prompt, a model, its parameters or the attempt differs from what was recorded; "
                "run without --replay to ask",
            )
        return call

    @override
    async def put(self, call: Call) -> None:
        raise AssertionError("a replay makes no calls")

    @override
    def forget(self, keys: Sequence[str]) -> None:
        """A record stays as it is."""

    @override
    def close(self) -> None:
        self._calls.close()
