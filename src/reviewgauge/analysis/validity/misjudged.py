"""The rows on which a metric and people differ most, and the traits that they share.

Rows are selected by the difference of their ranks, which needs no common scale. Source of the question: CRScore,
arXiv:2409.19801, section 5.4 and appendix E.1, which finds more inline code among the overestimated reviews and fewer
claims among the underestimated ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, resampled_sums
from reviewgauge.analysis.stats.correlation import figure_of
from reviewgauge.analysis.validity.review_table import LabelledScores
from reviewgauge.core.reports.validity import Figure, Misjudged, SharedTrait

SHOWN = 10  # rows a side
SHARE = 0.02  # of the rows, for the traits of each side
FEWEST = 20  # rows a side for the traits
_CUT = 1_000  # shown characters of a text


class MisjudgedRows(NamedTuple):
    """Overestimated and underestimated rows, worst first, and the traits of both sides."""

    over: tuple[Misjudged, ...] = ()
    under: tuple[Misjudged, ...] = ()
    traits: tuple[SharedTrait, ...] = ()


def misjudged(
    judged: LabelledScores, resampler: Resampler | None = None, *, less_is_better: bool = False, level: float = 0.95
) -> MisjudgedRows:
    """The rows with the largest difference of ranks; none where all scores or all human values are equal.

    With a `resampler` the traits have intervals: clusters are resampled, the selection of the rows stays.
    """
    score, human = judged.score, judged.human
    if judged.n < 2 or (score == score[0]).all() or (human == human[0]).all():
        return MisjudgedRows()
    score_rank, human_rank = _ranks(-score if less_is_better else score), _ranks(human)
    gap = score_rank - human_rank
    order = np.argsort(-gap, kind="stable")
    many = min(max(FEWEST, round(SHARE * judged.n)), judged.n // 2)
    over = [int(row) for row in order[:many] if gap[row] > 0]
    under = [int(row) for row in order[::-1][:many] if gap[row] < 0]

    def shown(row: int) -> Misjudged:
        place = judged.place[row]
        case, system, _ = judged.bench.keys[place]
        return Misjudged(
            case=case,
            system=system,
            score=float(score[row]),
            human=float(human[row]),
            score_rank=float(score_rank[row]),
            human_rank=float(human_rank[row]),
            hypothesis=_cut(judged.bench.hypothesis[place]),
            reference=_cut(judged.bench.reference[place]),
        )

    return MisjudgedRows(
        tuple(shown(row) for row in over[:SHOWN]),
        tuple(shown(row) for row in under[:SHOWN]),
        tuple(_traits(judged, over, under, resampler, level)),
    )


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 0 (lowest) to 1 (highest); equal values share their mean rank."""
    from scipy.stats import rankdata

    found: Numbers = (rankdata(values) - 1) / (values.size - 1)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[: _CUT - 1] + "…"


def _traits(
    judged: LabelledScores, over: list[int], under: list[int], resampler: Resampler | None, level: float
) -> list[SharedTrait]:
    traits = judged.bench.traits
    values = np.stack([trait.values[judged.place] for trait in traits.values()], axis=1)
    sides = [_Side(judged, values, rows, resampler, level) for rows in (over, under)]
    found = []
    for at, (name, trait) in enumerate(traits.items()):
        if not values[:, at].any():
            continue
        found.append(
            SharedTrait(
                trait=name,
                unit=trait.unit,
                over=float(values[over, at].mean()) if over else 0.0,
                under=float(values[under, at].mean()) if under else 0.0,
                all=float(values[:, at].mean()),
                n_over=len(over),
                n_under=len(under),
                n_all=judged.n,
                over_less_all=sides[0].difference(at),
                under_less_all=sides[1].difference(at),
            )
        )
    return found


class _Side:
    """The difference of the trait means (rows x traits) between some rows and all rows."""

    def __init__(
        self, judged: LabelledScores, values: Numbers, rows: list[int], resampler: Resampler | None, level: float
    ) -> None:
        self.values, self.rows, self.cluster, self.level = values, rows, judged.cluster, level
        self.draws: Numbers | None = None
        if resampler is None or not rows:
            return
        here = np.zeros((judged.n, 1))
        here[rows] = 1.0
        each = np.concatenate([values, np.ones((judged.n, 1)), values * here, here], axis=1)
        sums = resampled_sums(each, judged.cluster, resampler)
        overall, own = sums[:, : values.shape[1] + 1], sums[:, values.shape[1] + 1 :]
        self.draws = ratio(own[:, :-1], own[:, -1:]) - ratio(overall[:, :-1], overall[:, -1:])

    def difference(self, at: int) -> Figure | None:
        """The difference for one trait; None without resamples or rows on this side."""
        if self.draws is None:
            return None
        value = float(self.values[self.rows, at].mean() - self.values[:, at].mean())
        return figure_of(value, len(self.rows), self.draws[:, at], self.cluster, level=self.level)
