"""What people say of a benchmark: what most of them say overrules what a model decided in a build.

A label names a decision of a build's audit by its id (`right`: yes or no), or a comment or a change of the benchmark by
theirs, in a dimension of a schema. What raters agreed on together counts before what most of them said alone, and an
expert's word before both; where they are split nothing changes.

Sources: SWR-Bench (arXiv:2509.01494), III-A, step 4: two annotators verify each pull request; AACR-Bench
(arXiv:2601.19494), B.1: two rounds of annotators who do not see each other's, and a third of experts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.base import Fact
from reviewgauge.core.building import Candidate, CardSection, Decision, DecisionKind
from reviewgauge.core.errors import one_line
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Comment, RequiredContext, Tier
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import short_spec
from reviewgauge.judges.classes.classes import TYPES, change_type
from reviewgauge.stages.classify import CODES
from reviewgauge.stages.drop_trivial_points import TRIVIAL, DropTrivialPoints
from reviewgauge.stages.pull_requests.candidates import replace_references
from reviewgauge.stages.sampling.audit import RIGHT, decision_id
from reviewgauge.stages.where import JUDGED_BY

YES, NO = "yes", "no"
EXPERT, TOGETHER, ALONE = "expert", "discussion", "independent"
_OPPOSITE = {YES: NO, NO: YES}
_KIND_OF = {
    "correct": DecisionKind.COMMENT,
    "valid": DecisionKind.COMMENT,
    "trivial": DecisionKind.TRIVIAL,
    "category": DecisionKind.CATEGORY,
    "type": DecisionKind.CATEGORY,
    "needs": DecisionKind.CONTEXT,
    "clean": DecisionKind.CLEAN,
    "domain": DecisionKind.DOMAIN,
}
_WRONG, _NOT_CLEAN = "people found that it is not right", "people found that it is not clean"
_NOTHING_LEFT = "people found none of its comments right"
_COUNTED = ("judged", "as decided", "overruled", "no majority")
StageOutput = Candidate | Drop | Decision


class Key(NamedTuple):
    """What labels are about: a comment of a case, or the case (no comment); of `right` the case is a decision's id."""

    case: str
    comment: str
    what: str


class Opinion(NamedTuple):
    """What people say together: None where they are split. Of the `raters` so many `agreed` on it."""

    value: str | None
    raters: tuple[str, ...]
    agreed: int
    settled: str
    dimension: str


class Said(NamedTuple):
    """An opinion about a comment, or about the change; the value is empty where people name no other class."""

    kind: DecisionKind
    comment: str
    value: str
    opinion: Opinion


