"""Measure reviews as they come, without ever holding them all: memory grows with the window, not with the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Failure
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.measure import measure


def measure_stream(
    metric: Metric, items: Iterable[tuple[Case, Review]], batch: int = 1024
) -> Iterator[Measured | str | Failure]:
    """What `metric` says of each item, in order; `batch` items are read and measured at a time.

    Raises UserError for a joint metric, whose answers depend on items that are yet to come.
    """
    if metric.joint:
        raise UserError(
            f"{short_spec(metric)} looks at all reviews together, so it cannot measure a stream",
            remedy="put them into a run and use reviewgauge score",
        )
    if batch < 1:
        raise UserError(f"batch={batch} is not a number of items", remedy="take 1 or more")
    return _windows(metric, iter(items), batch)


def _windows(metric: Metric, items: Iterator[tuple[Case, Review]], batch: int) -> Iterator[Measured | str | Failure]:
    while window := list(islice(items, batch)):
        yield from measure(metric, window)
