"""The test set of a judge: questions with the answers of reference raters, by change.

Questions come from recorded verdicts (Martian's three model judges), from people's labels of pairs, or from people's
grades of reviews. The judge never sees the labels, unless they are its own recorded verdicts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Instrument, PairInstrument
from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.judge_check import Kind
from reviewgauge.datasets.martian import FALSE, SAME
from reviewgauge.judges.recorded import Recorded
from reviewgauge.metrics.texts.text_metric import reference_texts
from reviewgauge.models.request.model_spec import family, is_model
from reviewgauge.models.text.lexical import dice

PEOPLE = "people"
Truth = float | None
Verdicts = Callable[[str], tuple[Sequence[Review], Sequence[Label]]]
"""Name of a recorded judge -> (the reviews that it extracted, its labels on them)."""


@dataclass(frozen=True)
class Item:
    """One question with the rater's answer to each of its rows: 1 yes, 0 no, or a grade."""

    ask: Ask
    rater: str
    truth: tuple[Truth, ...]
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
    own = None  # the rater whose recorded verdicts the judge repeats
    if isinstance(instrument, PairInstrument) and isinstance(instrument.judge, Recorded):
        own = instrument.judge.rater
    known = {case.id: case for case in cases}
    own_asks: dict[tuple[str, str], Ask] = {}
    if own is not None:
        if own not in raters:
            raise UserError(
                f"{label} has no verdicts by {own or 'an unnamed rater'!r}",
                remedy=f'recorded(rater="{raters[0]}"), of: {", ".join(raters)}',
            )
        reviews, own_labels = verdicts(own)
        for item in _verdict_items(known, own, reviews, own_labels):
            of_case = tuple(one for one in own_labels if one.subject.case == item.ask.case.id)
            case = item.ask.case.model_copy(update={"labels": of_case})
            own_asks[case.id, item.system] = Ask(case, item.ask.review)
    items: list[Item] = []
    pairs: dict[tuple[str, str, str], Item] = {}
    for rater in raters:
        if rater == own:
            continue
        reviews, labels = verdicts(rater)
        for item in _verdict_items(known, rater, reviews, labels):
            if own is None:
                items.append(item)
            elif (ask := own_asks.get((item.ask.case.id, item.system))) is not None:
                items.append(Item(ask, rater, item.truth, item.cluster))
        if own is None:
            for pair in _verdict_pairs(known, rater, reviews, labels):
                pairs.setdefault((pair.cluster, pair.ask.review.comments[0].id, pair.ask.case.references[0].id), pair)
    items.sort(key=lambda item: (item.rater, item.cluster, item.system))
    return QuestionSet("pairs", label, tuple(items), tuple(pairs.values()))


def _verdict_items(
    cases: Mapping[str, Case], rater: str, reviews: Iterable[Review], labels: Iterable[Label]
) -> list[Item]:
    """One item for each review with a verdict of the rater."""
    hit: defaultdict[tuple[str, str | None], set[str]] = defaultdict(set)
    for label in labels:
        key = (label.subject.case, label.subject.system)
        hit[key]
        if label.dimension == SAME and label.value is True and label.subject.reference is not None:
            hit[key].add(label.subject.reference)
    return [
        Item(Ask(case, review), rater, tuple(float(r.id in credited) for r in case.references), case.id)
        for review in reviews
        if (case := cases.get(review.case)) is not None and case.references
        if (credited := hit.get((case.id, review.system))) is not None
    ]


def _verdict_pairs(
    cases: Mapping[str, Case], rater: str, reviews: Iterable[Review], labels: Sequence[Label]
) -> list[Item]:
    """Single pairs: a credited one is a yes, a false comment with its nearest finding a no."""
    by_id = {(r.case, r.system, c.id): (r, c) for r in reviews for c in r.comments}
    found = []
    for label in labels:
        subject = label.subject
        there = by_id.get((subject.case, str(subject.system), str(subject.comment)))
        case = cases.get(subject.case)
        if there is None or case is None or not case.references:
            continue
        review, comment = there
        if label.dimension == SAME and label.value is True:
            chosen = [reference for reference in case.references if reference.id == subject.reference]
        elif label.dimension == FALSE and label.value is True:
            chosen = [max(case.references, key=lambda r: (dice(comment.body, r.body), r.id))]
        else:
            continue
        for reference in chosen:
            ask = single(case, review, comment.id, reference.id)
            found.append(Item(ask, rater, (float(label.dimension == SAME),), case.id))
    return found


def single(case: Case, review: Review, comment: str, reference: str) -> Ask:
    """The question about a single pair."""
    references = tuple(r.model_copy(update={"same_as": None}) for r in case.references if r.id == reference)
    narrow = case.model_copy(update={"references": references, "neutral": (), "rejected": (), "labels": ()})
    comments = tuple(c for c in review.comments if c.id == comment)
    return Ask(narrow, review.model_copy(update={"comments": comments}), ((0, 0),))


