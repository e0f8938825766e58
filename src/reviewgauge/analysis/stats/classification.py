"""Tables of predicted against true grades, and the classifiers that guess a grade from one score.

A table is ... x k x k with predictions in rows, so that many are read at once; undefined figures are NaN. Of its
decision tree the GradedReviews paper prints the name (Table 4) and the results, not how it was trained. The rest is
ours: the rows are split in half, SMOTE balances the training half, and a tree grown until its leaves are pure is tested
on the other half, over several seeds. On one feature such a tree needs no growing: every impure node with two values is
split, so each training value decides up to the middle between it and the next, whatever the criterion.
`tests/analysis/stats/test_classification.py` compares it with scikit-learn's.

Sources: "Deep Assessment of Code Review Generation Approaches", arXiv:2501.05176, section 6.4, Table 4;
Breiman et al., Classification and Regression Trees (1984); Chawla et al., SMOTE: Synthetic Minority Over-sampling
Technique, JAIR 16 (2002); Cohen, Weighted kappa, Psychological Bulletin 70 (1968); Brodersen et al., The balanced
accuracy and its posterior distribution, ICPR 2010; Hanley and McNeil, The meaning and use of the area under a ROC
curve, Radiology 143 (1982).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, ratio
from reviewgauge.core.document import Value
from reviewgauge.core.reports.validity import Classifier, ClassRow


class Rates(NamedTuple):
    """Precision, recall and F1 of each grade (... x k).

    Precision needs predictions of the grade, recall occurrences, F1 either.
    """

    precision: Numbers
    recall: Numbers
    f1: Numbers


def confusion(predicted: Integers, true: Integers, k: int) -> Numbers:
    """The count of each predicted (row) and true (column) grade from 0 to k-1."""
    return np.bincount(predicted * k + true, minlength=k * k).reshape(k, k).astype(np.float64)


def rates(tables: Numbers) -> Rates:
    """Precision, recall and F1 by grade."""
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    predicted, occurring = tables.sum(axis=-1), tables.sum(axis=-2)
    return Rates(ratio(hits, predicted), ratio(hits, occurring), ratio(2 * hits, predicted + occurring))


def accuracy(tables: Numbers) -> Numbers:
    """The share of exact agreement."""
    return ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def balanced_accuracy(tables: Numbers) -> Numbers:
    """The mean recall over the grades that occur: 1/k for a constant prediction."""
    recall = rates(tables).recall
    there = np.isfinite(recall)
    return ratio(np.where(there, recall, 0.0).sum(axis=-1), there.sum(axis=-1))


def quadratic_kappa(tables: Numbers, grades: Numbers) -> Numbers:
    """Cohen's kappa weighted by the squared distance of the `grades` (k); undefined if both sides are one grade."""
    cost = (grades[:, None] - grades[None, :]) ** 2
    total = tables.sum(axis=(-2, -1))
    by_chance = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    observed = (tables * cost).sum(axis=(-2, -1)) * total
    return 1 - ratio(observed, (by_chance * cost).sum(axis=(-2, -1)))


TREE, MAJORITY = "decision tree", "majority class"
NEIGHBOURS = 5
SPLITS = 10
_APART = 1e-7  # scores that lie closer than this are one value, as in scikit-learn


def auc_of(score: Numbers, positive: Numbers) -> Callable[[Numbers], Numbers]:
    """The function from row weights (resamples x rows) to the AUC of `score` for each column of `positive` (rows x k).

    Ties count half. The midranks of the scores serve all columns.
    """
    distinct, code = np.unique(score, return_inverse=True)
    code = code.reshape(-1)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(distinct.size))

    def draw(weights: Numbers) -> Numbers:
        of_values = np.add.reduceat(weights[:, order], starts, axis=1)
        ranks = (np.cumsum(of_values, axis=1) - of_values / 2)[:, code]
        positives = weights @ positive
        above = (ranks * weights) @ positive - positives**2 / 2
        return ratio(above, positives * (weights.sum(axis=1)[:, None] - positives))

    return draw


class OneScoreTree(NamedTuple):
    """A fully grown tree on one feature: `labels[i]` up to `edges[i]`, the last label beyond all edges."""

    edges: Numbers
    labels: Integers

    @classmethod
    def grown(cls, score: Numbers, label: Integers) -> OneScoreTree:
        """The tree of these rows; equal scores get their most common label, in a tie the lowest."""
        values, place = np.unique(_single(score), return_inverse=True)
        single = values.astype(np.float32)  # in which scikit-learn adds, too
        apart = np.flatnonzero(single[1:] > single[:-1] + np.float32(_APART))
        group = np.searchsorted(apart, np.arange(values.size), side="left")[place.reshape(-1)]
        count = np.zeros((apart.size + 1, int(label.max(initial=0)) + 1))
        np.add.at(count, (group, label), 1.0)
        return cls((values[apart] + values[apart + 1]) / 2, count.argmax(axis=1))

    def predict(self, score: Numbers) -> Integers:
        """The label of each score."""
        found: Integers = self.labels[np.searchsorted(self.edges, _single(score), side="left")]
        return found


