"""What scores are sliced by: facts of the cases, cuts at a limit, and the classes that `classify` found.

`created<2025-03-31` separates the cases before a day from those of that day and later. A model that was trained until
some day may have seen the changes before it, with their reviews. So a score on the cases since then is the one to
trust, and a gap between the two tells of leakage. `classified:category` and the like are described at
`add_class_slices`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from reviewgauge.analysis.stats.score_table import stated_facets, table_of, word_order
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import ARM, PAIR, Case, Tier
from reviewgauge.core.results import NOT_STATED, Matching, Score
from reviewgauge.engine.classify import FAKE
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.classes.classes import QUESTIONS, TYPES, change_type
from reviewgauge.metrics.matching.counts import Facet, both_parts, comment_parts, finding_parts
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.models.request.prices import open_prices

CUTOFF = "cutoff"  # the slice before and after the training cut-offs of the models that the reviewers ask
FEWEST = 5  # changes of a slice that the report shows
MOST_VALUES = 12  # of a fact or facet that is shown unasked
MOST_BINS = 6  # of a fact that is a number
CREATED = "created"  # the fact that says on which day a change was made, as an ISO date
TIER = "tier"  # the slice by how well the findings of a case are founded
UPPER_TIERS = "checked"  # confirmed by people, or verified by tests
_CUT = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*)<(\S+)")


class Cut(NamedTuple):
    """A fact and the limit that it is parted at: a number or a day."""

    fact: str
    limit: float | date

    def side(self, case: Case) -> str | None:
        """The side of the limit that a case is on, in words; None where the case does not say.

        Raises UserError for a value that cannot be compared with the limit.
        """
        value = case.facts.get(self.fact)
        if value is None:
            return None
        if isinstance(self.limit, date):
            day = _day(value)
            if day is None:
                raise UserError(f"case {case.id}: {self.fact}={value!r} is not a date", remedy="write it as 2025-03-31")
            return f"before {self.limit}" if day < self.limit else f"{self.limit} and later"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"case {case.id}: {self.fact}={value!r} is not a number")
        return f"below {self.limit:g}" if value < self.limit else f"{self.limit:g} and above"


def parse_cut(name: str) -> Cut | None:
    """The cut that a slice names; None for a slice that is not a cut. Raises UserError for a limit that is none."""
    found = _CUT.fullmatch(name.strip())
    if found is None:
        return None
    fact, limit = found[1].strip(), found[2]
    if (day := _day(limit)) is not None:
        return Cut(fact, day)
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(f"{name!r}: {limit} is neither a number nor a date such as 2025-03-31")
    return Cut(fact, number)


def sides(cases: Sequence[Case], cut: Cut) -> list[Fact | None] | None:
    """The side of each case, None where it is unknown; None if it is for all."""
    found: list[Fact | None] = [cut.side(case) for case in cases]
    return found if any(side is not None for side in found) else None


def _day(value: Fact) -> date | None:
    """The day of an ISO date or time; None for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", value):
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None


def stated_cutoffs(models: Iterable[str]) -> dict[str, date]:
    """The last day of the training data of each of these models, where its vendor states one."""
    prices = open_prices()
    found = {model: prices.facts(parse_model(model)).cutoff for model in models}
    return {model: cutoff for model, cutoff in found.items() if cutoff is not None}


def expand_cutoffs(slices: Sequence[str], models: Iterable[str], dated: bool) -> tuple[list[str], list[str]]:
    """`slices` with `cutoff` expanded to cuts at a day, and a note on each cut.

    `models` are those that the reviewers ask; `dated`: some case says when it was made. Raises UserError where that or
    every model's cut-off is unknown.
    """
    if CUTOFF not in slices:
        return list(slices), []
    if not dated:
        raise UserError(f"no case says when it was made ({CREATED}), so none is before or after a training cut-off")
    stated = stated_cutoffs(models)
    if not stated:
        raise UserError(
            "no reviewer of these runs asks a model whose training cut-off is known",
            remedy=f"name the day: --slice '{CREATED}<2025-03-31'",
        )
    days = {model: cutoff + timedelta(days=1) for model, cutoff in stated.items()}
    cuts = [f"{CREATED}<{day}" for day in sorted(set(days.values()))]
    notes = [f"{CREATED}<{day}: {model} was trained on data up to {stated[model]}" for model, day in days.items()]
    expanded = [name for word in slices for name in (cuts if word == CUTOFF else [word])]
    return list(dict.fromkeys(expanded)), notes


def fact_values(cases: Sequence[Case], name: str) -> list[Fact | None] | None:
    """Each case's value of a fact (its repository, its side of a cut), None where a case does not state it.

    None if no case does.
    """
    if name == "repo":
        return [case.change.repo for case in cases]
    if (cut := parse_cut(name)) is not None:
        return sides(cases, cut)
    values: list[Fact | None] = [case.facts.get(name) for case in cases]
    if name == TIER and not any(values):
        values = [tier_of(case) for case in cases]
    return values if any(value is not None for value in values) else None


def tier_of(case: Case) -> str | None:
    """The tier of the worst founded finding of a case, the upper two as one; None where its findings have none."""
    tiers = {one.tier for one in case.references}
    if not tiers or None in tiers:
        return None
    worst = max(filter(None, tiers), key=list(Tier).index)
    return UPPER_TIERS if worst in (Tier.VERIFIED, Tier.CONFIRMED) else str(worst)


def tier_slice(cases: Sequence[Case]) -> list[str]:
    """The slice by tier, where the cases have several: what a figure is worth shows beside it."""
    return [TIER] if len({tier_of(case) for case in cases} - {None}) > 1 else []


