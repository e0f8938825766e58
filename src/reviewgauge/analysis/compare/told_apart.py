"""Which injected defects a system tells from their twins, and McNemar's test between two systems.

Source: McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
Psychometrika 12 (1947); here the exact binomial test on the pairs that only one of the two tells apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from reviewgauge.core.records import ARM, PAIR, Arm, Case, Comment, Review
from reviewgauge.core.reports.leaderboard import McNemar
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.twins import Twins, planted

Place = tuple[object, ...]  # a planted place on both arms: the repository, the host, and what is wrong there
Apart = Mapping[str, Mapping[Place, bool]]  # by system


def told_apart(run: ScoredRun) -> Apart:
    """Whether each system found each defect and said nothing on its lines of the twin; empty for other metrics.

    Of several attempts most count. What was not reviewed on both arms is in neither.
    """
    metric = run.metric
    if not isinstance(metric, Twins):
        return {}
    cases = {case.id: case for case in run.cases if case.facts.get(ARM) in (Arm.DEFECT, Arm.TWIN)}
    found: dict[tuple[str, Place], list[float]] = defaultdict(list)
    spoken: dict[tuple[str, Place], list[float]] = defaultdict(list)
    for score in run.scores:
        case = cases.get(score.case)
        if score.matching is not None and case is not None and case.facts[ARM] == Arm.DEFECT:
            known = {one.id: place for place in _places(case) for one in place[1]}
            for group in score.matching.groups:
                found[score.system, known[group.group][0]].append(group.credit)
    for outcome in run.outcomes:
        case = cases.get(outcome.case)
        if outcome.review is not None and case is not None and case.facts[ARM] == Arm.TWIN:
            for place, comments in _places(case):
                stands = any(_stands(outcome.review, one, metric.tolerance) for one in comments)
                spoken[outcome.system, place].append(float(stands))
    result: dict[str, dict[Place, bool]] = defaultdict(dict)
    for (system, place), credits in found.items():
        if (system, place) in spoken:
            result[system][place] = fmean(credits) > 0.5 > fmean(spoken[system, place])
    return result


def mcnemar(apart: Apart, first: str, second: str) -> McNemar | None:
    """The test between two systems on the pairs that both reviewed; None where there are none."""
    one, two = apart.get(first, {}), apart.get(second, {})
    common = one.keys() & two.keys()
    if not common:
        return None
    only_first, only_second = (sum(a[at] and not b[at] for at in common) for a, b in ((one, two), (two, one)))
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    p = min(1.0, 2 * tail / 2**n) if n else None
    return McNemar(pairs=len(common), only_first=only_first, only_second=only_second, p=p)


def _places(case: Case) -> list[tuple[Place, tuple[Comment, ...]]]:
    host = (case.change.repo, case.facts.get(PAIR))
    return [((*host, comments[0].body), comments) for comments in planted(case)]


def _stands(review: Review, finding: Comment, tolerance: int) -> bool:
    return any(locate(comment, finding, tolerance).located for comment in review.comments)
