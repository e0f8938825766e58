"""What was made of the files of runs, kept in the cache for as long as files and code stay as they were.

It lies with the indexes of code, is data alone, and is made again where it cannot be read. Each thing has one place by
the folders of its runs, so that a run that grows takes no more room with each look at it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, get_type_hints

import numpy as np
from pydantic import TypeAdapter

from reviewgauge.contexts.code.store import keep_arrays, read_arrays

P = ParamSpec("P")
T = TypeVar("T")
LONG = 0.1  # seconds; what is made faster is not kept


class Origin(NamedTuple):
    """Where something was read, and a digest of all that was read there."""

    place: str
    content: str


class HasOrigin(Protocol):
    """What was read from files."""

    @property
    def origin(self) -> Origin | None:
        """None where it was not, or where code that is not ours has a say in it."""


S = TypeVar("S", bound=HasOrigin)


def kept(make: Callable[Concatenate[S, P], T], of: S, /, *args: P.args, **options: P.kwargs) -> T:
    """What `make` returns for something that was read and for options that JSON can say, made once.

    It must depend on nothing else, and its return type must be one that pydantic reads.
    """
    if of.origin is None:
        return make(of, *args, **options)
    bound = inspect.signature(make).bind(of, *args, **options)
    bound.apply_defaults()
    name = json.dumps([make.__module__, make.__qualname__, *list(bound.arguments.values())[1:]])
    kind: TypeAdapter[T] = _adapter(make)
    return remembered(name, of.origin, kind, lambda: make(of, *args, **options))


def remembered(
    name: str, origin: Origin, kind: TypeAdapter[T], make: Callable[[], T], still: Callable[[], bool] = lambda: True
) -> T:
    """What `make` returns under a name for an origin, if that `still` holds when it was made.

    What took no time, and what no JSON can say, is not kept.
    """
    slot = f"run-{_digest(origin.place, name)[:40]}"
    digest = np.frombuffer(_digest(origin.content, name, code()).encode(), dtype=np.uint8)
    known = read_arrays(slot) or {}
    if known.keys() == {"of", "made"} and np.array_equal(known["of"], digest):
        with suppress(ValueError):  # pydantic's errors are such
            return kind.validate_json(known["made"].tobytes())
    began = time.perf_counter()
    made = make()
    if time.perf_counter() - began >= LONG and still():
        with suppress(ValueError):
            text = kind.dump_json(made)
            if kind.validate_json(text) == made:
                keep_arrays(slot, {"of": digest, "made": np.frombuffer(text, dtype=np.uint8)})
    return made


@cache
def _adapter(make: Callable[..., object]) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(make)["return"])


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def code() -> str:
    """What changes when a file of this package does."""
    found: list[Any] = []
    for folder, below, names in os.walk(Path(str(files("reviewgauge")))):
        below[:] = sorted(name for name in below if name != "__pycache__")
        for name in sorted(names):
            about = (Path(folder) / name).stat()
            found.append((folder, name, about.st_size, about.st_mtime_ns))
    return _digest(repr(found))
