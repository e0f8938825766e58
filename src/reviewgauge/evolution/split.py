"""Three parts of a benchmark, split once: train to learn from, selection to choose by, and held-out to be told by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.stages.sampling.draws import assign_groups, draw_key

TRAIN, SELECTION, HELD_OUT = "train", "selection", "held-out"
PARTS = (TRAIN, SELECTION, HELD_OUT)
FEWEST = 6  # cases: two in each part


@dataclass(frozen=True)
class Split:
    """The cases of each part. `by`: repository, or case where there are too few repositories.

    `alike` counts the repositories that stay together with others, for changes that are nearly the same.
    """

    parts: Mapping[str, Sequence[Case]]
    by: str
    alike: int = 0

    @property
    def hashes(self) -> dict[str, str]:
        """The benchmark hash of each part."""
        return {name: benchmark_hash(cases) for name, cases in self.parts.items()}


def split_cases(
    cases: Sequence[Case],
    shares: Sequence[float],
    seed: int,
    reserve: int = 0,
    copies: Sequence[int] | None = None,
) -> Split:
    """Split by repository, by case where there are fewer than three; `reserve` repositories are held out.

    `copies` says by a number for each case which changes are nearly the same: they lie in one part, and so do their
    repositories. Raises UserError for too few cases, for a part that stays empty, and for shares that are none.
    """
    if len(shares) != len(PARTS) or min(shares) <= 0 or not abs(sum(shares) - 1) <= 1e-6:
        raise UserError("the shares are three positive numbers that add up to 1", remedy="--shares 0.5,0.25,0.25")
    if len(cases) < FEWEST:
        raise UserError(f"{len(cases)} cases are too few to split into three parts", remedy=f"at least {FEWEST}")
    copies = range(len(cases)) if copies is None else copies
    kin = _kin(cases, copies)
    by_repository = len(set(kin.values())) >= len(PARTS)
    first: dict[int, str] = {}
    unit = {
        case.id: kin[case.change.repo] if by_repository else first.setdefault(copy, case.id)
        for case, copy in zip(cases, copies, strict=True)
    }
    wanted, sizes, members = dict(zip(PARTS, shares, strict=True)), Counter(unit.values()), Counter(kin.values())
    held: dict[str, str] = {}
    if reserve:
        for repo in sorted(members, key=lambda repo: (draw_key(seed, "reserve", repo), repo)):
            if sum(members[one] for one in held) < reserve:
                held[repo] = HELD_OUT
        if len(members) - len(held) < 2 or not by_repository:
            most = max(0, len(kin) - 2) * by_repository
            raise UserError(f"{reserve} of {len(kin)} repositories cannot be reserved", remedy=f"at most {most}")
        both = wanted[TRAIN] + wanted[SELECTION]
        wanted = {name: wanted[name] / both for name in (TRAIN, SELECTION)}
    part_of = assign_groups({one: size for one, size in sizes.items() if one not in held}, wanted, seed) | held
    parts = {name: [case for case in cases if part_of[unit[case.id]] == name] for name in PARTS}
    if empty := next((name for name, own in parts.items() if not own), ""):
        raise UserError(f"no case is left for {empty}", remedy="give other --shares, or more repositories")
    alike = sum(count for count in members.values() if count > 1)
    return Split(parts, "repository" if by_repository else "case", alike)


def _kin(cases: Sequence[Case], copies: Sequence[int]) -> dict[str, str]:
    """The group of each repository, those with changes that are nearly the same in one, named by the first of them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    repos = sorted({case.change.repo for case in cases})
    at = {repo: number for number, repo in enumerate(repos)}
    rows, columns = [at[case.change.repo] for case in cases], [len(repos) + copy for copy in copies]
    size = max(columns) + 1
    _, labels = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size)), False)
    first: dict[int, str] = {}
    return {repo: first.setdefault(int(labels[at[repo]]), repo) for repo in repos}
