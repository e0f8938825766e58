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
from reviewgauge.core.records import Case, Comment, RequiredContext, Tier, findings
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import short_spec
from reviewgauge.judges.classes.classes import TYPES, change_type
from reviewgauge.stages.check_labels import clean_decision, from_fix, label_decision
from reviewgauge.stages.classify import CODES
from reviewgauge.stages.drop_trivial_points import TRIVIAL, DropTrivialPoints
from reviewgauge.stages.pull_requests.candidates import replace_references
from reviewgauge.stages.sampling.audit import RIGHT, decision_id
from reviewgauge.stages.where import JUDGED_BY

YES, NO = "yes", "no"
EXPERT, TOGETHER, ALONE = "expert", "discussion", "independent"
_COMMENT, _CATEGORY, _CLEAN = DecisionKind.COMMENT, DecisionKind.CATEGORY, DecisionKind.CLEAN
_KIND_OF = {"correct": _COMMENT, "valid": _COMMENT, "category": _CATEGORY, "type": _CATEGORY, "clean": _CLEAN}
_KIND_OF |= {"trivial": DecisionKind.TRIVIAL, "needs": DecisionKind.CONTEXT, "domain": DecisionKind.DOMAIN}
_TAKEN_BACK = frozenset(map(DecisionKind, ("same", "words", "found", "defect", "claim")))  # by the stage that decided
_WRONG, _NOT_CLEAN = "people found that it is not right", "people found that it is not clean"
_NOTHING_LEFT = "people found none of its comments right"
_COUNTED = ("judged", "as decided", "overruled", "no majority")
_LISTS = ("references", "neutral", "rejected")
StageOutput = Candidate | Drop | Decision


class Key(NamedTuple):
    """What labels are about: a comment of a case, or the case (no comment); of `right` the case is a decision's id."""

    case: str
    comment: str
    what: str


