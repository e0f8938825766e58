"""What `points` found as labels, beside those of people who judge the same reports: SWR-Bench's study of its judge.

Source: Zeng et al. (SWR-Bench), arXiv:2509.01494, RQ1 and Figure 5: 100 reports drawn at random, three people and two
models, agreement on which known points are hit, and on the type and severity (within 1) of the predicted ones. The
paper does not say whose list of predicted points all five judged: here it is that of one model (`points_of`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Matching
from reviewgauge.core.specs import load_recorded
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.metrics.points import Points

HIT, TYPE, SEVERITY = "hit", "type", "severity"
_REASON = re.compile(r"(\S{1,9}) [^,]{1,40}, severity (\d{1,2}): ")  # as metrics/points.py begins it


class Report(NamedTuple):
    """One review, by case, system and attempt, and what `points` found in it."""

    case: str
    system: str
    attempt: int
    matching: Matching

    @property
    def key(self) -> tuple[str, str, int]:
        """What names the review."""
        return self.case, self.system, self.attempt


def points_of_run(run: RunFolder) -> list[tuple[Points, list[Report]]]:
    """Each `points` metric that a run was scored with, and what it found in each report."""
    found = []
    for name in run.scored_metrics():
        try:
            metric = load_recorded(Metric, name)
        except UserError:  # code of the user that is gone
            continue
        if isinstance(metric, Points):
            matched = ((s, s.matching) for s in run.scores(name))
            found.append((metric, [Report(s.case, s.system, s.attempt, own) for s, own in matched if own is not None]))
    return found


def labels_of_points(run: RunFolder) -> Iterator[Label]:
    """The labels of the models: whether each known point is hit, and the type and severity of each predicted one."""
    for metric, reports in points_of_run(run):
        for case, system, attempt, matching in reports:
            for claim, dimension, value, _ in points_to_judge(metric, matching):
                yield Label(
                    subject=Subject(kind=SubjectKind.LINK, case=case, system=system, attempt=attempt, claim=claim),
                    rater=metric.model,
                    rater_kind=RaterKind.MODEL,
                    dimension=dimension,
                    value=value,
                )


def points_to_judge(metric: Points, matching: Matching) -> Iterator[tuple[str, str, Fact, str]]:
    """(the point's id, dimension, value, text of a predicted point) of one report."""
    hit = {pair.reference for pair in matching.pairs if pair.verdict is not None and pair.verdict.same}
    for group in matching.groups:
        yield group.group, HIT, "yes" if group.group in hit else "no", ""
    for one in matching.comments:
        if found := _REASON.match(one.reason):
            name = f"{one.comment}, listed by {metric.lister}"
            text = one.reason[found.end() :]
            text = text if one.group is None else _without_hits(text)
            yield name, TYPE, found[1], text
            yield name, SEVERITY, int(found[2]), text


def _without_hits(text: str) -> str:
    """The text of a point without what it hits, which is not for a rater to see."""
    for opening in (" (also hits ", " (hits "):
        text = text[: text.rfind(opening)] if text.endswith(")") and opening in text else text
    return text


def draw_reports(reports: Sequence[Report], count: int, seed: int) -> list[Report]:
    """`count` of the reports at random, each as likely as another. Raises UserError where there are fewer."""
    if not 0 < count <= len(reports):
        raise UserError(f"there are {len(reports):,} reports to draw {count:,} from")
    drawn = random.Random(seed).sample(sorted(reports, key=lambda one: one.key), count)
    return sorted(drawn, key=lambda one: one.key)
