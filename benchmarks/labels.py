"""Fits how likely a label of `from_git` holds, and measures that on repositories which it was not fitted on.

    python benchmarks/labels.py                     # tables, and the weights of stages/history/labels.py
    python benchmarks/labels.py --again BENCH ...   # the table with the signs as benchmarks made today have them

`labels.csv` has a label a row: what somebody said who read change, lines and fix without knowing the rules, and the
label's signs. Rules were made from readings 1 to 3, and signs chosen on readings 1 to 4. Reading 5 came after the
weights: it is not fitted, and is of labels from .5. Reading 6 is of five other languages at the loosest settings and is
not fitted yet. A BENCH is built with `--set certainty=0 --set horizon=730`, for reading 6 with `horizon=1000` and
`--set strict=false`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from offline.logistic_fit import Array, Flags, Logistic, fit_logistic, sigmoid

from reviewgauge.core.shares import wilson
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.stages.history.labels import LabelFeatures

TABLE = Path(__file__).with_name("labels.csv")
CHECK = ("5", "6")
_CUTS = (0.0, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8)

Row = dict[str, str]


def table() -> list[Row]:
    """The rows of `labels.csv`."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fit(rows: list[Row]) -> Logistic:
    """The model of these rows, without those of the reading that checks it."""
    rows = [row for row in rows if row["reading"] not in CHECK]
    return fit_logistic(signs_of(rows), holds(rows))


def unscaled(model: Logistic) -> tuple[float, LabelFeatures]:
    """Intercept and weights of signs that are not standardised, as they are shipped."""
    weights = np.array(model.coefficients) / np.array(model.scales)
    return round(model.intercept - float(weights @ np.array(model.means)), 3), LabelFeatures(*weights.round(3).tolist())


def signs_of(rows: list[Row]) -> Array:
    """A row of signs each."""
    return np.array([[float(row[name]) for name in LabelFeatures._fields] for row in rows])


def holds(rows: list[Row]) -> Flags:
    """Which labels hold."""
    return np.array([row["holds"] == "1" for row in rows])


def out_of_fold(rows: list[Row]) -> Array:
    """The probability that each label holds, by the model of all other repositories."""
    found = np.zeros(len(rows))
    for repository in sorted({row["repository"] for row in rows}):
        held = np.array([row["repository"] == repository for row in rows])
        intercept, weights = unscaled(fit([row for row in rows if row["repository"] != repository]))
        found[held] = sigmoid(intercept + signs_of(rows)[held] @ np.array(weights))
    return found


def tell(rows: list[Row]) -> Iterator[str]:
    """By reading and cut: labels that are left and hold, of how many; then how well it is calibrated."""
    found, right, by = out_of_fold(rows), holds(rows), np.array([row["reading"] for row in rows])
    readings = sorted(set(by))
    yield f"{'at least':<10}" + "".join(f"{'reading ' + name:<28}" for name in readings) + "all"
    for cut in _CUTS:
        groups = [*((found >= cut) & (by == name) for name in readings), found >= cut]
        yield f"{cut:<10}" + "".join(f"{_share(right[group]):<28}" for group in groups)
    yield ""
    for low, high in zip((0.0, 0.5, 0.65, 0.75, 0.85), (0.5, 0.65, 0.75, 0.85, 1.01), strict=True):
        within = (found >= low) & (found < high)
        yield f"said {found[within].mean():.2f}: {_share(right[within])} hold"


def _share(flags: Flags) -> str:
    low, high = wilson(int(flags.sum()), len(flags)) or (0.0, 1.0)
    return f"{flags.sum()} of {len(flags)}, {flags.mean() if len(flags) else 0:.0%} [{low:.0%}, {high:.0%}]"


def again(rows: list[Row], benchmarks: Sequence[Path]) -> Iterator[Row]:
    """The rows with the signs of today; those that no benchmark has are left out."""
    signs: dict[tuple[str, str], object] = {}
    for folder in benchmarks:
        for case in Jsonl(path=str(folder)).cases():
            for label in case.references:
                signs.setdefault(
                    ((case.change.head or "")[:12], str(label.extra["fix"])[:12]), label.extra.get("signs")
                )
    for row in rows:
        found = signs.get((row["change"], row["fix"]))
        if isinstance(found, list):
            said = {name: row[name] for name in ("repository", "reading", "change", "fix", "holds")}
            yield said | dict(zip(LabelFeatures._fields, map(str, found), strict=True))


def main() -> int:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", type=Path, nargs="+", help="benchmarks of these histories")
    options = parser.parse_args()
    if options.again:
        rows = list(again(table(), options.again))
        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return 0
    print("\n".join(tell(table())))
    intercept, weights = unscaled(fit(table()))
    print(f"\nINTERCEPT = {intercept}\nWEIGHTS = {weights}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
