"""Combined: a grade from several cheap metrics, by a small model that was fitted to human grades.

Source: own proportional-odds model (McCullagh, JRSS B 1980) over text metrics, fitted to GradedReviews ("Deep
Assessment of Code Review Generation Approaches", arXiv:2501.05176). Card and figures: docs/reference/combined.md.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds, Failed, Failure, Parts
from reviewgauge.core.specs import all_pins, load, load_from, load_recorded, texts_of
from reviewgauge.core.trust import FilePath, FromFile, ModelName
from reviewgauge.metrics.texts.text_metric import MEAN, VALUE, reference_texts
from reviewgauge.models.request.model_spec import is_model

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


WITHOUT_WEIGHTS = "combined(file='lexical') needs no weights"


def asked_by(metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """The models that metrics (by their specs) send texts to: chat models, and endpoints that embed."""
    found = (word for spec, metric in metrics.items() for word in (*metric.models, *texts_of(spec)))
    return tuple(dict.fromkeys(word for word in found if is_model(word)))


class MetricOfMetrics(Metric):
    """A metric that is made from the measurements of others on the same reviews."""

    reads_order: ClassVar[bool] = True

    @property
    @abstractmethod
    def _metrics(self) -> Mapping[str, Metric]:
        """The metrics by their specs."""

    def pins(self) -> Mapping[str, str]:
        """The pins of its metrics."""
        return {f"{spec}: {name}": pin for spec, metric in self._metrics.items() for name, pin in metric.pins().items()}

    @property
    def reads_labels(self) -> bool:
        """Whether one of its metrics reads the labels of the cases."""
        return any(metric.reads_labels for metric in self._metrics.values())

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The measurement of one review alone. Raises the failure of a metric."""
        found = next(self.parts_many([(case, review)]))
        if isinstance(found, Failure):
            raise Failed(found.kind, found.message, raw=found.raw)
        return found

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The mean of every part; that of the one called `value` is the measure `mean`."""
        return {MEAN if name == VALUE else name: mean for name, mean in super().combine(aggregate).items()}

    def unmeasurable(self, case: Case) -> str:
        """The reason of the first metric that cannot measure the case."""
        return next(filter(None, (metric.unmeasurable(case) for metric in self._metrics.values())), "")


@dataclass(frozen=True)
class Combined(MetricOfMetrics):
    """The expected human grade; `mean` has a floor under which all count as equal, `expected` has none.

    `file` is what `validate --fit` wrote; empty means the shipped model over lexical metrics and MiniLM
    embeddings, "lexical" the shipped one over lexical metrics alone. Reviews of references that the model's labels
    hold are graded by a fit that has not seen them. `above_lowest` is the probability of more than the lowest grade.
    `ask` names the models that the file's metrics may ask: a file alone sends nothing anywhere.
    """

    file: FilePath = ""
    ask: tuple[ModelName, ...] = ()

    headline: ClassVar[str] = MEAN
    units: ClassVar[Mapping[str, str]] = {MEAN: "grades", "expected": "grades"}
    batch: ClassVar[int] = 1024

    @cached_property
    def _metrics(self) -> Mapping[str, Metric]:
        model, _ = load_combination(self.file)
        self._refuse_unnamed({spec: load_recorded(Metric, spec) for spec in model.metrics})
        return {spec: self._load(spec) for spec in model.metrics}

    @cached_property
    def _checked(self) -> Mapping[str, Metric]:
        """The metrics, which rest on what they rested on at the fit: this opens their files and models."""
        try:
            check_pins(load_combination(self.file)[0], self._metrics, self.file)
        except UserError as error:
            if self.file:
                raise
            raise UserError(error.problem, remedy=f"{error.remedy}; {WITHOUT_WEIGHTS}") from None
        return self._metrics

    def _load(self, spec: str) -> Metric:
        if self.file in ("", "lexical"):
            return load(Metric, spec)
        return load_from(Metric, spec, FromFile(self.file, Path(self.file).parent, frozenset(self.ask)))

    def _refuse_unnamed(self, metrics: Mapping[str, Metric]) -> None:
        """Whoever wrote the file may have named any address, and the user's key would be sent there."""
        asked = asked_by(metrics)
        if more := [model for model in asked if model not in self.ask]:
            raise UserError(
                f"{self.file} holds a metric that asks {more[0]}, which only the file names",
                remedy=f"if you mean to ask it: combined(file={self.file!r}, ask={asked!r})",
            )

    @property
    def models(self) -> tuple[str, ...]:
        """Those that its metrics may ask."""
        return self.ask

    def pins(self) -> Mapping[str, str]:
        """The hash of the fitted model, and the pins of its metrics."""
        calibration = load_combination(self.file)[1][:16]
        assert self._checked
        return {"calibration": calibration, **super().pins()}

    @property
    def joint(self) -> bool:
        """Whether one of its metrics looks at several reviews together."""
        return any(metric.joint for metric in self._metrics.values())

    @property
    def joint_over_all(self) -> bool:
        """Whether one of its metrics looks at the reviews of all cases together."""
        return any(metric.joint_over_all for metric in self._metrics.values())

    @property
    def estimate_note(self) -> str:
        """A note that it was fitted to labels."""
        model, _ = load_combination(self.file)
        return f"fitted to {model.rows:,} human labels ({model.dataset}, {model.dimension}), graded out of fold there"

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The grades in order; where one of the metrics does not apply or failed, its reason or failure."""
        size = len(items) if self.joint else self.batch
        for start in range(0, len(items), size or 1):
            yield from self._graded(items[start : start + size])

    def _graded(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        model, _ = load_combination(self.file)
        answers = measured_by_all(list(self._checked.values()), items)
        rows = [(place, answer) for place, answer in enumerate(answers) if isinstance(answer, list)]
        made: dict[int, Measured] = {}
        if rows:
            table = feature_table(model, self._metrics, [row for _, row in rows])
            folds = [model.fold_of.get(reference_key(items[place][0]), -1) for place, _ in rows]
            for fold in sorted(set(folds)):
                fit = model.final if fold < 0 else model.held_out[fold]
                own = [at for at, other in enumerate(folds) if other == fold]
                for at, *values in zip(own, *graded(fit, model.grades, table[own]), strict=True):
                    parts = dict(zip((VALUE, "expected", "above_lowest"), map(float, values), strict=True))
                    place, measured = rows[at]
                    made[place] = Measured(parts=parts, fake=any(one.fake for one in measured))
        for place, answer in enumerate(answers):
            yield made[place] if isinstance(answer, list) else answer

    def bounds(self, case: Case) -> Bounds | None:
        """The lowest and the highest grade."""
        grades = load_combination(self.file)[0].grades
        worst, best = ({VALUE: g, "expected": g, "above_lowest": p} for g, p in ((grades[0], 0.0), (grades[-1], 1.0)))
        return Bounds(worst=worst, best=best)


KEY_LENGTH = 12  # hex digits of the hash of a reference text

SHIPPED = {"": "combined_minilm.json", "lexical": "combined_lexical.json"}


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
    """The file that `validate --fit` writes and `combined(file=...)` reads.

    `features` are (metric spec, measure) pairs. `pins` are what the metrics rested on when the fit was made (weights,
    tables), by spec. `fold_of` gives the fold of each reference text in the labels, by its hash; `held_out` has one fit
    a fold.
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
        raw = resources.files("reviewgauge.metrics").joinpath("fits", SHIPPED[file]).read_bytes()
    else:
        try:
            if Path(file).exists() and not Path(file).is_file():
                raise UserError(f"{file} is not a plain file", remedy="name what validate --fit wrote")
            raw = read_file(Path(file))
        except OSError as error:
            raise UserError(
                f"cannot read {file}: {error.strerror}", remedy="reviewgauge validate DATASET METRIC... --fit FILE"
            ) from None
    return parse_record(Combination, raw, file or SHIPPED[""]), hashlib.sha256(raw).hexdigest()


