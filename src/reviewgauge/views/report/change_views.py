"""Changes as the report shows them: findings and comments once, with their results, on their lines of the diff."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count

from reviewgauge.core.records import ARM, PAIR, Anchoring, Arm, Case, Comment, Task, Usage, findings
from reviewgauge.core.results import (
    CommentOutcome,
    CommentState,
    GroupOutcome,
    Matching,
    Outcome,
    Pair,
    Score,
)
from reviewgauge.core.stored import ByKey
from reviewgauge.views import figures
from reviewgauge.views.report.answers import (
    MOST_RANKED,
    ClaimView,
    SaidView,
    SentenceView,
    add_nearest,
    answers,
    numbers,
    outcome_words,
    place_of,
    sentence_views,
)
from reviewgauge.views.report.diff_views import FileView, Remark, show_files
from reviewgauge.views.report.reasons import first_words, in_words

Key = tuple[str, str, int]  # case, system, attempt
LONGEST_TRACE = 20_000  # characters

ORDER = {state: at for at, state in enumerate((*CommentState, "rejected", "scored", "unscored"))}


@dataclass(frozen=True)
class MissView:
    """A review that missed a finding, and why."""

    anchor: str
    index: int  # of its system
    system: str
    reasons: tuple[str, ...]
    nearest: str | None  # anchor of its closest comment
    unsure: bool


@dataclass(frozen=True)
class FindingView(Remark):
    """One finding in all its phrasings, which systems hit it and which missed it."""

    id: str
    members: tuple[tuple[str, str, Comment, str], ...]  # (anchor, id, reference, place)
    hit: list[tuple[str, str]] = field(default_factory=list)  # (system, anchor of its comment)
    missed: list[MissView] = field(default_factory=list)
    absent: bool = False  # on a twin: what is wrong with its defect, and not here


@dataclass
class ColumnView:
    """One system's review of one change in one attempt."""

    index: int  # of the system, counted over the report
    system: str
    attempt: int
    anchor: str
    fake: bool = False
    trouble: str = ""
    note: str = ""
    usage: str = ""
    trace: str = ""
    numbers: str = ""
    said: list[SaidView] = field(default_factory=list)
    sentences: list[SentenceView] = field(default_factory=list)
    missed: int = 0

    @property
    def paired(self) -> bool:
        """Whether each sentence counts with one claim at most, and each claim with one sentence."""
        return any(one.nearest is not None and one.nearest.pairing for one in self.sentences)

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of comments and answers in each state; `missed` counts findings."""
        return +Counter(one.state for one in self.said) + Counter(missed=self.missed)

    @property
    def name(self) -> str:
        """The system, with the attempt after the first."""
        return self.system + (f" #{self.attempt}" if self.attempt > 1 else "")


@dataclass
class ChangeView:
    """One change with its findings and all reviews; `off` are the anchors of what has no place on the diff."""

    anchor: str
    case: Case
    url: str | None
    findings: list[FindingView]
    columns: list[ColumnView]
    files: list[FileView]
    off: set[str]
    others: list[tuple[str, Comment, str]]  # (neutral or rejected, comment, place)
    hidden_hunks: int = 0
    claims: list[ClaimView] = field(default_factory=list)
    opens: bool = False  # the first change of a host with injected defects, and the last
    closes: bool = False

    @property
    def arm(self) -> str:
        """Which of its host's changes this is; empty for one without injected defects."""
        return str(self.case.facts.get(ARM, ""))

    @cached_property
    def states(self) -> Counter[str]:
        """States of all comments, answers and findings of all systems."""
        return sum((column.counts for column in self.columns), Counter())

    @property
    def outcome(self) -> str:
        """The true verdict in words, where the task is to give one."""
        return outcome_words(self.case.verdict) if self.case.change.task is Task.ASSESS else ""


