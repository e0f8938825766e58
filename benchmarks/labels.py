"""Fits how likely a label of `from_git` holds, and measures that on repositories which it was not fitted on.

    python benchmarks/labels.py                     # the tables, and the weights of stages/history/labels.py
    python benchmarks/labels.py --again BENCH ...   # the table with the signs as benchmarks made today have them

`labels.csv` has a label a row: what somebody said who read change, lines and fix without knowing the rules, and the
label's signs. Rules and signs were chosen on readings 1 to 6 (5 is of labels from .5); those after it check, of
repositories that nobody had opened before. `refused` names the rule that refuses a label today; such rows are not
fitted. A BENCH is built with `--set certainty=0`.
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
FITTED = ("1", "2", "3", "4", "5", "6")
_CUTS = (0.0, 0.5, 0.6, 0.7, 0.8)

Row = dict[str, str]


def table() -> list[Row]:
    """The rows of `labels.csv`."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fit(rows: list[Row], signs: Sequence[str] = LabelFeatures._fields) -> Logistic:
    """The model of these rows, without those of readings that check it and those that a rule refuses."""
    rows = [row for row in rows if row["reading"] in FITTED and not row["refused"]]
    return fit_logistic(signs_of(rows, signs), holds(rows))


def unscaled(model: Logistic) -> tuple[float, list[float]]:
    """Intercept and weights of signs that are not standardised, as they are shipped."""
    weights = np.array(model.coefficients) / np.array(model.scales)
    return round(model.intercept - float(weights @ np.array(model.means)), 3), weights.round(3).tolist()


def signs_of(rows: list[Row], signs: Sequence[str] = LabelFeatures._fields) -> Array:
    """A row of signs each."""
    return np.array([[float(row[name]) for name in signs] for row in rows])


def holds(rows: list[Row]) -> Flags:
    """Which labels hold."""
    return np.array([row["holds"] == "1" for row in rows])


def out_of_fold(rows: list[Row], signs: Sequence[str] = LabelFeatures._fields) -> Array:
    """The probability that each label holds, by the model of all other repositories."""
    found = np.zeros(len(rows))
    for repository in sorted({row["repository"] for row in rows}):
        held = np.array([row["repository"] == repository for row in rows])
        intercept, weights = unscaled(fit([row for row in rows if row["repository"] != repository], signs))
        found[held] = sigmoid(intercept + signs_of(rows, signs)[held] @ np.array(weights))
    return found


def tell(rows: list[Row]) -> Iterator[str]:
    """By reading and cut, labels that are left and hold; how well it is calibrated; what each sign adds."""
    for rule in sorted({row["refused"] for row in rows} - {""}):
        yield f"refused, {rule}: {_share(holds([row for row in rows if row['refused'] == rule]))} hold"
    rows = [row for row in rows if not row["refused"]]
    found, right, by = out_of_fold(rows), holds(rows), np.array([row["reading"] for row in rows])
    groups = {"1 to 4": by < "5"} | {name: by == name for name in sorted(set(by)) if name >= "5"} | {"all": by > ""}
    yield f"\n{'at least':<10}" + "".join(f"{'reading ' + name:<26}" for name in groups)
    for cut in _CUTS:
        yield f"{cut:<10}" + "".join(f"{_share(right[(found >= cut) & group]):<26}" for group in groups.values())
    yield f"{'AUC':<10}" + "".join(f"{_auc(found[group], right[group]):<26.2f}" for group in groups.values())
    for name in dict.fromkeys(row["repository"] for row in rows if row["reading"] not in FITTED):
        of = np.array([row["repository"] == name for row in rows])
        yield f"{name:<12}" + "".join(
            f"from {cut}: {_share(right[of & (found >= cut)]):<26}" for cut in (0.7, 0.5, 0.0)
        )
    new = ~np.isin(by, FITTED)
    for half in (found < np.median(found[new]), found >= np.median(found[new])):
        yield f"half of those, said {found[new & half].mean():.2f}: {_share(right[new & half])} hold"
    for low, high in ((0.0, 0.5), (0.5, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 1.01)):
        within = (found >= low) & (found < high)
        yield f"said {found[within].mean():.2f}: {_share(right[within])} hold"
    yield f"\n{'without':<10}{'AUC':<8}log loss"
    for left_out in ("", *LabelFeatures._fields):
        said = out_of_fold(rows, [name for name in LabelFeatures._fields if name != left_out])
        loss = -np.mean(np.log(np.where(right, said, 1 - said)))
        yield f"{left_out or '(none)':<10}{_auc(said, right):<8.3f}{loss:.4f}"


def _auc(said: Array, right: Flags) -> float:
    above = said[right][:, None] - said[~right][None]
    return float(np.mean((above > 0) + 0.5 * (above == 0))) if above.size else float("nan")


def _share(flags: Flags) -> str:
    low, high = wilson(int(flags.sum()), len(flags)) or (0.0, 1.0)
    return f"{flags.sum()} of {len(flags)}, {flags.mean() if len(flags) else 0:.0%} [{low:.0%}, {high:.0%}]"


def again(rows: list[Row], benchmarks: Sequence[Path]) -> Iterator[Row]:
    """The rows with the signs of today; those that no benchmark has stay as they were."""
    signs: dict[tuple[str, str], object] = {}
    for folder in benchmarks:
        for case in Jsonl(path=str(folder)).cases():
            for label in case.references:
                key = (case.change.head or "")[:12], str(label.extra["fix"])[:12]
                signs.setdefault(key, label.extra.get("signs"))
    for row in rows:
        found = signs.get((row["change"], row["fix"]))
        yield row | (dict(zip(LabelFeatures._fields, map(str, found), strict=True)) if isinstance(found, list) else {})


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
    print(f"\nINTERCEPT = {intercept}\nWEIGHTS = {LabelFeatures(*weights)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
