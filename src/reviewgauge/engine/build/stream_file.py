"""Candidates on disk between two stages: gone through as often as a stage likes, never held in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reviewgauge.core.building import Candidate


class ReplayableStream:
    """The candidates of a stream, written once and read any number of times."""

    def __init__(self, path: Path, items: Iterable[Candidate]) -> None:
        self.path, self.count = path, 0
        with path.open("wb") as file:
            for item in items:
                file.write(item.to_line())
                self.count += 1

    def __iter__(self) -> Iterator[Candidate]:
        with self.path.open("rb") as file:
            for line in file:
                yield Candidate.model_validate_json(line)

    def __len__(self) -> int:
        return self.count

    def remove(self) -> None:
        """Take the file away."""
        self.path.unlink(missing_ok=True)
