"""Where to write the names of points so that they neither overlap nor cover a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

POINT = 5.0  # half the side of the square that a point takes, in pixels
NEAR, FAR = 9.0, 22.0
LATER = 2.5  # square pixels of overlap that are better than the next, less natural place


class Box(NamedTuple):
    """A rectangle in pixels, y counted downwards."""

    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """The shared area."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


def place_labels(
    spots: Sequence[tuple[float, float]], sizes: Sequence[Box], width: float, height: float
) -> list[tuple[float, float]]:
    """(left, middle) of each label in pixels: the first place near its point that is free, else the least bad one.

    A greedy choice in the order given, tried to the right, left, above and below, then the same further away.
    """
    taken = [Box(x - POINT, y - POINT, 2 * POINT, 2 * POINT) for x, y in spots]
    placed: list[tuple[float, float]] = []
    for (x, y), size in zip(spots, sizes, strict=True):
        candidates = _candidates(x, y, size)
        costs = [_cost(box, taken, width, height) + LATER * order for order, box in enumerate(candidates)]
        best = candidates[costs.index(min(costs))]
        taken.append(best)
        placed.append((best.left, best.top + best.height / 2))
    return placed


def _candidates(x: float, y: float, size: Box) -> list[Box]:
    w, h = size.width, size.height
    places = []
    for gap in (NEAR, FAR):
        for left, middle in (
            (x + gap, y),
            (x - gap - w, y),
            (x + gap * 0.6, y - gap - 3),
            (x + gap * 0.6, y + gap + 3),
            (x - gap * 0.6 - w, y - gap - 3),
            (x - gap * 0.6 - w, y + gap + 3),
            (x - w / 2, y - gap - 4),
            (x - w / 2, y + gap + 4),
        ):
            places.append(Box(left, middle - h / 2, w, h))
    return places


def _cost(box: Box, taken: Sequence[Box], width: float, height: float) -> float:
    inside = Box(0, 0, width + 20, height).overlap(box)
    outside = box.width * box.height - inside
    return sum(box.overlap(other) for other in taken) + 3 * outside
