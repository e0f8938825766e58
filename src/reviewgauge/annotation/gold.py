"""Items whose right answers are known from labels: some of them teach, the others look like any item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reviewgauge.annotation.items import Item, ProjectData
from reviewgauge.annotation.label_import import Places
from reviewgauge.annotation.schemas.schema import Answer, Gold, Schema, check_answers
from reviewgauge.annotation.store.judgements import EXPERT
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label

MOST_TRAINING = 5  # items that every rater is taught by, where nobody says how many


def right_answers(schema: Schema, items: Sequence[Item], labels: Iterable[Label]) -> dict[int, Gold]:
    """What labels say of items, by their place; those of an expert count before a consensus, and that before others.

    Where raters differ and nobody decided, nothing is known. Raises UserError where no item is left.
    """
    places = Places(schema, enumerate(items))
    by_item: dict[int, list[Label]] = {}
    reasons: dict[str, None] = {}
    for label in labels:
        if why := places.why_not(label):
            reasons[why] = None
        else:
            by_item.setdefault(places.find(label)[0], []).append(label)
    found = {at: gold for at, own in by_item.items() if (gold := _gold(places, items[at], own)) is not None}
    if not found:
        why = "raters differ in all of them" if by_item else f"they are {', '.join(list(reasons)[:3]) or 'empty'}"
        raise UserError(f"no item of the project has a right answer in these labels: {why}")
    return found


def _gold(places: Places, item: Item, labels: Sequence[Label]) -> Gold | None:
    best = max(map(_rank, labels))
    used = [label for label in labels if _rank(label) == best]
    by_rater: dict[str, list[Answer]] = {}
    for label in used:
        by_rater.setdefault(label.rater, []).append(places.answer(label))
    first, *others = by_rater.values()
    agreed = [answer for answer in first if all(answer in other for other in others)]
    questions = (places.schema.question(answer.dimension) for answer in agreed)
    if not any(question is not None and question.counts for question in questions):
        return None
    reason = next((label.reason for label in used if label.reason and places.says_why(label)), "")
    return Gold(answers=check_answers(places.schema, agreed, item.kinds, whole=False), reason=reason)


def _rank(label: Label) -> int:
    return label.consensus + (label.consensus and label.round == EXPERT)


def with_gold(data: ProjectData, gold: Mapping[int, Gold], *, training: int | None, limit: int | None) -> ProjectData:
    """The items of the training first, then the others in their order; at most `limit` of those without an answer.

    `training` is how many teach; by default half of those that are known, up to 5. Raises UserError.
    """
    known = [at for at in range(len(data.items)) if at in gold]
    taught = min(MOST_TRAINING, len(known) // 2) if training is None else training
    if taught > len(known):
        raise UserError(f"there are {len(known):,} items with a right answer, and the training needs {taught:,}")
    without = [at for at in range(len(data.items)) if at not in gold][:limit]
    order = [*known[:taught], *sorted([*known[taught:], *without])]
    if len(order) == taught:
        raise UserError("the training takes all items: none is left to judge")
    items = tuple(data.items[at] for at in order)
    wanted = {item.subject.case for item in items}
    return data.model_copy(
        update={
            "items": items,
            "changes": {case: change for case, change in data.changes.items() if case in wanted},
            "gold": {now: gold[at] for now, at in enumerate(order) if at in gold},
            "training": taught,
        }
    )


def with_pilot(data: ProjectData, size: int) -> ProjectData:
    """The same items, of which the first `size` behind the training are the pilot. Raises UserError."""
    if size and size >= (rest := len(data.items) - data.training):
        raise UserError(f"a pilot of {size:,} items leaves none of {rest:,}", remedy="choose fewer")
    return data.model_copy(update={"pilot": size})
