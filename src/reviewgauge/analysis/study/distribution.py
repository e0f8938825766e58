"""How many reviews of each contender have which grade: people's, or what a metric gives.

Source of the shape: GradedReviews (arXiv:2501.05176), Figure 3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.analysis.study.leaderboard import measure_label
from reviewgauge.analysis.study.material import Material
from reviewgauge.analysis.study.material import measures_of as chosen_measures
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Score
from reviewgauge.core.study import TableEntry

MOST_GRADES, BINS = 10, 5
Grades = dict[str, dict[str, list[float]]]  # by system, by case


def distribution_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: how many reviews have each grade, and their mean."""
    if entry.dimension:
        grades, unit, provenance = _of_people(entry.dimension, material)
        fakes: frozenset[str] = frozenset()
    else:
        metric = material.metric(entry.metric)
        (measure,) = chosen_measures(material, metric, entry)
        run = material.run(metric)
        grades, unit = _of_metric(metric, measure, run.scores), metric.units.get(measure, "share")
        fakes = frozenset(score.system for score in run.scores if score.fake)
        provenance = f"{measure_label(measure)} of each review: {material.provenance(metric)}"
    chosen = material.chosen(entry)
    found = sorted({value for c in chosen for own in grades.get(c.system, {}).values() for value in own})
    bins = [(value, value) for value in found] if len(found) <= MOST_GRADES else _bins(found[0], found[-1])
    rows = []
    for contender in chosen:
        own = grades.get(contender.system, {})
        values = [value for one in own.values() for value in one]
        if contender.trouble or not values:
            rows.append(
                (Value(text=contender.name), *(Value(text=contender.trouble or "–") for _ in range(len(bins) + 2)))
            )
            continue
        fake = contender.system in fakes
        counts = [sum(_within(value, ends, ends is bins[-1]) for value in values) for ends in bins]
        cells = [Value(value=float(count), n=len(values), unit="count", fake=fake) for count in counts]
        mean = material.mean_of({case: float(np.mean(one)) for case, one in own.items()}, unit, fake=fake)
        rows.append(
            (Value(text=contender.name), *cells, Value(value=float(len(values)), n=len(values), unit="count"), mean)
        )
    heads = [_head(*ends) for ends in bins]
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", *heads, "reviews", "mean")),
        rows=tuple(rows),
        plot=Plot(kind="stacked", columns=tuple(range(1, 1 + len(bins)))) if entry.plot and bins else None,
        provenance=provenance,
    )


def _of_people(dimension: str, material: Material) -> tuple[Grades, str, str]:
    """What people said of the reviews; of several raters the mean."""
    own = [label for label in dict.fromkeys(map(_key, material.labels)) if label[2] == dimension]
    if not own:
        raise UserError(f"nobody judged {dimension!r} on {material.name}", remedy="name a metric instead")
    raters: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for case, system, _, attempt, value in own:
        raters[system, case, attempt].append(value)
    grades: Grades = defaultdict(lambda: defaultdict(list))
    for (system, case, _), values in sorted(raters.items()):
        grades[system][case].append(float(np.mean(values)))
    clusters = material.clusters
    provenance = (
        f"{dimension} by people on {material.dataset}, {len(material.cases):,} changes, benchmark "
        f"{material.digest[:12]}; 95% intervals of means: {material.resamples:,} bootstrap resamples of "
        f"{clusters.count} clusters ({clusters.by}), seed {material.seed}"
    )
    return grades, "points", provenance


def _key(label: Label) -> tuple[str, str, str, int, float]:
    """(case, system, dimension, attempt, value) of a person's judgement of a review in the study itself."""
    subject = label.subject
    counts = (
        subject.kind is SubjectKind.REVIEW and label.rater_kind is RaterKind.HUMAN and label.round is None
        and isinstance(label.value, int | float)
    )  # fmt: skip
    dimension = label.dimension if counts else ""
    value = float(label.value) if counts else 0.0
    return subject.case, subject.system or "", dimension, subject.attempt or 1, value


def _of_metric(metric: Metric, measure: str, scores: Sequence[Score]) -> Grades:
    """What the metric gives each review that it measured."""
    grades: Grades = defaultdict(lambda: defaultdict(list))
    given = ((score, _value(metric, measure, score.parts)) for score in scores if score.parts is not None)
    found = [(score.system, score.case, score.attempt, value) for score, value in given if value is not None]
    for system, case, _, value in sorted(found):
        grades[system][case].append(value)
    return grades


def _value(metric: Metric, measure: str, parts: Mapping[str, float]) -> float | None:
    found = measures_of(metric, MatrixAggregate.of([parts])).get(measure)
    return None if found is None or not np.isfinite(found[0]) else round(float(found[0]), 12)


def _bins(low: float, high: float) -> list[tuple[float, float]]:
    edges = np.linspace(low, high, BINS + 1).tolist()
    return list(pairwise(edges))


def _within(value: float, ends: tuple[float, float], last: bool) -> bool:
    low, high = ends
    return value == low if low == high else low <= value < high or (last and value == high)


def _head(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:.3g} to {high:.3g}"
