"""The test set of a judge: questions with the answers of reference raters, by change.

Questions come from recorded verdicts (Martian's three model judges), from people's labels of pairs, or from people's
grades of reviews. The judge never sees the labels, unless they are its own recorded verdicts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Instrument
from reviewgauge.analysis.validity.human_values import JudgedReviews, Key
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.judge_check import Kind
from reviewgauge.datasets.martian import FALSE, MISSED, SAME
from reviewgauge.judges.recorded import Recorded
from reviewgauge.models.request.model_spec import family, is_model
from reviewgauge.models.text.lexical import dice

PEOPLE = "people"
Verdicts = Callable[[str], tuple[Sequence[Review], Sequence[Label]]]
"""Name of a recorded judge -> (the reviews that it extracted, its labels on them)."""


@dataclass(frozen=True)
class Item:
    """One question with the rater's answer to each of its rows: 1 yes, 0 no, or a grade."""

    ask: Ask
    rater: str
    truth: tuple[float, ...]
    cluster: str

    @property
    def system(self) -> str:
        """The author of the review."""
        return self.ask.review.system


@dataclass(frozen=True)
class QuestionSet:
    """The questions of the agreement, and the single ones (`pairs`) that probes edit."""

    kind: Kind
    name: str
    items: tuple[Item, ...]
    pairs: tuple[Item, ...]
    authors: Mapping[str, str] = field(default_factory=dict)  # system -> model family
    lowest: float = 0.0  # the lowest grade
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


# --- verdicts on pairs ---------------------------------------------------------------------------------------------


def verdict_questions(
    label: str, cases: Sequence[Case], raters: Sequence[str], verdicts: Verdicts, instrument: Instrument
) -> QuestionSet:
    """A test set of recorded verdicts: one row a (review, finding), 1 where the rater found it in the review.

    A judge that repeats recorded verdicts is compared with the other raters, on its own extraction of the reviews.
    """
    known = {case.id: case for case in cases}
    own = instrument.plugin.rater if isinstance(instrument.plugin, Recorded) else None
    if own is not None and own not in raters:
        raise UserError(
            f"{label} has no verdicts by {own or 'an unnamed rater'!r}",
            remedy=f'recorded(rater="{raters[0]}"), of: {", ".join(raters)}',
        )
    items: list[Item] = []
    pairs: dict[tuple[str, str, str], Item] = {}
    for rater in raters:
        if rater == own:
            continue
        reviews, labels = verdicts(rater)
        items += _verdict_items(known, rater, reviews, labels)
        for pair in _verdict_pairs(known, rater, reviews, labels) if own is None else ():
            pairs.setdefault((pair.cluster, pair.ask.review.comments[0].id, pair.ask.case.references[0].id), pair)
    if own is not None:
        asks = _recorded_asks(known, own, *verdicts(own))
        items = [
            replace(item, ask=ask) for item in items if (ask := asks.get((item.ask.case.id, item.system))) is not None
        ]
    items.sort(key=lambda item: (item.rater, item.cluster, item.system))
    return QuestionSet("pairs", label, tuple(items), tuple(pairs.values()))


def _recorded_asks(
    cases: Mapping[str, Case], rater: str, reviews: Iterable[Review], labels: Sequence[Label]
) -> dict[tuple[str, str], Ask]:
    """The questions to a judge that repeats its verdicts, which are labels of the case, by case and system."""
    on: defaultdict[str, list[Label]] = defaultdict(list)
    for one in labels:
        on[one.subject.case].append(one)
    labelled = {name: case.model_copy(update={"labels": tuple(on[name])}) for name, case in cases.items()}
    items = _verdict_items(labelled, rater, reviews, labels)
    return {(item.ask.case.id, item.system): item.ask for item in items}


def _verdict_items(
    cases: Mapping[str, Case], rater: str, reviews: Iterable[Review], labels: Iterable[Label]
) -> list[Item]:
    """One item for each review with a verdict of the rater."""
    hit: defaultdict[tuple[str, str | None], set[str | None]] = defaultdict(set)
    for label in labels:
        found = hit[label.subject.case, label.subject.system]
        if label.dimension == SAME and label.value is True:
            found.add(label.subject.reference)
    return [
        Item(Ask(case, review), rater, tuple(float(r.id in credited) for r in case.references), case.id)
        for review in reviews
        if (case := cases.get(review.case)) is not None and case.references
        if (credited := hit.get((case.id, review.system))) is not None
    ]


