"""The lexical judge's model: its weights as a record, and how they turn texts into calibrated probabilities.

Three steps, each a logistic function whose last layer is calibrated. *pair*: 24 features of one comment and one
reference. *rival*: a comment that fits another reference better is less likely to mean this one. *second*: the
other systems' comments on the same change. Scoring needs no numpy.

A file of weights holds the final fit, and for each repository of the training data a fit that has not seen it: so a
change of such a repository is never judged by weights that were fitted on it.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record, Share
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import parse_record
from reviewgauge.judges.pairs.fixes import READING, FixText
from reviewgauge.models.text.lexical import FEATURES, SWAPPED, features, profile

Table = list[list[float]]
Reader = Callable[[str, str], Sequence[float]]
_PLACE = {name: place for place, name in enumerate(FEATURES)}
SHARED_WORDS = _PLACE["shared_words"]
_OTHER_SIDE = {**SWAPPED, **{other: one for one, other in SWAPPED.items()}}
SWAP = tuple(_PLACE[_OTHER_SIDE.get(name, name)] for name in FEATURES)
SURENESS = 30.0  # logits are cut here, so that no probability is exactly 0 or 1
NOTHING_SHARED = 0.01  # the most that a pair without a common content word gets; of 1,344 judged ones 2 were the same
_HOST = re.compile(
    r"^(?:[a-z+]+://[^/]+/|[^@/]+@[^:/]+:|[a-z0-9-]+(?:\.[a-z0-9-]+)+/(?=[^/]+/[^/]))"
)  # https, scp, bare
_PAGES = frozenset({"-", "blob", "commit", "commits", "issues", "merge_requests", "pull", "pulls", "tree"})
FIX = (6.47, 1.24, 0.60)
"""Constant, and weights of the two logits of `of_fix`: 30 comments of an expert on defects of requests, flask and
scrapy against the same on other defects, and against empty words around the labelled line (`benchmarks/experts.py`)."""
COMMON = 2.7  # idf up to which a word of programs and reviews (check, line, error, value) is no evidence of a fix
FEW_WORDS = (0.002, 0.4, 1.0)  # the most that a comment gets which shares no, one, or more rarer words with a fix
_LIMIT = 0.005  # probabilities nearer to 0 or 1 than this are taken as this, as the few comments tell no finer
PULL = 0.5  # how many unlike comments the support of the second stage is averaged with


class Weight(Record):
    """One feature's part of the logit: coefficient * (value - mean) / scale."""

    coefficient: float
    mean: float
    scale: float = Field(gt=0)


class DiceWeights(Record):
    """Platt's sigmoid over the Dice coefficient, and the coefficient from which on a pair counts as the same."""

    slope: float
    intercept: float
    cut: Share


class LexicalWeights(Record):
    """The result of one fit. `fitted` records how: command, data, numbers, date, library versions."""

    fitted: Mapping[str, str | int | float] = Field(default_factory=dict)
    intercept: float
    features: Mapping[str, Weight]
    platt: tuple[float, float]  # slope and intercept over the pair's logit
    rival: tuple[float, float, float]  # intercept, of the pair's calibrated logit, of the best rival's probability
    second: tuple[float, float, float, float, float]  # intercept, of the logit, chain, support, rival
    threshold: Share
    second_threshold: Share
    penalty: Share
    dice: DiceWeights

    @property
    def base_rate(self) -> float | None:
        """Share of references that were hit in the data behind the calibration; None where it was not noted."""
        hits, references = self.fitted.get("hits"), self.fitted.get("references")
        return hits / references if isinstance(hits, int) and isinstance(references, int) and references else None


class StoredWeights(LexicalWeights):
    """A file of weights: the final fit, and by repository of the training data a whole fit on the others only."""

    schema_version: Literal[1] = 1
    held_out: Mapping[str, LexicalWeights] = Field(default_factory=dict)

    def fold(self, repository: str) -> str:
        """The key of `repository` in `held_out`; empty where the final fit has not seen it."""
        name = repository_name(repository)
        known = {repository_name(key): key for key in sorted(self.held_out, reverse=True)}
        return known.get(name) or next((known[other] for other in sorted(known) if same_repository(name, other)), "")

    def without(self, repository: str) -> LexicalWeights:
        """The weights to judge a change of `repository` with: fitted without it."""
        return self.held_out.get(self.fold(repository), self)


