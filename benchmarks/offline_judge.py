"""The offline judge against three model judges, per (change, tool, golden comment), the repository left out.

    python benchmarks/offline_judge.py --from ../shared/data/martian --links ../shared/data/crscore [--json]

Coefficients, calibration and thresholds are fitted on the other repositories only. Each model judge extracted its own
candidates, so each row holds one offline judge against one model judge on that judge's candidates. Intervals: 95%,
percentile bootstrap over changes. F1 of a tool: 2 hits / (candidates + goldens), over all of its reviews; the same
for both sides, so a difference is a difference in hits. "Outside the band": probabilities up to .1 and from .9 on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from offline.lexical_fit import (
    JudgedPair,
    Link,
    cached_features,
    choose_threshold,
    dice_tables,
    first_tables,
    fit_lexical,
    hits,
    reference_hits,
    reference_scores,
    second_tables,
)
from offline.logistic_fit import Array, Flags, fit_platt, kappa, sigmoid
from offline.verdicts import crscore_links, martian
from scipy.stats import rankdata, spearmanr

from reviewgauge.core.errors import UserError
from reviewgauge.judges.pairs.lexical_model import LexicalModel, Table
from reviewgauge.models.text.lexical import FEATURES, features, profile

Places = np.ndarray[Any, np.dtype[np.intp]]
LOW, HIGH = 0.1, 0.9
NOTHING = float("nan")
UNBOUNDED = {"f1_gap", "soft_f1_gap"}  # a mean of absolute values: its resamples all lie higher
BANDS = ((0.05, 0.95), (0.08, 0.92), (0.1, 0.9), (0.15, 0.85), (0.2, 0.8))


@dataclass(frozen=True)
class Prediction:
    """One offline judge's word on every row: a probability and a decision, made without the row's repository."""

    name: str
    scores: Array
    decided: Flags


def rows_of(items: Sequence[JudgedPair], chosen: Sequence[bool]) -> Flags:
    """Which rows (references, item after item) belong to the chosen items."""
    return np.array([own for item, own in zip(items, chosen, strict=True) for _ in item.references], dtype=bool)


def left_out(items: Sequence[JudgedPair]) -> list[tuple[list[JudgedPair], list[JudgedPair], Flags]]:
    """(training items, test items, test rows) of each repository in turn."""
    folds = []
    for repository in sorted({item.repository for item in items}):
        test = [item.repository == repository for item in items]
        seen = [item for item, own in zip(items, test, strict=True) if not own]
        folds.append((seen, [item for item, own in zip(items, test, strict=True) if own], rows_of(items, test)))
    return folds


def similarity(
    items: Sequence[JudgedPair], name: str, tables: Callable[[Sequence[JudgedPair]], list[Table]]
) -> Prediction:
    """A plain similarity with one-to-one assignment; threshold and Platt's sigmoid from the other repositories."""
    n = len(hits(items))
    scores, decided = np.zeros(n), np.zeros(n, dtype=bool)
    for seen, test, rows in left_out(items):
        known, unknown = tables(seen), tables(test)
        slope, intercept = fit_platt(reference_scores(seen, known, 0.05), hits(seen))
        scores[rows] = sigmoid(slope * reference_scores(test, unknown, 0.05) + intercept)
        decided[rows] = reference_hits(test, unknown, choose_threshold(seen, known))
    return Prediction(name, scores, decided)


def word_cosine_tables(items: Sequence[JudgedPair]) -> list[Table]:
    place = FEATURES.index("word_cosine")
    return [
        [[features(profile(c), profile(r))[place] for r in item.references] for c in item.comments] for item in items
    ]


def lexical(items: Sequence[JudgedPair], links: Sequence[Link], note: str = "") -> list[Prediction]:
    """Both stages of the lexical judge."""
    n = len(hits(items))
    scores, decided = np.zeros((2, n)), np.zeros((2, n), dtype=bool)
    for seen, test, rows in left_out(items):
        weights = fit_lexical(seen, links)
        model = LexicalModel(weights, cached_features)
        first = first_tables(model, test)
        for stage, tables in enumerate((first, second_tables(model, test, first))):
            scores[stage, rows] = reference_scores(test, tables, weights.penalty)
            decided[stage, rows] = reference_hits(test, tables, (weights.threshold, weights.second_threshold)[stage])
    names = (f"lexical{note}", f"second stage{note}")
    return [Prediction(name, s, d) for name, s, d in zip(names, scores, decided, strict=True)]