def smote(score: Numbers, label: Integers, generator: np.random.Generator) -> tuple[Numbers, Integers]:
    """The rows, with synthetic rows that make each rarer label as frequent as the most common one.

    A synthetic score lies at random between a row of its label and one of that row's nearest NEIGHBOURS of the same
    label, or as many as there are; a label with a single row is repeated.
    """
    sizes = np.bincount(label)
    scores, labels = [np.asarray(score, dtype=np.float64)], [label]
    for name in np.flatnonzero((sizes > 0) & (sizes < sizes.max())):
        own = np.sort(score[label == name])
        missing = int(sizes.max() - own.size)
        near = _nearest(own, min(NEIGHBOURS, own.size - 1))
        base = generator.integers(0, own.size, missing)
        toward = near[base, generator.integers(0, near.shape[1], missing)]
        scores.append(own[base] + generator.random(missing) * (own[toward] - own[base]))
        labels.append(np.full(missing, name, dtype=label.dtype))
    return np.concatenate(scores), np.concatenate(labels)


def _nearest(values: Numbers, k: int) -> Integers:
    """The positions of the k nearest other values of each of the sorted `values`; its own position if k is 0."""
    places = np.arange(values.size)
    if k < 1:
        return places[:, None]
    step = np.concatenate([np.arange(-k, 0), np.arange(1, k + 1)])
    window = places[:, None] + step
    outside = (window < 0) | (window >= values.size)
    window = window.clip(0, values.size - 1)
    distance = np.where(outside, np.inf, np.abs(values[window] - values[:, None]))
    chosen = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(window, chosen, axis=1)


def classifiers(
    score: Numbers, grade: Numbers, seed: int = 0, splits: int = SPLITS
) -> tuple[tuple[Classifier, ...], str]:
    """The decision tree and the majority class on these rows; without classifiers, the reason.

    Rows are split at random in two halves, `splits` times: single rows, so reviews of one reference may be on both
    sides. Intervals are the range over the splits.
    """
    grades, label = np.unique(grade, return_inverse=True)
    label = label.reshape(-1)
    n = int(label.size)
    if grades.size < 2:
        return (), "all human values are equal, so there are no classes"
    if np.bincount(label).max() < 2 or n < 2 * grades.size:
        return (), f"{n} rows of {grades.size} grades are too few to split in half"
    tables: dict[str, list[Numbers]] = {TREE: [], MAJORITY: []}
    half = n // 2
    for split in range(splits):
        generator = np.random.default_rng([seed, split])
        order = generator.permutation(n)
        train, test = order[:half], order[half:]
        tree = OneScoreTree.grown(*smote(score[train], label[train], generator))
        most = np.full(test.size, np.bincount(label[train]).argmax())
        tables[TREE].append(confusion(tree.predict(score[test]), label[test], grades.size))
        tables[MAJORITY].append(confusion(most, label[test], grades.size))
    return tuple(_summary(name, found, grades, half, n) for name, found in tables.items()), ""


def _summary(name: str, tables: Sequence[Numbers], grades: Numbers, n_train: int, n: int) -> Classifier:
    stacked = np.stack(tables)
    by_split = rates(stacked)
    support = stacked.sum(axis=1).mean(axis=0)
    rows = [
        _class_row(float(grade), Rates(*(values[:, at] for values in by_split)), float(support[at]))
        for at, grade in enumerate(grades)
    ]
    kappa = quadratic_kappa(stacked, grades)
    return Classifier(
        name=name,
        splits=len(tables),
        n_train=n_train,
        n_test=n - n_train,
        rows=tuple(rows),
        macro=_macro(by_split, n - n_train),
        accuracy=_over_splits(accuracy(stacked), n - n_train),
        balanced_accuracy=_over_splits(balanced_accuracy(stacked), n - n_train),
        kappa_quadratic=_over_splits(kappa, n - n_train),
    )


def _macro(by_split: Rates, n: int) -> ClassRow:
    """The means over the grades that occur; a grade that was never predicted has precision 0, as usual."""
    there = np.isfinite(by_split.recall)
    precision = np.where(there, np.nan_to_num(by_split.precision), np.nan)
    f1 = np.where(there, by_split.f1, np.nan)
    return _class_row(
        0.0, Rates(*(np.nanmean(values, axis=1) for values in (precision, by_split.recall, f1))), float(n)
    )


def _class_row(grade: float, by_split: Rates, support: float) -> ClassRow:
    """The mean, the lowest and the highest value of each rate over the splits in which it is defined."""
    found: dict[str, float | None] = {"precision": None, "recall": None, "f1": None}
    for name, values in by_split._asdict().items():
        defined = values[np.isfinite(values)]
        if defined.size:
            low, high = float(defined.min()), float(defined.max())
            found |= {name: float(defined.mean()), f"{name}_low": low, f"{name}_high": high}
    return ClassRow.model_validate({"grade": grade, "support": support, **found})


def _over_splits(values: Numbers, n: int) -> Value:
    """The mean over the splits, with the lowest and highest value."""
    defined = values[np.isfinite(values)]
    if not defined.size:
        return Value(value=None, n=n, reason="undefined in every split")
    return Value(value=float(defined.mean()), low=float(defined.min()), high=float(defined.max()), n=n)


def _single(score: Numbers) -> Numbers:
    """The scores rounded to single precision."""
    return np.asarray(score, dtype=np.float32).astype(np.float64)
