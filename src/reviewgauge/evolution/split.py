"""Three parts of a benchmark, split once: train to learn from, selection to choose by, and held-out to be told by."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    kin = _kin([(case.change.repo, copy) for case, copy in zip(cases, copies, strict=True)])
    sizes = Counter(kin[case.change.repo] for case in cases)
    by_repository = len(sizes) >= len(PARTS)
    wanted = dict(zip(PARTS, shares, strict=True))
    if by_repository:
        members = Counter(kin.values())
        of_kin = _with_reserve(sizes, members, wanted, seed, reserve) if reserve else share_out(sizes, wanted, seed)
        part_of = {case.id: of_kin[kin[case.change.repo]] for case in cases}
    elif reserve:
        raise UserError(f"there are too few repositories to reserve some: {len(sizes)}", remedy="leave --reserve out")
    else:
        first: dict[int, str] = {}
        named = {case.id: first.setdefault(copy, case.id) for case, copy in zip(cases, copies, strict=True)}
        order = sorted(Counter(named.values()).items(), key=lambda one: draw_key(seed, "case", one[0]))
        of_copies = share_out(dict(order), wanted, seed)
        part_of = {name: of_copies[group] for name, group in named.items()}
    parts = {name: [case for case in cases if part_of[case.id] == name] for name in PARTS}
    if empty := next((name for name, own in parts.items() if not own), ""):
        raise UserError(f"no case is left for {empty}", remedy="give other --shares, or more repositories")
    alike = sum(count for count in Counter(kin.values()).values() if count > 1)
    return Split(parts, "repository" if by_repository else "case", alike)


def _kin(pairs: Iterable[tuple[str, int]]) -> dict[str, str]:
    """The group of each repository of (repository, number): those that share a number, named by the first of them."""
    of_number: defaultdict[int, set[str]] = defaultdict(set)
    group: dict[str, set[str]] = {}
    for repo, number in pairs:
        of_number[number].add(repo)
        group[repo] = {repo}
    for repos in of_number.values():
        whole = set[str]().union(*(group[repo] for repo in repos))
        if len(whole) > len(group[min(repos)]):
            group |= dict.fromkeys(whole, whole)
    return {repo: min(own) for repo, own in group.items()}


def _with_reserve(
    sizes: Mapping[str, int], members: Mapping[str, int], shares: Mapping[str, float], seed: int, reserve: int
) -> dict[str, str]:
    """`reserve` repositories drawn for the held-out part, and the others shared out by the other two shares.

    A group of several repositories is drawn as a whole, so that more may be held out.
    """
    drawn: list[str] = []
    for repo in sorted(sizes, key=lambda repo: (draw_key(seed, "reserve", repo), repo)):
        if sum(members[one] for one in drawn) < reserve:
            drawn.append(repo)
    if len(sizes) - len(drawn) < 2:
        count = sum(members.values())
        raise UserError(f"{reserve} of {count} repositories cannot be reserved", remedy=f"at most {count - 2}")
    rest = {repo: size for repo, size in sizes.items() if repo not in drawn}
    both = shares[TRAIN] + shares[SELECTION]
    found = share_out(rest, {name: shares[name] / both for name in (TRAIN, SELECTION)}, seed)
    return found | dict.fromkeys(drawn, HELD_OUT)
