"""Agreement of a judge with a reference rater.

Of decisions kappa, AUC, precision, recall and F1; of grades Spearman, kappa and AUC.

Intervals resample whole changes. Where all resamples have one value (no answer flipped, say) the bootstrap has no
interval; Wilson's with the number of clusters as n is used instead, which is conservative.
Sources: Cohen (1960, 1968); Hanley and McNeil (1982); Wilson, Probable inference, JASA 22 (1927).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Decisions
from reviewgauge.analysis.judge_check.questions import Item
from reviewgauge.analysis.stats import correlation
from reviewgauge.analysis.stats.agreement import COHEN, COHEN_QUADRATIC, Resampling, agree
from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, Resamples
from reviewgauge.analysis.stats.classification import auc_of
from reviewgauge.analysis.stats.correlation import interval_figure, spearman_only, spearman_within
from reviewgauge.core.document import Value
from reviewgauge.core.reports.judge_check import JudgeAgreement
from reviewgauge.core.shares import wilson

FAILED = "failed: "  # prefix of the reason for rows that the judge failed on
NO_GRADES = "its measures are not grades on the people's scale; reviewgauge validate --fit can map them to grades"


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows with both an answer and a truth: the judge's decision, the value behind it, the truth, and their origin.

    `words`: the length of the comment, 0 where there is none, so that nothing was asked. `left_out` counts the others.
    """

    decision: Numbers
    value: Numbers
    truth: Numbers
    words: Numbers
    cluster: tuple[str, ...]
    system: tuple[str, ...]
    left_out: dict[str, int]
    resamples: Resamples

    @classmethod
    def of(cls, answered: Sequence[tuple[Item, Decisions | None]], resamples: Resamples) -> JudgedRows:
        """The rows of the items; a failure is left out and counted, never taken for a no."""
        rows: list[tuple[float, float, float, float]] = []
        origin: list[tuple[str, str]] = []
        left: Counter[str] = Counter()
        for item, reply in answered:
            if reply is None:
                left["not asked: the check was stopped"] += len(item.truth)
            elif reply.failure is not None:
                left[f"{FAILED}{reply.failure.kind.value}"] += len(item.truth)
            else:
                each = zip(reply.decisions, reply.values, item.truth, strict=True)
                for at, (decision, value, truth) in enumerate(each):
                    if math.isfinite(decision):
                        rows.append((decision, value, truth, words_of(item, at)))
                        origin.append((item.cluster, item.system))
                    else:
                        left[f"no answer: {reply.reason}" if reply.reason else "the judge did not decide"] += 1
        columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        clusters, systems = (tuple(one[at] for one in origin) for at in (0, 1))
        return cls(columns[0], columns[1], columns[2], columns[3], clusters, systems, dict(left), resamples)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.value.size)

    def rows(self, keep: Flags) -> JudgedRows:
        """The rows where `keep` is true."""
        return replace(
            self,
            decision=self.decision[keep],
            value=self.value[keep],
            truth=self.truth[keep],
            words=self.words[keep],
            cluster=tuple(compress(self.cluster, keep)),
            system=tuple(compress(self.system, keep)),
        )

    @cached_property
    def clusters(self) -> tuple[Integers, Resampler]:
        """The cluster of each row, and the resampler."""
        return self.resamples.over(self.cluster)

    def figure(self, value: float, draw: Callable[[Numbers], Numbers]) -> Value:
        """A figure of all rows with the interval of `draw` over row weights."""
        return interval_figure(value, self.n, *self.clusters, draw)

    def mean(self, values: Numbers, chosen: Flags) -> Value:
        """The mean of the chosen `values`, under the same resamples."""
        cluster, resampler = self.clusters
        return mean_figure(values[chosen], cluster[chosen], resampler)

    def share(self, flags: Numbers) -> Value:
        """The share of rows with a 1."""
        return share_figure(flags, *self.clusters)


def words_of(item: Item, at: int) -> float:
    """The length in words of the row's comment, or the mean length of the review's comments."""
    comments = item.ask.review.comments
    if item.ask.rows is not None:
        comments = (comments[item.ask.rows[at][0]],)
    return float(np.mean([len(c.body.split()) for c in comments])) if comments else 0.0


def mean_figure(values: Numbers, cluster: Integers, resampler: Resampler) -> Value:
    """A mean over rows with the interval of resampled clusters."""
    if not values.size:
        return undefined("no rows")
    if (values == values[0]).all():
        reason = "all rows are equal, so there is no interval"
        return Value(value=float(values[0]), n=values.size, reason=reason)
    return correlation.mean_figure(values, cluster, resampler)


def share_figure(flags: Numbers, cluster: Integers, resampler: Resampler) -> Value:
    """A share of rows (0 or 1 each); where it is 0 or 1, with Wilson's interval and the clusters as n."""
    found = mean_figure(flags, cluster, resampler)
    if found.value not in (0.0, 1.0):
        return found
    groups = int(np.unique(cluster).size)
    low, high = wilson(groups if found.value else 0, groups) or (0.0, 1.0)
    return Value(value=found.value, low=low, high=high, n=found.n)


