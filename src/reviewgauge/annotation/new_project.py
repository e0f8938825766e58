"""A new project, from items and the labels that they have already.

Items whose right answers are known from labels: some of them teach, the others look like any item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from reviewgauge.annotation.items import Item, ProjectData
from reviewgauge.annotation.label_import import Places, store_labels
from reviewgauge.annotation.schemas.schema import Answer, Gold, Schema, check_answers
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DISCUSSION, EXPERT, INDEPENDENT
from reviewgauge.annotation.store.projects import create_project
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.reports.annotation import AnnotateResult
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.views.changes.code import texts_of

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
    gold_at = {now: gold[at] for now, at in enumerate(order) if at in gold}
    return _of_items(data, order).model_copy(update={"gold": gold_at, "training": taught})


def make_project(
    database: str | Path,
    schema: Schema,
    data: ProjectData,
    labels: Sequence[Label],
    *,
    project: str = "main",
    raters: int | None = None,
    batch: int | None = None,
    limit: int | None = None,
    repo: str | Path | None = None,
    gold: str | Path | None = None,
    training: int | None = None,
    pilot: int = 0,
) -> AnnotateResult:
    """Make a project of these items; with labels, of at most `limit` that they judge. Raises UserError."""
    if training is not None and gold is None:
        raise UserError("a training needs items whose right answers are known", remedy="--gold names their labels")
    if labels and (gold or pilot):
        raise UserError("a project of judgements that were made takes neither gold items nor a pilot")
    if batch is not None:
        schema = schema.model_copy(update={"batch": batch})
    left_out: Counter[str] = Counter()
    if labels:
        data, labels, left_out = _judged(schema, data, labels, limit, raters)
    if gold is not None:
        known = right_answers(schema, data.items, read_label_file(Path(gold)).labels)
        data = with_gold(data, known, training=training, limit=limit)
    if pilot and pilot >= (rest := len(data.items) - data.training):
        raise UserError(f"a pilot of {pilot:,} items leaves none of {rest:,}", remedy="choose fewer")
    more = {} if repo is None else {"texts": texts_of(data.changes, repo)}
    data = data.model_copy(update={"pilot": pilot, **more})
    with Database.open(database, create=True) as opened:
        made = create_project(opened, project, schema, data, raters=raters)
        stored = store_labels(opened, made, labels, "recorded labels") if labels else None
    did = f"{len(data.items):,} items of {len(data.changes):,} changes"
    if stored is not None:
        people = len({label.rater for label in labels})
        did += f", with {stored.judgements:,} judgements of {people} rater{'s' * (people != 1)}"
    else:
        did += f", for {made.raters} rater{'s' * (made.raters != 1)} each"
        did += " (--raters 1 for you alone)" if made.raters > 1 and raters is None else ""
    if gold is not None:
        mixed = len(data.gold) - data.training
        did += f"; {data.training:,} teach every rater, {mixed:,} with a known answer are mixed in"
    notes = tuple(f"{number:,} labels are left out: {why}" for why, number in left_out.most_common())
    return AnnotateResult(did=did, count=len(data.items), notes=notes)


def _judged(
    schema: Schema, data: ProjectData, labels: Sequence[Label], limit: int | None, raters: int | None
) -> tuple[ProjectData, list[Label], Counter[str]]:
    """The items that labels judge, in the batches that these name; the labels of them; and those left out."""
    places = Places(schema, enumerate(data.items))
    why = [places.why_not(label) for label in labels]
    left_out = Counter(filter(None, why))
    kept = [(places.find(label)[0], label) for label, reason in zip(labels, why, strict=True) if not reason]
    if not kept:
        whys = "; ".join(f"{why} ({count:,})" for why, count in left_out.most_common(3)) or "there are none"
        raise UserError(f"no label answers a question of the schema {schema.name!r}: {whys}")
    batch_of: dict[int, str] = {}
    judges: dict[int, set[str]] = {}
    for item, label in kept:
        batch_of[item] = batch_of.get(item) or label.batch or ""
        judges.setdefault(item, set()).update(() if label.consensus else (label.rater,))
    rank = {name: at for at, name in enumerate(dict.fromkeys(filter(None, batch_of.values())))}
    order = sorted(batch_of, key=lambda item: (rank.get(batch_of[item], len(rank)), item))[:limit]
    sizes = Counter(batch_of[item] for item in order)
    rest = sizes.pop("", 0)
    batches = [*sizes.items(), *(("", min(schema.batch, rest - at)) for at in range(0, rest, schema.batch))]
    found = _of_items(data, order).model_copy(
        update={
            "batches": tuple(batches),
            "places": {} if raters else {number: len(judges[item]) for number, item in enumerate(order)},
        }
    )
    chosen = set(order)
    return found, [_as_judgement(label) for item, label in kept if item in chosen], left_out


def _as_judgement(label: Label) -> Label:
    """A recorded label as one of a project's rounds."""
    if label.consensus:
        return label.model_copy(update={"round": DISCUSSION, "written_by": label.written_by or label.rater})
    return label.model_copy(update={"round": INDEPENDENT})


def _of_items(data: ProjectData, order: Sequence[int]) -> ProjectData:
    """Some of the items, in this order, with their changes."""
    items = tuple(data.items[at] for at in order)
    wanted = {item.subject.case for item in items}
    return data.model_copy(
        update={
            "items": items,
            "changes": {case: change for case, change in data.changes.items() if case in wanted},
            "texts": {case: texts for case, texts in data.texts.items() if case in wanted},
        }
    )
