"""A file of recorded calls, found by key without holding it in memory, and the replay of such a file."""

from __future__ import annotations

import gzip
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.call_store import Reused
from reviewgauge.models.request.messages import Call

CALLS = "calls.jsonl"
_KEY = re.compile(rb'\A\{"key":"([0-9a-f]{64})"')  # how a line begins that was written here


class RecordedCalls:
    """The calls in `calls.jsonl` or `calls.jsonl.gz`; of several under one key the last counts.

    A last line without its newline was torn and is left out, as in every file of a run. Raises BadInput for any other
    line that is not a call, UserError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = _open(path)
        self._places: dict[str, tuple[int, int, int]] = {}  # offset, length, number of the line
        for number, line in _whole_lines(self._stream, path):
            found = _KEY.match(line)
            key = found[1].decode() if found else parse_record(Call, line, str(path), number).key
            self._places[key] = (self._stream.tell() - len(line), len(line), number)

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def get(self, key: str) -> Call | None:
        """The last call under a key."""
        place = self._places.get(key)
        if place is None:
            return None
        offset, length, number = place
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


class Replay:
    """Recorded calls answer and nothing else does: what is not among them is a failure, and nothing is sent."""

    def __init__(self, where: Path) -> None:
        self.payer = ""
        self.reused = Reused()
        self._calls = RecordedCalls(calls_file(where))

    def get(self, key: str) -> Call | None:
        """See `CallStore.get`."""
        call = self._calls.get(key)
        if call is None:
            raise Failed(
                FailureKind.REQUEST,
                f"this call is not in the record {self._calls.path}, and a replay asks no model",
                remedy="a prompt, a model, its parameters or the attempt is another one than was recorded; "
                "run without --replay to ask",
            )
        self.reused.add(call.answer)
        return call

    def ours(self, key: str) -> bool:
        """See `CallStore.ours`."""
        return False

    async def put(self, call: Call) -> None:
        """See `CallStore.put`. A replay makes no calls."""
        raise AssertionError("a replay makes no calls")

    def forget(self, keys: Sequence[str]) -> None:
        """See `CallStore.forget`. A record stays as it is."""

    def close(self) -> None:
        """See `CallStore.close`."""
        self._calls.close()


def calls_file(where: Path) -> Path:
    """The file of calls that a path names: itself, or the one in a run folder. Raises UserError."""
    if not where.is_dir():
        return where
    for name in (CALLS, f"{CALLS}.gz"):
        if (where / name).is_file():
            return where / name
    raise UserError(f"{where} holds no {CALLS}", remedy="a run that asks models records its calls there")


def _open(path: Path) -> BinaryIO:
    """The file to seek in; a compressed one is unpacked into a file without a name."""
    try:
        if path.suffix != ".gz":
            return path.open("rb")
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the record)
        with gzip.open(path) as stream:
            shutil.copyfileobj(stream, unpacked)
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