def undefined(reason: str, n: int = 0) -> Value:
    """A figure that has no value."""
    return Value(value=None, n=n, reason=reason)


def _auc(lines: JudgedRows, score: Numbers, positive: Flags) -> Value:
    """The area under the ROC curve of `score` for the positive rows; ties count half."""
    if not positive.any() or positive.all():
        return undefined("all rows are of one class" if lines.n else "no rows", lines.n)
    draw = auc_of(score, positive[:, None].astype(np.float64))
    return lines.figure(float(draw(np.ones((1, lines.n)))[0, 0]), lambda weights: draw(weights)[:, 0])


def _kappa(lines: JudgedRows, one: Numbers, categories: Sequence[float], squared: bool = False) -> Value:
    """Cohen's kappa of a column with the truth, weighted by the squared difference where `squared`."""
    if not lines.n:
        return undefined("no rows")
    measure = COHEN_QUADRATIC if squared else COHEN
    found = agree(np.stack([one, lines.truth]), measure, categories, Resampling(*lines.clusters))
    reason = found.reason.replace("rater 1", "the judge").replace("rater 2", "the rater")
    return found.model_copy(update={"reason": reason})


def pair_agreement(lines: JudgedRows, rater: str) -> JudgeAgreement:
    """The agreement of yes-no decisions with a rater's."""
    decision, truth, value = lines.decision, lines.truth, lines.value
    counts = np.stack([decision * truth, decision, truth], axis=1)

    def of_yes(one: float, other: float, nothing: str) -> Value:
        """The shared yeses over the judge's, weighed by `one`, and the rater's, weighed by `other`."""

        def draw(weights: Numbers) -> Numbers:
            return ratio((weights @ counts)[:, 0], weights @ counts @ np.array([0.0, one, other]))

        whole = float(draw(np.ones((1, lines.n)))[0])
        return lines.figure(whole, draw) if math.isfinite(whole) else undefined(nothing, lines.n)

    asked = lines.rows(lines.words > 0)
    return JudgeAgreement(
        rater=rater,
        rows=lines.n,
        clusters=len(set(lines.cluster)),
        kappa=_kappa(lines, decision, (0.0, 1.0)),
        unasked=lines.n - asked.n,
        kappa_asked=_kappa(asked, asked.decision, (0.0, 1.0)) if asked.n < lines.n else None,
        auc=_auc(lines, value, truth > 0.5) if np.isfinite(value).all() else undefined("no probabilities", lines.n),
        precision=of_yes(1.0, 0.0, "the judge never said yes"),
        recall=of_yes(0.0, 1.0, "the rater never said yes"),
        f1=of_yes(0.5, 0.5, "neither side ever said yes"),
        base_rate=lines.share(truth),
        judge_rate=lines.share(decision),
        left_out=lines.left_out,
    )


def grade_agreement(lines: JudgedRows, rater: str, lowest: float, sign: float) -> JudgeAgreement:
    """The agreement of measures with a rater's grades. `sign` is -1 where less is better."""
    value, truth = sign * lines.value, lines.truth
    cluster, resampler = lines.clusters
    group = np.unique(lines.system, return_inverse=True)[1].reshape(-1)
    scale = sorted(set(truth.tolist()))
    grades = sign > 0 and lines.n > 0 and is_grades(value) and set(value) <= set(np.arange(scale[0], scale[-1] + 1))
    none = undefined("no rows")
    return JudgeAgreement(
        rater=rater,
        rows=lines.n,
        clusters=len(set(lines.cluster)),
        kappa=_kappa(lines, value, sorted({*scale, *value}), True) if grades else undefined(NO_GRADES, lines.n),
        spearman=spearman_only(value, truth, cluster, resampler) if lines.n else none,
        spearman_within=spearman_within(value, truth, cluster, group, resampler) if lines.n else none,
        auc=_auc(lines, value, truth > lowest),
        base_rate=lines.share((truth > lowest).astype(np.float64)),
        left_out=lines.left_out,
    )


def is_grades(values: Numbers) -> bool:
    """Whether these are whole numbers with at most 12 different values."""
    return bool((values == np.round(values)).all()) and np.unique(values).size <= 12


def signed_error(lines: JudgedRows, kind: str, sign: float) -> Numbers:
    """The judge above the rater: -1, 0 or 1 for decisions, the difference of standard scores for grades."""
    if kind == "pairs":
        return lines.decision - lines.truth
    return _standard(sign * lines.value) - _standard(lines.truth)


def _standard(values: Numbers) -> Numbers:
    spread = float(values.std()) if values.size else 0.0
    return (values - values.mean()) / spread if spread else np.zeros_like(values)
