"""What `agree` reports: how far raters agree with each other, and what they say of claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale


class Coefficient(Record):
    """One agreement coefficient over the items that at least two raters judged.

    `name` as the field says it: percent agreement, within 1, Cohen's kappa, Fleiss' kappa, Krippendorff's alpha
    (ordinal), Gwet's AC1 and so on. `items` were judged by at least two raters.
    """

    name: str
    figure: Value
    items: int
    raters: int


class PairAgreement(Record):
    """Two raters on the items that both judged; one coefficient each."""

    first: str
    second: str
    items: int
    coefficients: tuple[Coefficient, ...]


class BatchAgreement(Record):
    """Agreement in one batch or round, in the order in which they were judged."""

    batch: str
    items: int
    coefficients: tuple[Coefficient, ...]


class DimensionAgreement(Record):
    """Everything on one dimension. `kinds` tell humans from models by rater name."""

    dimension: str
    scale: Scale | None = None
    labels: int
    items: int
    judged_twice: int
    kinds: Mapping[str, str]
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[PairAgreement, ...] = ()
    batches: tuple[BatchAgreement, ...] = ()
    left_out: Mapping[str, int] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class ClaimShare(Record):
    """How many claims have one value, as a share of those judged. `missing` ones were added, and may be over 1."""

    value: str
    claims: int
    share: Value


class ClaimShares(Record):
    """What raters say of claims in one dimension, such as the share of correct ones, or of each kind of error.

    `claims` is what the shares divide by. `language` is empty for all. `split` counts claims on which raters differ.
    """

    dimension: str
    language: str = ""
    claims: int
    changes: int
    shares: tuple[ClaimShare, ...]
    split: int = 0
    left_out: Mapping[str, int] = Field(default_factory=dict)


class AgreementReport(Record):
    """What `reviewgauge agree` found. `claims` is there for labels of claims in words."""

    schema_version: Literal[1] = 1
    source: str
    dimensions: tuple[DimensionAgreement, ...]
    claims: tuple[ClaimShares, ...] = ()
    resamples: int
    seed: int
    warnings: tuple[str, ...] = ()
