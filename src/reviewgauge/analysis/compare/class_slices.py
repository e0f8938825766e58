"""The slices `classified:category` and the like: scores cut by the classes that `classify` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import Case
from reviewgauge.core.results import Score
from reviewgauge.core.specs import plugin_name, short_spec
from reviewgauge.engine.classify import FAKE
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.classes.change_types import TYPES, change_type
from reviewgauge.judges.classes.classes import QUESTIONS
from reviewgauge.metrics.matching.comment_facets import Facet, both_parts, comment_parts, finding_parts

OF_COMMENTS, OF_REFERENCES, OF_BOTH = "classified", "classified_references", "classified_both"
_DIMENSIONS = {name: question.dimension for what, question in QUESTIONS.items() for name in (what, question.dimension)}
_OF_CHANGES = {question.dimension for question in QUESTIONS.values() if question.of_changes}


def add_class_slices(run: ScoredRun, slices: Sequence[str]) -> ScoredRun:
    """`run` with a facet or a fact for each slice named `classified:WHAT` or `classified:WHAT:RATER`.

    `classified:` slices comments, for precision, and changes. `classified_references:` slices findings, for recall; a
    finding without a label counts under what the data states. `classified_both:` slices comments by a model's labels
    and findings by what the data states, for precision, recall and F1 of a class. Raises UserError where nothing was
    classified that way, or by several models and none is named.
    """
    for name in dict.fromkeys(slices):
        kind, colon, rest = name.partition(":")
        if not colon or kind not in (OF_COMMENTS, OF_REFERENCES, OF_BOTH):
            continue
        what, _, rater = rest.partition(":")
        dimension = _DIMENSIONS.get(what)
        if dimension is None or (dimension in _OF_CHANGES and kind != OF_COMMENTS):
            raise UserError(f"there is no slice {name!r}", remedy=f"{kind}: and one of {', '.join(QUESTIONS)}")
        chosen = _choose_labels(run, name, dimension, rater, references=kind == OF_REFERENCES)
        if dimension in _OF_CHANGES:
            run = _slice_changes(run, chosen, name)
        elif plugin_name(run.metric) != "hits":
            raise UserError(
                f"{short_spec(run.metric)} cannot be sliced by {name}", remedy="hits can: it keeps who matched whom"
            )
        elif kind == OF_REFERENCES:
            run = _slice_findings(run, chosen, name, dimension)
        else:
            stated = _same_classes(run, dimension, chosen[0].rater) if kind == OF_BOTH else None
            run = _slice_comments(run, chosen, name, stated)
    return run


def _choose_labels(run: ScoredRun, name: str, dimension: str, rater: str, *, references: bool) -> list[Label]:
    """The labels that a slice means, in the order in which they were given: of two on one subject the later counts."""
    kind = SubjectKind.CHANGE if dimension in _OF_CHANGES else SubjectKind.COMMENT
    labels = [
        label
        for label in run.labels
        if label.dimension == dimension
        and label.rater_kind is RaterKind.MODEL
        and label.subject.kind is kind
        and (label.subject.reference is not None) == references
    ]
    raters = sorted({label.rater for label in labels})
    if not rater and len(raters) > 1:
        raise UserError(f"{name} was classified by {', '.join(raters)}", remedy=f"name one: {name}:{raters[0]}")
    chosen = [label for label in labels if not rater or label.rater == rater]
    if not chosen:
        what = next(what for what, question in QUESTIONS.items() if question.dimension == dimension)
        of = " --of references" if references else ""
        by = f" by {rater}" if rater else ""
        raise UserError(
            f"{name}: nothing was classified so{by} yet", remedy=f"reviewgauge classify RUN MODEL --what {what}{of}"
        )
    return chosen


def _slice_changes(run: ScoredRun, labels: Sequence[Label], name: str) -> ScoredRun:
    values = {label.subject.case: str(label.value) for label in labels}
    fake = {label.subject.case for label in labels if _is_fake(label)}
    cases = [
        case.model_copy(update={"facts": {**case.facts, name: values[case.id]}}) if case.id in values else case
        for case in run.cases
    ]
    return replace(run, scores=[_mark_fake(score, score.case in fake) for score in run.scores], cases=cases)


def _slice_comments(
    run: ScoredRun, labels: Sequence[Label], name: str, stated: Mapping[str, Mapping[str, str]] | None
) -> ScoredRun:
    """By the labels of the comments; with `stated`, the classes of the findings by case and id, by both."""
    classes: dict[tuple[str, str, int], dict[str, str]] = {}
    fake: set[tuple[str, str, int]] = set()
    for label in labels:
        subject = label.subject
        key = (subject.case, subject.system or "", subject.attempt)
        classes.setdefault(key, {})[subject.comment or ""] = str(label.value)
        if _is_fake(label):
            fake.add(key)
    found = []
    for score in run.scores:
        key = (score.case, score.system, score.attempt)
        facet: Facet | None = None
        if score.matching is not None:
            facet = comment_parts(score.matching, classes.get(key, {}), getattr(run.metric, "duplicates", "apart"))
            if stated is not None:
                facet = both_parts(facet, finding_parts(score.matching, stated.get(score.case, {})))
        found.append(_mark_fake(_add_facet(score, name, facet), key in fake))
    return replace(run, scores=found)


def _slice_findings(run: ScoredRun, labels: Sequence[Label], name: str, dimension: str) -> ScoredRun:
    values = {case.id: _stated_classes(case, dimension) for case in run.cases}
    fake = {label.subject.case for label in labels if _is_fake(label)}
    for label in labels:
        values.setdefault(label.subject.case, {})[label.subject.reference or ""] = str(label.value)
    found = []
    for score in run.scores:
        facet = None if score.matching is None else finding_parts(score.matching, values.get(score.case, {}))
        found.append(_mark_fake(_add_facet(score, name, facet), score.case in fake))
    return replace(run, scores=found)


def _add_facet(score: Score, name: str, facet: Facet | None) -> Score:
    return score if facet is None else score.model_copy(update={"facets": {**score.facets, name: facet}})


def _stated_classes(case: Case, dimension: str) -> dict[str, str]:
    """The classes that the data states for the references, by id; a type of change by the name of its class."""
    found: dict[str, str] = {}
    for reference in case.references:
        value = reference.needs if dimension == "needs" else reference.category
        if dimension == "swr_type":
            code = change_type(value)
            value = f"{code} {TYPES[code].name}" if code else None
        if value is not None:
            found[reference.id] = str(value)
    return found


def _same_classes(run: ScoredRun, dimension: str, rater: str) -> dict[str, dict[str, str]]:
    """The class of each reference by case and id: the data's word where it is one of the classes, else the model's.

    Where neither is one, the data's own word.
    """
    classes = next(set(q.options.values()) for q in QUESTIONS.values() if q.dimension == dimension)
    found = {case.id: _stated_classes(case, dimension) for case in run.cases}
    for label in run.labels:
        subject = label.subject
        if label.dimension == dimension and label.rater == rater and subject.reference is not None:
            own = found.setdefault(subject.case, {})
            if own.get(subject.reference) not in classes:
                own[subject.reference] = str(label.value)
    return found


def _is_fake(label: Label) -> bool:
    return (label.batch or "").startswith(FAKE)


def _mark_fake(score: Score, fake: bool) -> Score:
    return score.model_copy(update={"fake": True}) if fake and not score.fake else score