def group_values(values: Sequence[Fact | None], least: int = 1) -> dict[Fact | None, str]:
    """The slice that each value is in: numbers by size, then words in their order, then the cases that do not state it.

    Numbers beside each other are joined, in at most six groups, until a group has `least` cases; words with fewer are
    joined as `other`, which may still have fewer.
    """
    counts = Counter(values)
    numbers = sorted(v for v in counts if isinstance(v, int | float))
    words = sorted((v for v in counts if isinstance(v, str)), key=word_order)
    bins = [[number] for number in numbers]
    if least > 1 and bool not in map(type, numbers):
        bins = _join(numbers, counts, least)
        bins = bins if len(bins) <= MOST_BINS else _join(numbers, counts, -(-len(values) // MOST_BINS))
    named: dict[Fact | None, str] = {v: _show(*dict.fromkeys((own[0], own[-1]))) for own in bins for v in own}
    few = [word for word in words if counts[word] < least]
    kept = words if len(few) < 2 else [word for word in words if word not in few]
    named |= {word: word for word in kept}
    named |= {word: f"other ({len(few)} groups)" for word in words if word not in kept}
    return named | {value: NOT_STATED for value in counts if value is None}


def _join(numbers: Sequence[float], counts: Mapping[Fact | None, int], least: int) -> list[list[float]]:
    """The numbers, in their order, in groups of at least so many cases."""
    joined: list[list[float]] = []
    for number in numbers:
        if not joined or sum(counts[v] for v in joined[-1]) >= least:
            joined.append([])
        joined[-1].append(number)
    if len(joined) > 1 and sum(counts[v] for v in joined[-1]) < least:
        joined[-2:] = [joined[-2] + joined[-1]]
    return joined


def _show(*ends: float) -> str:
    return " to ".join(str(end).lower() if isinstance(end, bool) else str(end) for end in ends)


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
        elif run.label.partition("(")[0] != "hits":
            raise UserError(f"{run.label} cannot be sliced by {name}", remedy="hits can: it keeps who matched whom")
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
        of = ', of="references"' if references else ""
        by = f" by {rater}" if rater else ""
        raise UserError(
            f"{name}: nothing was classified so{by} yet",
            remedy=f"reviewgauge score RUN --labels '{what}(model=\"openai:gpt-5\"{of})'",
        )
    return chosen


def _slice_changes(run: ScoredRun, labels: Sequence[Label], name: str) -> ScoredRun:
    values = {label.subject.case: str(label.value) for label in labels}
    cases = [
        case.model_copy(update={"facts": {**case.facts, name: values[case.id]}}) if case.id in values else case
        for case in run.cases
    ]
    return _marked(replace(run, cases=cases), labels)


def _slice_comments(
    run: ScoredRun, labels: Sequence[Label], name: str, stated: Mapping[str, Mapping[str, str]] | None
) -> ScoredRun:
    """By the labels of the comments; with `stated`, the classes of the findings by case and id, by both."""
    classes: dict[tuple[str, str, int], dict[str, str]] = {}
    for label in labels:
        subject = label.subject
        own = classes.setdefault((subject.case, subject.system or "", subject.attempt), {})
        own[subject.comment or ""] = str(label.value)

    def facet(score: Score, matching: Matching) -> Facet:
        own = classes.get((score.case, score.system, score.attempt), {})
        comments = comment_parts(matching, own, getattr(run.metric, "duplicates", "apart"))
        return comments if stated is None else both_parts(comments, finding_parts(matching, stated.get(score.case, {})))

    return _marked(_add_facets(run, name, facet), labels)


def _slice_findings(run: ScoredRun, labels: Sequence[Label], name: str, dimension: str) -> ScoredRun:
    values = {case.id: _stated_classes(case, dimension) for case in run.cases}
    for label in labels:
        values.setdefault(label.subject.case, {})[label.subject.reference or ""] = str(label.value)
    added = _add_facets(run, name, lambda score, matching: finding_parts(matching, values.get(score.case, {})))
    return _marked(added, labels)


def _add_facets(run: ScoredRun, name: str, facet: Callable[[Score, Matching], Facet]) -> ScoredRun:
    """The run with a facet of that name on each score with a matching."""
    scores = [
        s if s.matching is None else s.model_copy(update={"facets": {**s.facets, name: facet(s, s.matching)}})
        for s in run.scores
    ]
    return replace(run, scores=scores)


def _marked(run: ScoredRun, labels: Sequence[Label]) -> ScoredRun:
    """The run with the scores marked fake that a label by a fake model is about."""
    fake = {
        (label.subject.case, label.subject.system, label.subject.attempt if label.subject.system else None)
        for label in labels
        if (label.batch or "").startswith(FAKE)
    }
    scores = [
        s.model_copy(update={"fake": True})
        if not s.fake and {(s.case, None, None), (s.case, s.system, s.attempt)} & fake
        else s
        for s in run.scores
    ]
    return replace(run, scores=scores) if fake else run


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


def telling_slices(run: ScoredRun) -> list[str]:
    """The facts and facets worth a plot: two to twelve values, and facts with two groups of enough cases."""
    values: dict[str, list[Fact]] = {}
    for case in run.cases:
        for fact, value in case.facts.items():
            values.setdefault(fact, []).append(value)
    telling = []
    for fact, stated in values.items():
        if fact not in (ARM, PAIR) and len(set(stated)) <= MOST_VALUES:
            groups = Counter(map(group_values(stated, FEWEST).__getitem__, stated))
            telling += [fact] if sum(n >= FEWEST for n in groups.values()) > 1 else []
    scores = chain.from_iterable(table_of(run).cells.values())
    facets = [name for name, found in stated_facets(scores).items() if 2 <= len(found) <= MOST_VALUES]
    return list(dict.fromkeys([*tier_slice(run.cases), *telling, *facets]))