def view_changes(
    cases: Sequence[Case], outcomes: Sequence[Outcome], scores: Sequence[Score], systems: Sequence[str], metric: str
) -> Iterator[ChangeView]:
    """One view for each case, in their order; of the scores those of `metric`, and the first that look at claims."""
    anchors = anchors_of(cases)
    by_case: dict[str, list[int]] = {}
    for at, outcome in enumerate(outcomes):
        if outcome.case in anchors:
            by_case.setdefault(outcome.case, []).append(at)
    scored: dict[Key, int] = {}
    covered: dict[Key, int] = {}
    looks_at_claims = ""
    for at, score in enumerate(scores):
        key = score.key
        if score.case not in anchors:
            continue
        if score.metric == metric:
            scored[key] = at
        if score.coverage is not None and score.metric == (looks_at_claims := looks_at_claims or score.metric):
            covered[key] = at
    index = {system: at for at, system in enumerate(systems)}
    hosts = [(case.change.repo, case.facts[PAIR]) if PAIR in case.facts else None for case in cases]
    for number, case in enumerate(cases, 1):
        before, host, after = [None, *hosts, None][number - 1 : number + 2]
        own = map(outcomes.__getitem__, by_case.get(case.id, ()))
        rows = sorted(own, key=lambda o: (index.get(o.system, len(index)), o.attempt))
        builder = _Builder(number, anchors[case.id], case, index)
        view = builder.build(rows, ByKey(scored, scores), ByKey(covered, scores))
        view.opens, view.closes = (host is not None and host != other for other in (before, after))
        yield view


def anchors_of(cases: Iterable[Case]) -> dict[str, str]:
    """The anchor of each change on the page, by the id of its case."""
    used: set[str] = set()
    return {case.id: _slug(case.id, used) for case in cases}


def _slug(case_id: str, used: set[str]) -> str:
    base = "case-" + (re.sub(r"[^A-Za-z0-9_.-]+", "-", case_id).strip("-") or "x")
    slug = next(slug for slug in chain([base], (f"{base}~{again}" for again in count(2))) if slug not in used)
    used.add(slug)
    return slug


