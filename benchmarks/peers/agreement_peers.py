"""Agreement coefficients by krippendorff, irrCAC, scikit-learn and statsmodels, on tables from a file.

It runs in an environment of its own (`.venv-reference`, see the Makefile) and imports nothing of ReviewGauge, which
imports nothing of these packages: krippendorff is under the GPL.

Usage: .venv-reference/bin/python benchmarks/peers/agreement_peers.py TABLES.json ANSWERS.json
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Answers = dict[str, float | None]


def main(tables: str, answers: str) -> None:
    """Read tables, write one dictionary of coefficients a table; None where the package has no finite answer."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found = [answer(table) for table in json.loads(Path(tables).read_text())]
    Path(answers).write_text(json.dumps(found))


def answer(table: dict[str, Any]) -> Answers:
    values = np.array(table["values"], dtype=float)  # null becomes NaN
    return {
        **_alphas(values),
        **_irr_cac(values, table["categories"], table["tolerance"]),
        **_cohens(values[:2], table["categories"], table["evenly_spaced"]),
        **_complete(values, table["categories"]),
    }


def _alphas(values: Any) -> Answers:
    alpha = import_module("krippendorff").alpha
    return {
        f"Krippendorff's alpha ({level})": _finite(partial(alpha, reliability_data=values, level_of_measurement=level))
        for level in ("nominal", "ordinal", "interval")
    }


def _irr_cac(values: Any, categories: list[float], tolerance: float) -> Answers:
    values = values[:, ~np.isnan(values).all(axis=0)]
    if values.shape[1] < 2:  # irrCAC also computes a standard error, which takes two items
        return {}

    def fleiss(weights: Any) -> float:
        found = _cac(values, weights, categories).fleiss()["est"]
        # With one category alone, 1 - pe is 0 or what rounding left of it: 0/0, which may come out as 1.
        return float(found["coefficient_value"]) if 1 - found["pe"] > 1e-12 else math.nan

    def gwet(weights: Any, what: str = "coefficient_value") -> float:
        return float(_cac(values, weights, categories).gwet()["est"][what])

    near = (np.abs(np.subtract.outer(categories, categories)) <= tolerance).astype(float)
    return {
        "percent agreement": _finite(lambda: gwet("identity", "pa")),
        f"within {tolerance:g}": _finite(lambda: gwet(near, "pa")),
        "Fleiss' kappa": _finite(lambda: fleiss("identity")),
        "Fleiss' kappa (quadratic)": _finite(lambda: fleiss("quadratic")),
        "Gwet's AC1": _finite(lambda: gwet("identity")),
        "Gwet's AC2 (linear)": _finite(lambda: gwet("linear")),
        "Gwet's AC2 (quadratic)": _finite(lambda: gwet("quadratic")),
        "Gwet's AC2 (ordinal)": _finite(lambda: gwet("ordinal")),
    }


def _cac(values: Any, weights: Any, categories: list[float]) -> Any:
    frame = import_module("pandas").DataFrame(values.T)
    return import_module("irrCAC.raw").CAC(frame, weights=weights, categories=categories, digits=14)


def _cohens(values: Any, categories: list[float], evenly_spaced: bool) -> Answers:
    """Of the first two raters. scikit-learn weights by the order of categories, irrCAC by their values."""
    both = values[:, ~np.isnan(values).any(axis=0)]
    if not both.size:
        return {}
    kappa = import_module("sklearn.metrics").cohen_kappa_score
    first, second = np.searchsorted(categories, both)
    ordered = partial(kappa, first, second, labels=list(range(len(categories))))

    def conger(weights: str) -> float:
        return float(_cac(both, weights, categories).conger()["est"]["coefficient_value"])

    found = {"Cohen's kappa": _finite(ordered)}
    if evenly_spaced:
        found["Cohen's kappa (linear)"] = _finite(partial(ordered, weights="linear"))
        found["Cohen's kappa (quadratic)"] = _finite(partial(ordered, weights="quadratic"))
    elif both.shape[1] > 1:
        found["Cohen's kappa (linear)"] = _finite(lambda: conger("linear"))
        found["Cohen's kappa (quadratic)"] = _finite(lambda: conger("quadratic"))
    return found


def _complete(values: Any, categories: list[float]) -> Answers:
    """Of tables without a missing label."""
    if np.isnan(values).any():
        return {}
    counts = (values[:, :, None] == np.array(categories)).sum(axis=0)
    fleiss = import_module("statsmodels.stats.inter_rater").fleiss_kappa
    return {"Fleiss' kappa (statsmodels)": _finite(lambda: fleiss(counts))}


def _finite(compute: Callable[[], Any]) -> float | None:
    try:
        value = float(compute())
    except Exception:  # each package has its own way to say that a table has no answer
        return None
    return value if math.isfinite(value) else None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
