"""The manifest of a run folder, and the hash that identifies a benchmark. See docs/reference/runs.md."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_within
from reviewgauge.core.parsing import parse_json, parse_record
from reviewgauge.core.records import Case, Change
from reviewgauge.core.version import __version__

FORMAT = 2
MANIFEST = "manifest.json"
MIXED = " | "  # between the pins of reviews that rest on different ones


class SystemEntry(Record):
    """What produced the reviews of one system: the full signature of its reviewer and what that rested on."""

    signature: str
    pins: Mapping[str, str] = Field(default_factory=dict)
    reviewgauge: str = ""


class Manifest(Record):
    """What a run is about. `benchmark` is the hash of the cases, `dataset_path` the path exactly as it was given."""

    format: int
    reviewgauge: str
    python: str
    libraries: Mapping[str, str]
    dataset: str
    dataset_path: str
    benchmark: str
    cases: int
    seed: int
    created: datetime
    systems: Mapping[str, SystemEntry] = Field(default_factory=dict)


def installed_versions(*libraries: str) -> dict[str, str]:
    """The versions of those of these libraries that are installed here."""
    found = {}
    for name in libraries:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def new_manifest(dataset: str, dataset_path: str, benchmark: str, cases: int, seed: int) -> Manifest:
    """The manifest of a run that begins now, with this machine's versions."""
    return Manifest(
        format=FORMAT,
        reviewgauge=__version__,
        python=platform.python_version(),
        libraries=installed_versions("numpy", "pydantic", "scipy"),
        dataset=dataset,
        dataset_path=dataset_path,
        benchmark=benchmark,
        cases=cases,
        seed=seed,
        created=datetime.now(UTC).replace(microsecond=0),
    )


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder. Raises UserError where there is none, or one of another version."""
    path = folder / MANIFEST
    try:
        raw = read_within(path)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(
            f"{folder} is not a run folder (no {MANIFEST})", remedy="reviewgauge review makes one"
        ) from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None
    document = parse_json(raw, str(path))
    found = document.get("format") if isinstance(document, dict) else None
    if isinstance(found, int) and found != FORMAT:
        raise UserError(f"{folder} was written by another version of ReviewGauge (format {found}, not {FORMAT})")
    return parse_record(Manifest, json.dumps(document).encode(), str(path))


def benchmark_hash(cases: Iterable[Case]) -> str:
    """SHA-256 (64 hex digits) of the cases: free of their order, of the order of keys, of `Change.git` and of labels.

    Labels judge reviews of a case; they are not part of it.

    Fields left at their default do not count, so a field that a later version adds changes no hash.
    """
    digests = sorted(_digest(case) for case in cases)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(case: Case) -> str:
    raw = case.model_dump_json(exclude_defaults=True, exclude={"change": {"git"}, "labels": True})
    canonical = json.dumps(json.loads(raw), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def same_change(one: Change, other: Change) -> bool:
    """Whether a reviewer of the one saw what a reviewer of the other sees, wherever its code and its page lie."""
    place = {"id": None, "git": None, "url": None, "snippets": ()}
    return one.model_copy(update=place) == other.model_copy(update=place)


def labels_hash(cases: Iterable[Case]) -> str:
    """SHA-256 (64 hex digits) of the labels on the cases, whatever their order."""
    lines = sorted(label.to_line() for case in cases for label in case.labels)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def join_pins(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Each pin of reviews that rest on both, its values beside each other."""
    pairs = {name: [pins.get(name, "none") for pins in (before, now)] for name in sorted({*before, *now})}
    return {name: MIXED.join(dict.fromkeys(MIXED.join(pair).split(MIXED))) for name, pair in pairs.items()}