class People:
    """The opinions in labels of people about a benchmark, which of them were used, and how often they overruled."""

    def __init__(self, labels: Iterable[Label]) -> None:
        grouped: dict[Key, list[Label]] = {}
        for label in labels:
            subject = label.subject
            what = RIGHT if label.dimension == RIGHT else _KIND_OF.get(label.dimension)
            about = subject.kind in (SubjectKind.CHANGE, SubjectKind.COMMENT) and subject.system is None
            if what and about and label.rater_kind is RaterKind.HUMAN:
                grouped.setdefault(Key(subject.case, subject.reference or "", what), []).append(label)
        self.opinions = {key: _opinion(own) for key, own in grouped.items()}
        self.used: set[Key] = set()
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._emptied: set[str] = set()

    def overrule(self, stage: Stage, before: Candidate, outputs: Sequence[StageOutput]) -> Iterator[StageOutput]:
        """The outputs of a stage for one candidate, after what people say of the decisions among them."""
        made = [one for one in outputs if isinstance(one, Candidate)]
        item = made[0] if made else before.with_case(references=(), neutral=())
        decisions = [one for one in outputs if isinstance(one, Decision) and one.kind is not None]
        said = [] if len(made) > 1 else [one for each in decisions for one in self._of(stage, each, item.case)]
        clean = Key(item.id, "", DecisionKind.CLEAN)  # of a change whose comments were decided, or that has none
        if made and (decisions or item.case.clean) and clean not in self.used:
            said += self._said(short_spec(stage), item.case, clean, DecisionKind.CLEAN, "")
        if not said or not (made or any(one.kind is DecisionKind.COMMENT and one.value == YES for one in said)):
            yield from outputs
            return
        yield from (one for one in outputs if isinstance(one, Decision) or (made and isinstance(one, Drop)))
        yield from self._changed(short_spec(stage), item, before.case, said)

    def _of(self, stage: Stage, decision: Decision, case: Case) -> Iterator[Said]:
        """What people say of one decision, and of the comments that it is about."""
        kind = decision.kind or DecisionKind.COMMENT
        for comment in _named(case, decision.about) or [decision.about]:
            yield from self._said(short_spec(stage), case, Key(decision_id(decision), "", RIGHT), kind, comment)
            kinds = [kind]
            if kind is DecisionKind.COMMENT:
                found = _find(case, comment)
                kinds += [DecisionKind.TRIVIAL, *([DecisionKind.CATEGORY] if found and found.category else [])]
            for one in kinds:
                yield from self._said(short_spec(stage), case, Key(case.id, comment, one), one, comment)

    def _said(self, stage: str, case: Case, key: Key, kind: DecisionKind, comment: str) -> Iterator[Said]:
        """The opinion under a key as one about a comment, counted."""
        opinion = self.opinions.get(key)
        if opinion is None:
            return
        self.used.add(key)
        held, value = _held(case, kind, comment), opinion.value
        if key.what == RIGHT and value is not None:
            value = held if value == YES else _OPPOSITE.get(held, "")
        counts = self._counts.setdefault((stage, kind), Counter())
        counts.update(["judged", "no majority" if value is None else "as decided" if value == held else "overruled"])
        if value is not None:
            yield Said(kind, comment, value, opinion)

    def settle(self, items: Iterable[Candidate]) -> Iterator[Candidate | Drop]:
        """The finished candidates, after what people say of them that no model decided in this build."""
        left: dict[str, list[Key]] = {}
        for key in sorted(self.opinions):
            left.setdefault(key.case, []).append(key)
        for item in items:
            keys = [key for key in left.get(item.id, ()) if key.what != RIGHT and key not in self.used]
            keys = [key for key in keys if not key.comment or _find(item.case, key.comment)]
            said = [one for k in keys for one in self._said("", item.case, k, DecisionKind(k.what), k.comment)]
            for one in self._changed("people", item, item.case, said):
                whole = isinstance(one, Candidate) and (one.case.references or one.case.clean)
                lost = isinstance(one, Candidate) and one.id in self._emptied and not whole
                yield Drop(item=item.id, by="people", reason=_NOTHING_LEFT) if lost else one

    def _changed(self, by: str, item: Candidate, before: Case, said: Sequence[Said]) -> Iterator[Candidate | Drop]:
        """A candidate after what was said of it; `before` has the comments that the stage took out."""
        clean = {one.value for one in said if one.kind is DecisionKind.CLEAN}
        had = bool(item.case.references)
        if said:
            known = item.case.facts.get(JUDGED_BY, 0)
            judged = max(len(one.opinion.raters) for one in said)
            item = item.with_facts({JUDGED_BY: max(judged, known if isinstance(known, int) else 0)})
        for one in said:
            there = _find(item.case, one.comment)
            comment = there or _find(before, one.comment)
            if one.kind is DecisionKind.DOMAIN:
                item = item.with_facts({"domain": one.value, "domain_code": CODES.get(one.value, "")})
            elif comment is not None and one.kind is DecisionKind.COMMENT:
                item = item.with_case(**_sorted(item, comment, one))
                if one.value == NO and there is not None:
                    yield Drop(item=f"{item.id}: {comment.id}", by=by, reason=_WRONG)
            elif comment is not None:
                item = item.with_case(**_replaced(item.case, _stated(comment, one)))
        if YES in clean and not item.case.references:
            item = item.with_case(verdict=True)
        elif had and not item.case.references:
            self._emptied.add(item.id)
        if NO in clean and item.case.clean:
            yield Drop(item=item.id, by=by, reason=_NOT_CLEAN)
        else:
            yield item

    def section(self) -> CardSection | None:
        """What people decided, for the card; None where they said nothing of this build."""
        if not self._counts:
            return None
        used = [self.opinions[key] for key in self.used]
        raters = sorted({rater for one in used for rater in one.raters})
        idle = len(self.opinions.keys() - self.used)
        total = sum(self._counts.values(), Counter[str]())
        figures: dict[str, Fact] = {"raters": len(raters), **{name: total[name] for name in _COUNTED}}
        for name, count in sorted(Counter(one.settled for one in used if one.value is not None).items()):
            figures[f"settled: {name}"] = count
        text = f"Raters: {one_line(', '.join(raters), 400)}. What most of them say counts."
        return CardSection(
            by="people",
            title="Decided by people",
            text=text + (f" {idle:,} of their judgements are about nothing in this build." if idle else ""),
            columns=("stage", "what", *_COUNTED),
            rows=tuple((*key, *(counts[name] for name in _COUNTED)) for key, counts in self._counts.items()),
            figures=figures,
        )


