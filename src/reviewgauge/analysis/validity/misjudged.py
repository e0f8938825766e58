"""The reviews that a metric and people place far apart, and what they share.

Source: CRScore, arXiv:2409.19801, section 5.4, appendix E.1 and Tables 16 and 17: reviews scored above the fourth
quintile cut though people gave the lowest grade have more inline code, reviews scored below the first though people
gave the highest have fewer claims, and the correlation without both is higher. Examples are sorted by the difference
of their ranks, which needs no common scale.
"""

from __future__ import annotations

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import resampled_sums
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.document import Value
from reviewgauge.core.reports.validity import Misjudged, OppositeEnds, SharedTrait

SHOWN = 10  # examples a side
_CUT = 1_000  # shown characters of a text
Examples = tuple[Misjudged, ...]


def misjudged(bench: ReviewTable, sample: RowSample) -> tuple[Examples, Examples]:
    """The overestimated and the underestimated rows with the largest difference of ranks, worst first.

    None where all scores or all human values are equal.
    """
    if _says_nothing(sample):
        return (), ()
    score_rank, human_rank = _ranks(sample.oriented), _ranks(sample.human)
    gap = score_rank - human_rank
    order = np.argsort(-gap, kind="stable")

    def shown(row: int) -> Misjudged:
        place = sample.place[row]
        case, system, _ = bench.keys[place]
        return Misjudged(
            case=case,
            system=system,
            score=float(sample.score[row]),
            human=float(sample.human[row]),
            score_rank=float(score_rank[row]),
            human_rank=float(human_rank[row]),
            hypothesis=_cut(bench.hypothesis[place]),
            reference=_cut(bench.reference[place]),
            claims=tuple(_cut(claim) for claim in bench.claims[place][:SHOWN]),
        )

    over = tuple(shown(int(row)) for row in order[:SHOWN] if gap[row] > 0)
    return over, tuple(shown(int(row)) for row in order[::-1][:SHOWN] if gap[row] < 0)


def _says_nothing(sample: RowSample) -> bool:
    score, human = sample.score, sample.human
    return sample.n < 2 or bool((score == score[0]).all() or (human == human[0]).all())


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 0 (lowest) to 1 (highest); equal values share their mean rank."""
    from scipy.stats import rankdata

    found: Numbers = (rankdata(values) - 1) / (values.size - 1)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[: _CUT - 1] + "…"


def opposite_ends(bench: ReviewTable, sample: RowSample) -> tuple[OppositeEnds | None, tuple[SharedTrait, ...]]:
    """The rows at opposite ends of the metric and of people, and what they share; nothing where all are equal.

    Without grades, the lowest and the highest fifth of the human values count as such.
    """
    if _says_nothing(sample):
        return None, ()
    low, high = np.quantile(sample.oriented, (0.2, 0.8))
    human = sample.human if sample.grade is None else sample.grade
    lowest, highest = np.quantile(human, (0.2, 0.8)) if sample.grade is None else (human.min(), human.max())
    score = sample.oriented  # a fifth and more may share the lowest or the highest score: no row is beyond the cut then
    over = ((score > high) | (score == score.max())) & (human <= lowest)
    under = ((score < low) | (score == score.min())) & (human >= highest)
    rest = sample.rows(~(over | under)).correlations()
    ends = OppositeEnds(
        low_cut=float(sample.sign * low),
        high_cut=float(sample.sign * high),
        lowest=float(lowest),
        highest=float(highest),
        n_over=int(over.sum()),
        n_under=int(under.sum()),
        over=_share(over, sample),
        under=_share(under, sample),
        spearman=rest[SPEARMAN],
        kendall=rest[KENDALL],
    )
    return ends, _traits(bench, over, under, sample)


def _share(chosen: Flags, sample: RowSample) -> Value:
    """The share of the chosen rows."""
    each = np.column_stack([chosen, np.ones(sample.n)]).astype(np.float64)
    sums = resampled_sums(each, sample.cluster, sample.resampler)
    return sample.figure(float(chosen.mean()), ratio(sums[:, 0], sums[:, 1]))


def _traits(bench: ReviewTable, over: Flags, under: Flags, sample: RowSample) -> tuple[SharedTrait, ...]:
    """The mean of each trait that any row has, on both sides and on all rows."""
    found = []
    for name, trait in bench.traits.items():
        values = trait.values[sample.place]
        if not values.any():
            continue
        found.append(
            SharedTrait(
                trait=name,
                unit=trait.unit,
                over=float(values[over].mean()) if over.any() else None,
                under=float(values[under].mean()) if under.any() else None,
                all=float(values.mean()),
                n_over=int(over.sum()),
                n_under=int(under.sum()),
                n_all=sample.n,
                over_less_all=_difference(values, over, sample),
                under_less_all=_difference(values, under, sample),
            )
        )
    return tuple(found)


def _difference(values: Numbers, side: Flags, sample: RowSample) -> Value | None:
    """The mean of the rows of one side less that of all rows; clusters are resampled, the selection stays."""
    if not side.any():
        return None
    each = np.column_stack([values, np.ones(sample.n), values * side, side]).astype(np.float64)
    total, n, own, own_n = resampled_sums(each, sample.cluster, sample.resampler).T
    value = float(values[side].mean() - values.mean())
    return sample.figure(value, ratio(own, own_n) - ratio(total, n), n=int(side.sum()))
