"""The benchmark's identity: a hash of what the cases say, whatever their order and wherever their code lies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from reviewgauge.core.records import Case


def benchmark_hash(cases: Iterable[Case]) -> str:
    """SHA-256 (64 hex digits) of the cases: free of their order, of the order of keys, of `Change.git` and of labels.

    Labels judge what somebody said on a case; they are not part of what the case asks.

    Fields left at their default do not count, so a field that a later version adds changes no hash.
    """
    digests = sorted(_digest(case) for case in cases)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(case: Case) -> str:
    raw = case.model_dump_json(exclude_defaults=True, exclude={"change": {"git"}, "labels": True})
    canonical = json.dumps(json.loads(raw), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def labels_hash(cases: Iterable[Case]) -> str:
    """SHA-256 (64 hex digits) of the labels on the cases, whatever their order."""
    lines = sorted(label.to_line() for case in cases for label in case.labels)
    return hashlib.sha256(b"".join(lines)).hexdigest()
