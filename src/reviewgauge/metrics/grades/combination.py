"""Several metrics made into one: their readings by review, and the fitted model that turns them into a grade.

A file holds the final fit, and for each fold of the labels it was made from a fit that has not seen the fold. A
review of a reference that the labels hold is graded by the fit that did not see it, so figures on those labels are
out of fold wherever they are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Failure, Parts
from reviewgauge.metrics.texts.text_metric import reference_texts

Numbers = np.ndarray[Any, np.dtype[np.float64]]
SHIPPED = {"": "combined_minilm.json", "lexical": "combined_lexical.json"}
KEY_LENGTH = 12  # hex digits of the hash of a reference text


class Fit(Record):
    """A proportional-odds model: P(grade > j) = 1 / (1 + exp(cuts[j] - sum of weight * (value - mean) / scale)).

    Expected grades below `floor` all become the lowest grade: one value for all fits, so that rows graded by
    different fits can be ranked together.
    """

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    cuts: tuple[float, ...]
    floor: float


class Combination(Record):
    """The file that `calibrate` writes and `combined(file=...)` reads. `features` are (metric spec, reading) pairs.

    `pins` are what the metrics rested on when the fit was made (weights, tables), by spec. `fold_of` gives the fold
    of each reference text in the labels, by its hash; `held_out` has one fit a fold.
    """

    format: Literal[1] = 1
    metrics: tuple[str, ...] = Field(min_length=1)
    pins: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    features: tuple[tuple[str, str], ...] = Field(min_length=1)
    grades: tuple[float, ...] = Field(min_length=2)
    final: Fit
    held_out: tuple[Fit, ...] = ()
    fold_of: Mapping[str, int] = Field(default_factory=dict)
    dimension: str
    dataset: str
    rows: int
    note: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for fit in (self.final, *self.held_out):
            sizes = {len(fit.means), len(fit.scales), len(fit.weights)}
            if sizes != {len(self.features)} or len(fit.cuts) != len(self.grades) - 1:
                raise ValueError("has a fit with other sizes than its features and grades")
            if any(scale <= 0 for scale in fit.scales):
                raise ValueError("has a feature whose scale is not above 0")
        if any(not 0 <= fold < len(self.held_out) for fold in self.fold_of.values()):
            raise ValueError("names a fold that it has no fit for")
        return self


@lru_cache(maxsize=16)
def load_combination(file: str) -> tuple[Combination, str]:
    """(the model in a file or a shipped one, the SHA-256 of the file). Raises UserError or BadInput."""
    if file in SHIPPED:
        raw = resources.files("reviewgauge.metrics.grades").joinpath(SHIPPED[file]).read_bytes()
    else:
        try:
            raw = Path(file).read_bytes()
        except OSError as error:
            raise UserError(
                f"cannot read {file}: {error.strerror}", remedy="reviewgauge calibrate LABELS METRIC... -o FILE"
            ) from None
    return parse_record(Combination, raw, file or SHIPPED[""]), hashlib.sha256(raw).hexdigest()


def check_pins(model: Combination, metrics: Mapping[str, Metric], file: str) -> None:
    """Raise UserError where a metric's pins differ from those at the time of the fit."""
    for spec, metric in metrics.items():
        now, then = dict(metric.pins()), dict(model.pins.get(spec, {}))
        for name in sorted({*now, *then}):
            if now.get(name) != then.get(name):
                raise UserError(
                    f"{file or 'the shipped model'} was fitted with {spec} on {name} {then.get(name, 'none')}, "
                    f"and here it is {now.get(name, 'none')}",
                    remedy="a fit does not travel: calibrate again with what is here",
                )


def reference_key(case: Case) -> str:
    """A short hash of the reference text in plain words, or of the case's id where it has none."""
    texts = reference_texts(case)
    words = f"case {case.id}" if isinstance(texts, str) else " ".join("\n".join(texts).casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


class RowBag:
    """An Aggregate in which each measurement is a resample of its own."""

    def __init__(self, measurements: Sequence[Parts]) -> None:
        self.names = sorted({name for parts in measurements for name in parts})
        self.count: Numbers = np.ones(len(measurements))
        self._parts = measurements

    def total(self, name: str) -> Numbers:
        """That part of each measurement, 0 where it has none."""
        return np.array([parts.get(name, 0.0) for parts in self._parts], dtype=np.float64)

    def ratio(self, numerator: Numbers, denominator: Numbers) -> Numbers:
        """Their quotient, NaN where the denominator is 0."""
        top = np.asarray(numerator, dtype=np.float64)
        quotient: Numbers = np.divide(top, denominator, out=np.full(top.shape, np.nan), where=denominator != 0)
        return quotient


def measured_by_all(
    metrics: Sequence[Metric], items: Sequence[tuple[Case, Review]]
) -> list[list[Measured] | str | Failure]:
    """The measurements of every metric on each item, or the reason or failure of the first without one."""
    columns = [list(metric.parts_many(items)) for metric in metrics]
    found: list[list[Measured] | str | Failure] = []
    for row in zip(*columns, strict=True):
        failures = [answer for answer in row if isinstance(answer, Failure)]
        reasons = [answer for answer in row if isinstance(answer, str)]
        measured = [answer for answer in row if isinstance(answer, Measured)]
        found.append(failures[0] if failures else reasons[0] if reasons else measured)
    return found


def readings_by_row(metric: Metric, measurements: Sequence[Parts]) -> Mapping[str, Numbers]:
    """Every reading of each measurement alone; NaN where it is undefined."""
    with np.errstate(all="ignore"):
        raw = metric.combine(RowBag(measurements))
    return {name: np.broadcast_to(np.asarray(values, np.float64), (len(measurements),)) for name, values in raw.items()}


def feature_table(model: Combination, metrics: Mapping[str, Metric], rows: Sequence[Sequence[Measured]]) -> Numbers:
    """Rows x features, as the model wants them; NaN where a reading is undefined. Raises BadInput for unknown ones."""
    readings = {
        spec: readings_by_row(metric, [row[place].parts for row in rows])
        for place, (spec, metric) in enumerate(metrics.items())
    }
    columns = []
    for spec, reading in model.features:
        if reading not in readings.get(spec, {}):
            raise BadInput("the calibration", f"wants the reading {reading!r} of {spec}, which does not have it")
        columns.append(readings[spec][reading])
    return np.stack(columns, axis=1)


def graded(fit: Fit, grades: Sequence[float], table: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """(grade with the floor, expected grade, probability of more than the lowest grade) of each row.

    An undefined feature counts as its mean on the training rows.
    """
    means, scales = np.array(fit.means), np.array(fit.scales)
    standard = np.where(np.isfinite(table), (table - means) / scales, 0.0)
    # Sums by row, not a matrix product: the last bit of that depends on how many rows there are.
    place = (standard * np.array(fit.weights)).sum(axis=1)
    beyond = 0.5 * (1 + np.tanh((place[:, None] - np.array(fit.cuts)) / 2))
    expected = grades[0] + (beyond * np.diff(np.array(grades))).sum(axis=1)
    return np.where(expected < fit.floor, grades[0], expected), expected, beyond[:, 0]