Asked = tuple[Key, DecisionKind, str]  # what people may have judged, and the comment that it is about


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

    def __init__(self, labels: Iterable[Label], marks: Iterable[Label] = ()) -> None:
        """`marks` are those in the tables of an audit, which says itself which of them are idle."""
        given, marked = _grouped(labels), _grouped(marks)
        self._given = set(given)
        self.opinions = {key: _opinion([*given.get(key, ()), *marked.get(key, ())]) for key in {**given, **marked}}
        self.used: set[Key] = set()
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._emptied: set[str] = set()

    def overrule(self, stage: Stage, before: Candidate, outputs: Sequence[StageOutput]) -> Iterator[StageOutput]:
        """The outputs of a stage for one candidate, after what people say of the decisions among them."""
        made = [one for one in outputs if isinstance(one, Candidate)]
        decided = [one for one in outputs if isinstance(one, Decision)]
        if len(made) > 1:  # each after the decisions about it alone
            for each in outputs:
                mine = [one for one in decided if one.kind and isinstance(each, Candidate) and one.item == each.id]
                after = self.overrule(stage, before, [*mine, each]) if mine else [each]
                yield from (one for one in after if one not in mine)
            return
        item = made[0] if made else before.with_case(references=(), neutral=())
        asked = [one for each in decided for one in _asked(each, item.case)]
        if made and (asked or item.case.clean):  # a change whose comments were decided, or that has none
            asked.append((Key(item.id, "", _CLEAN), _CLEAN, ""))
        said = list(self._said(short_spec(stage), item.case, asked))
        if not said or not (made or any(one.kind is _COMMENT and one.value == YES for one in said)):
            yield from outputs
            return
        yield from (one for one in outputs if isinstance(one, Decision) or (made and isinstance(one, Drop)))
        if made and (refused := {one.comment for one in said if one.kind in _TAKEN_BACK and one.value == NO}):
            wrong = [one for one in decided if decision_id(one) in refused]
            found = stage.overruled(before, item, [one for one in decided if one not in wrong], wrong)
            if isinstance(found, Drop):
                yield found
                return
            item = found
        yield from self._changed(short_spec(stage), item, before.case, said)

    def settle(self, outputs: Iterable[StageOutput]) -> Iterator[StageOutput]:
        """The outputs of the last stage, after what people say of them that no model decided in this build."""
        about: dict[str, list[Key]] = {}
        for key in sorted(self.opinions):
            about.setdefault(key.case, []).append(key)
        for item in outputs:
            if not (self.opinions and isinstance(item, Candidate)):
                yield item
                continue
            keys = [key for key in about.get(item.id, ()) if not key.comment or _find(item.case, key.comment)]
            asked = [(key, DecisionKind(key.what), key.comment) for key in keys if key.what != RIGHT]
            said = list(self._said("", item.case, [*asked, *_asked_of_labels(item.case)]))
            for one in self._changed("people", item, item.case, said):
                whole = isinstance(one, Candidate) and (one.case.references or one.case.clean)
                lost = isinstance(one, Candidate) and one.id in self._emptied and not whole
                yield Drop(item=item.id, by="people", reason=_NOTHING_LEFT) if lost else one

    def _said(self, stage: str, case: Case, asked: Iterable[Asked]) -> Iterator[Said]:
        """What people say of what was asked; each opinion is used, and counted, by one stage."""
        fresh = [one for one in dict.fromkeys(asked) if one[0] in self.opinions and one[0] not in self.used]
        for key, kind, comment in fresh:
            self.used.add(key)
            opinion, held = self.opinions[key], _held(case, kind, comment)
            value = opinion.value
            if key.what == RIGHT and value is not None:
                value = held if value == YES else {YES: NO, NO: YES}.get(held, "")
            outcome = "no majority" if value is None else "as decided" if value == held else "overruled"
            self._counts.setdefault((stage, kind), Counter()).update(["judged", outcome])
            if value is not None:
                yield Said(kind, comment, value, opinion)

    def _changed(self, by: str, item: Candidate, before: Case, said: Sequence[Said]) -> Iterator[Candidate | Drop]:
        """A candidate after what was said of it; `before` has the comments that the stage took out."""
        if not said:
            yield item
            return
        clean = {one.value for one in said if one.kind is _CLEAN}
        had, judged = bool(item.case.references), [len(one.opinion.raters) for one in said]
        item = item.with_facts({JUDGED_BY: max(*judged, int(item.case.facts.get(JUDGED_BY, 0)))})
        for one in said:
            there = _find(item.case, one.comment)
            comment = there or _find(before, one.comment)
            if one.kind is DecisionKind.DOMAIN:
                facts = {**item.case.facts, "domain": one.value, "domain_code": CODES.get(one.value, "")}
                item = item.with_case(facts={name: fact for name, fact in facts.items() if fact != ""})
            elif comment is not None and one.kind is _COMMENT:
                item = _moved(item, comment, one)
                if one.value == NO and there is not None:
                    yield Drop(item=f"{item.id}: {comment.id}", by=by, reason=_WRONG)
            elif comment is not None:
                stated = _stated(comment, one)
                lists = {name: getattr(item.case, name) for name in _LISTS}
                item = item.with_case(
                    **{n: tuple(stated if c is there else c for c in own) for n, own in lists.items()}
                )
        if YES in clean and not item.case.references:
            item = item.with_case(verdict=True)
        elif had and not item.case.references:
            self._emptied.add(item.id)
        yield Drop(item=item.id, by=by, reason=_NOT_CLEAN) if NO in clean and item.case.clean else item

    def section(self) -> CardSection | None:
        """What people decided, for the card; None where they said nothing of this build."""
        idle = {key for key in self.opinions.keys() - self.used if key in self._given}
        if not self._counts and not idle:
            return None
        used = [self.opinions[key] for key in self.used]
        raters = sorted({rater for one in used for rater in one.raters})
        total = sum(self._counts.values(), Counter[str]())
        figures: dict[str, Fact] = {"raters": len(raters), **{name: total[name] for name in _COUNTED}}
        for name, count in sorted(Counter(one.settled for one in used if one.value is not None).items()):
            figures[f"settled: {name}"] = count
        text = f"Raters: {one_line(', '.join(raters), 400) or 'none'}. What most of them say counts."
        return CardSection(
            by="people",
            title="Decided by people",
            text=text,
            columns=("stage", "what", *_COUNTED),
            rows=tuple((*key, *(counts[name] for name in _COUNTED)) for key, counts in self._counts.items()),
            figures=figures,
            warnings=(f"{len(idle):,} judgements of people are about nothing in this build",) if idle else (),
        )


