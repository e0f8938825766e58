"""Combined: a grade from several cheap metrics, by a small model that was fitted to human grades.

Source: own proportional-odds model (McCullagh, JRSS B 1980) over text metrics, fitted to GradedReviews ("Deep
Assessment of Code Review Generation Approaches", arXiv:2501.05176). Card and figures: docs/reference/combined.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds, Failed, Failure
from reviewgauge.core.specs import load_recorded, texts_of
from reviewgauge.metrics.grades import combination
from reviewgauge.metrics.texts.text_metric import MEAN, VALUE
from reviewgauge.models.request.model_spec import is_model

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

WITHOUT_WEIGHTS = "combined(file='lexical') needs no weights"


def asked_by(metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """The models that metrics (by their specs) send texts to: chat models, and endpoints that embed."""
    found = (word for spec, metric in metrics.items() for word in (*metric.models, *texts_of(spec)))
    return tuple(dict.fromkeys(word for word in found if is_model(word)))


@dataclass(frozen=True)
class Combined(Metric):
    """The expected human grade; `mean` has a floor under which all count as equal, `expected` has none.

    `file` is what `reviewgauge calibrate` wrote; empty means the shipped model over lexical metrics and MiniLM
    embeddings, "lexical" the shipped one over lexical metrics alone. Reviews of references that the model's labels
    hold are graded by a fit that has not seen them. `above_lowest` is the probability of more than the lowest grade.
    `ask` names the models that the file's metrics may ask: a file alone sends nothing anywhere.
    """

    file: str = ""
    ask: tuple[str, ...] = ()

    headline: ClassVar[str] = MEAN
    reads_order: ClassVar[bool] = True
    units: ClassVar[Mapping[str, str]] = {MEAN: "grades", "expected": "grades"}
    batch: ClassVar[int] = 1024

    @cached_property
    def _metrics(self) -> Mapping[str, Metric]:
        model, _ = combination.load_combination(self.file)
        found = {spec: load_recorded(Metric, spec) for spec in model.metrics}
        self._refuse_unnamed(found)
        try:
            combination.check_pins(model, found, self.file)
        except UserError as error:
            if self.file:
                raise
            raise UserError(error.problem, remedy=f"{error.remedy}; {WITHOUT_WEIGHTS}") from None
        return found

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
        below = {
            f"{spec}: {name}": pin for spec, metric in self._metrics.items() for name, pin in metric.pins().items()
        }
        return {"calibration": combination.load_combination(self.file)[1][:16], **below}

    @property
    def joint(self) -> bool:
        """Whether one of its metrics looks at several reviews together."""
        return any(metric.joint for metric in self._metrics.values())

    @property
    def joint_over_all(self) -> bool:
        """Whether one of its metrics looks at the reviews of all cases together."""
        return any(metric.joint_over_all for metric in self._metrics.values())

    @property
    def reads_labels(self) -> bool:
        """Whether one of its metrics reads the labels of the cases."""
        return any(metric.reads_labels for metric in self._metrics.values())

    @property
    def estimate_note(self) -> str:
        """A note that it was fitted to labels."""
        model, _ = combination.load_combination(self.file)
        return f"fitted to {model.rows:,} human labels ({model.dataset}, {model.dimension}), graded out of fold there"

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The grade of one review. Raises the failure of a metric."""
        found = next(self.parts_many([(case, review)]))
        if isinstance(found, Failure):
            raise Failed(found.kind, found.message, raw=found.raw)
        return found

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The grades in order; where one of the metrics does not apply or failed, its reason or failure."""
        size = len(items) if self.joint else self.batch
        for start in range(0, len(items), size or 1):
            yield from self._graded(items[start : start + size])

    def _graded(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        model, _ = combination.load_combination(self.file)
        answers = combination.measured_by_all(list(self._metrics.values()), items)
        rows = [(place, answer) for place, answer in enumerate(answers) if isinstance(answer, list)]
        made: dict[int, Measured] = {}
        if rows:
            table = combination.feature_table(model, self._metrics, [row for _, row in rows])
            folds = [model.fold_of.get(combination.reference_key(items[place][0]), -1) for place, _ in rows]
            for fold in sorted(set(folds)):
                fit = model.final if fold < 0 else model.held_out[fold]
                own = [at for at, other in enumerate(folds) if other == fold]
                for at, *values in zip(own, *combination.graded(fit, model.grades, table[own]), strict=True):
                    parts = dict(zip((VALUE, "expected", "above_lowest"), map(float, values), strict=True))
                    place, measured = rows[at]
                    made[place] = Measured(parts=parts, fake=any(one.fake for one in measured))
        for place, answer in enumerate(answers):
            yield made[place] if isinstance(answer, list) else answer

    def combine(self, bag: Aggregate) -> Mapping[str, Numbers]:
        """Means of the three."""
        return {MEAN if name == VALUE else name: bag.ratio(bag.total(name), bag.count) for name in bag.names}

    def unmeasurable(self, case: Case) -> str:
        """The reason of the first metric that cannot measure the case."""
        return next(filter(None, (metric.unmeasurable(case) for metric in self._metrics.values())), "")

    def bounds(self, case: Case) -> Bounds | None:
        """The lowest and the highest grade."""
        grades = combination.load_combination(self.file)[0].grades
        worst, best = ({VALUE: g, "expected": g, "above_lowest": p} for g, p in ((grades[0], 0.0), (grades[-1], 1.0)))
        return Bounds(worst=worst, best=best)
