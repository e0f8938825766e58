"""What a dimension's labels are (words, codes, grades), and which agreement coefficients fit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats import agreement
from reviewgauge.analysis.stats.agreement import ALPHA, Measure, within
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Scale

MANY_VALUES = 50  # distinct values from which on they are not categories
LARGEST = 1e15  # beyond which whole numbers are not told apart


class Kind(NamedTuple):
    """What the values of a dimension are: words (or two values), or numbers with a scale; and the categories."""

    numeric: bool
    categories: Numbers
    names: tuple[str, ...]
    code: Mapping[Fact, float]
    warnings: tuple[str, ...] = ()


def kind_of(name: str, labels: Sequence[Label], scale: Scale | None, *, nominal: bool) -> Kind:
    """What these labels are. Raises UserError for words among numbers, and for numbers that are not grades."""
    values = list(dict.fromkeys(label.value for label in labels))
    words = [value for value in values if isinstance(value, str)]
    if words and len(words) < len(values):
        other = next(value for value in values if not isinstance(value, str))
        raise UserError(f"{name} has words and numbers, such as {words[0]!r:.40} and {other!r}", remedy="use one kind")
    if words or all(isinstance(value, bool) for value in values):
        ordered = sorted(str(value) for value in values)
        code: dict[Fact, float] = {value: float(ordered.index(str(value))) for value in values}
        return Kind(False, np.arange(len(ordered), dtype=np.float64), tuple(ordered), code)
    if any(abs(value) > LARGEST for value in values if not isinstance(value, str)):
        raise UserError(f"{name} has a label beyond {LARGEST:.0e}, which is not a grade")
    numbers = np.unique(np.array([float(value) for value in values]))
    steps = _steps(scale)
    odd = int(sum(float(label.value) not in steps for label in labels)) if steps else 0
    note = f"{odd} labels are none of the steps of the scale, and counted as categories of their own"
    categories = np.unique(np.concatenate([numbers, list(steps)])) if steps else numbers
    own = {value: float(value) for value in values}
    return Kind(categories.size > 2 and not nominal, categories, (), own, (note,) if odd else ())


def _steps(scale: Scale | None) -> frozenset[float]:
    """The values that a scale allows, empty where they are too many to be categories."""
    if scale is None or scale.step <= 0 or (scale.high - scale.low) / scale.step > MANY_VALUES:
        return frozenset()
    count = round((scale.high - scale.low) / scale.step)
    return frozenset(float(scale.low + scale.step * at) for at in range(count + 1))


def measures_of(kind: Kind, tolerance: float, *, raters: int) -> dict[str, list[Measure]]:
    """What is measured of all raters (`all`), of each pair (`pair`) and of each batch (`batch`)."""
    near = [within(tolerance)] if kind.numeric and 0 < tolerance < np.ptp(kind.categories) else []
    if kind.categories.size > MANY_VALUES:
        everywhere = [*near, ALPHA["ordinal"], ALPHA["interval"]]
        return dict.fromkeys(("all", "pair", "batch"), everywhere)
    percent, cohen, fleiss, ac1 = agreement.PERCENT, agreement.COHEN, agreement.FLEISS, agreement.AC1
    two = [cohen] if raters == 2 else []
    if not kind.numeric:
        alpha = ALPHA["nominal"]
        return {
            "all": [percent, *two, fleiss, alpha, ac1],
            "pair": [percent, cohen, alpha, ac1],
            "batch": [percent, *two, fleiss, alpha],
        }
    weighted = [agreement.COHEN_LINEAR, agreement.COHEN_QUADRATIC] if raters == 2 else []
    ac2 = agreement.AC2["quadratic"]
    return {
        "all": [percent, *near, *two, *weighted, fleiss, *ALPHA.values(), ac1, ac2],
        "pair": [percent, *near, cohen, agreement.COHEN_QUADRATIC, ALPHA["ordinal"], ac2],
        "batch": [percent, *near, *two, fleiss, ALPHA["ordinal"]],
    }