class _Builder:
    """Builds the view of one case."""

    def __init__(self, number: int, anchor: str, case: Case, index: Mapping[str, int]) -> None:
        self.prefix, self.anchor, self.case, self.index = f"k{number}", anchor, case, index
        self.words = first_words((*case.references, *case.neutral, *case.rejected))
        self.findings: list[FindingView] = []
        self.finding_of: dict[str, FindingView] = {}
        self.absent: list[FindingView] = []
        is_twin = case.facts.get(ARM) in (Arm.TWIN, Arm.SAFE)
        at = count(1)
        for members in findings(case.rejected if is_twin else case.references):
            rows = tuple((f"{self.prefix}r{next(at)}", one.id, one, place_of(one.span, one)) for one in members)
            spans = tuple(one.span for one in members if one.span is not None)
            finding = FindingView(rows[0][0], "finding", spans, members[0].id, rows, absent=is_twin)
            (self.absent if is_twin else self.findings).append(finding)
            if not is_twin:
                self.finding_of |= {member.id: finding for member in members}

    def build(
        self,
        outcomes: Sequence[Outcome],
        scored: Mapping[Key, Score],
        covered: Mapping[Key, Score],
    ) -> ChangeView:
        keys = [outcome.key for outcome in outcomes]
        columns = [
            self._column(f"{self.prefix}s{at}", outcome, scored.get(key))
            for at, (key, outcome) in enumerate(zip(keys, outcomes, strict=True), 1)
        ]
        claims = self._claims(
            [(column, covered[key]) for key, column in zip(keys, columns, strict=True) if key in covered]
        )
        remarks = chain(self.findings, self.absent, *(column.said for column in columns))
        files, hidden, above = show_files(self.case.change, remarks)
        off = {one.anchor for one in above}
        shown = ("neutral",) if self.absent else ("neutral", "rejected")
        others = [(kind, c, place_of(c.span, c)) for kind in shown for c in getattr(self.case, kind)]
        url = figures.web_url(self.case.change.url)
        return ChangeView(
            self.anchor,
            self.case,
            url,
            self.findings,
            columns,
            files,
            off,
            others,
            hidden_hunks=hidden,
            claims=claims,
        )

    def _claims(self, scored: Sequence[tuple[ColumnView, Score]]) -> list[ClaimView]:
        """The claims on the change; adds what they and the sentences of the reviews are closest to."""
        covered = [(column, score, score.coverage) for column, score in scored if score.coverage is not None]
        known = covered[0][2].claims if covered else ()
        claims = [ClaimView(f"{self.prefix}q{at}", at, claim) for at, claim in enumerate(known, 1)]
        for column, score, coverage in covered:
            own = claims if coverage.claims == known else []
            column.sentences = sentence_views(coverage, own)
            if score.parts is not None:
                column.numbers = f"{score.metric.partition('(')[0]}: {numbers(coverage, score.parts)}"
            add_nearest(own, coverage, column.name, column.anchor)
        return claims

    def _column(self, anchor: str, outcome: Outcome, score: Score | None) -> ColumnView:
        index = self.index.get(outcome.system, len(self.index))
        column = ColumnView(index, outcome.system, outcome.attempt, anchor)
        review = outcome.review
        if outcome.failure is not None:
            column.trouble = f"The review failed ({outcome.failure.kind}): {outcome.failure.message}"
        if score is not None and score.failure is not None:
            column.trouble = f"Scoring failed ({score.failure.kind}): {score.failure.message}"
        if review is None:
            return column
        column.fake = review.fake or bool(score and score.fake)
        column.usage = _usage(review.usage)
        column.trace = _shortened(review.trace or "")
        matching = score.matching if score else None
        if score and score.reason:
            column.note = score.reason
        elif not column.trouble and (score is None or (matching is None and score.parts is None)):
            column.note = "Not scored."
        column.said = list(answers(self.case, review, anchor, index, column.name))
        if (more := len(review.ranked_lines) - MOST_RANKED) > 0:
            column.note = " ".join(filter(None, (column.note, f"{more} more ranked lines are in the run.")))
        comments = list(_by_outcome(review.comments, matching))
        anchors = {comment.id: f"{anchor}c{at}" for at, comment in enumerate(comments, 1)}
        column.said += sorted(self._comments(comments, column, score, anchors), key=lambda one: ORDER[one.state])
        if matching:
            self._findings(column, matching, anchors, first_words(comments))
        return column

    def _comments(
        self, comments: Iterable[Comment], column: ColumnView, score: Score | None, anchors: Mapping[str, str]
    ) -> Iterator[SaidView]:
        matching = score.matching if score else None
        alone = "scored" if score and score.parts is not None and matching is None else "unscored"
        states = {o.comment: o for o in matching.comments} if matching else {}
        credited: dict[str, list[str]] = {}
        for outcome in matching.groups if matching else ():
            for comment_id in outcome.comments:
                credited.setdefault(comment_id, []).append(outcome.group)
        for comment in comments:
            found = states.get(comment.id)
            groups = credited.get(comment.id, []) if found and found.state == CommentState.MATCHED else []
            if found and found.group is not None and found.group not in groups:
                groups = [*groups, found.group]
            evidence = "; ".join(filter(None, (self._evidence(matching, found, comment.id, group) for group in groups)))
            reason = in_words(found.reason, self.words) if found else ""
            yield SaidView(
                anchors[comment.id],
                alone if found is None else "rejected" if found.rejected else str(found.state),
                () if comment.span is None else (comment.span,),
                column.index,
                column.name,
                "",
                comment.body,
                comment,
                place_of(comment.span, comment),
                tuple(filter(None, (reason, evidence, _anchoring(comment)))),
                tuple((self.finding_of[g].anchor, self.finding_of[g].id) for g in groups if g in self.finding_of),
            )

    def _evidence(
        self, matching: Matching | None, outcome: CommentOutcome | GroupOutcome | None, comment: str, group: str
    ) -> str:
        """What speaks for a comment raising a finding, in its most probable phrasing, beside the outcome's reason."""
        members = {row[1] for row in self.finding_of[group].members} if group in self.finding_of else {group}
        pairs = [p for p in (matching.pairs if matching else ()) if p.comment == comment and p.reference in members]
        best = max(pairs, key=lambda p: p.verdict.probability if p.verdict else -1, default=None)
        return _evidence(best, bool(outcome and outcome.reason)) if best else ""

    def _findings(
        self, column: ColumnView, matching: Matching, anchors: Mapping[str, str], said: Mapping[str, str]
    ) -> None:
        """Add the review to the findings that it hit and to those that it missed."""
        for at, outcome in enumerate(matching.groups, 1):
            finding = self.finding_of.get(outcome.group)
            if finding is None:
                continue
            if outcome.hit:
                anchor = next((anchors[c] for c in outcome.comments if c in anchors), column.anchor)
                finding.hit.append((column.name, anchor))
                continue
            near = outcome.nearest
            evidence = "" if near is None else self._evidence(matching, outcome, near, outcome.group)
            reason = in_words(outcome.reason, {**said, **dict.fromkeys(outcome.members, "")})
            reasons = tuple(filter(None, (reason, evidence)))
            finding.missed.append(
                MissView(
                    f"{column.anchor}m{at}", column.index, column.name, reasons, anchors.get(near or ""), outcome.unsure
                )
            )
            column.missed += 1


