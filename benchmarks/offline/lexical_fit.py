"""How the lexical judge is fitted: pairs with verdicts in, weights out; and how well weights do on judged reviews.

Every number that a later step is fitted on (calibration, threshold, rival and second stage) comes from a model that
has not seen the change: folds over changes inside the training data. So nothing is chosen on what it was fitted to.
The same is done once more without each repository: those fits judge the repository that they have not seen.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from offline.logistic_fit import Array, Flags, Logistic, best_threshold, fit_logistic, fit_platt, grouped_folds

from reviewgauge.judges.pairs.lexical_model import (
    DiceWeights,
    LexicalModel,
    LexicalWeights,
    StoredWeights,
    Table,
    Weight,
    chain_and_support,
    logit_of,
    read_features,
    repository_name,
    rivals,
    same_repository,
)
from reviewgauge.metrics.matching.policies import assign, assigned_scores, golden_scores
from reviewgauge.models.text import words
from reviewgauge.models.text.lexical import FEATURES, dice

PENALTY = 0.15  # set by hand, not searched for
FOLDS = 5
DIGITS = 6  # significant ones of a stored number; probabilities are rounded to four places
LINK_WEIGHT = 0.3  # of one claim-review link, beside one recorded verdict


@dataclass(frozen=True)
class JudgedPair:
    """One review with one judge's verdicts. `credited` is the comment behind each reference that was hit."""

    judge: str
    repository: str
    change: str
    system: str
    comments: tuple[str, ...]
    references: tuple[str, ...]
    credited: Mapping[str, str]

    @property
    def hits(self) -> list[bool]:
        """Which references the judge found in the review."""
        return [reference in self.credited for reference in self.references]


class Link(NamedTuple):
    """A text, a claim, and whether the text addresses the claim."""

    text: str
    claim: str
    same: bool


@lru_cache(maxsize=200_000)
def cached_features(comment: str, reference: str) -> tuple[float, ...]:
    """The features of two texts; fitting meets the same pairs again and again."""
    return tuple(read_features(comment, reference))


def known_pairs(item: JudgedPair) -> list[tuple[int, int, bool]]:
    """(comment, reference, same) of the pairs with a verdict: of a hit reference only the credited comment has one."""
    found = []
    for c, comment in enumerate(item.comments):
        for r, reference in enumerate(item.references):
            same = item.credited.get(reference) == comment
            if same or reference not in item.credited:
                found.append((c, r, same))
    return found


def reference_scores(items: Sequence[JudgedPair], tables: Sequence[Table], penalty: float = PENALTY) -> Array:
    """The probability, after assignment, of each reference of each item, one after the other."""
    return np.concatenate([golden_scores(_array(item, table), penalty) for item, table in _with(items, tables)])


def reference_hits(items: Sequence[JudgedPair], tables: Sequence[Table], threshold: float) -> Flags:
    """Whether each reference is matched one-to-one by a comment of at least `threshold`, one after the other."""
    found: list[bool] = []
    for item, table in _with(items, tables):
        probabilities = _array(item, table)
        matched = {r for _, r in assign(np.where(probabilities >= threshold, probabilities, 0.0))}
        found.extend(r in matched for r in range(len(item.references)))
    return np.array(found, dtype=bool)


def choose_threshold(items: Sequence[JudgedPair], tables: Sequence[Table]) -> float:
    """The threshold of one-to-one matching with the largest kappa."""
    scores = np.concatenate([assigned_scores(_array(item, table)) for item, table in _with(items, tables)])
    return best_threshold(scores, hits(items))


def _with(items: Sequence[JudgedPair], tables: Sequence[Table]) -> Iterator[tuple[JudgedPair, Table]]:
    return zip(items, tables, strict=True)


def _array(item: JudgedPair, table: Table) -> Array:
    return np.array(table, dtype=float).reshape(len(item.comments), len(item.references))


def hits(items: Sequence[JudgedPair]) -> Flags:
    """Whether the judge found each reference of each item, one after the other."""
    return np.array([hit for item in items for hit in item.hits], dtype=bool)


def _rows(items: Sequence[JudgedPair]) -> tuple[Array, Flags]:
    x, y = [], []
    for item in items:
        for c, r, same in known_pairs(item):
            x.append(cached_features(item.comments[c], item.references[r]))
            y.append(same)
    return np.array(x, dtype=float).reshape(len(y), len(FEATURES)), np.array(y, dtype=bool)


def fit_pair(items: Sequence[JudgedPair], links: Sequence[Link], c: float = 0.3) -> Logistic:
    """The 24-feature model from verdicts and, with less weight each, claim-review links."""
    x, y = _rows(items)
    weights = np.ones(len(y))
    if links:
        x = np.vstack([x, [cached_features(link.text, link.claim) for link in links]])
        y = np.concatenate([y, [link.same for link in links]])
        weights = np.concatenate([weights, np.full(len(links), LINK_WEIGHT if len(items) else 1.0)])
    return fit_logistic(x, y, c, weights)