def _opinion(labels: Sequence[Label]) -> Opinion:
    """What most raters say: of the last round in which something was agreed on, else of those who judged alone."""
    alone = {label.rater: label for label in labels if not label.consensus}
    together = [label for label in labels if label.consensus]
    experts = [label for label in together if label.round == EXPERT]
    last = experts or together or list(alone.values())
    (value, most), *others = Counter(str(label.value) for label in last).most_common(2)
    return Opinion(
        value=None if others and others[0][1] == most else value,
        raters=tuple(sorted(alone)),
        agreed=sum(str(label.value) == value for label in alone.values()),
        settled=EXPERT if experts else TOGETHER if together else ALONE,
        dimension=last[0].dimension,
    )


def _comments(case: Case) -> tuple[Comment, ...]:
    return (*case.references, *case.neutral, *case.rejected)


def _find(case: Case, name: str) -> Comment | None:
    return next((one for one in _comments(case) if one.id == name), None)


def _named(case: Case, name: str) -> list[str]:
    """The comments that a decision about one is about: itself, or the several that it became (`id#1`, `id#2`)."""
    return [one.id for one in _comments(case) if name and (one.id == name or one.id.startswith(f"{name}#"))]


def _held(case: Case, kind: DecisionKind, name: str) -> str:
    """What a case holds of that which people judge. A proposal is held to be right by who made it."""
    if kind is DecisionKind.CLEAN:
        return YES if case.clean else NO
    if kind is DecisionKind.DOMAIN:
        return str(case.facts.get("domain", ""))
    comment = _find(case, name)
    if kind is DecisionKind.COMMENT:
        return YES if any(one.id == name for one in (*case.references, *case.neutral)) else NO
    if kind is DecisionKind.TRIVIAL:
        return YES if comment and change_type(comment.category) in DropTrivialPoints.types else NO
    if kind is DecisionKind.CONTEXT:
        return str(comment.needs or "") if comment else ""
    return (change_type(comment.category) or comment.category or "") if comment else ""


def _stated(comment: Comment, one: Said) -> Comment:
    """The comment with the class that people state."""
    if one.kind is DecisionKind.TRIVIAL:
        return comment.model_copy(update={"extra": {**comment.extra, TRIVIAL: one.value == YES}})
    if one.kind is DecisionKind.CONTEXT:
        known = one.value in list(RequiredContext)
        return comment.model_copy(update={"needs": RequiredContext(one.value) if known else None})
    if change_type(comment.category) and one.value and one.value not in TYPES:
        return comment  # it has a finer type than people were asked for
    name = f"{one.value} {TYPES[one.value].name}" if one.value in TYPES else one.value
    return comment.model_copy(update={"category": name or None})


def _replaced(case: Case, comment: Comment) -> dict[str, tuple[Comment, ...]]:
    lists = {"references": case.references, "neutral": case.neutral, "rejected": case.rejected}
    return {name: tuple(comment if one.id == comment.id else one for one in own) for name, own in lists.items()}


def _sorted(item: Candidate, comment: Comment, one: Said) -> dict[str, object]:
    """The comments of a case after people said whether one is right.

    A right one is a confirmed reference; of others a proposal, and one that is not *correct*, is known to be wrong.
    """
    case, opinion = item.case, one.opinion
    people = {"raters": list(opinion.raters), "agreed": opinion.agreed, "settled": opinion.settled}
    comment = comment.model_copy(update={"extra": {**comment.extra, "people": people}})
    proposed = any(kept.id == comment.id for kept in case.neutral)
    neutral = tuple(kept for kept in case.neutral if kept.id != comment.id)
    rejected = tuple(kept for kept in case.rejected if kept.id != comment.id)
    if one.value == NO:
        left = replace_references(item, {c.id: () if c.id == comment.id else (c,) for c in case.references})
        wrong = [comment.model_copy(update={"same_as": None})] if proposed or opinion.dimension == "correct" else []
        return {"references": left.case.references, "neutral": neutral, "rejected": (*rejected, *wrong)}
    names = {kept.id for kept in case.references}
    same_as = comment.same_as if comment.same_as in names else None
    tier = comment.tier if comment.tier is Tier.VERIFIED else Tier.CONFIRMED
    comment = comment.model_copy(update={"same_as": same_as, "tier": tier})
    references = [comment if kept.id == comment.id else kept for kept in case.references]
    references += [] if comment.id in names else [comment]
    verdict = None if case.verdict is True else case.verdict
    return {"references": tuple(references), "neutral": neutral, "rejected": rejected, "verdict": verdict}
