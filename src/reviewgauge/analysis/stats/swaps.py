"""What one case does to a reading: the reading with a system's parts on that case, and with another's in their place.

This works for readings that are not means, such as a micro-averaged F1, and on cases where the reading alone is
undefined (a false comment on a clean change lowers F1, and has none of its own).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reviewgauge.analysis.stats.sums import MatrixBag, Numbers, readings_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric

ROUNDING = 1e-12  # a change of a reading this small is none


def reading_with(metric: Metric, names: Sequence[str], totals: Numbers, cases: int, reading: str) -> Numbers:
    """The reading of each row of totals (r x K) over `cases` cases: r values, NaN where undefined.

    Raises UserError for a reading that the metric does not have.
    """
    bag = MatrixBag(names, np.ascontiguousarray(totals.T), np.full(len(totals), float(cases)))
    found = readings_of(metric, bag)
    if reading not in found:
        raise UserError(f"no reading is called {reading!r}", remedy=f"there are: {', '.join(found)}")
    return np.asarray(found[reading], dtype=np.float64)


def swapped(total: Numbers, out: Numbers, into: Numbers) -> Numbers:
    """`total` (K) with the rows of `out` (r x K) taken out and those of `into` (r x K) put in: r x K."""
    return np.asarray(total - out + into)