def _verdict_pairs(
    cases: Mapping[str, Case], rater: str, reviews: Iterable[Review], labels: Sequence[Label]
) -> Iterator[Item]:
    """Single pairs: a credited one is a yes, a false comment with its nearest finding a no."""
    by_id = {(r.case, r.system, c.id): (r, c) for r in reviews for c in r.comments}
    for label in labels:
        subject = label.subject
        there = by_id.get((subject.case, str(subject.system), str(subject.comment)))
        case = cases.get(subject.case)
        if there is None or case is None or not case.references or label.value is not True:
            continue
        review, comment = there
        chosen: list[str] = []
        if label.dimension == SAME:
            chosen = [reference.id for reference in case.references if reference.id == subject.reference]
        elif label.dimension == FALSE:
            chosen = [max(case.references, key=lambda r: (dice(comment.body, r.body), r.id)).id]
        for reference in chosen:
            ask = single(case, review, comment.id, reference)
            yield Item(ask, rater, (float(label.dimension == SAME),), case.id)


def single(case: Case, review: Review, comment: str, reference: str) -> Ask:
    """The question about a single pair."""
    references = tuple(r.model_copy(update={"same_as": None}) for r in case.references if r.id == reference)
    narrow = case.model_copy(update={"references": references, "neutral": (), "rejected": (), "labels": ()})
    comments = tuple(c for c in review.comments if c.id == comment)
    return Ask(narrow, review.model_copy(update={"comments": comments}), ((0, 0),))


PairVerdicts = dict[tuple[str, str | None, str | None], float | None]
"""(dimension, comment, reference) -> 1 yes, 0 no, None evenly split."""


def pair_verdicts(labels: Iterable[Label]) -> dict[Key, PairVerdicts]:
    """What people say of the pairs, comments and findings of each review: by majority, or by consensus."""
    votes: defaultdict[Key, defaultdict[tuple[str, str | None, str | None], list[Label]]]
    votes = defaultdict(lambda: defaultdict(list))
    for one in labels:
        s = one.subject
        if one.rater_kind is RaterKind.HUMAN and one.dimension in (SAME, FALSE, MISSED) and s.system is not None:
            votes[s.case, s.system, s.attempt][one.dimension, s.comment, s.reference].append(one)
    return {key: {what: _majority(said) for what, said in own.items()} for key, own in votes.items()}


def _majority(labels: Sequence[Label]) -> float | None:
    agreed = [one for one in labels if one.consensus] or labels
    mean = sum(one.value is True or one.value in (1, "yes") for one in agreed) / len(agreed)
    return None if mean == 0.5 else float(mean > 0.5)


def pair_questions(judged: JudgedReviews) -> QuestionSet:
    """A test set of people's labels of pairs (`same_issue`): one row a pair, by majority."""
    left: Counter[str] = Counter()
    there = {(review.case, review.system, review.attempt): review for review in judged.reviews}
    known = {case.id: case for case in judged.cases}
    items, pairs = [], []
    for key, verdicts in sorted(pair_verdicts(judged.labels).items()):
        same = {(c, r): value for (dimension, c, r), value in verdicts.items() if dimension == SAME}
        review, case = there.get(key), known.get(key[0])
        if review is None or case is None:
            left["pairs of reviews that are not here"] += len(same)
            continue
        comment_at = {c.id: at for at, c in enumerate(review.comments)}
        reference_at = {r.id: at for at, r in enumerate(case.references)}
        rows, truth = [], []
        for (comment, reference), value in same.items():
            if value is None:
                left["pairs on which people are evenly split"] += 1
            elif comment in comment_at and reference in reference_at:
                rows.append((comment_at[comment], reference_at[reference]))
                truth.append(value)
                pairs.append(Item(single(case, review, comment, reference), PEOPLE, (value,), case.id))
        if rows:
            plain = case.model_copy(update={"labels": ()})
            items.append(Item(Ask(plain, review, tuple(rows)), PEOPLE, tuple(truth), case.id))
    if not items:
        raise UserError(
            f"{judged.name} has no labels of pairs by people",
            remedy="label pairs of a comment and a reference, 1 or 0, in the dimension same_issue",
        )
    return QuestionSet("pairs", judged.name, tuple(items), tuple(pairs), left_out=dict(left))


