"""The owner's page of agreement: raters against each other, over time, and who needs calibration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from starlette.responses import Response

from reviewgauge.annotation.live import live_agreement
from reviewgauge.annotation.pages.visits import Visit
from reviewgauge.core.reports.agreement import Coefficient, DimensionAgreement

WIDTH, HEIGHT, EDGE = 420, 120, 16  # of a drawing of agreement by batch


class Point(NamedTuple):
    """One batch in a drawing: its place, the ends of its interval, and what it says."""

    x: float
    y: float
    low: float | None
    high: float | None
    label: str
    batch: str


class Drawing(NamedTuple):
    """A coefficient by batch."""

    name: str
    points: list[Point]

    @property
    def line(self) -> str:
        """The points of a polyline."""
        return " ".join(f"{point.x:.0f},{point.y:.0f}" for point in self.points)


def agreement_page(visit: Visit) -> Response:
    """Agreement on the batches that are over."""
    found = live_agreement(visit.service.database, visit.service.project, visit.owner)
    dimensions = [one for one in found.report.dimensions if one.judged_twice] if found.report else []
    return visit.page(
        "agreement.html.j2",
        found=found,
        dimensions=dimensions,
        main={one.dimension: headline(one.coefficients) for one in dimensions},
        drawings={one.dimension: drawing(one) for one in dimensions},
        languages=[(one, headline(one.coefficients)) for one in found.languages],
        size=(WIDTH, HEIGHT, EDGE),
    )


def headline(coefficients: tuple[Coefficient, ...]) -> list[Coefficient]:
    """The two figures that are read first: how often raters agree, and Krippendorff's alpha."""
    wanted = ("percent agreement", "Krippendorff's alpha (ordinal)", "Krippendorff's alpha (nominal)")
    found = {one.name: one for one in coefficients}
    return [found[name] for name in wanted if name in found][:2]


def drawing(dimension: DimensionAgreement) -> Drawing | None:
    """The headline coefficient by batch; None with fewer than two batches."""
    if len(dimension.batches) < 2:
        return None
    name = headline(dimension.coefficients)[-1].name
    points = list(_points(dimension, name))
    return Drawing(name, points) if len(points) > 1 else None


def _points(dimension: DimensionAgreement, name: str) -> Iterator[Point]:
    step = (WIDTH - 2 * EDGE) / (len(dimension.batches) - 1)

    def height(value: float) -> float:
        return HEIGHT - EDGE - max(0.0, min(1.0, value)) * (HEIGHT - 2 * EDGE)

    for at, batch in enumerate(dimension.batches):
        figure = next((one.figure for one in batch.coefficients if one.name == name), None)
        if figure is not None and figure.value is not None:
            low, high = (None if end is None else height(end) for end in (figure.low, figure.high))
            label = f"batch {batch.batch}: {figure.value:.2f} on {batch.items} items"
            yield Point(EDGE + at * step, height(figure.value), low, high, label, batch.batch)