def _platt(items: Sequence[JudgedPair], tables: Sequence[Table]) -> tuple[float, float]:
    """Platt's sigmoid over the scores of references, which is where verdicts exist; those of empty reviews left out."""
    scores, y = reference_scores(items, tables), hits(items)
    some = scores > 0
    return fit_platt(np.array([logit_of(p) for p in scores[some]]), y[some])


def _blank(model: Logistic, **changes: object) -> LexicalWeights:
    weights = LexicalWeights(
        intercept=model.intercept,
        features={
            name: Weight(coefficient=c, mean=m, scale=s)
            for name, c, m, s in zip(FEATURES, model.coefficients, model.means, model.scales, strict=True)
        },
        platt=(1.0, 0.0),
        rival=(0.0, 1.0, 0.0),
        second=(0.0, 1.0, 0.0, 0.0, 0.0),
        threshold=0.5,
        second_threshold=0.5,
        penalty=PENALTY,
        dice=DiceWeights(slope=1.0, intercept=0.0, cut=0.3),
    )
    return weights.model_copy(update=changes)


def _refit(items: Sequence[JudgedPair], cells: Callable[[JudgedPair, int, int], Sequence[float]]) -> list[float]:
    """Intercept and weights of a logistic model over `cells`, on the pairs with a verdict, in the cells' own units."""
    x, y = [], []
    for item in items:
        for c, r, same in known_pairs(item):
            x.append(cells(item, c, r))
            y.append(same)
    model = fit_logistic(np.array(x), np.array(y, dtype=bool))
    slopes = np.array(model.coefficients) / np.array(model.scales)
    return [float(model.intercept - slopes @ np.array(model.means)), *(float(s) for s in slopes)]


def _calibrate(stage: Sequence[float], platt: tuple[float, float]) -> tuple[float, ...]:
    slope, intercept = platt
    return (slope * stage[0] + intercept, *(slope * w for w in stage[1:]))


def groups_of(item: JudgedPair) -> list[str]:
    """Each reference is a finding of its own."""
    return [str(r) for r in range(len(item.references))]


def by_change(items: Sequence[JudgedPair]) -> list[list[int]]:
    """The places of the items that one judge judged on one change."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        found[item.judge, item.change].append(place)
    return list(found.values())


def first_tables(model: LexicalModel, items: Sequence[JudgedPair]) -> list[Table]:
    """The first stage on each item."""
    return [
        model.first([[body] * len(item.references) for body in item.comments], item.references, groups_of(item))
        for item in items
    ]


def second_tables(model: LexicalModel, items: Sequence[JudgedPair], tables: Sequence[Table]) -> list[Table]:
    """The second stage on each item, given the first stage's tables."""
    refined = list(tables)
    for places in by_change(items):
        said = [p for p in places if items[p].comments]
        new = model.second(
            {items[p].system: tables[p] for p in said}, {items[p].system: items[p].comments for p in said},
            groups_of(items[places[0]]),
        )  # fmt: skip
        for p in said:
            refined[p] = new[items[p].system]
    return refined


def fit_lexical(items: Sequence[JudgedPair], links: Sequence[Link] = (), folds: int = FOLDS) -> LexicalWeights:
    """All of the judge's weights from `items` and `links`. Deterministic."""
    final = fit_pair(items, links)
    changes = [item.change for item in items]
    fold_of, fold_models = [0] * len(items), []
    for number, held in enumerate(grouped_folds(changes, folds)):
        seen = [item for item, out in zip(items, held, strict=True) if not out]
        fold_models.append(fit_pair(seen, links))
        for place in np.flatnonzero(held):
            fold_of[place] = number

    def tables(**stages: object) -> list[Table]:
        """The first stage by models that have not seen the change."""
        ready = [LexicalModel(_blank(model, **stages), cached_features) for model in fold_models]
        return [first_tables(ready[fold], [item])[0] for fold, item in zip(fold_of, items, strict=True)]

    platt = _platt(items, tables())
    pairs = dict(zip(map(id, items), tables(platt=platt), strict=True))
    against = {
        key: rivals(table, [str(r) for r in range(len(table[0]))]) if table else [] for key, table in pairs.items()
    }
    rival = _refit(items, lambda item, c, r: (logit_of(pairs[id(item)][c][r]), against[id(item)][c][r]))
    rival = list(_calibrate(rival, _platt(items, tables(platt=platt, rival=tuple(rival)))))
    first = tables(platt=platt, rival=tuple(rival))
    threshold = choose_threshold(items, first)

    ready = [LexicalModel(_blank(model, platt=platt, rival=tuple(rival)), cached_features) for model in fold_models]
    agreement = _agreement(items, first, fold_of, ready)
    second = _refit(items, lambda item, c, r: agreement[id(item)][c][r])
    refined = _apply(items, agreement, second)
    second = list(_calibrate(second, _platt(items, refined)))
    refined = _apply(items, agreement, second)
    return _blank(
        final,
        platt=platt,
        rival=tuple(rival),
        second=tuple(second),
        threshold=threshold,
        second_threshold=choose_threshold(items, refined),
        dice=fit_dice(items),
    )


def seen_without(items: Sequence[JudgedPair], repository: str) -> list[JudgedPair]:
    """The items of other repositories."""
    return [item for item in items if not same_repository(item.repository, repository)]