# --- grades --------------------------------------------------------------------------------------------------------


def grade_questions(judged: JudgedReviews, dimensions: Sequence[str]) -> QuestionSet:
    """A test set of people's grades, one row a review; cases with near-duplicate references are one cluster."""
    (human, *others), notes = judged.humans(dimensions)
    cases = {case.id: case.model_copy(update={"labels": ()}) for case in judged.cases}
    reviews = {(one.case, one.system, one.attempt): one for one in judged.reviews if one.case in cases}
    bench = ReviewTable.of(judged.cases, [one for one in judged.outcomes if one.case in cases], judged.people)
    left: Counter[str] = Counter()
    items = []
    for key, cluster in zip(bench.keys, bench.cluster.tolist(), strict=True):
        if key[1] in judged.people:
            left["written by people"] += 1
        elif key not in human.of:
            left["no grade by people"] += 1
        else:
            items.append(Item(Ask(cases[key[0]], reviews[key]), PEOPLE, (human.of[key],), str(cluster)))
    named = [f"{one.dimension} was left out: name it with --dimension" for one in others]
    return QuestionSet(
        "grades",
        judged.name,
        tuple(items),
        tuple(item for item in items if item.ask.review.comments),
        lowest=human.scale.low,
        left_out=dict(left),
        warnings=(*notes, *named),
    )


# --- authors and samples -------------------------------------------------------------------------------------------

Groups = dict[str, dict[tuple[str, int, str], list[Item]]]  # change -> questions that stay together
_MODEL = re.compile(r"""model=['"]([^'"]+)['"]""")


def families(reviews: Iterable[Review], named: Mapping[str, str] | None = None) -> dict[str, str]:
    """System -> family of the model behind it, where the user or the review names it."""
    found: dict[str, str] = {}
    for review in reviews:
        if review.system in found:
            continue
        authors = [c.author for c in review.comments if c.author and is_model(c.author)]
        if spec := _MODEL.search(review.system):
            authors.append(spec[1])
        if authors:
            found[review.system] = family(authors[0])
    return found | {system: family(model) for system, model in (named or {}).items()}


def drawn(items: Sequence[Item], rows: int | None, seed: int) -> tuple[list[Item], int]:
    """(items of about `rows` rows, the number of rows left out).

    Reviews stay whole, because comments are assigned within one, and all raters of a review go together. They are
    dealt from the changes in turn: intervals need many changes, also with few rows.
    """
    total = sum(len(item.truth) for item in items)
    if rows is None or rows >= total:
        return list(items), 0
    groups: Groups = defaultdict(dict)
    for item in items:
        key = (item.system, item.ask.review.attempt, item.ask.case.id)
        groups[item.cluster].setdefault(key, []).append(item)
    kept: set[int] = set()
    count = 0
    for together in _dealt(groups, seed):
        size = sum(len(item.truth) for item in together)
        if count and count + size > rows:
            continue
        kept.update(map(id, together))
        count += size
        if count >= rows:
            break
    return [item for item in items if id(item) in kept], total - count


def _dealt(groups: Groups, seed: int) -> Iterator[list[Item]]:
    """The groups of items in random order, one from each change in turn."""
    random = np.random.default_rng(seed)
    names, decks = sorted(groups), []
    for at in random.permutation(len(groups)):
        own = [items for _, items in sorted(groups[names[at]].items(), key=lambda group: group[0])]
        decks.append([own[place] for place in random.permutation(len(own))])
    yield from (items for turn in zip_longest(*decks) for items in turn if items)


def probe_items(questions: QuestionSet, count: int, seed: int) -> list[Item]:
    """`count` single questions dealt from the changes in turn, half of them with a high truth."""
    if not questions.pairs:
        return []
    truths = [item.truth[0] for item in questions.pairs]
    middle = float(np.median(truths)) if questions.kind == "grades" else 0.5
    high, low = ([item for item in questions.pairs if (item.truth[0] > middle) == above] for above in (True, False))
    first = _singly(high, max(count // 2, count - len(low)), seed)
    return [*first, *_singly(low, count - len(first), seed + 1)]


def _singly(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """`count` single questions, dealt from the changes in turn."""
    groups: Groups = defaultdict(dict)
    for at, item in enumerate(items):
        groups[item.cluster][item.system, at, ""] = [item]
    return [one for together in _dealt(groups, seed) for one in together][: max(0, count)]
