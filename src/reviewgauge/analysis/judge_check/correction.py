"""Scores corrected for the judge's errors, from the part of a run that people checked. See prediction_powered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Asker, PairInstrument
from reviewgauge.analysis.judge_check.test_set import FALSE, MISSED, SAME, Material, majority
from reviewgauge.analysis.stats.prediction_powered import Sums, powered_ratio
from reviewgauge.analysis.validity.rows import human_values
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.judge_check import Corrected
from reviewgauge.judges.pairs.assignment import assign


class Count(NamedTuple):
    """One review: right comments by the judge, by people (None: not checked), comments, findings; its cluster."""

    judged: float
    people: float | None
    comments: int
    references: int
    cluster: str


class CorrectionRow(NamedTuple):
    """One review in one reading: by the judge, by people (None: not checked), the size; whether nothing was said."""

    judge: float
    people: float | None
    size: float
    cluster: str
    silent: bool = False


def correct_pairs(material: Material, asker: Asker) -> list[Corrected]:
    """Precision, recall and F1 of each system: by the judge, by people on what they checked, and by both.

    A right comment is one that raises a finding, shared out one-to-one; a second one on the same finding counts
    against precision. A review counts as checked where people decided on every comment and every finding.
    """
    instrument = asker.instrument
    assert isinstance(instrument, PairInstrument)
    known = {case.id: case for case in material.cases if case.references}
    said = [review for review in material.reviews if review.case in known]
    asks = [Ask(known[r.case].model_copy(update={"labels": ()}), r, _every(known[r.case], r)) for r in said]
    people = _by_review(material.labels)
    counts: defaultdict[str, list[Count]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for review, reply in zip(said, asker.ask(asks, what="every review"), strict=True):
        if reply is None or reply.failure is not None:
            failed[review.system] += 1
            continue
        case, shape = known[review.case], (len(review.comments), len(known[review.case].references))
        yes = np.array(reply.said).reshape(shape) == 1
        probability = np.where(yes, np.maximum(np.array(reply.values).reshape(shape), 1e-6), 0.0)
        own = people.get((review.case, review.system, review.attempt), {})
        counts[review.system].append(
            Count(float(len(assign(probability))), _checked(case, review, own), *shape, review.case)
        )
    found = [row for system, own in counts.items() for row in _readings(system, own, failed[system])]
    if not any(row.checked for row in found) and not asker.stopped:
        raise UserError(
            "people decided on no review of this run wholly, so there is nothing to correct by",
            remedy="label every pair of a few reviews as same_issue: docs/judge-check.md",
        )
    return found


def _every(case: Case, review: Review) -> tuple[tuple[int, int], ...]:
    return tuple((c, r) for c in range(len(review.comments)) for r in range(len(case.references)))


Decisions = Mapping[tuple[str, str | None, str | None], list[Label]]


def _by_review(labels: Sequence[Label]) -> dict[tuple[str, str, int], Decisions]:
    """By review: (dimension, comment, reference) -> what people said."""
    found: dict[tuple[str, str, int], dict[tuple[str, str | None, str | None], list[Label]]] = {}
    for label in labels:
        s = label.subject
        if label.rater_kind is RaterKind.HUMAN and label.dimension in (SAME, FALSE, MISSED) and s.system is not None:
            own = found.setdefault((s.case, s.system, s.attempt), {})
            own.setdefault((label.dimension, s.comment, s.reference), []).append(label)
    return dict(found.items())


def _checked(case: Case, review: Review, said: Decisions) -> float | None:
    """How many comments people found right, one-to-one; None where they left anything undecided."""
    if not said:
        return None
    verdict = {key: majority(own) for key, own in said.items()}
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


def _readings(system: str, counts: Sequence[Count], failed: int) -> list[Corrected]:
    sizes = {
        "precision": (1.0, [float(one.comments) for one in counts]),
        "recall": (1.0, [float(one.references) for one in counts]),
        "f1": (2.0, [float(one.comments + one.references) for one in counts]),
    }
    found = []
    for reading, (times, size) in sizes.items():
        rows = [
            CorrectionRow(
                times * one.judged,
                None if one.people is None else times * one.people,
                own,
                one.cluster,
                silent=not one.comments,
            )
            for one, own in zip(counts, size, strict=True)
        ]
        found.append(_powered(system, reading, rows, failed, limits=(0.0, 1.0)))
    return found


def _powered(
    system: str, reading: str, rows: Sequence[CorrectionRow], failed: int, limits: tuple[float, float] | None
) -> Corrected:
    """One reading of one system. A cluster is checked or it is not.

    Where only some reviews of a cluster were checked, these stand for it: the two samples must not share clusters.
    A silent review is right about nothing, which nobody needs to check, so it belongs to neither sample.
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
        reading=reading,
        raw=sum(row.judge for row in rows) / total if total else None,
        people=found.people,
        corrected=found.corrected,
        trust=found.trust,
        checked=sum(row.people is not None for row in rows),
        reviews=len(rows),
        failed=failed,
    )


def correct_grades(material: Material, asker: Asker) -> list[Corrected]:
    """The mean grade of each system: by the grader, by people on what they graded, and by both."""
    humans = [
        one for one in human_values(material.labels, material.scales)[0] if material.dimension in ("", one.dimension)
    ]
    if not humans:
        raise UserError("people graded no review of this run, so there is nothing to correct by")
    known = {case.id: case.model_copy(update={"labels": ()}) for case in material.cases}
    said = [review for review in material.reviews if review.case in known]
    replies = asker.ask([Ask(known[r.case], r) for r in said], what="every review")
    rows: defaultdict[str, list[CorrectionRow]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for review, reply in zip(said, replies, strict=True):
        if reply is None or reply.failure is not None or not np.isfinite(reply.values).all():
            failed[review.system] += 1
            continue
        people = humans[0].of.get((review.case, review.system, review.attempt))
        rows[review.system].append(CorrectionRow(reply.values[0], people, 1.0, review.case))
    reading = f"mean {humans[0].dimension}"
    return [_powered(system, reading, own, failed[system], limits=None) for system, own in rows.items()]
