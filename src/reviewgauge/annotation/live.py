"""Agreement while the work goes on: of batches that are over, so that who judges stays blind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from statistics import median

from reviewgauge.analysis.outlying_raters import advice, differences, rater_agreement
from reviewgauge.analysis.raters import AgreementSettings, agreement_report
from reviewgauge.annotation.items import Item
from reviewgauge.annotation.labels import labels_of, project_items, scales_of
from reviewgauge.annotation.schemas.schema import ITEM, Gold, Schema, disagree
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, account_names
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import Judgement, all_gold
from reviewgauge.annotation.store.projects import Project
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject
from reviewgauge.core.reports.agreement import DimensionAgreement
from reviewgauge.core.reports.annotation import (
    Difference,
    LiveAgreement,
    RaterAgreement,
    RaterWork,
)

RESAMPLES = 200  # behind an interval: enough to watch, and quick
BLIND = "Agreement is shown when the first batch is over: until then owners who judge stay blind."


def live_agreement(database: Database, project: Project, reader: Account | None) -> LiveAgreement:
    """Everything about agreement. `reader` is an owner, or None: the command line. Raises NotYours."""
    schema = project.schema_
    labels = labels_of(database, project, reader, over=True)
    with database.reading() as connection:
        gold = all_gold(connection, reader, project.id)
        items = {id_: item for id_, item, _ in project_items(connection, project.id)}
        trained = votes.trained(connection, reader, project.id)
        names = account_names(connection)
    own = [label for label in labels if not label.consensus]
    work = _work(schema, own, trained, gold, names)
    if not labels:
        return LiveAgreement(why=BLIND, work=work)
    scales, settings = scales_of(schema), AgreementSettings(resamples=RESAMPLES)
    try:
        report = agreement_report(labels, source=project.name, scales=scales, settings=settings)
    except UserError as error:
        return LiveAgreement(why=str(error), work=work)
    right = _right(schema, gold, items)
    raters: list[RaterAgreement] = []
    differing: list[Difference] = []
    for question in schema.questions:
        name = question.dimension
        if question.counts and (group := [label for label in own if label.dimension == name]):
            known, near = right.get(name, {}), question.tolerance
            raters += rater_agreement(group, known, scale=scales.get(name), tolerance=near, resamples=RESAMPLES)
            differing += differences(group)
    return LiveAgreement(
        report=report,
        languages=dict(_languages(schema, own, items.values(), settings)),
        raters=tuple(raters),
        work=work,
        differences=tuple(differing),
        advice=tuple(advice(raters)),
    )


def _right(schema: Schema, gold: Mapping[int, Gold], items: Mapping[int, Item]) -> dict[str, dict[Subject, Fact]]:
    """The known answers by dimension and by what they are about, as labels say them."""
    found: dict[str, dict[Subject, Fact]] = {}
    for id_, known in gold.items():
        for answer in known.answers:
            question = schema.question(answer.dimension)
            subject = items[id_].subject if answer.part == ITEM else items[id_].parts[answer.part]
            if question is not None:
                found.setdefault(answer.dimension, {})[subject] = question.label_value(answer.value)
    return found


def _languages(
    schema: Schema, labels: Sequence[Label], items: Iterable[Item], settings: AgreementSettings
) -> Iterable[tuple[str, tuple[DimensionAgreement, ...]]]:
    """The agreement in each language, where there are several."""
    language_of = {item.subject.case: item.language or "other" for item in items}
    groups: dict[str, list[Label]] = {}
    for label in labels:
        groups.setdefault(language_of[label.subject.case], []).append(label)
    for language, group in sorted(groups.items()) if len(groups) > 1 else ():
        with suppress(UserError):  # nothing in it can be compared
            yield (
                language,
                agreement_report(group, source=language, scales=scales_of(schema), settings=settings).dimensions,
            )


def _work(
    schema: Schema,
    labels: Sequence[Label],
    trained: Sequence[Judgement],
    gold: Mapping[int, Gold],
    names: Mapping[int, str],
) -> tuple[RaterWork, ...]:
    """What each rater did: judgements of batches that are over, their seconds, and the training."""
    seconds: dict[str, dict[tuple[object, ...], float | None]] = {}
    for label in labels:
        subject = label.subject
        judgement = (subject.case, subject.system, subject.attempt, label.at)
        seconds.setdefault(label.rater, {})[judgement] = label.seconds
    tries: dict[str, list[bool]] = {}
    for one in trained:
        known = {(answer.part, answer.dimension) for answer in gold[one.item].answers}
        mine = [answer for answer in one.answers if (answer.part, answer.dimension) in known]
        tries.setdefault(names[one.rater], []).append(not disagree(schema, [gold[one.item].answers, mine]))
    found = []
    for name in sorted({*seconds, *tries}):
        taken = [one for one in seconds.get(name, {}).values() if one is not None]
        results = tries.get(name, [])
        done = {"judgements": len(seconds.get(name, {})), "trained": len(results), "trained_right": sum(results)}
        found.append(RaterWork(rater=name, seconds=median(taken) if taken else None, **done))
    return tuple(found)