def pair_questions(judged: JudgedReviews) -> QuestionSet:
    """A test set of people's labels of pairs (`same_issue`): one row a pair, by majority."""
    votes: defaultdict[tuple[str, str, int, str, str], list[Label]] = defaultdict(list)
    left: Counter[str] = Counter()
    there = {(review.case, review.system, review.attempt): review for review in judged.reviews}
    known = {case.id: case for case in judged.cases}
    for one in judged.labels:
        s = one.subject
        if one.dimension != SAME or s.kind is not SubjectKind.PAIR or one.rater_kind is not RaterKind.HUMAN:
            left["labels that are not people's same_issue on a pair"] += 1
        elif s.system is None or (s.case, s.system, s.attempt) not in there or s.case not in known:
            left["labels on reviews that are not here"] += 1
        else:
            votes[s.case, s.system, s.attempt, str(s.comment), str(s.reference)].append(one)
    by_review: defaultdict[tuple[str, str, int], list[tuple[str, str, float]]] = defaultdict(list)
    for (case_id, system, attempt, comment, reference), own in votes.items():
        mean = majority(own)
        if mean is None:
            left["pairs on which people are evenly split"] += 1
        else:
            by_review[case_id, system, attempt].append((comment, reference, mean))
    items, pairs = [], []
    for key, rows in sorted(by_review.items()):
        case, review = known[key[0]], there[key]
        comment_at = {c.id: at for at, c in enumerate(review.comments)}
        reference_at = {r.id: at for at, r in enumerate(case.references)}
        own_rows = [row for row in rows if row[0] in comment_at and row[1] in reference_at]
        if not own_rows:
            continue
        places = tuple((comment_at[c], reference_at[r]) for c, r, _ in own_rows)
        plain = case.model_copy(update={"labels": ()})
        items.append(Item(Ask(plain, review, places), PEOPLE, tuple(v for *_, v in own_rows), case.id))
        pairs += [Item(single(case, review, c, r), PEOPLE, (v,), case.id) for c, r, v in own_rows]
    if not items:
        raise UserError(
            f"{judged.name} has no labels of pairs by people",
            remedy="label pairs of a comment and a reference, 1 or 0, in the dimension same_issue",
        )
    return QuestionSet("pairs", judged.name, tuple(items), tuple(pairs), left_out=dict(left))


def majority(labels: Sequence[Label]) -> float | None:
    """1 or 0 by majority, or by consensus where there is one; None for a tie."""
    agreed = [one for one in labels if one.consensus] or list(labels)
    mean = sum(one.value is True or one.value in (1, "yes") for one in agreed) / len(agreed)
    return None if mean == 0.5 else float(mean > 0.5)


# --- grades --------------------------------------------------------------------------------------------------------


def grade_questions(judged: JudgedReviews) -> QuestionSet:
    """A test set of people's grades, one row a review; cases with near-duplicate references are one cluster."""
    found, notes = human_values(judged.labels, judged.scales)
    chosen = [one for one in found if judged.dimension in ("", one.dimension)]
    if not chosen:
        known = ", ".join(one.dimension for one in found) or "none"
        asked = f" in {judged.dimension!r}" if judged.dimension else ""
        raise UserError(f"{judged.name} holds no grades by people{asked}", remedy=f"there are: {known}")
    human = chosen[0]
    known_cases = {case.id: case for case in judged.cases}
    texts = ["" if isinstance(t := reference_texts(case), str) else "\n".join(t) for case in judged.cases]
    group = dict(zip([case.id for case in judged.cases], duplicate_groups(texts).tolist(), strict=True))
    items = []
    left: Counter[str] = Counter()
    for review in sorted(judged.reviews, key=lambda r: (r.case, r.system, r.attempt)):
        grade = human.of.get((review.case, review.system, review.attempt))
        if review.system in judged.people:
            left["written by people"] += 1
        elif grade is None or review.case not in known_cases:
            left["no grade by people"] += 1
        else:
            case = known_cases[review.case].model_copy(update={"labels": ()})
            items.append(Item(Ask(case, review), PEOPLE, (grade,), str(group[review.case])))
    others = [f"{one.dimension} was left out: name it with --dimension" for one in chosen[1:]]
    return QuestionSet(
        "grades",
        judged.name,
        tuple(items),
        tuple(item for item in items if item.ask.review.comments),
        lowest=human.scale.low,
        left_out=dict(left),
        warnings=(*notes, *others),
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
        spec = _MODEL.search(review.system)
        if authors:
            found[review.system] = family(authors[0])
        elif spec is not None:
            found[review.system] = family(spec[1])
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
    kept: list[Item] = []
    count = 0
    for together in _dealt(groups, seed):
        size = sum(len(item.truth) for item in together)
        if count and count + size > rows:
            continue
        kept += together
        count += size
        if count >= rows:
            break
    ids = {id(item) for item in kept}
    return [item for item in items if id(item) in ids], total - count


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
    truths = [(item, item.truth[0]) for item in questions.pairs if item.truth[0] is not None]
    if not truths:
        return []
    middle = float(np.median([truth for _, truth in truths])) if questions.kind == "grades" else 0.5
    high, low = ([item for item, truth in truths if (truth > middle) == above] for above in (True, False))
    half = max(count // 2, count - len(low))
    first = _singly(high, half, seed)
    return [*first, *_singly(low, count - len(first), seed + 1)]


def _singly(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """`count` single questions, dealt from the changes in turn."""
    groups: Groups = defaultdict(dict)
    for at, item in enumerate(items):
        groups[item.cluster][item.system, at, ""] = [item]
    return [one for together in _dealt(groups, seed) for one in together][: max(0, count)]
