"""Hold every agreement coefficient against a reference implementation on 1,000 random tables with missing labels.

The reference packages run in an environment of their own, as a separate program; `make .venv-reference/ready` sets
it up. It keeps their answers, which take half a minute, for the same tables. Prints what was compared and the largest
difference, and fails at one above 1e-9.

Usage: python benchmarks/agreement_reference.py [--tables 1000] [--seed 0] [--python .venv-reference/bin/python]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reviewgauge.analysis.stats import agreement
from reviewgauge.analysis.stats.agreement import Measure, Table

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".venv-reference" / "bin" / "python"
TOLERANCE = 1e-9
ODD_CATEGORIES = ([1.0, 2.0, 4.0, 8.0], [0.0, 0.5, 3.0], [-2.0, 0.0, 1.0, 10.0, 11.0])


class Outcome(NamedTuple):
    """Of one coefficient: tables compared, those that neither side defines, the largest difference, and faults."""

    compared: int
    undefined: int
    largest: float
    faults: tuple[str, ...]


def random_table(seed: int) -> dict[str, Any]:
    """One table: 2 to 6 raters, 2 to 40 items, up to 60% missing, from pure noise to full agreement."""
    rng = np.random.default_rng(seed)
    raters, items = int(rng.integers(2, 7)), int(rng.integers(2, 41))
    evenly_spaced = bool(rng.random() < 0.8)
    if evenly_spaced:
        categories = [float(k) for k in range(1, int(rng.integers(2, 7)) + 1)]
    else:
        categories = ODD_CATEGORIES[int(rng.integers(len(ODD_CATEGORIES)))]
    shares = rng.dirichlet(np.full(len(categories), rng.choice([0.3, 1.0, 10.0])))
    truth = rng.choice(len(categories), items, p=shares)
    guess = rng.choice(len(categories), (raters, items), p=shares)
    at = np.where(rng.random((raters, items)) < rng.random(), truth, guess)
    values = np.array(categories)[at]
    values[rng.random((raters, items)) < rng.choice([0.0, 0.1, 0.3, 0.6])] = np.nan
    if rng.random() < 0.05:  # a rater who gave one value always
        values[0, ~np.isnan(values[0])] = categories[0]
    return {
        "values": [[None if np.isnan(v) else float(v) for v in row] for row in values],
        "categories": categories,
        "tolerance": float(rng.choice([0.5, 1.0, 2.0])),
        "evenly_spaced": evenly_spaced,
    }


def ours(table: dict[str, Any]) -> dict[str, float | None]:
    """Every coefficient of one table by ReviewGauge."""
    values = np.array(table["values"], dtype=np.float64)
    whole, pair = Table(values, table["categories"]), Table(values[:2], table["categories"])
    fleiss_quadratic = Measure("Fleiss' kappa (quadratic)", partial(agreement._fleiss, weighting="quadratic"))
    measures = [
        agreement.PERCENT,
        agreement.within(table["tolerance"]),
        agreement.FLEISS,
        fleiss_quadratic,
        agreement.AC1,
        *agreement.AC2.values(),
        *agreement.ALPHA.values(),
    ]
    cohens = [agreement.COHEN, agreement.COHEN_LINEAR, agreement.COHEN_QUADRATIC]
    rows = [row for found in agreement.coefficients([(whole, measures), (pair, cohens)]) for row in found]
    found = {row.name: row.figure.value for row in rows}
    return {**found, "Fleiss' kappa (statsmodels)": found["Fleiss' kappa"]}


def compare(tables: Sequence[dict[str, Any]], answers: Sequence[dict[str, float | None]]) -> dict[str, Outcome]:
    """Our coefficients beside the reference's, by name."""
    rows: dict[str, list[tuple[int, float | None, float | None]]] = {}
    for at, (table, theirs) in enumerate(zip(tables, answers, strict=True)):
        mine = ours(table)
        for name, value in theirs.items():
            kind = "within a tolerance" if name.startswith("within") else name
            rows.setdefault(kind, []).append((at, mine[name], value))
    found = {}
    for name, triples in rows.items():
        both = [(at, one, two) for at, one, two in triples if one is not None and two is not None]
        faults = [f"table {at}: {one!r}, reference {two!r}" for at, one, two in both if abs(one - two) > TOLERANCE]
        faults += [
            f"table {at}: {one!r}, reference {two!r}" for at, one, two in triples if (one is None) != (two is None)
        ]
        neither = sum(one is None and two is None for _, one, two in triples)
        found[name] = Outcome(len(both), neither, max((abs(a - b) for _, a, b in both), default=0.0), tuple(faults))
    return found


def run(count: int, seed: int, python: Path) -> dict[str, Outcome]:
    """Make `count` tables, have the reference packages compute theirs with `python`, and compare."""
    tables = [random_table(seed * 1_000_000 + at) for at in range(count)]
    return compare(tables, reference(tables, python))


def reference(tables: Sequence[dict[str, Any]], python: Path) -> list[dict[str, float | None]]:
    """The reference packages' answers, computed or as the environment of `python` keeps them from the last time."""
    asked, program = json.dumps(tables), HERE / "peers" / "agreement_peers.py"
    kept = (
        python.parents[1] / f"agreement-{hashlib.sha256(asked.encode() + program.read_bytes()).hexdigest()[:16]}.json"
    )
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            question, answer = Path(folder, "tables.json"), Path(folder, "answers.json")
            question.write_text(asked)
            subprocess.run([python, program, question, answer], check=True)
            found = answer.read_text()
        kept.write_text(found)
    answers: list[dict[str, float | None]] = json.loads(kept.read_text())
    return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line a coefficient; 1 when any differs."""
    parser = argparse.ArgumentParser(description="agreement coefficients against reference implementations")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", type=Path, default=PYTHON)
    chosen = parser.parse_args(arguments)
    found = run(chosen.tables, chosen.seed, chosen.python)
    print(f"{'coefficient':34} {'tables':>6} {'undefined':>9} {'largest difference':>18}")
    for name, outcome in found.items():
        print(f"{name:34} {outcome.compared:6} {outcome.undefined:9} {outcome.largest:18.1e}")
        for fault in outcome.faults[:5]:
            print(f"  differs: {fault}")
    return 1 if any(outcome.faults for outcome in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