def auc(scores: Array, y: Flags) -> float:
    """Area under the ROC curve; ties count half."""
    positive = float(y.sum())
    negative = len(y) - positive
    if not positive or not negative:
        return float("nan")
    return float((rankdata(scores)[y].sum() - positive * (positive + 1) / 2) / (positive * negative))


def f1(decided: Flags, y: Flags) -> float:
    total = float(decided.sum() + y.sum())
    return float(2 * (decided & y).sum() / total) if total else float("nan")


class Rows:
    """The rows of one model judge: what it found, by tool and by change."""

    def __init__(self, items: Sequence[JudgedPair]) -> None:
        self.y = hits(items)
        self.tools = sorted({item.system for item in items})
        self.changes = sorted({item.change for item in items})
        self.tool = np.array([self.tools.index(i.system) for i in items for _ in i.references])
        change = np.array([self.changes.index(i.change) for i in items for _ in i.references])
        self.of_change = [np.flatnonzero(change == c) for c in range(len(self.changes))]
        self.candidates = np.zeros((len(self.changes), len(self.tools)))
        for item in items:
            self.candidates[self.changes.index(item.change), self.tools.index(item.system)] += len(item.comments)

    def tool_f1(self, found: Array, rows: Places, changes: Places) -> Array:
        """F1 of each tool when `found` says how much of each reference was found."""
        n = len(self.tools)
        hit = np.bincount(self.tool[rows], weights=found[rows], minlength=n)
        golden = np.bincount(self.tool[rows], minlength=n)
        return np.asarray(2 * hit / (self.candidates[changes].sum(axis=0) + golden), dtype=float)

    def figures(self, scores: Array, decided: Flags, rows: Places, changes: Places) -> dict[str, float]:
        """Every figure of the table on some rows (with repetition in a resample)."""
        y, s, d = self.y[rows], scores[rows], decided[rows]
        sure = (s <= LOW) | (s >= HIGH)
        theirs = self.tool_f1(self.y.astype(float), rows, changes)
        ours = self.tool_f1(decided.astype(float), rows, changes)
        soft = self.tool_f1(scores, rows, changes)
        return {
            "kappa": kappa(d, y),
            "auc": auc(s, y),
            "f1": f1(d, y),
            "sure_kappa": kappa(s[sure] >= HIGH, y[sure]),
            "coverage": float(sure.mean()),
            "spearman": float(spearmanr(ours, theirs).statistic),
            "f1_gap": float(np.abs(ours - theirs).mean()),
            "soft_spearman": float(spearmanr(soft, theirs).statistic),
            "soft_f1_gap": float(np.abs(soft - theirs).mean()),
        }

    def intervals(self, scores: Array, decided: Flags, resamples: int) -> dict[str, tuple[float, float, float]]:
        """Figure -> (value, low, high)."""
        everything = np.arange(len(self.y))
        whole = np.arange(len(self.changes))
        value = self.figures(scores, decided, everything, whole)
        random = np.random.default_rng(0)
        drawn: dict[str, list[float]] = {name: [] for name in value}
        for _ in range(resamples):
            changes = random.integers(0, len(self.changes), len(self.changes))
            rows = np.concatenate([self.of_change[c] for c in changes])
            for name, figure in self.figures(scores, decided, rows, changes).items():
                drawn[name].append(figure)
        found = {}
        for name, figure in value.items():
            low, high = (float(q) for q in np.nanpercentile(drawn[name], [2.5, 97.5]))
            found[name] = (figure, low, high) if name not in UNBOUNDED else (figure, NOTHING, NOTHING)
        return found


def study(items: Sequence[JudgedPair], predictions: Sequence[Prediction], resamples: int) -> list[dict[str, Any]]:
    """One record per (offline judge, model judge), then one per pair of model judges."""
    found: list[dict[str, Any]] = []
    names = sorted({item.judge for item in items})
    parts = {name: [item for item in items if item.judge == name] for name in names}
    held = {name: Rows(parts[name]) for name in names}
    for prediction in predictions:
        for name in names:
            mine = rows_of(items, [item.judge == name for item in items])
            figures = held[name].intervals(prediction.scores[mine], prediction.decided[mine], resamples)
            found.append({"offline": prediction.name, "judge": name, "rows": int(mine.sum()), **figures})
    for first in names:
        for second in names:
            if first < second:
                found.append(_between(parts[first], parts[second], held[second], resamples) | {
                    "offline": first, "judge": second})  # fmt: skip
    return found


