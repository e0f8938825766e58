"""Three parts of a benchmark, split once: train to learn from, selection to choose by, and held-out to be told by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.stages.sampling.draws import draw_key, share_out

TRAIN, SELECTION, HELD_OUT = "train", "selection", "held-out"
PARTS = (TRAIN, SELECTION, HELD_OUT)
FEWEST = 6  # cases: two in each part


@dataclass(frozen=True)
class Split:
    """The cases of each part. `by`: repository, or case where there are too few repositories."""

    parts: Mapping[str, Sequence[Case]]
    by: str

    @property
    def hashes(self) -> dict[str, str]:
        """The benchmark hash of each part."""
        return {name: benchmark_hash(cases) for name, cases in self.parts.items()}


def split_cases(cases: Sequence[Case], shares: Sequence[float], seed: int, reserve: int = 0) -> Split:
    """Split by repository, by case where there are fewer than three; `reserve` repositories are held out.

    Raises UserError for too few cases, for a part that stays empty, and for shares that are none.
    """
    if len(shares) != len(PARTS) or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-6:
        raise UserError("the shares are three positive numbers that add up to 1", remedy="--shares 0.5,0.25,0.25")
    if len(cases) < FEWEST:
        raise UserError(f"{len(cases)} cases are too few to split into three parts", remedy=f"at least {FEWEST}")
    sizes = Counter(case.change.repo for case in cases)
    by_repository = len(sizes) >= len(PARTS)
    wanted = dict(zip(PARTS, shares, strict=True))
    if by_repository:
        of_repo = _with_reserve(sizes, wanted, seed, reserve) if reserve else share_out(sizes, wanted, seed)
        part_of = {case.id: of_repo[case.change.repo] for case in cases}
    elif reserve:
        raise UserError(f"{len(sizes)} repositories are too few to reserve some", remedy="leave --reserve out")
    else:
        order = sorted((case.id for case in cases), key=lambda name: draw_key(seed, "case", name))
        part_of = share_out(dict.fromkeys(order, 1), wanted, seed)
    parts = {name: [case for case in cases if part_of[case.id] == name] for name in PARTS}
    if empty := next((name for name, own in parts.items() if not own), ""):
        raise UserError(f"no case is left for {empty}", remedy="give other --shares, or more repositories")
    return Split(parts, "repository" if by_repository else "case")


def _with_reserve(sizes: Mapping[str, int], shares: Mapping[str, float], seed: int, reserve: int) -> dict[str, str]:
    """`reserve` repositories drawn for the held-out part, and the others shared out by the other two shares."""
    if reserve > len(sizes) - 2:
        raise UserError(
            f"{reserve} of {len(sizes)} repositories cannot be reserved", remedy=f"at most {len(sizes) - 2}"
        )
    drawn = sorted(sizes, key=lambda repo: (draw_key(seed, "reserve", repo), repo))[:reserve]
    rest = {repo: size for repo, size in sizes.items() if repo not in drawn}
    both = shares[TRAIN] + shares[SELECTION]
    found = share_out(rest, {name: shares[name] / both for name in (TRAIN, SELECTION)}, seed)
    return found | dict.fromkeys(drawn, HELD_OUT)