def can_be_fitted(items: Sequence[JudgedPair]) -> bool:
    """Whether there is anything to tell apart: two changes at least, references hit by a comment and references not."""
    found = hits(items) if items else np.zeros(0, dtype=bool)
    return len({item.change for item in items if item.comments}) > 1 and bool(0 < found.sum() < len(found))


def fit_held_out(
    items: Sequence[JudgedPair], links: Sequence[Link] = ()
) -> tuple[dict[str, LexicalWeights], list[str]]:
    """(by repository the whole judge fitted on the others, the repositories whose others do not suffice)."""
    names = sorted({repository_name(item.repository) for item in items})
    rest = {name: seen_without(items, name) for name in names}
    able = [name for name in names if can_be_fitted(rest[name])]
    fits = {name: fit_lexical(rest[name], links).model_copy(update={"fitted": counts(rest[name])}) for name in able}
    return fits, [name for name in names if name not in able]


def counts(items: Sequence[JudgedPair]) -> dict[str, str | int | float]:
    """What a fit has seen."""
    return {
        "repositories": ", ".join(sorted({item.repository for item in items})),
        "changes": len({item.change for item in items}),
        "reviews": len(items),
        "references": len(hits(items)),
        "hits": int(hits(items).sum()),
    }


def fit_stored(
    items: Sequence[JudgedPair], links: Sequence[Link] = (), fitted: Mapping[str, str | int | float] | None = None
) -> tuple[StoredWeights, list[str]]:
    """(the file of weights, the repositories that could not be held out). Numbers rounded to `DIGITS`."""
    held_out, left = fit_held_out(items, links)
    final = fit_lexical(items, links)
    record = {**dict(final), "fitted": fitted or counts(items), "held_out": held_out}
    return StoredWeights.model_validate(_rounded(StoredWeights.model_construct(**record).model_dump())), left


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return tuple(_rounded(inner) for inner in value) if isinstance(value, tuple) else value


Cells = dict[int, list[list[tuple[float, float, float, float]]]]


def _agreement(
    items: Sequence[JudgedPair], tables: Sequence[Table], fold_of: Sequence[int], models: Sequence[LexicalModel]
) -> Cells:
    """By item: for each pair its logit, chain, support and rival; as in `LexicalModel.second`, kept for fitting."""
    cells: Cells = {}
    for places in by_change(items):
        model = models[fold_of[places[0]]]
        likeness: dict[tuple[str, str], float] = {}
        for p in places:
            others = [(b, row) for q in places if q != p for b, row in zip(items[q].comments, tables[q], strict=True)]
            rows = [row for _, row in others]
            against = rivals(tables[p], groups_of(items[p]))
            cells[id(items[p])] = []
            for body, row, rival in zip(items[p].comments, tables[p], against, strict=True):
                keys = [(body, other) if body <= other else (other, body) for other, _ in others]
                for key in keys:
                    if key not in likeness:
                        likeness[key] = model.likeness(*key)
                similar = [likeness[key] for key in keys]
                cells[id(items[p])].append(
                    [(logit_of(row[r]), *chain_and_support(similar, rows, r), rival[r]) for r in range(len(row))]
                )
    return cells


def _apply(items: Sequence[JudgedPair], cells: Cells, stage: Sequence[float]) -> list[Table]:
    w = np.array(stage[1:])
    found: list[Table] = []
    for item in items:
        own = cells[id(item)]
        found.append(
            [[float(0.5 * (1 + np.tanh(0.5 * (stage[0] + w @ np.array(cell))))) for cell in row] for row in own]
        )
    return found


def dice_tables(items: Sequence[JudgedPair]) -> list[Table]:
    """The Dice coefficients of each item."""
    return [
        [[dice(comment, reference) for reference in item.references] for comment in item.comments] for item in items
    ]


def fit_dice(items: Sequence[JudgedPair]) -> DiceWeights:
    """Threshold and Platt's sigmoid for the Dice coefficient."""
    tables = dice_tables(items)
    scores, y = reference_scores(items, tables, penalty=0.05), hits(items)
    some = np.array([len(item.comments) > 0 for item in items for _ in item.references])
    slope, intercept = fit_platt(scores[some], y[some])
    return DiceWeights(slope=slope, intercept=intercept, cut=choose_threshold(items, tables))


def count_documents(texts: Iterable[str], most: int = 1000) -> tuple[dict[str, float], float, int]:
    """(idf of the `most` commonest stems, idf of any other, number of texts) over distinct texts.

    The idf is ln((n + 1) / (df + 1)). Only words of two letters or more enter the table, so that it holds no numbers.
    """
    distinct = sorted(set(texts))
    found: Counter[str] = Counter()
    for text in distinct:
        found.update({w for w in words.tokens(text) if w not in words.STOP_WORDS and len(w) > 1 and not w.isdigit()})
    n = len(distinct)
    commonest = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    table = {word: round(math.log((n + 1) / (df + 1)), 2) for word, df in commonest}
    return dict(sorted(table.items())), max(table.values(), default=1.0), n
