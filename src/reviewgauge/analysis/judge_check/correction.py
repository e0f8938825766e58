"""Scores corrected for the judge's errors by prediction-powered inference, from the part of a run that people checked.

A judge's figure is biased by its errors; people's figure is exact but wide. The judge's figure plus the mean of
(people - judge) over the reviews that both saw is unbiased whatever the judge is worth, and narrower than people's
alone where the judge is good. `trust` scales the judge's part (PPI++) between 0 (people alone) and 1 to the least
variance:

    estimate = trust * judge(unchecked) + (people - trust * judge)(checked)

Ratios (precision: right comments over comments) are ratios of sums, with the variance of their linearised residuals
(Cochran 1977, section 6.3). Units are clusters (a change), independent of each other, and the checked ones were drawn
at random. Silent reviews count 0 without anybody's judgement: the estimate is made without them, then scaled by the
share of the sizes that the others hold.
Sources: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, Prediction-powered inference, Science 382 (2023);
Angelopoulos, Duchi, Zrnic, PPI++: Efficient prediction-powered inference, arXiv:2311.01453 (2023), section 6.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Asker, PairInstrument
from reviewgauge.analysis.judge_check.questions import majority
from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import LEVEL
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.judge_check import Corrected
from reviewgauge.datasets.martian import FALSE, MISSED, SAME
from reviewgauge.metrics.matching.policies import assign

FEWEST = 10  # checked clusters; with fewer the figure says that its interval is rough


class Powered(NamedTuple):
    """The judge's figure, people's alone, both combined, and the weight of the judge's part."""

    raw: float | None
    people: Value
    corrected: Value
    trust: float | None


class Sums(NamedTuple):
    """Sums by cluster: the count by people, the count by the judge, and the denominator."""

    people: Numbers
    judge: Numbers
    size: Numbers


def powered_ratio(
    checked: Sums,
    judge: Numbers,
    size: Numbers,
    *,
    silent: Numbers | None = None,
    limits: tuple[float, float] | None = None,
) -> Powered:
    """The ratio of sums people / size, from the `checked` clusters and the `judge` sums and `size` of the others.

    `silent` are the sizes of clusters that certainly count 0. A mean is a ratio with sizes of 1. Estimates and
    intervals (Student's t) are clipped to `limits`, such as 0 and 1 of a share.
    """
    n = int(checked.size.size)
    quiet = np.zeros(0) if silent is None else silent
    total = float(checked.size.sum() + size.sum() + quiet.sum())
    raw = float((checked.judge.sum() + judge.sum()) / total) if total else None
    if n < 2 or not checked.size.sum():
        reason = f"people checked {n} of these: at least 2 are needed, {FEWEST} are better"
        none = Value(value=None, n=n, reason=reason)
        return Powered(raw, none, none, None)
    own = Sums(*(np.atleast_2d(part) for part in checked))
    share, wobble = _share(np.concatenate([checked.size, size]), quiet)
    few = f"only {n} checked: the interval is rough" if n < FEWEST else ""

    def figure(judged: Numbers, sizes: Numbers) -> tuple[Value, float]:
        value, error, trust = (float(one[0]) for one in estimates(own, np.atleast_2d(judged), np.atleast_2d(sizes)))
        if error == 0:
            equal = "all checked units are equal, so there is no interval"
            return Value(value=_cut(share * value, limits), n=n, reason=equal), trust
        reach = half_width(n) * float(np.hypot(share * error, value * wobble))
        low, high = (_cut(share * value + sign * reach, limits) for sign in (-1, 1))
        return Value(value=_cut(share * value, limits), low=low, high=high, n=n, reason=few), trust

    corrected, trust = figure(judge, size)
    return Powered(raw, figure(np.zeros(0), np.zeros(0))[0], corrected, trust)


def _share(sizes: Numbers, quiet: Numbers) -> tuple[float, float]:
    """(the share of all sizes that is not silent, its standard error over clusters)."""
    if not quiet.sum():
        return 1.0, 0.0
    total, n = float(sizes.sum() + quiet.sum()), sizes.size + quiet.size
    share = float(sizes.sum()) / total
    squares = float((((1 - share) * sizes) ** 2).sum() + ((share * quiet) ** 2).sum())
    return share, float(np.sqrt(squares * n / (n - 1))) / total


