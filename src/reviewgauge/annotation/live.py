"""Agreement while the work goes on: of batches that are over, so that who judges stays blind; and when it will end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from reviewgauge.analysis.outlying_raters import advice, differences, rater_agreement
from reviewgauge.analysis.raters import AgreementSettings, agreement_report
from reviewgauge.annotation.items import Item
from reviewgauge.annotation.labels import labels_of, project_items, scales_of
from reviewgauge.annotation.schemas.schema import ITEM, Gold, Schema, disagree
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, account_names
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.gold import all_gold
from reviewgauge.annotation.store.judgements import Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject
from reviewgauge.core.reports.annotation import (
    Forecast,
    LanguageAgreement,
    LiveAgreement,
    ProjectStatus,
    RaterAgreement,
    RaterWork,
)

MOST_RATERS = 100  # of which each is compared with the others
RESAMPLES = 200  # behind an interval: enough to watch, and quick
DAY = 86_400.0
WINDOW = 7 * DAY  # the pace is that of so long
FEW, SHORT = 5, 600.0  # judgements, and seconds, below which there is no pace
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
    own = sorted((label for label in labels if not label.consensus), key=lambda label: label.at or 0.0)
    everybody = _work(schema, own, trained, gold, names)
    busiest = {one.rater for one in sorted(everybody, key=lambda one: -one.judgements)[:MOST_RATERS]}
    work = tuple(one for one in everybody if one.rater in busiest)
    not_shown = len(everybody) - len(work)
    if not labels:
        return LiveAgreement(why=BLIND, work=work, not_shown=not_shown)
    settings = AgreementSettings(resamples=RESAMPLES)
    try:
        report = agreement_report(labels, source=project.name, scales=scales_of(schema), settings=settings)
    except UserError as error:
        return LiveAgreement(why=str(error), work=work, not_shown=not_shown)
    counted = {question.dimension: question for question in schema.questions if question.counts}
    by_dimension: dict[str, list[Label]] = {}
    for label in own:
        if label.dimension in counted and label.rater in busiest:
            by_dimension.setdefault(label.dimension, []).append(label)
    right = _right(schema, gold, items)
    raters: list[RaterAgreement] = []
    for name, group in by_dimension.items():
        scale, near = scales_of(schema).get(name), counted[name].tolerance
        raters += rater_agreement(group, right.get(name, {}), scale=scale, tolerance=near, resamples=RESAMPLES)
    return LiveAgreement(
        report=report,
        languages=tuple(_languages(schema, own, items.values(), settings)),
        raters=tuple(raters),
        work=work,
        not_shown=not_shown,
        differences=tuple(one for group in by_dimension.values() for one in differences(group)),
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
) -> Iterable[LanguageAgreement]:
    """The agreement in each language, where there are several."""
    language_of = {item.subject.case: item.language or "other" for item in items}
    groups: dict[str, list[Label]] = {}
    for label in labels:
        groups.setdefault(language_of[label.subject.case], []).append(label)
    for language, group in sorted(groups.items()) if len(groups) > 1 else ():
        try:
            report = agreement_report(group, source=language, scales=scales_of(schema), settings=settings)
        except UserError:  # nothing in it can be compared
            continue
        for one in report.dimensions:
            if one.judged_twice:
                kept = {"language": language, "dimension": one.dimension, "items": one.judged_twice}
                yield LanguageAgreement(**kept, coefficients=one.coefficients)


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


def forecast(database: Database, project: Project, progress: ProjectStatus) -> Forecast | None:
    """When all independent judgements are made at the present pace; None where there is none yet, or nothing left."""
    now = database.clock()
    with database.reading() as connection:
        at = [one for one in votes.times(connection, project.id) if one > now - WINDOW]
    left = sum(batch.wanted - batch.judgements for batch in progress.batches if not batch.over)
    if not left or len(at) < FEW or now - at[0] < SHORT:
        return None
    days = (now - at[0]) / DAY
    pace = len(at) / days
    span = f"{days:.1f} days" if days >= 1 else f"{days * 24:.1f} hours"
    basis = f"{len(at):,} judgements in the last {span}, nights and breaks included"
    return Forecast(left=left, per_day=pace, ends=now + left / pace * DAY, basis=basis)
