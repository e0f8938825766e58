"""Whether surface traits tell a change with a defect from its twin: what a reviewer could go by without reading code.

Source: ours. A logistic regression (L2, folds by host: no host is in training and test) on traits of layout, names and
position at the place of the defect. Who knows the place knows more than any reviewer: its AUC is an upper bound.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.records import ARM, PAIR, Arm, Case, Span
from reviewgauge.core.shares import wilson
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.stages.sampling.draws import Row, draw_key

Numbers = np.ndarray[Any, np.dtype[np.float64]]

FEWEST, MOST = 20, 2000  # changes below which nothing can be said, and pairs above which others say no more
CHANCE = 0.5
_FOLDS, _PENALTY, _RESAMPLES = 5, 1.0, 1000
_TINY = 1e-9
_FAR = 4.0  # standard deviations, beyond which a trait counts as this far
_AROUND = 3  # lines above and below
_WORD, _SIGN = re.compile(r"[^\W\d]\w*"), re.compile(r"[=<>+*/%&|!^-]+")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--)")


class Place(NamedTuple):
    """The lines of a defect, or the same lines without it, the lines around in their hunk, and counts of the change."""

    lines: Sequence[str]
    above: Sequence[str]
    below: Sequence[str]
    line: int
    share: float  # of the hunk's lines that stand above
    added: int
    deleted: int
    hunks: int
    changed: int

    @property
    def text(self) -> str:
        """Its lines without indentation."""
        return "\n".join(line.strip() for line in self.lines)

    @property
    def words(self) -> list[str]:
        """Its names and keywords."""
        return _WORD.findall(self.text)


def _share(count: float, of: float) -> float:
    return count / of if of else 0.0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _spaced(place: Place) -> float:
    """The share of signs with a blank on both sides."""
    text = f" {place.text} "
    found = [text[one.start() - 1].isspace() and text[one.end()].isspace() for one in _SIGN.finditer(text)]
    return _share(sum(found), len(found))


def _ordered(place: Place) -> float:
    words = place.words
    return _share(sum(a <= b for a, b in pairwise(words)), len(words) - 1)


_TRAITS: Mapping[str, Callable[[Place], float]] = {
    "number of lines": lambda p: len(p.lines),
    "number of characters": lambda p: len(p.text),
    "longest line": lambda p: max(map(len, p.lines), default=0),
    "indentation": lambda p: min((_indent(line) for line in p.lines if line.strip()), default=0),
    "indentation against the line above": lambda p: _indent(p.lines[0]) - _indent(p.above[-1] if p.above else ""),
    "indentation against the line below": lambda p: _indent(p.lines[-1]) - _indent(p.below[0] if p.below else ""),
    "blanks at ends of lines": lambda p: sum(line != line.rstrip() for line in p.lines),
    "share of blanks": lambda p: _share(sum(map(str.isspace, p.text)), len(p.text)),
    "blanks around signs": _spaced,
    "share of comment lines": lambda p: _share(sum(bool(_COMMENT.match(line)) for line in p.lines), len(p.lines)),
    "number of words": lambda p: len(p.words),
    "length of words": lambda p: fmean(map(len, p.words)) if p.words else 0.0,
    "share of words with capitals": lambda p: _share(sum(word != word.lower() for word in p.words), len(p.words)),
    "order of words": _ordered,
    "entropy of characters": lambda p: _entropy(p.text),
    "share of punctuation": lambda p: _share(len(re.findall(r"[^\w\s]", p.text)), len(p.text)),
    "digits": lambda p: sum(map(str.isdigit, p.text)),
    "double quotes": lambda p: p.text.count('"'),
    "single quotes": lambda p: p.text.count("'"),
    "blank lines above": lambda p: sum(not line.strip() for line in p.above),
    "blank lines below": lambda p: sum(not line.strip() for line in p.below),
    "a line that stands next to itself": lambda p: sum(
        line in (*p.above, *p.below) for line in p.lines if line.strip()
    ),
    "position in the file": lambda p: math.log(p.line),
    "position in the hunk": lambda p: p.share,
    "lines added by the hunk": lambda p: math.log1p(p.added),
    "lines deleted by the hunk": lambda p: math.log1p(p.deleted),
    "hunks": lambda p: math.log1p(p.hunks),
    "changed lines": lambda p: math.log1p(p.changed),
}


def place_of(case: Case, span: Span) -> Place | None:
    """What is seen of a span in the diff of a case; None where the diff does not show it."""
    hunks = [(file.path, hunk) for file in case.change.files for hunk in parse_patch(file.patch or "")]
    shown = next((hunk for path, hunk in hunks if path == span.path and hunk.covers(span)), None)
    if shown is None or span.start is None or span.end is None:
        return None
    lines = [(line.new, line.text) for line in shown.lines if line.new is not None]
    above = [text for number, text in lines if number < span.start]
    kinds = Counter(line.kind for _, hunk in hunks for line in hunk.lines)
    of_hunk = Counter(line.kind for line in shown.lines)
    return Place(
        lines=[text for number, text in lines if span.start <= number <= span.end],
        above=above[-_AROUND:],
        below=[text for number, text in lines if number > span.end][:_AROUND],
        line=span.start,
        share=len(above) / len(lines),
        added=of_hunk["+"],
        deleted=of_hunk["-"],
        hunks=len(hunks),
        changed=kinds["+"] + kinds["-"],
    )


class TraitPairs(NamedTuple):
    """One row of traits per pair for what was edited and for its twin, and the host of each pair."""

    edited: Numbers
    twin: Numbers
    hosts: Sequence[str]


def trait_pairs(cases: Iterable[Case], arm: Arm, made: str = "") -> TraitPairs:
    """The pairs of an arm and its twins whose places both diffs show, at most `MOST`; only what was `made` so."""
    held = list(cases)
    twins = {case.facts[PAIR]: case for case in held if case.facts[ARM] == Arm.TWIN}
    edited = sorted((case for case in held if case.facts[ARM] == arm), key=lambda case: draw_key(0, case.id))
    rows: list[tuple[str, list[float], list[float]]] = []
    for case in edited:
        if made and made not in _made(case):
            continue
        sides = [place_of(one, span) for one, span in _spans(case, twins.get(case.facts[PAIR]))]
        places = [place for place in sides if place is not None]
        if len(places) == len(sides) == 2 and len(rows) < MOST:
            with_it, without = ([float(trait(place)) for trait in _TRAITS.values()] for place in places)
            rows.append((str(case.facts[PAIR]), with_it, without))
    return TraitPairs(
        np.array([row[1] for row in rows]), np.array([row[2] for row in rows]), [host for host, _, _ in rows]
    )


def _made(case: Case) -> set[str]:
    return {str(one.extra.get("made")) for one in (*case.references, *case.rejected)}


def _spans(case: Case, twin: Case | None) -> Iterator[tuple[Case, Span]]:
    """The place of an edit, and the same place in the twin, where the same comment says that it is sound."""
    comment = next((one for one in (*case.references, *case.rejected) if one.span is not None), None)
    other = next((one for one in twin.rejected if comment and one.id == comment.id), None) if twin else None
    if comment and comment.span and twin and other and other.span:
        yield case, comment.span
        yield twin, other.span


class Found(NamedTuple):
    """An AUC with its interval, and the trait of the largest weight."""

    auc: float
    low: float
    high: float
    trait: str


def alone(pairs: TraitPairs) -> Found:
    """Who sees one change at a time and must say whether it has the defect; interval by bootstrap over hosts."""
    n = len(pairs.hosts)
    scores, trait = _scores(np.concatenate([pairs.edited, pairs.twin]), pairs.hosts)
    wins = _wins(scores[:n, None] - scores[None, n:])
    hosts, of = np.unique(pairs.hosts, return_inverse=True)
    draws = np.random.default_rng(0).multinomial(len(hosts), np.full(len(hosts), 1 / len(hosts)), _RESAMPLES)
    counts = draws[:, of].astype(float)
    low, high = np.quantile(((counts @ wins) * counts).sum(1) / counts.sum(1) ** 2, [0.025, 0.975])
    return Found(float(wins.mean()), float(low), float(high), trait)


def side_by_side(pairs: TraitPairs) -> Found:
    """Who sees both of a pair and must say which is the edited one, ties half; Wilson's interval."""
    n, apart = len(pairs.hosts), pairs.edited - pairs.twin
    scores, trait = _scores(np.concatenate([apart, -apart]), pairs.hosts)
    won = float(_wins(scores[:n]).sum())
    low, high = wilson(won, n) or (0.0, 1.0)
    return Found(won / n, low, high, trait)


