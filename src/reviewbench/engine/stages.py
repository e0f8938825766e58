"""Runs stages over cases: what they keep, and every drop with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewbench.core.errors import UserError
from reviewbench.core.protocols import Stage
from reviewbench.core.records import Case
from reviewbench.core.results import Drop


def apply_stages(cases: Iterable[Case], stages: Sequence[Stage]) -> tuple[list[Case], list[Drop]]:
    """(kept, dropped) after all stages, in their order. Raises UserError when nothing is left."""
    kept, drops = list(cases), []
    for stage in stages:
        before, kept = kept, []
        for item in stage.apply(before):
            if isinstance(item, Case):
                kept.append(item)
            else:
                drops.append(item)
        if before and not kept:
            last = drops[-1]
            raise UserError(f"{last.by} drops all {len(before)} cases, for example {last.item}: {last.reason}")
    return kept, drops
