"""Runs stages over the cases of a finished data set: what they keep, and every drop with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop


def apply_stages(cases: Iterable[Case], stages: Sequence[Stage]) -> tuple[list[Case], list[Drop]]:
    """(kept, dropped) after all stages, in their order. Raises UserError when nothing is left."""
    place = _NoPlace()
    kept, drops = [Candidate(case=case) for case in cases], []
    for stage in stages:
        before, kept = kept, []
        for item in stage.apply(before, place):
            if isinstance(item, Candidate):
                kept.append(item)
            elif isinstance(item, Drop):
                drops.append(item)
        if before and not kept:
            last = drops[-1]
            raise UserError(f"{last.by} drops all {len(before)} cases, for example {last.item}: {last.reason}")
    return [item.case for item in kept], drops


@dataclass(frozen=True, slots=True)
class _NoPlace:
    """Where no benchmark is being built: a stage that needs a build's folder cannot be used here."""

    source: str = ""

    @property
    def folder(self) -> Path:
        raise UserError("this stage builds a benchmark", remedy="use it in a recipe of reviewgauge build")

    @property
    def code(self) -> Path:
        return self.folder

    def recall(self, key: Sequence[str]) -> bytes | None:
        return None

    def remember(self, key: Sequence[str], value: bytes) -> None:
        return None

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        return None

    def report(self, section: CardSection) -> None:
        return None
