"""Matches clean changes to changed ones by numbers such as lines and files, and measures how alike both are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reviewgauge.core.records import Case
from reviewgauge.stages.sampling.draws import Row, value_of

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.float64]]

UNKNOWN = "not known whether it deserves comments"
COLUMNS = ("changed", "clean", "mean changed", "mean clean", "SMD", "AUC")
MEANING = (
    "SMD is the difference of the means of log(1 + x) in standard deviations; under 0.1 is usually called balanced. AUC"
    " is how often a changed case has more than a clean one, ties counted half: at 0.5 the number tells nothing."
)
TRAITS = ("product_lines", "product_files", "product_functions", "commits")  # what a reviewer could go by
MORE_TRAITS = ("changed_lines", "changed_files", "hunks")
TELLING = 0.6  # AUC from which on a trait alone makes a reviewer look better than chance
ENOUGH = 10  # cases of each kind from which on a difference is told
FAR = 0.25  # standard deviations from which on two groups are no longer called alike (Stuart 2010, section 4.1)
CELLS = 25_000_000  # cells of a cost matrix (200 MB) up to which the matching is optimal
_NEIGHBOURS = 16  # that a nearest-neighbour search asks for first


@dataclass(frozen=True, slots=True)
class Unit:
    """What is kept of one case: its position, the numbers to match by, and what must be the same in its match."""

    id: str
    position: int
    numbers: tuple[float, ...]
    exact: Hashable = ()


def changed_and_clean(
    cases: Iterable[Case], features: Sequence[str], exact: Sequence[str] = ()
) -> tuple[list[Unit], list[Unit], dict[int, str]]:
    """The changed cases, the clean ones, and by position why a case counts as neither."""
    changed: list[Unit] = []
    clean: list[Unit] = []
    reasons: dict[int, str] = {}
    for position, case in enumerate(cases):
        unit = _unit_of(case, position, features, exact)
        if isinstance(unit, str):
            reasons[position] = unit
        else:
            (clean if case.clean else changed).append(unit)
    return changed, clean, reasons


def _unit_of(case: Case, position: int, features: Sequence[str], exact: Sequence[str]) -> Unit | str:
    """What is kept of a case, or why it is neither changed nor clean, or has no numbers."""
    if not (case.clean or case.references or case.verdict is False):
        return UNKNOWN
    numbers: list[float] = []
    for name in features:
        value = value_of(case, name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0:
            return f"does not state {name}"
        numbers.append(float(value))
    return Unit(case.id, position, tuple(numbers), tuple(str(value_of(case, name)) for name in exact))


def scaled(units: Sequence[Unit]) -> Numbers:
    """Rows of log(1 + x), each column brought to mean 0 and standard deviation 1 over all units."""
    import numpy as np

    logs = np.log1p(np.array([unit.numbers for unit in units], dtype=np.float64).reshape(len(units), -1))
    spread = logs.std(axis=0)
    return np.asarray((logs - logs.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def match(wanted: Sequence[Unit], pool: Sequence[Unit], caliper: float, optimal: bool) -> list[tuple[int, int]]:
    """Pairs (index in `wanted`, index in `pool`), each of the pool used at most once, exact groups kept apart.

    Optimal: the sum of distances is as small as it can be. Else each of `wanted`, in its order, takes the nearest that
    is left. Distance is Euclidean on `scaled` numbers; no pair is further apart than `caliper` (0: any distance).
    """
    if not wanted or not pool:
        return []
    rows = scaled([*wanted, *pool])
    left, right = rows[: len(wanted)], rows[len(wanted) :]
    groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, units in enumerate((wanted, pool)):
        for index, unit in enumerate(units):
            groups[unit.exact][side].append(index)
    pairs: list[tuple[int, int]] = []
    for ours, theirs in groups.values():
        if ours and theirs:
            find = _optimal if optimal else _nearest
            pairs += [(ours[a], theirs[b]) for a, b in find(left[ours], right[theirs], caliper)]
    return sorted(pairs)


def _optimal(left: Numbers, right: Numbers, caliper: float) -> list[tuple[int, int]]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    costs = cdist(left, right)
    if caliper:
        costs = np.where(costs > caliper, 1e6, costs)  # as many pairs within the caliper as there can be
    pairs = zip(*linear_sum_assignment(costs), strict=True)
    return [(int(a), int(b)) for a, b in pairs if not caliper or costs[a, b] < 1e6]


def _nearest(left: Numbers, right: Numbers, caliper: float) -> list[tuple[int, int]]:
    from scipy.spatial import cKDTree

    tree = cKDTree(right)
    taken: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for index, row in enumerate(left):
        if len(taken) == len(right):
            break
        count = _NEIGHBOURS
        while True:
            count = min(count, len(right))
            distances, places = tree.query(row, k=list(range(1, count + 1)))
            free = [(d, int(p)) for d, p in zip(distances, places, strict=True) if int(p) not in taken]
            if free or count == len(right):
                break
            count *= 4
        distance, place = min(free)
        if not caliper or distance <= caliper:
            taken.add(place)
            pairs.append((index, place))
    return pairs


@dataclass(frozen=True, slots=True)
class Balance:
    """How alike changed and clean changes are in one number.

    `smd` is the difference of the means of log(1 + x) in units of the pooled standard deviation (the root of the mean
    of both variances); None where nothing varies and the means differ. `auc` is how often a changed case has more than
    a clean one, ties counted half: what somebody gains who guesses by this number alone.
    """

    name: str
    changed: int
    clean: int
    mean_changed: float | None
    mean_clean: float | None
    smd: float | None
    auc: float | None

    def row(self, *more: str) -> Row:
        """Its line in a table of `COLUMNS`, with `more` behind the name."""
        numbers = (self.mean_changed, self.mean_clean, self.smd, self.auc)
        return self.name, *more, self.changed, self.clean, *(None if x is None else round(x, 4) for x in numbers)


def balance(names: Sequence[str], changed: Iterable[Unit], clean: Iterable[Unit]) -> list[Balance]:
    """The balance of each number between two groups."""
    one, other = [u.numbers for u in changed], [u.numbers for u in clean]
    return [_balance(name, [x[at] for x in one], [x[at] for x in other]) for at, name in enumerate(names)]


def telling(found: Iterable[Balance]) -> list[Balance]:
    """Those that tell changed from clean cases better than chance, either way round."""
    return [
        one
        for one in found
        if min(one.changed, one.clean) >= ENOUGH and one.auc is not None and abs(one.auc - 0.5) > TELLING - 0.5
    ]


def left(found: Iterable[Balance]) -> str:
    """The AUC of each number, in words."""
    stated = [f"{one.name} {one.auc:.2f}" for one in found if one.auc is not None]
    return f"AUC that is left (0.5 tells nothing): {', '.join(stated)}. " if stated else ""


def stated_by_all(cases: Sequence[Case], names: Sequence[str]) -> list[str]:
    """Those of the names that every case has a number for."""
    return [name for name in names if all(isinstance(value_of(case, name), (int, float)) for case in cases)]


def worst(found: Iterable[Balance]) -> str:
    """The largest distance between the two groups, in words: "SMD 0.31 of commits"; empty where there is none."""
    stated = []
    for one in found:
        if one.smd is not None:
            stated.append((abs(one.smd), one.name))
        elif one.auc is not None:
            return f"that of {one.name}, which tells all of them apart"
    return f"SMD {max(stated)[0]:.2f} of {max(stated)[1]}" if stated else ""


def _balance(name: str, changed: Sequence[float], clean: Sequence[float]) -> Balance:
    import numpy as np

    if not changed or not clean:
        means = [float(np.mean(side)) if side else None for side in (changed, clean)]
        return Balance(name, len(changed), len(clean), means[0], means[1], None, None)
    one, other = np.log1p(np.array(changed)), np.log1p(np.array(clean))
    gap = float(one.mean() - other.mean())
    spread = float(np.sqrt((_variance(one) + _variance(other)) / 2))
    smd = gap / spread if spread > 0 else 0.0 if gap == 0 else None
    means_of = float(np.mean(changed)), float(np.mean(clean))
    ordered = np.sort(np.array(clean))
    below = np.searchsorted(ordered, changed, "left") + np.searchsorted(ordered, changed, "right")
    auc = float(below.mean() / 2 / len(clean))
    return Balance(name, len(changed), len(clean), *means_of, smd, auc)


def _variance(values: Numbers) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0