def check_pins(model: Combination, metrics: Mapping[str, Metric], file: str) -> None:
    """Raise UserError where a metric's pins differ from those at the time of the fit."""
    for spec, metric in metrics.items():
        now, then = all_pins(metric), dict(model.pins.get(spec, {}))
        for name in sorted({*now, *then}):
            if now.get(name) != then.get(name):
                raise UserError(
                    f"{file or 'the shipped model'} was fitted with {spec} on {name} {then.get(name, 'none')}, "
                    f"and here it is {now.get(name, 'none')}",
                    remedy="these weights were fitted to other metrics: run validate --fit again",
                )


def reference_key(case: Case) -> str:
    """A short hash of the reference text in plain words, or of the case's id where it has none."""
    texts = reference_texts(case)
    words = f"case {case.id}" if isinstance(texts, str) else " ".join("\n".join(texts).casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


class RowAggregate:
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


def measures_by_row(metric: Metric, measurements: Sequence[Parts]) -> Mapping[str, Numbers]:
    """Every measure of each measurement alone; NaN where it is undefined."""
    with np.errstate(all="ignore"):
        raw = metric.combine(RowAggregate(measurements))
    return {name: np.broadcast_to(np.asarray(values, np.float64), (len(measurements),)) for name, values in raw.items()}


def feature_table(model: Combination, metrics: Mapping[str, Metric], rows: Sequence[Sequence[Measured]]) -> Numbers:
    """Rows x features, as the model wants them; NaN where a measure is undefined. Raises BadInput for unknown ones."""
    measures = {
        spec: measures_by_row(metric, [row[place].parts for row in rows])
        for place, (spec, metric) in enumerate(metrics.items())
    }
    columns = []
    for spec, measure in model.features:
        if measure not in measures.get(spec, {}):
            raise BadInput("the calibration", f"wants the measure {measure!r} of {spec}, which does not have it")
        columns.append(measures[spec][measure])
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