def bands(predictions: Sequence[Prediction], y: Flags) -> str:
    """Kappa outside bands of several widths, the model judges pooled: what a cascade would decide by itself."""
    lines = ["outside other bands, all three model judges (kappa at coverage)"]
    lines.append(f"{'judge':<22}" + "".join(f"{f'<={low} >={high}':>18}" for low, high in BANDS))
    for prediction in predictions:
        cells = []
        for low, high in BANDS:
            sure = (prediction.scores <= low) | (prediction.scores >= high)
            agreed = kappa(prediction.scores[sure] >= high, y[sure])
            cells.append(f"{f'{agreed:.3f} at {sure.mean():.0%}':>18}")
        lines.append(f"{prediction.name:<22}" + "".join(cells))
    return "\n".join(lines)


def _between(one: Sequence[JudgedPair], other: Sequence[JudgedPair], rows: Rows, resamples: int) -> dict[str, Any]:
    """Two model judges. Their candidates differ, so each tool's F1 is its own judge's; no probabilities here."""
    if [(i.change, i.system, i.references) for i in one] != [(i.change, i.system, i.references) for i in other]:
        raise UserError("the model judges judged different reviews", remedy="compare only the common ones")
    y, whole = hits(one), np.arange(len(rows.y))
    figures = rows.intervals(y.astype(float), y, resamples)
    changes = np.arange(len(rows.changes))
    own = Rows(one)
    ours, theirs = (r.tool_f1(r.y.astype(float), whole, changes) for r in (own, rows))
    kept = {name: figures[name] for name in ("kappa", "f1")}
    rank, gap = float(spearmanr(ours, theirs).statistic), float(np.abs(ours - theirs).mean())
    return {"rows": len(y), **kept, "spearman": (rank, NOTHING, NOTHING), "f1_gap": (gap, NOTHING, NOTHING)}


def _cell(figure: tuple[float, float, float] | None, width: int = 17) -> str:
    if figure is None:
        return f"{'-':>{width}}"
    value, low, high = (f"{x:.3f}".replace("0.", ".", 1) for x in figure)
    return f"{value if np.isnan(figure[1]) else f'{value} [{low},{high}]':>{width}}"


def render(records: Sequence[dict[str, Any]]) -> str:
    """Two tables as text, under 120 columns."""
    lines = []
    for head, columns in (
        ("agreement per (change, tool, golden comment)", ("kappa", "auc", "f1", "sure_kappa", "coverage")),
        ("tools", ("spearman", "f1_gap", "soft_spearman", "soft_f1_gap")),
    ):
        lines += [head, f"{'judge':<22} {'against':<10}" + "".join(f"{c:>17}" for c in columns)]
        for record in records:
            cells = "".join(_cell(record.get(column)) for column in columns)
            lines.append(f"{_short(record['offline']):<22} {_short(record['judge']):<10}{cells}")
        lines.append("")
    return "\n".join(lines)


def _short(name: str) -> str:
    for long, short in (("claude-opus-4-5", "opus-4.5"), ("claude-sonnet-4-5", "sonnet-4.5"), ("gpt-5.2", "gpt-5.2")):
        if long in name:
            return short
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="martian", type=Path, required=True, help="Martian's folder")
    parser.add_argument("--links", type=Path, help="CRScore's folder: its claim-review links join the training data")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        items = martian(options.martian)
        links = crscore_links(options.links) if options.links else []
        predictions = [
            similarity(items, "dice", dice_tables),
            similarity(items, "tf-idf cosine", word_cosine_tables),
            *(lexical(items, [], ", no links") if links else []),
            *lexical(items, links),
        ]
        records = study(items, predictions, options.resamples)
    except UserError as error:
        raise SystemExit(str(error)) from None
    if options.json:
        print(json.dumps(records, indent=1))
        return
    changes, repositories = {item.change for item in items}, {item.repository for item in items}
    print(f"{len(changes)} changes of {len(repositories)} repositories ({', '.join(sorted(repositories))}),")
    print(
        f"{len({i.system for i in items})} tools, {len(hits(items))} rows; each repository judged by the others' fit\n"
    )
    print(render(records))
    print(bands(predictions, hits(items)))


if __name__ == "__main__":
    main()