def _scores(rows: Numbers, hosts: Sequence[str]) -> tuple[Numbers, str]:
    """(the score of each row by a model that saw no row of its host, the trait that weighs most in one that saw all).

    The first half of the rows are edited, the second half are not, in the same order of hosts.
    """
    order = {host: at for at, host in enumerate(sorted(set(hosts), key=lambda host: draw_key(0, "fold", host)))}
    folds = np.array([order[host] % _FOLDS for host in (*hosts, *hosts)])
    signs = np.repeat([1.0, -1.0], len(hosts))
    scores = np.zeros(len(rows))
    for fold in range(_FOLDS):
        test = folds == fold
        weights = _fit(_scaled(rows[~test], rows[~test]), signs[~test])
        scores[test] = _scaled(rows[test], rows[~test]) @ weights
    return scores, list(_TRAITS)[int(np.argmax(np.abs(_fit(_scaled(rows, rows), signs))))]


def _scaled(rows: Numbers, like: Numbers) -> Numbers:
    spread = like.std(0)
    scaled: Numbers = np.clip((rows - like.mean(0)) / np.where(spread > _TINY, spread, 1.0), -_FAR, _FAR)
    return scaled


def _wins(apart: Numbers) -> Numbers:
    won: Numbers = np.where(np.abs(apart) < _TINY, 0.5, apart > 0)
    return won


