"""How often different comments meet on the same lines of a change by chance: the fit behind metrics/matching/place.py.

    python benchmarks/place.py --from AACR_BENCH_FOLDER

Pairs of different comments of AACR-Bench (right with right, wrong with right) on one change. Printed: how many stand on
the same lines, how many would if spans lay at random on the changed lines, by classes of that chance; and the logistic
model of P(same lines | different) over the log of the chance and the logit of the likeness of their words, with its log
loss out of fold by repository.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from offline.logistic_fit import fit_logistic

from reviewgauge.judges.pairs.lexical_model import LexicalModel, load_weights, logit_of
from reviewgauge.metrics.matching.place import LEAST_RANDOM

CLASSES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.01)
FOLDS = 10


class Meeting(NamedTuple):
    """Two different comments on one change."""

    repository: str
    met: bool
    chance: float
    words: float  # logit of the likeness


def meetings(folder: Path) -> list[Meeting]:
    """All pairs with lines in the data set's two files."""
    model = LexicalModel(load_weights("")[0])
    changes: dict[str, dict[str, Any]] = defaultdict(lambda: {"positive": [], "negative": []})
    for kind in ("positive", "negative"):
        for item in json.loads((folder / f"{kind}_samples.json").read_text(encoding="utf-8")):
            change = changes[item["githubPrUrl"]]
            change[kind] += [comment for comment in item["comments"] if comment["from_line"] and comment["to_line"]]
            change["lines"] = max(1, item["change_line_count"])
    found = []
    for address, change in changes.items():
        repository = "/".join(address.split("/")[3:5])
        right = change["positive"]
        pairs = [(one, other) for one in right for other in right if one is not other]
        for one, other in pairs + [(one, other) for one in change["negative"] for other in right]:
            (a, b), (c, d) = (sorted((x["from_line"], x["to_line"])) for x in (one, other))
            met = (one["path"], one["side"]) == (other["path"], other["side"]) and max(a - d, c - b) <= 1
            chance = min(1.0, max(LEAST_RANDOM, (b - a + d - c + 3) / change["lines"]))
            words = logit_of(min(max(model.pair(one["note"], other["note"]), 0.002), 0.998))
            found.append(Meeting(repository, met, chance, words))
    return found


def log_loss(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], folds: np.ndarray[Any, Any]) -> float:
    """The mean log loss of the logistic model, each fold by the fit on the others."""
    total = 0.0
    for fold in range(FOLDS):
        fit = fit_logistic(x[folds != fold], y[folds != fold], c=1e6)
        logits = fit.logits(x[folds == fold])
        total += float(np.logaddexp(0, np.where(y[folds == fold], -logits, logits)).sum())
    return total / len(y)


def main() -> None:
    """Print the classes, the fit and its loss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="folder", type=Path, required=True)
    found = meetings(parser.parse_args().folder)
    print("| random chance | pairs | expected | on the same lines |\n|---|---|---|---|")
    for low, high in pairwise(CLASSES):
        some = [one for one in found if low <= one.chance < high]
        expected, met = np.mean([one.chance for one in some]), np.mean([one.met for one in some])
        print(f"| {low:g} to {high:g} | {len(some):,} | {expected:.3f} | {met:.3f} |")
    y = np.array([one.met for one in found])
    chance, words = np.log([one.chance for one in found]), np.array([one.words for one in found])
    names = sorted({one.repository for one in found})
    folds = np.array([names.index(one.repository) % FOLDS for one in found])
    for label, x in (
        ("neither", np.zeros((len(y), 1))),
        ("chance", chance[:, None]),
        ("chance and words", np.stack([chance, words], axis=1)),
    ):
        fit = fit_logistic(x, y, c=1e6)
        slopes = np.array(fit.coefficients) / np.array(fit.scales)
        constant = fit.intercept - slopes @ np.array(fit.means)
        print(f"{label}: log loss {log_loss(x, y, folds):.4f}; constant {constant:.3f}, slopes {slopes.round(3)}")


if __name__ == "__main__":
    main()
