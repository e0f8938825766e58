"""What `validate --sweep` reports: above which similarity a sentence of a review speaks about a claim, by one model."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value


class LinkRates(Record):
    """Of the claims that are close, those that people say the review addresses (precision), and the other way round."""

    precision: Value
    recall: Value
    f1: Value


class ThresholdPoint(Record):
    """What one threshold gives.

    `sentence`: a claim is close when a sentence of the review is, as the metric has it; `review`: when the whole review
    is, as one text, as CRScore's code counts. `kendall` and `spearman` are those of `rel` with people's values. None
    where there are no such labels.
    """

    threshold: float
    sentence: LinkRates | None = None
    review: LinkRates | None = None
    kendall: Value | None = None
    spearman: Value | None = None


class RandomPairs(Record):
    """The similarity of `n` random pairs of different sentences: `threshold` is the mean and five standard deviations.

    `above` is the share of pairs above it; of a normal distribution it would be 2.9e-7.
    """

    n: int
    sentences: int
    mean: float
    deviation: float
    threshold: float
    above: float


class FittedThreshold(Record):
    """The threshold of one model: `threshold.n` sentences of `reviews` reviews on `changes` changes.

    `spec` is the metric that uses it. `points` go up; one of them is the threshold.
    """

    model: str
    fingerprint: str
    spec: str
    threshold: Value
    reviews: int
    changes: int
    points: tuple[ThresholdPoint, ...] = ()
    random: RandomPairs | None = None

    @property
    def here(self) -> ThresholdPoint:
        """The point at the threshold."""
        return min(self.points, key=lambda point: abs(point.threshold - (self.threshold.value or 0.0)))

    @property
    def best(self) -> ThresholdPoint | None:
        """The point with the highest Spearman, chosen on the same rows; None without one."""
        defined = [p for p in self.points if p.spearman is not None and p.spearman.value is not None]
        return max(defined, key=lambda point: (point.spearman and point.spearman.value) or 0.0, default=None)


class ThresholdReport(Record):
    """What `validate --sweep` found: the threshold of each model by the reviews of one system.

    `chosen` says why of this `system`. People link `addressed` of `pairs` pairs of a claim and a review, those
    of `linked` reviews that address any claim.
    """

    schema_version: Literal[1] = 1
    dataset: str
    benchmark: str
    claims: str
    system: str
    chosen: str
    dimension: str = ""
    pairs: int = 0
    addressed: int = 0
    linked: int = 0
    fits: tuple[FittedThreshold, ...] = Field(min_length=1)
    resamples: int
    seed: int
    level: float = 0.95
    warnings: tuple[str, ...] = ()