def _fit(rows: Numbers, signs: Numbers) -> Numbers:
    """The weights of a logistic regression without an intercept: both classes are as large, and the traits centred."""

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        margins = signs * (rows @ weights)
        pull = -signs / (1 + np.exp(np.clip(margins, -30, 30)))
        total = np.logaddexp(0, -margins).sum() + _PENALTY / 2 * weights @ weights
        return float(total), rows.T @ pull + _PENALTY * weights

    found: Numbers = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return found


_ALONE = "a defect, or none: one change at a time"


def traces_section(made: Iterable[Candidate]) -> CardSection:
    """The card's figures; a warning where one change alone gives away its defect by surface."""
    cases = [one.case for one in made]
    kinds = sorted({kind for case in cases if case.facts[ARM] == Arm.DEFECT for kind in _made(case)})
    rows, warnings = [], []
    for kind in ("", *(kinds if len(kinds) > 1 else ())):
        words = f"{_ALONE}, {kind}" if kind else _ALONE
        pairs = trait_pairs(cases, Arm.DEFECT, kind)
        rows.append(_row(words, pairs, found := _told(alone, pairs)))
        if found and found.low > CHANCE:
            warnings.append(
                f"surface traits tell a change with a defect{f' ({kind})' if kind else ''} from one without: AUC "
                f"{found.auc:.2f} [{found.low:.2f}, {found.high:.2f}], most by its {found.trait}"
            )
    for what, arm in (("defect", Arm.DEFECT), ("harmless edit", Arm.SAFE)):
        pairs = trait_pairs(cases, arm)
        rows.append(_row(f"which of the two has the {what}: side by side", pairs, _told(side_by_side, pairs)))
    return CardSection(
        by="add_twins",
        title="Traces",
        text=(
            "How well a classifier on layout, names and position, which is shown the place, tells the planted from the "
            "sound (AUC; .5 is chance). A reviewer sees one change at a time, so the first row is the one that counts; "
            "side by side any edit shows, such as by one word more."
        ),
        columns=("who must say", "pairs", "AUC", "low", "high", "largest trait"),
        rows=tuple(rows),
        warnings=tuple(warnings),
    )


def _told(way: Callable[[TraitPairs], Found], pairs: TraitPairs) -> Found | None:
    return way(pairs) if len(set(pairs.hosts)) >= FEWEST else None


def _row(words: str, pairs: TraitPairs, found: Found | None) -> Row:
    if found is None:
        return words, len(pairs.hosts), None, None, None, f"fewer than {FEWEST} changes: cannot be told"
    return words, len(pairs.hosts), round(found.auc, 3), round(found.low, 3), round(found.high, 3), found.trait
