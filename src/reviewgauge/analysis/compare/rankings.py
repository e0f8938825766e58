"""Do benchmarks agree on who is better? Planted and real defects can differ, and that must not stay hidden."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard
from reviewgauge.core.reports.rankings import RankAgreement, Ranked, Rankings


def rank_alike(boards: Sequence[Leaderboard]) -> Rankings:
    """The systems that all boards have a headline for, in the first one's order. Raises UserError for fewer than 2."""
    known = [{row.system: row.estimate(board.headline) for row in board.systems} for board in boards]
    systems = [name for name in known[0] if all((one := own.get(name)) and one.value is not None for own in known)]
    if len(systems) < 2:
        raise UserError(
            "fewer than two systems have a figure in all of these runs",
            remedy="review every benchmark with the same reviewers under the same names (name=...)",
        )
    ranked = [
        Ranked(
            benchmark=board.benchmark,
            dataset=board.dataset,
            label=board.label,
            measure=board.headline,
            estimates=tuple(one for name in systems if (one := own[name]) is not None),
        )
        for board, own in zip(boards, known, strict=True)
    ]
    pairs = combinations(range(len(ranked)), 2)
    return Rankings(
        systems=tuple(systems), boards=tuple(ranked), agreements=tuple(_agreement(ranked, *two) for two in pairs)
    )


def _agreement(boards: Sequence[Ranked], first: int, second: int) -> RankAgreement:
    one, other = boards[first].estimates, boards[second].estimates
    orders = [(_order(one[a], one[b]), _order(other[a], other[b])) for a, b in combinations(range(len(one)), 2)]
    tau = float(stats.kendalltau([e.value for e in one], [e.value for e in other]).statistic)
    return RankAgreement(
        first=first,
        second=second,
        pairs=len(orders),
        alike=sum(x[0] * y[0] > 0 for x, y in orders),
        opposite=sum(x[0] * y[0] < 0 for x, y in orders),
        surely=sum(x[0] * y[0] < 0 and x[1] and y[1] for x, y in orders),
        tau=None if np.isnan(tau) else tau,
    )


def _order(one: Estimate, other: Estimate) -> tuple[int, bool]:
    """(1, -1 or 0 as one is above, below or equal to the other, whether their intervals are apart)."""
    a, b = one.value or 0.0, other.value or 0.0
    ends = one.low, one.high, other.low, other.high
    if None in ends:
        return (a > b) - (a < b), False
    low, high, other_low, other_high = (end or 0.0 for end in ends)
    return (a > b) - (a < b), low > other_high or high < other_low