def _by_outcome(comments: Sequence[Comment], matching: Matching | None) -> Iterator[Comment]:
    """The comments; one with several counted points (`comment#1`, `comment#2`) once for each point."""
    known = {comment.id for comment in comments}
    points: dict[str, list[str]] = {}
    for outcome in matching.comments if matching else ():
        if outcome.comment not in known:
            points.setdefault(outcome.comment.rpartition("#")[0], []).append(outcome.comment)
    for comment in comments:
        if own := points.get(comment.id):
            yield from (comment.model_copy(update={"id": name}) for name in own)
        else:
            yield comment


def _evidence(pair: Pair, explained: bool) -> str:
    """The votes; where no reason says them already, also the probability and the distance."""
    parts, verdict = [], pair.verdict
    if verdict is not None and not explained:
        parts.append(f"probability {verdict.probability if pair.weighed is None else pair.weighed:.2f}")
        parts += [verdict.reason] if verdict.reason else []
    if verdict is not None:
        parts += [f"{vote.rater}: {_vote(vote.value)}" for vote in verdict.votes]
    if explained:
        return ", ".join(parts)
    if pair.distance is not None:
        plural = "" if pair.distance == 1 else "s"
        parts.append("same lines" if pair.distance == 0 else f"{pair.distance} line{plural} apart")
    elif pair.same_path is False:
        parts.append("another file")
    return ", ".join(parts)


def _vote(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _shortened(trace: str) -> str:
    """A trace as the report holds it, of which a page has many; the run has all of it."""
    more = len(trace) - LONGEST_TRACE
    return trace if more <= 0 else f"{trace[:LONGEST_TRACE]}\n({more:,} more characters are in the run)"


def _usage(usage: Usage) -> str:
    tokens = usage.tokens_in + usage.tokens_out
    parts = [
        f"{tokens:,} tokens" if tokens else "",
        "" if usage.dollars is None else f"${usage.dollars:.4f}",
        f"{usage.seconds:.1f} s" if usage.seconds else "",
    ]
    return " · ".join(filter(None, parts))


_ANCHORING = {
    Anchoring.INVALID: "its location does not exist in the change",
    Anchoring.OUTSIDE: "its location is outside the changed lines",
    Anchoring.RENAMED: "placed through the file's other name",
    Anchoring.DIFF_LINE: "its number counted lines of the diff",
    Anchoring.QUOTE: "placed by its quote",
}


def _anchoring(comment: Comment) -> str:
    return _ANCHORING.get(comment.anchoring, "") if comment.anchoring else ""