def _grouped(labels: Iterable[Label]) -> dict[Key, list[Label]]:
    """The labels of people about decisions, changes and their comments; others say nothing of a benchmark."""
    found: dict[Key, list[Label]] = {}
    for label in labels:
        subject = label.subject
        what = RIGHT if label.dimension == RIGHT else _KIND_OF.get(label.dimension)
        about = subject.kind in (SubjectKind.CHANGE, SubjectKind.COMMENT) and subject.system is None
        if what and about and label.rater_kind is RaterKind.HUMAN:
            found.setdefault(Key(subject.case, subject.reference or "", what), []).append(label)
    return found


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


def _asked(decision: Decision, case: Case) -> Iterator[Asked]:
    """What people may have judged of a decision: itself, and the comments that it is about (`id`, or `id#1`, ...).

    One that its own stage takes back stands in the place of the comment.
    """
    if (kind := decision.kind) is None:
        return
    name, right = decision.about, Key(decision_id(decision), "", RIGHT)
    if kind in _TAKEN_BACK:
        yield right, kind, right.case
        return
    found = [one for one in _comments(case) if name and (one.id == name or one.id.startswith(f"{name}#"))]
    for comment, typed in [(one.id, one.category is not None) for one in found] or [(name, False)]:
        kinds = [kind, *([DecisionKind.TRIVIAL] if kind is _COMMENT else []), *([_CATEGORY] if typed else [])]
        yield right, kind, comment
        yield from ((Key(case.id, comment, one), one, comment) for one in kinds)


def _asked_of_labels(case: Case) -> Iterator[Asked]:
    """The same of what no model decided: labels that come from fixes, and clean changes (`check_labels`)."""
    for finding in filter(from_fix, findings(case.references)):
        right = Key(decision_id(label_decision(case, finding)), "", RIGHT)
        yield from ((right, _COMMENT, one.id) for one in finding)
    if case.clean:
        yield Key(decision_id(clean_decision(case)), "", RIGHT), _CLEAN, ""


def _comments(case: Case) -> tuple[Comment, ...]:
    return (*case.references, *case.neutral, *case.rejected)


def _find(case: Case, name: str) -> Comment | None:
    return next((one for one in _comments(case) if one.id == name), None)


def _held(case: Case, kind: DecisionKind, name: str) -> str:
    """What a case holds of that which people judge. A proposal is held to be right by who made it."""
    comment = _find(case, name) or Comment(id="none", body="")
    known = any(one.id == name for one in (*case.references, *case.neutral))
    type_ = change_type(comment.category)
    return {
        _COMMENT: YES if known else NO,
        _CLEAN: YES if case.clean else NO,
        _CATEGORY: type_ or comment.category or "",
        DecisionKind.TRIVIAL: YES if type_ in DropTrivialPoints.types else NO,
        DecisionKind.CONTEXT: str(comment.needs or ""),
        DecisionKind.DOMAIN: str(case.facts.get("domain", "")),
    }.get(kind, YES)


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


def _moved(item: Candidate, comment: Comment, one: Said) -> Candidate:
    """The candidate with a comment where people say that it belongs.

    A right one is a confirmed reference. A proposal that is refused, and what is not *correct*, is known to be wrong.
    """
    case, opinion, right = item.case, one.opinion, one.value == YES
    names = [kept.id for kept in case.references]
    wrong = not right and (opinion.dimension == "correct" or any(kept.id == comment.id for kept in case.neutral))
    people = {"raters": list(opinion.raters), "agreed": opinion.agreed, "settled": opinion.settled}
    update: dict[str, object] = {"extra": {**comment.extra, "people": people}}
    if right:
        update["tier"] = comment.tier if comment.tier is Tier.VERIFIED else Tier.CONFIRMED
    if not (right and comment.same_as in names):
        update["same_as"] = None
    judged = comment.model_copy(update=update)
    by_id = {kept.id: (kept,) if kept.id != comment.id else (judged,) if right else () for kept in case.references}
    references = replace_references(item, by_id).case.references
    others = {name: tuple(c for c in getattr(case, name) if c.id != comment.id) for name in ("neutral", "rejected")}
    return item.with_case(
        references=(*references, *((judged,) if right and comment.id not in names else ())),
        neutral=others["neutral"],
        rejected=(*others["rejected"], *((judged,) if wrong else ())),
        verdict=None if right and case.verdict is True else case.verdict,  # not clean; the rest nobody was asked
    )
