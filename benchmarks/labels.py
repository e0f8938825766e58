"""Fits how likely a label of `from_git` holds, and measures that on repositories which it was not fitted on.

    python benchmarks/labels.py                # tables, and the weights of stages/history/certainty.py
    python benchmarks/labels.py --built BENCH  # rows and precision, of a history in which fixes say "Fixes: COMMIT"

`labels.csv` has a label a row: whether it holds, its signs, and who says so, a person who read change, lines and fix,
or the developers, who named the commit that their fix mends. Readings 1 and 2 are of labels that earlier versions made;
rules that were made from them drop some now (`kept` is 0). Reading 4 is of labels that an earlier fit had kept. BENCH
is built with `--set certainty=0 --set horizon=730`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from offline.logistic_fit import Array, Flags, Logistic, fit_logistic, sigmoid
from szz import real_fixes

from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.history.certainty import Signs
from reviewgauge.stages.sampling.audit import wilson

TABLE = Path(__file__).with_name("labels.csv")
DEVELOPERS = "developers"
_CUTS = (0.0, 0.5, 0.6, 0.7, 0.8)
_WORTH = 60.0  # labels read by hand that all those of one history with tags count as

Row = dict[str, str]


def table() -> list[Row]:
    """The rows of `labels.csv`."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fit(rows: list[Row]) -> Logistic:
    """The model of these rows. Its last column says whether the developers judged.

    Where they name a commit there was a defect, which a reader may doubt: their labels hold more often.
    """
    named = np.array([[float(row["by"] == DEVELOPERS)] for row in rows])
    return fit_logistic(np.hstack([signs_of(rows), named]), holds(rows), weights=_weights(rows))


def unscaled(model: Logistic) -> tuple[float, Signs]:
    """What a reader would say: intercept and weights, of signs that are not standardised, as they are shipped."""
    weights = np.array(model.coefficients) / np.array(model.scales)
    return round(model.intercept - float(weights @ np.array(model.means)), 3), Signs(*weights[:-1].round(3).tolist())


def signs_of(rows: list[Row]) -> Array:
    """A row of signs each."""
    return np.array([[float(row[name]) for name in Signs._fields] for row in rows])


def holds(rows: list[Row]) -> Flags:
    """Which labels hold."""
    return np.array([row["holds"] == "1" for row in rows])


def by_hand(rows: list[Row]) -> Flags:
    """Which labels a person read."""
    return np.array([row["by"] != DEVELOPERS for row in rows])


def _weights(rows: list[Row]) -> Array:
    """By hand 1 each; all of the developers of one repository together `_WORTH`."""
    named = [row["repository"] for row in rows if row["by"] == DEVELOPERS]
    return np.array([_WORTH / named.count(row["repository"]) if row["by"] == DEVELOPERS else 1.0 for row in rows])


def out_of_fold(rows: list[Row]) -> Array:
    """The probability that a reader says that a label holds, by the model of all other repositories."""
    found = np.zeros(len(rows))
    for repository in sorted({row["repository"] for row in rows}):
        held = np.array([row["repository"] == repository for row in rows])
        intercept, weights = unscaled(fit([row for row in rows if row["repository"] != repository]))
        found[held] = sigmoid(intercept + signs_of(rows)[held] @ np.array(weights))
    return found


def tell(rows: list[Row]) -> Iterator[str]:
    """By reading and cut: labels that are left by the rules and hold, of how many; then how well it is calibrated."""
    found, right, kept = out_of_fold(rows), holds(rows), np.array([row["kept"] == "1" for row in rows])
    by = np.array([row["repository"] if row["by"] == DEVELOPERS else row["by"] for row in rows])
    yield f"{'at least':<10}" + "".join(f"{name:<28}" for name in sorted(set(by)))
    for cut in _CUTS:
        cells = (_share(right[kept & (found >= cut) & (by == name)]) for name in sorted(set(by)))
        yield f"{cut:<10}" + "".join(f"{cell:<28}" for cell in cells)
    yield ""
    kept &= by_hand(rows)
    for low, high in zip((0.0, 0.5, 0.65, 0.75, 0.85), (0.5, 0.65, 0.75, 0.85, 1.01), strict=True):
        within = kept & (found >= low) & (found < high)
        yield f"read by hand, said {found[within].mean():.2f}: {_share(right[within])} hold"


def _share(flags: Flags) -> str:
    low, high = wilson(int(flags.sum()), len(flags)) or (0.0, 1.0)
    return f"{flags.sum()} of {len(flags)}, {flags.mean() if len(flags) else 0:.0%} [{low:.0%}, {high:.0%}]"


def built(folder: Path) -> list[Row]:
    """The labels of a benchmark whose fixes name the commit that they mend, as rows of the table."""
    rows = list[Row]()
    truth: dict[str, frozenset[str]] | None = None
    for case in Jsonl(path=str(folder)).cases():
        change = case.change
        if truth is None:
            truth = {known.fix: known.truth for known in real_fixes(Repository(Path(change.git or ".")))}
        for label in case.references:
            named, signs = truth.get(str(label.extra["fix"])), label.extra.get("signs")
            if named and isinstance(signs, list) and label.same_as is None:
                row = {"repository": change.repo or "", "by": DEVELOPERS, "change": (change.head or "")[:12]}
                row |= {"fix": str(label.extra["fix"])[:12], "holds": str(int(change.head in named)), "kept": "1"}
                rows.append(row | dict(zip(Signs._fields, map(str, signs), strict=True)))
    return rows


def main() -> int:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--built", type=Path, help="a benchmark of a history in which messages say what they fix")
    options = parser.parse_args()
    if options.built:
        rows = built(options.built)
        csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n").writerows(rows)
        print(f"{_share(holds(rows))} name the change", file=sys.stderr)
        return 0
    print("\n".join(tell(table())))
    intercept, weights = unscaled(fit(table()))
    print(f"\nINTERCEPT = {intercept}\nWEIGHTS = {weights}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