@lru_cache(maxsize=1024)
def repository_name(text: str) -> str:
    """`owner/name` in lower case from the usual forms: that, an address (also of a page in it), with `.git` or not."""
    parts = [part for part in _HOST.sub("", text.strip().lower()).split("/") if part]
    page = next((i for i, part in enumerate(parts) if i > 1 and part in _PAGES), len(parts))
    return "/".join(parts[:page]).removesuffix(".git")


def same_repository(one: str, other: str) -> bool:
    """Whether two names may mean one repository; where one of them has no owner, the names alone decide."""
    one, other = repository_name(one), repository_name(other)
    alone = "/" not in one or "/" not in other
    return one == other or (alone and one.rpartition("/")[2] == other.rpartition("/")[2])


@lru_cache(maxsize=16)
def load_weights(path: str = "") -> tuple[StoredWeights, str]:
    """The weights of `path` or the shipped, a hash of the file and of how fixes are read. UserError or BadInput."""
    if path:
        try:
            raw = read_file(Path(path))
        except OSError as error:
            raise UserError(f"cannot read the weights {path}: {error.strerror}") from None
    else:
        raw = resources.files("reviewgauge.judges.pairs").joinpath("lexical.json").read_bytes()
    weights = parse_record(StoredWeights, raw, path or "lexical.json")
    if any(sorted(fit.features) != sorted(FEATURES) for fit in (weights, *weights.held_out.values())):
        raise UserError(
            f"the weights {path or 'lexical.json'} are for other features",
            remedy="refit: benchmarks/fit_lexical_judge.py",
        )
    return weights, hashlib.sha256(raw + READING).hexdigest()


def check_band(low: float, high: float, cut: float | None, unit: str) -> None:
    """Check the unsure band of an offline judge and its threshold, in probabilities or another unit. ValueError."""
    if not 0 <= low <= high <= 1:
        raise ValueError(f"low={low} and high={high} must satisfy 0 <= low <= high <= 1")
    if cut is not None and not 0 <= cut <= 1:
        raise ValueError(f"cut={cut} must be a {unit} from 0 to 1")


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), strictly between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-max(-SURENESS, min(SURENESS, logit))))


def logit_of(probability: float, limit: float = 1e-6) -> float:
    """The inverse of `sigmoid`, cut at `limit` from both ends."""
    p = min(max(probability, limit), 1 - limit)
    return math.log(p / (1 - p))


def rivals(table: Sequence[Sequence[float]], groups: Sequence[str]) -> Table:
    """For each cell the largest value in its row among the columns of other groups; 0 where there is none."""
    found: Table = []
    for row in table:
        best: dict[str, float] = {}
        for group, value in zip(groups, row, strict=True):
            best[group] = max(value, best.get(group, 0.0))
        top = sorted(best.items(), key=lambda item: -item[1])[:2]
        found.append([next((value for group, value in top if group != own), 0.0) for own in groups])
    return found


def chain_and_support(similar: Sequence[float], others: Sequence[Sequence[float]], column: int) -> tuple[float, float]:
    """How strongly comments like this one, from other systems, raise the reference in `column`.

    `similar` is this comment's probability of meaning the same as each other comment, `others` holds their rows.
    The chain is the best product of the two, the support their mean weighted by likeness (pulled towards 0).
    """
    products = [s * row[column] for s, row in zip(similar, others, strict=True)]
    return max(products, default=0.0), sum(products) / (sum(similar) + PULL)


def read_features(comment: str, reference: str) -> Sequence[float]:
    """The features of two texts."""
    return features(profile(comment), profile(reference))


def most_by_words(comment: str, reference: str | FixText) -> float:
    """The most that a comment gets by the words that it shares with a reference, whatever it fits besides."""
    if isinstance(reference, str):
        return 1.0
    said = profile(comment)
    shared = said.content & profile(" ".join(reference)).content
    return FEW_WORDS[min(2, sum(said.idf[word] > COMMON for word in shared))]