def _cut(value: float, limits: tuple[float, float] | None) -> float:
    return value if limits is None else min(max(value, limits[0]), limits[1])


def estimates(checked: Sums, judge: Numbers, size: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """(estimate, standard error, trust) of many data sets at once: every array is data sets x clusters."""
    own, others = checked.size.sum(axis=1), size.sum(axis=1)
    people = checked.people.sum(axis=1) / own
    judged = checked.judge.sum(axis=1) / own
    u = checked.people - people[:, None] * checked.size
    v = checked.judge - judged[:, None] * checked.size
    n, m = checked.size.shape[1], size.shape[1]
    scale = n / (n - 1) / own**2
    if m > 1 and (others > 0).all():
        elsewhere = judge.sum(axis=1) / others
        rest = judge - elsewhere[:, None] * size
        far = (rest**2).sum(axis=1) * m / (m - 1) / others**2
        spread = (v**2).sum(axis=1) * scale + far
        both = (u * v).sum(axis=1) * scale
        trust = np.clip(np.divide(both, spread, out=np.zeros_like(both), where=spread > 0), 0.0, 1.0)
        value = trust * elsewhere + people - trust * judged
    else:
        far, trust, value = np.zeros_like(own), np.zeros_like(own), people
    near = ((u - trust[:, None] * v) ** 2).sum(axis=1) * scale
    return value, np.sqrt(near + trust**2 * far), trust


def half_width(n: int) -> float:
    """The half width of a 95% interval in standard errors, by Student's t with n - 1 degrees of freedom."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, n - 1))


class Count(NamedTuple):
    """One review: right comments by the judge and by people (None: not checked), comments, findings, cluster."""

    judged: float
    people: float | None
    comments: int
    references: int
    cluster: str


class CorrectionRow(NamedTuple):
    """One review in one measure: by the judge, by people (None: not checked), and the denominator."""

    judge: float
    people: float | None
    size: float
    cluster: str
    silent: bool = False


def correct_pairs(judged: JudgedReviews, asker: Asker) -> list[Corrected]:
    """Precision, recall and F1 of each system: by the judge, by people on what they checked, and by both.

    A right comment raises a finding, by one-to-one assignment; a second one on the same finding counts against
    precision. A review is checked if people decided on every comment and every finding.
    """
    instrument = asker.instrument
    assert isinstance(instrument, PairInstrument)
    known = {case.id: case for case in judged.cases if case.references}
    reviews = [review for review in judged.reviews if review.case in known]
    asks = []
    for review in reviews:
        case = known[review.case].model_copy(update={"labels": ()})
        asks.append(Ask(case, review, tuple(product(range(len(review.comments)), range(len(case.references))))))
    people = _by_review(judged.labels)
    counts: defaultdict[str, list[Count]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for review, reply in zip(reviews, asker.ask(asks, what="every review"), strict=True):
        if reply is None or reply.failure is not None:
            failed[review.system] += 1
            continue
        case, shape = known[review.case], (len(review.comments), len(known[review.case].references))
        yes = np.array(reply.decisions).reshape(shape) == 1
        probability = np.where(yes, np.maximum(np.array(reply.values).reshape(shape), 1e-6), 0.0)
        own = people.get((review.case, review.system, review.attempt))
        counts[review.system].append(
            Count(float(len(assign(probability))), _checked(case, review, own), *shape, review.case)
        )
    found = [row for system, own in counts.items() for row in _measures(system, own, failed[system])]
    if not any(row.checked for row in found) and not asker.stopped:
        raise UserError(
            "people checked no review of this run completely, so there is nothing to correct by",
            remedy="label every pair of comment and reference of a few reviews, in the dimension same_issue",
        )
    return found


LabelsByPair = defaultdict[tuple[str, str | None, str | None], list[Label]]


def _by_review(labels: Sequence[Label]) -> Mapping[tuple[str, str, int], LabelsByPair]:
    """Review -> (dimension, comment, reference) -> people's labels."""
    found: defaultdict[tuple[str, str, int], LabelsByPair] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        s = label.subject
        if label.rater_kind is RaterKind.HUMAN and label.dimension in (SAME, FALSE, MISSED) and s.system is not None:
            found[s.case, s.system, s.attempt][label.dimension, s.comment, s.reference].append(label)
    return found


def _checked(case: Case, review: Review, labels: LabelsByPair | None) -> float | None:
    """The number of comments that people found right, one-to-one; None if they left any pair undecided."""
    if labels is None:
        return None
    verdict = {key: majority(own) for key, own in labels.items()}
    yes = np.zeros((len(review.comments), len(case.references)))
    known = np.zeros(yes.shape, dtype=bool)
    for c, comment in enumerate(review.comments):
        for r, reference in enumerate(case.references):
            value = verdict.get((SAME, comment.id, reference.id))
            no = verdict.get((FALSE, comment.id, None)) == 1 or verdict.get((MISSED, None, reference.id)) == 1
            yes[c, r] = float(value == 1)
            known[c, r] = value is not None or no
    comments = (known.all(axis=1) | (yes > 0).any(axis=1)).all()
    references = (known.all(axis=0) | (yes > 0).any(axis=0)).all()
    return float(len(assign(yes))) if comments and references else None


def _measures(system: str, counts: Sequence[Count], failed: int) -> list[Corrected]:
    found = []
    for measure, of_comments, of_references in (("precision", 1, 0), ("recall", 0, 1), ("f1", 1, 1)):
        times = of_comments + of_references
        rows = [
            CorrectionRow(
                times * one.judged,
                None if one.people is None else times * one.people,
                float(of_comments * one.comments + of_references * one.references),
                one.cluster,
                silent=not one.comments,
            )
            for one in counts
        ]
        found.append(_powered(system, measure, rows, failed, limits=(0.0, 1.0)))
    return found


def _powered(
    system: str, measure: str, rows: Sequence[CorrectionRow], failed: int, limits: tuple[float, float] | None
) -> Corrected:
    """One measure of one system.

    The two samples must not share clusters, so the checked reviews of a cluster represent it, and its others are not
    used. A silent review is right about nothing, which nobody needs to check, so it is in neither sample.
    """
    checked: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    others: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    silent: defaultdict[str, float] = defaultdict(float)
    with_people = {row.cluster for row in rows if row.people is not None and not row.silent}
    for row in rows:
        if row.silent:
            silent[row.cluster] += row.size
        elif row.people is not None:
            for at, value in enumerate((row.people, row.judge, row.size)):
                checked[row.cluster][at] += value
        elif row.cluster not in with_people:
            others[row.cluster][0] += row.judge
            others[row.cluster][1] += row.size
    own = np.array(list(checked.values())).reshape(len(checked), 3).T
    rest = np.array(list(others.values())).reshape(len(others), 2).T
    found = powered_ratio(Sums(*own), rest[0], rest[1], silent=np.array(list(silent.values())), limits=limits)
    total = sum(row.size for row in rows)
    return Corrected(
        system=system,
        measure=measure,
        raw=sum(row.judge for row in rows) / total if total else None,
        people=found.people,
        corrected=found.corrected,
        trust=found.trust,
        checked=sum(row.people is not None for row in rows),
        reviews=len(rows),
        failed=failed,
    )


def correct_grades(judged: JudgedReviews, asker: Asker) -> list[Corrected]:
    """The mean grade of each system: by the grader, by people on what they graded, and by both."""
    graded = human_values(judged.labels, judged.scales)[0]
    humans = [one for one in graded if judged.dimension in ("", one.dimension)]
    if not humans:
        raise UserError("people graded no review of this run, so there is nothing to correct by")
    known = {case.id: case.model_copy(update={"labels": ()}) for case in judged.cases}
    reviews = [review for review in judged.reviews if review.case in known]
    replies = asker.ask([Ask(known[r.case], r) for r in reviews], what="every review")
    rows: defaultdict[str, list[CorrectionRow]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for review, reply in zip(reviews, replies, strict=True):
        if reply is None or reply.failure is not None or not np.isfinite(reply.values).all():
            failed[review.system] += 1
            continue
        people = humans[0].of.get((review.case, review.system, review.attempt))
        rows[review.system].append(CorrectionRow(reply.values[0], people, 1.0, review.case))
    measure = f"mean {humans[0].dimension}"
    return [_powered(system, measure, own, failed[system], limits=None) for system, own in rows.items()]
