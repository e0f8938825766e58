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
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Asker, assign_yeses
from reviewgauge.analysis.judge_check.questions import PairVerdicts, pair_verdicts
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import LEVEL
from reviewgauge.analysis.validity.human_values import JudgedReviews
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
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
    limits: tuple[float, float] = (-np.inf, np.inf),
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

    def figure(judged: Numbers, sizes: Numbers) -> tuple[Value, float]:
        value, error, trust = (float(one[0]) for one in estimates(own, np.atleast_2d(judged), np.atleast_2d(sizes)))
        reach = half_width(n) * float(np.hypot(share * error, value * wobble))
        at, low, high = (float(np.clip(share * value + by, *limits)) for by in (0.0, -reach, reach))
        if error == 0:
            return Value(value=at, n=n, reason="all checked units are equal, so there is no interval"), trust
        few = f"only {n} checked: the interval is rough" if n < FEWEST else ""
        return Value(value=at, low=low, high=high, n=n, reason=few), trust

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


class CorrectionRow(NamedTuple):
    """One review in one measure: by the judge, by people (None: not checked), and the denominator."""

    judge: float
    people: float | None
    size: float
    cluster: str
    silent: bool = False


Rows = defaultdict[tuple[str, str], list[CorrectionRow]]
"""The rows of each system and measure."""


def correct(judged: JudgedReviews, asker: Asker, dimensions: Sequence[str]) -> list[Corrected]:
    """The scores of each system: by the judge, by people on what they checked, and by both.

    Of a judge of pairs precision, recall and F1: a right comment raises a finding, by one-to-one assignment; a second
    one on the same finding counts against precision. A review is checked if people decided on every comment and every
    finding. Of a grader the mean grade.
    """
    pairs = asker.instrument.kind == "pairs"
    rows: Rows = defaultdict(list)
    failed = _pair_rows(judged, asker, rows) if pairs else _grade_rows(judged, asker, dimensions, rows)
    limits = (0.0, 1.0) if pairs else (-np.inf, np.inf)
    found = [_powered(system, measure, own, failed[system], limits) for (system, measure), own in rows.items()]
    if not any(row.checked for row in found) and not asker.stopped:
        raise UserError(
            "people checked no review of this run completely, so there is nothing to correct by",
            remedy="label every pair of comment and reference of a few reviews, in the dimension same_issue",
        )
    return found


def _pair_rows(judged: JudgedReviews, asker: Asker, rows: Rows) -> Counter[str]:
    """The rows of precision, recall and F1; returns the number of failures by system."""
    known = {case.id: case.model_copy(update={"labels": ()}) for case in judged.cases if case.references}
    reviews = [review for review in judged.reviews if review.case in known]
    asks = []
    for review in reviews:
        case = known[review.case]
        asks.append(Ask(case, review, tuple(product(range(len(review.comments)), range(len(case.references))))))
    people, failed = pair_verdicts(judged.labels), Counter[str]()
    for ask, reply in zip(asks, asker.ask(asks, what="every review"), strict=True):
        case, review = ask.case, ask.review
        if reply is None or reply.failure is not None:
            failed[review.system] += 1
            continue
        comments, references = len(review.comments), len(case.references)
        table = np.array([reply.decisions, reply.values]).reshape(2, comments, references)
        right = len(assign_yeses(*table))
        checked = _checked(case, review, people.get((review.case, review.system, review.attempt)))
        for measure, times, size in (
            ("precision", 1, comments),
            ("recall", 1, references),
            ("f1", 2, comments + references),
        ):
            own = None if checked is None else float(times * checked)
            row = CorrectionRow(float(times * right), own, float(size), review.case, silent=not comments)
            rows[review.system, measure].append(row)
    return failed


def _checked(case: Case, review: Review, verdict: PairVerdicts | None) -> int | None:
    """The number of comments that people found right, one-to-one; None if they left any pair undecided."""
    if verdict is None:
        return None
    yes = np.zeros((len(review.comments), len(case.references)))
    known = np.zeros(yes.shape, dtype=bool)
    for c, comment in enumerate(review.comments):
        for r, reference in enumerate(case.references):
            value = verdict.get((SAME, comment.id, reference.id))
            no = verdict.get((FALSE, comment.id, None)) == 1 or verdict.get((MISSED, None, reference.id)) == 1
            yes[c, r] = float(value == 1)
            known[c, r] = value is not None or no
    whole = all((known.all(axis=axis) | (yes > 0).any(axis=axis)).all() for axis in (0, 1))
    return len(assign(yes)) if whole else None


def _grade_rows(judged: JudgedReviews, asker: Asker, dimensions: Sequence[str], rows: Rows) -> Counter[str]:
    human = judged.humans(dimensions)[0][0]
    known = {case.id: case.model_copy(update={"labels": ()}) for case in judged.cases}
    reviews = [review for review in judged.reviews if review.case in known]
    replies = asker.ask([Ask(known[r.case], r) for r in reviews], what="every review")
    failed = Counter[str]()
    for review, reply in zip(reviews, replies, strict=True):
        if reply is None or reply.failure is not None or not np.isfinite(reply.values).all():
            failed[review.system] += 1
            continue
        people = human.of.get((review.case, review.system, review.attempt))
        row = CorrectionRow(reply.values[0], people, 1.0, review.case)
        rows[review.system, f"mean {human.dimension}"].append(row)
    return failed


def _powered(
    system: str, measure: str, rows: Sequence[CorrectionRow], failed: int, limits: tuple[float, float]
) -> Corrected:
    """One measure of one system.

    The two samples must not share clusters, so the checked reviews of a cluster represent it, and its others are not
    used. A silent review is right about nothing, which nobody needs to check, so it is in neither sample.
    """
    with_people = {row.cluster for row in rows if row.people is not None and not row.silent}
    spoken = [row for row in rows if not row.silent]
    own = _by_cluster([(r.cluster, (r.people, r.judge, r.size)) for r in spoken if r.people is not None], 3)
    rest = _by_cluster([(r.cluster, (r.judge, r.size)) for r in spoken if r.cluster not in with_people], 2)
    quiet = _by_cluster([(r.cluster, (r.size,)) for r in rows if r.silent], 1)
    found = powered_ratio(Sums(*own), rest[0], rest[1], silent=quiet[0], limits=limits)
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


def _by_cluster(rows: Sequence[tuple[str, tuple[float, ...]]], width: int) -> Numbers:
    """The sums of each column by cluster: width x clusters."""
    sums: defaultdict[str, Numbers] = defaultdict(lambda: np.zeros(width))
    for cluster, values in rows:
        sums[cluster] += values
    return np.array(list(sums.values())).reshape(len(sums), width).T