class LexicalModel:
    """Weights made ready for scoring. `read` gives the features of a pair of texts; fitting hands in a cached one."""

    def __init__(self, weights: LexicalWeights, read: Reader | None = None) -> None:
        self.weights = weights
        self._read: Reader = read or read_features
        ordered = [weights.features[name] for name in FEATURES]
        self._factors = [w.coefficient / w.scale for w in ordered]
        self._constant = weights.intercept - sum(w.coefficient * w.mean / w.scale for w in ordered)

    def _calibrated(self, values: Sequence[float]) -> float:
        slope, intercept = self.weights.platt
        logit = self._constant + sum(f * v for f, v in zip(self._factors, values, strict=True))
        return sigmoid(slope * logit + intercept)

    def pair(self, comment: str, reference: str) -> float:
        """The probability that the two texts raise the same thing, with nothing else known."""
        values = self._read(comment, reference)
        probability = self._calibrated(values)
        return probability if values[SHARED_WORDS] else min(probability, NOTHING_SHARED)

    def of_fix(self, comment: str, fix: FixText) -> float:
        """As `pair`, for the message of a fix: also by the words that the fix brought into the code.

        A message seldom says what was wrong. The words that were there before are left out: a comment that quotes the
        line on which it stands shares them with every fix of that line.
        """
        constant, by_message, by_words = FIX
        words = logit_of(self.pair(comment, fix.brought) if fix.brought else 0.0, _LIMIT)
        return sigmoid(constant + by_message * logit_of(self.pair(comment, fix.said), _LIMIT) + by_words * words)

    def likeness(self, one: str, other: str) -> float:
        """The mean of `pair` in both orders: symmetric, for two comments of which neither is a reference."""
        values = self._read(one, other)
        if not values[SHARED_WORDS]:
            return NOTHING_SHARED
        return 0.5 * (self._calibrated(values) + self._calibrated([values[place] for place in SWAP]))

    def first(
        self, comments: Sequence[Sequence[str]], references: Sequence[str | FixText], groups: Sequence[str]
    ) -> Table:
        """Probabilities, one row per comment and one column per reference; `groups` names each column's finding.

        A comment is given once per reference: what counts of it differs.
        """
        pairs = [
            [
                self.pair(one, other) if isinstance(other, str) else self.of_fix(one, other)
                for one, other in zip(row, references, strict=True)
            ]
            for row in comments
        ]
        intercept, own, rival = self.weights.rival
        against = rivals(pairs, groups)
        return [
            [
                min(sigmoid(intercept + own * logit_of(p) + rival * r), most_by_words(one, other))
                for p, r, one, other in zip(row, others, said, references, strict=True)
            ]
            for row, others, said in zip(pairs, against, comments, strict=True)
        ]

    def second(
        self, tables: Mapping[str, Table], bodies: Mapping[str, Sequence[str]], groups: Sequence[str]
    ) -> dict[str, Table]:
        """The tables of all systems on one change, each refined by the other systems' comments."""
        likeness: dict[tuple[str, str], float] = {}

        def alike(one: str, other: str) -> float:
            key = (one, other) if one <= other else (other, one)
            if key not in likeness:
                likeness[key] = self.likeness(*key)
            return likeness[key]

        intercept, own, chain, support, rival = self.weights.second
        refined: dict[str, Table] = {}
        for system, table in tables.items():
            others = [(b, row) for s in tables if s != system for b, row in zip(bodies[s], tables[s], strict=True)]
            rows = [row for _, row in others]
            refined[system] = []
            for body, row, against in zip(bodies[system], table, rivals(table, groups), strict=True):
                similar = [alike(body, other) for other, _ in others]
                cells = [chain_and_support(similar, rows, column) for column in range(len(row))]
                refined[system].append(
                    [
                        sigmoid(intercept + own * logit_of(p) + chain * c + support * s + rival * r)
                        for p, (c, s), r in zip(row, cells, against, strict=True)
                    ]
                )
        return refined
