"""The slices `classified:category` and the like: stored scores cut by the classes that `classify` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.plugin import plugin_name, short_spec
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.results import Score
from reviewgauge.engine.classify import FAKE
from reviewgauge.judges.classes.change_types import TYPES, change_type
from reviewgauge.judges.classes.classes import QUESTIONS
from reviewgauge.metrics.matching.comment_facets import Facet, both_parts, comment_parts, finding_parts

OF_COMMENTS, OF_REFERENCES, OF_BOTH = "classified", "classified_references", "classified_both"
_DIMENSIONS = {name: question.dimension for what, question in QUESTIONS.items() for name in (what, question.dimension)}
_OF_CHANGES = {question.dimension for question in QUESTIONS.values() if question.of_changes}


class Sliceable(NamedTuple):
    """Scores and cases that can be sliced by the names asked for."""

    scores: Sequence[Score]
    cases: Sequence[Case]


def classified(
    scores: Sequence[Score], cases: Sequence[Case], labels: Sequence[Label], metric: Metric, slices: Sequence[str]
) -> Sliceable:
    """`scores` and `cases` with a facet or a fact for each slice named `classified:WHAT` or `classified:WHAT:RATER`.

    `classified:` slices the comments, for precision, and the changes; `classified_references:` the findings, for
    recall, where what the data states of a finding without a label counts; `classified_both:` comments by a model's
    label beside findings by what the data states in the same words, for precision, recall and F1 of a kind. Raises
    UserError where nothing was classified so, or by several models and none is named.
    """
    for name in dict.fromkeys(slices):
        kind, colon, rest = name.partition(":")
        if colon and kind in (OF_COMMENTS, OF_REFERENCES, OF_BOTH):
            what, _, rater = rest.partition(":")
            dimension = _DIMENSIONS.get(what)
            if dimension is None or (dimension in _OF_CHANGES and kind != OF_COMMENTS):
                raise UserError(f"there is no slice {name!r}", remedy=f"{kind}: and one of {', '.join(QUESTIONS)}")
            mine = _chosen(name, labels, dimension, rater, references=kind == OF_REFERENCES)
            if dimension in _OF_CHANGES:
                scores, cases = _by_change(scores, cases, mine, name)
            elif plugin_name(metric) != "hits":
                raise UserError(
                    f"{short_spec(metric)} cannot be sliced by {name}", remedy="hits can: it keeps who matched whom"
                )
            elif kind == OF_REFERENCES:
                scores = _by_finding(scores, cases, mine, name, dimension)
            else:
                rater = mine[0].rater
                stated = _in_the_same_words(cases, labels, dimension, rater) if kind == OF_BOTH else None
                scores = _by_comment(scores, mine, name, getattr(metric, "duplicates", "apart"), stated)
    return Sliceable(scores, cases)


def _chosen(name: str, labels: Sequence[Label], dimension: str, rater: str, *, references: bool) -> list[Label]:
    """The labels that a slice means, in the order in which they were given: of two on one subject the later counts."""
    kind = SubjectKind.CHANGE if dimension in _OF_CHANGES else SubjectKind.COMMENT
    mine = [
        label
        for label in labels
        if label.dimension == dimension
        and label.rater_kind is RaterKind.MODEL
        and label.subject.kind is kind
        and (label.subject.reference is not None) == references
    ]
    raters = sorted({label.rater for label in mine})
    if not rater and len(raters) > 1:
        raise UserError(f"{name} was classified by {', '.join(raters)}", remedy=f"name one: {name}:{raters[0]}")
    chosen = [label for label in mine if not rater or label.rater == rater]
    if not chosen:
        what = next(what for what, question in QUESTIONS.items() if question.dimension == dimension)
        of = " --of references" if references else ""
        by = f" by {rater}" if rater else ""
        raise UserError(
            f"{name}: nothing was classified so{by} yet", remedy=f"reviewgauge classify RUN MODEL --what {what}{of}"
        )
    return chosen


def _by_change(scores: Sequence[Score], cases: Sequence[Case], labels: Sequence[Label], name: str) -> Sliceable:
    values = {label.subject.case: str(label.value) for label in labels}
    fake = {label.subject.case for label in labels if _is_fake(label)}
    facts = [
        case.model_copy(update={"facts": {**case.facts, name: values[case.id]}}) if case.id in values else case
        for case in cases
    ]
    return Sliceable([_marked(score, score.case in fake) for score in scores], facts)


def _by_comment(
    scores: Sequence[Score],
    labels: Sequence[Label],
    name: str,
    duplicates: str,
    stated: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Score]:
    """By the labels of the comments; with `stated`, the classes of the findings by case and id, by both."""
    said: dict[tuple[str, str, int], dict[str, str]] = {}
    fake: set[tuple[str, str, int]] = set()
    for label in labels:
        subject = label.subject
        key = (subject.case, subject.system or "", subject.attempt)
        said.setdefault(key, {})[subject.comment or ""] = str(label.value)
        if _is_fake(label):
            fake.add(key)
    found = []
    for score in scores:
        key = (score.case, score.system, score.attempt)
        facet: Facet | None = None
        if score.matching is not None:
            facet = comment_parts(score.matching, said.get(key, {}), duplicates)
            if stated is not None:
                facet = both_parts(facet, finding_parts(score.matching, stated.get(score.case, {})))
        found.append(_marked(_with(score, name, facet), key in fake))
    return found


def _by_finding(
    scores: Sequence[Score], cases: Sequence[Case], labels: Sequence[Label], name: str, dimension: str
) -> list[Score]:
    values = {case.id: _stated(case, dimension) for case in cases}
    fake = {label.subject.case for label in labels if _is_fake(label)}
    for label in labels:
        values.setdefault(label.subject.case, {})[label.subject.reference or ""] = str(label.value)
    found = []
    for score in scores:
        facet = None if score.matching is None else finding_parts(score.matching, values.get(score.case, {}))
        found.append(_marked(_with(score, name, facet), score.case in fake))
    return found


def _with(score: Score, name: str, facet: Mapping[str, Mapping[str, float]] | None) -> Score:
    return score if facet is None else score.model_copy(update={"facets": {**score.facets, name: facet}})


def _stated(case: Case, dimension: str) -> dict[str, str]:
    """What the data says of the references, by id; a type of change in the words of the classes."""
    found: dict[str, str] = {}
    for reference in case.references:
        value = reference.needs if dimension == "needs" else reference.category
        if dimension == "swr_type":
            code = change_type(value)
            value = f"{code} {TYPES[code].name}" if code else None
        if value is not None:
            found[reference.id] = str(value)
    return found


def _in_the_same_words(
    cases: Sequence[Case], labels: Sequence[Label], dimension: str, rater: str
) -> dict[str, dict[str, str]]:
    """The class of each reference by case and id: the data's word where it is one of the classes, else the model's.

    What neither names keeps the data's own word.
    """
    classes = next(set(q.options.values()) for q in QUESTIONS.values() if q.dimension == dimension)
    found = {case.id: _stated(case, dimension) for case in cases}
    for label in labels:
        subject = label.subject
        if label.dimension == dimension and label.rater == rater and subject.reference is not None:
            own = found.setdefault(subject.case, {})
            if own.get(subject.reference) not in classes:
                own[subject.reference] = str(label.value)
    return found


def _is_fake(label: Label) -> bool:
    return (label.batch or "").startswith(FAKE)


def _marked(score: Score, fake: bool) -> Score:
    return score.model_copy(update={"fake": True}) if fake and not score.fake else score


def renamed_labels(labels: Sequence[Label], names: Mapping[str, str]) -> list[Label]:
    """The labels, on systems by the names that they have beside those of other runs."""
    found = []
    for label in labels:
        system = label.subject.system
        if system is not None and system in names:
            subject = label.subject.model_copy(update={"system": names[system]})
            found.append(label.model_copy(update={"subject": subject}))
        else:
            found.append(label)
    return found
