"""ReviewBench's scoring: grounded and augmented precision and recall, written anew from its METHODOLOGY.md, 6 and 7.

Source: https://github.com/review-bench/ReviewBench, `docs/METHODOLOGY.md`, `scripts/lib/match-types.ts` and
`scripts/eval/scorer.ts` (commit e163bc8). Where the text and the code differ the code counts: a comment takes the label
of the first golden finding that it matches and that no comment before it took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.records import GOLDEN_INDEX, Case, Comment, Review, Task, groups_of
from reviewgauge.core.results import NOT_STATED, CommentOutcome, CommentState, GroupOutcome, Matching
from reviewgauge.metrics.matching import match
from reviewgauge.metrics.matching.asking_right import Judged
from reviewgauge.metrics.matching.counts import Facet

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

NAME: Literal["review_bench"] = "review_bench"
KEPT = frozenset({"precision", "recall", "f1", "comments_per_change", "comments_per_hunk"}) | {
    "duplicate_share",
    "rejected_hits",
    "invalid_anchors",
}
"""The measures of `hits` that mean the same here. What matched nothing is no noise before it is judged."""
_SHARES = ("precision", "recall", "augmented_precision", "augmented_recall")


class Finding(NamedTuple):
    """A golden finding: the columns of its phrasings among the known comments, and whether it is right."""

    columns: tuple[int, ...]
    right: bool


class Tally(NamedTuple):
    """The counts of a review, or of a stratum of it. `novel` is None where an unmatched comment was not judged.

    `comments` C, `claimed` M, `right` M_TP, `references` G_TP, `hit` those of them that are covered, `novel` U_TP.
    """

    comments: int
    claimed: int
    right: int
    references: int
    hit: int
    novel: int | None


class Scored(NamedTuple):
    """A review, scored."""

    matching: Matching
    parts: Mapping[str, float]
    facets: Mapping[str, Facet]


def why_unmeasurable(case: Case) -> str:
    """Why a case cannot be scored; empty where it can. Wrong findings alone are enough for precision."""
    if case.rejected and case.change.task is Task.REVIEW:
        return ""
    return match.why_unmeasurable(case)


def golden_order(case: Case) -> list[Finding]:
    """The golden findings in the order of their file; where it is not known, right ones before wrong ones."""
    known = match.known_comments(case)
    start = len(known) - len(case.rejected)
    found = [Finding(tuple(columns), True) for columns in groups_of(case.references)]
    found += [Finding((column,), False) for column in range(start, len(known))]
    places = [known[one.columns[0]].extra.get(GOLDEN_INDEX) for one in found]
    numbers = [place for place in places if isinstance(place, int)]
    if len(set(numbers)) < len(found):
        return found
    return [found[i] for i in sorted(range(len(found)), key=lambda i: numbers[i])]


class Claims(NamedTuple):
    """For each comment the golden finding whose label it takes, or None, and all findings that any comment covers."""

    of: tuple[int | None, ...]
    covered: frozenset[int]


def claims(same: Sequence[Sequence[bool]]) -> Claims:
    """Many-to-many matches (comments x findings, both in order), resolved for precision and for recall."""
    taken: set[int] = set()
    covered: set[int] = set()
    of: list[int | None] = []
    for row in same:
        hits = [g for g, hit in enumerate(row) if hit]
        covered.update(hits)
        claim = next((g for g in hits if g not in taken), None)
        of.append(claim)
        if claim is not None:
            taken.add(claim)
    return Claims(tuple(of), frozenset(covered))


class Resolved:
    """A review's matches, before anybody judged what is unmatched."""

    def __init__(self, case: Case, review: Review, table: match.Table, rules: match.Rules) -> None:
        self.case, self.review = case, review
        self.evidence = match.Evidence(case, review, table, rules)
        self.findings = golden_order(case)
        same = [[any(self._same(c, r) for r in g.columns) for g in self.findings] for c in range(len(review.comments))]
        self.same = same
        self.claims = claims(same)
        pairs = zip(review.comments, self.claims.of, strict=True)
        self.unmatched = [comment for comment, claim in pairs if claim is None]  # to be judged, repeated ones too

    def _same(self, c: int, r: int) -> bool:
        """Findings of different files are never compared."""
        return bool(self.evidence.allowed[c, r]) and self.evidence.pairs[c][r].same_path is True

    def scored(self, judged: Mapping[str, Judged]) -> Scored:
        """`judged`: which of the unmatched comments are right, by their id."""
        took = [g for g in self.claims.of if g is not None]
        known = all(one.id in judged for one in self.unmatched)
        right = [judged[one.id].right for one in self.unmatched] if known else None
        whole = self._tally(took, range(len(self.findings)), len(self.unmatched), None if right is None else sum(right))
        facets = {fact: self._strata(fact, took, right) for fact in ("category", "severity")}
        return Scored(self._matching(judged), parts_of(whole), facets)

    def _tally(self, took: Sequence[int], findings: Sequence[int], rest: int, novel: int | None) -> Tally:
        right = [g for g in findings if self.findings[g].right]
        return Tally(
            comments=len(took) + rest,
            claimed=len(took),
            right=sum(self.findings[g].right for g in took),
            references=len(right),
            hit=sum(g in self.claims.covered for g in right),
            novel=novel,
        )

    def _strata(self, fact: str, took: Sequence[int], right: Sequence[bool] | None) -> Facet:
        """The parts by the value of a fact.

        A comment that took a finding lies in the finding's stratum, any other in the one that it states itself.
        """
        stated = [self._stated(finding, fact) for finding in self.findings]
        rest: dict[str, list[int]] = {}
        for at, one in enumerate(self.unmatched):
            rest.setdefault(_value([one], fact), []).append(right[at] if right is not None else 0)
        inside: dict[str, list[int]] = {}
        for g, value in enumerate(stated):
            inside.setdefault(value, []).append(g)
        taken: dict[str, list[int]] = {}
        for g in took:
            taken.setdefault(stated[g], []).append(g)
        facet: Facet = {}
        for value in dict.fromkeys([*stated, *rest]):
            novel = rest.get(value, [])
            some = self._tally(
                taken.get(value, []), inside.get(value, []), len(novel), None if right is None else sum(novel)
            )
            facet[value] = {"changes": 1.0, **parts_of(some)}
        return facet

    def _stated(self, finding: Finding, fact: str) -> str:
        return _value([self.evidence.known[column] for column in finding.columns], fact)

    def _matching(self, judged: Mapping[str, Judged]) -> Matching:
        right = [g for g, finding in enumerate(self.findings) if finding.right]
        groups = [list(self.findings[g].columns) for g in right]
        credits = [(c, at) for at, g in enumerate(right) for c, row in enumerate(self.same) if row[g]]
        return Matching(
            policy=f"any:{NAME}",
            comments=tuple(self._outcome(c, one, judged) for c, one in enumerate(self.review.comments)),
            groups=tuple(self._group(g) for g in right),
            line_hits=match.count_line_hits(self.evidence, groups),
            pairs=tuple(match.kept_pairs(self.evidence, groups, credits)),
        )

    def _outcome(self, c: int, comment: Comment, judged: Mapping[str, Judged]) -> CommentOutcome:
        claim, verdict = self.claims.of[c], judged.get(comment.id)
        if claim is not None:
            finding = self.findings[claim]
            reason = match.why(self.evidence, c, list(finding.columns))
            if not finding.right:
                reason = f"says again what the benchmark calls wrong: {reason}"
                return CommentOutcome(comment=comment.id, state=CommentState.FALSE, rejected=True, reason=reason)
            right = self.evidence.known[finding.columns[0]].id
            return CommentOutcome(comment=comment.id, state=CommentState.MATCHED, group=right, reason=reason)
        said = "not judged" if verdict is None else f"judged {'right' if verdict.right else 'wrong'}: {verdict.reason}"
        repeated = [g for g, hit in enumerate(self.same[c]) if hit]
        if repeated:
            first = self.findings[repeated[0]]
            reason = f"says again what another comment hit, {said}: {match.why(self.evidence, c, list(first.columns))}"
            group = self.evidence.known[first.columns[0]].id if first.right else None
            return CommentOutcome(comment=comment.id, state=CommentState.DUPLICATE, group=group, reason=reason)
        state = CommentState.FALSE if verdict is not None and not verdict.right else CommentState.NEUTRAL
        return CommentOutcome(comment=comment.id, state=state, reason=f"matches no golden finding, {said}")

    def _group(self, g: int) -> GroupOutcome:
        columns = list(self.findings[g].columns)
        members = tuple(self.evidence.known[column].id for column in columns)
        comments = self.review.comments
        by = [c for c, row in enumerate(self.same) if row[g]]
        nearest = int(self.evidence.probability[:, columns].max(axis=1).argmax()) if comments else None
        reason = "the review has no comments"
        if by:
            reason = match.why(self.evidence, by[0], columns)
        elif nearest is not None:
            reason = f"closest comment {comments[nearest].id}: {match.why(self.evidence, nearest, columns)}"
        return GroupOutcome(
            group=members[0],
            members=members,
            hit=bool(by),
            comments=tuple(comments[c].id for c in by),
            nearest=None if by or nearest is None else comments[nearest].id,
            probability=float(bool(by)),
            reason=reason,
        )


def _value(comments: Sequence[Comment], fact: str) -> str:
    """The first of several phrasings that states a fact says it."""
    return next((str(value) for one in comments if (value := getattr(one, fact)) is not None), NOT_STATED)


def parts_of(tally: Tally) -> dict[str, float]:
    """The additive parts: the counts for the micro averages, and each defined share of this change for the macro ones.

    A change where a share is not defined takes no part in its macro average.
    """
    _, claimed, right, references, hit, novel = tally
    parts = {"said": claimed, "right": right, "references": references, "hit": hit, "missed": references - hit}
    shares = [(right, claimed), (hit, references)]
    if novel is not None:
        shares += [(right + novel, tally.comments), (hit + novel, references + novel)]
        parts |= {"judged": 1, "novel": novel, "judged_comments": tally.comments}
        parts |= {"useful": right + novel, "found": hit + novel, "known": references + novel}
    found = {name: float(number) for name, number in parts.items()}
    for name, (over, under) in zip(_SHARES, shares, strict=False):
        if under:
            found |= {f"{name}_sum": over / under, f"{name}_changes": 1.0}
    return found


def measures(aggregate: Aggregate) -> Mapping[str, Numbers]:
    """The augmented measures, over the changes whose unmatched comments were all judged, and the macro averages."""
    total, ratio = aggregate.total, aggregate.ratio
    found = {
        "augmented_precision": ratio(total("useful"), total("judged_comments")),
        "augmented_recall": ratio(total("found"), total("known")),
        "novel": ratio(total("novel"), total("judged_comments")),
        "judged": ratio(total("judged"), total("changes")),
    }
    return {**found, **{f"{name}_macro": ratio(total(f"{name}_sum"), total(f"{name}_changes")) for name in _SHARES}}


def bounds_of(findings: int) -> tuple[dict[str, float], dict[str, float]]:
    """The parts at worst (each comment takes a wrong finding) and at best (each takes a right one), of so many."""
    wrong = max(1, findings)
    worst = Tally(comments=wrong, claimed=wrong, right=0, references=findings, hit=0, novel=0)
    best = Tally(comments=findings, claimed=findings, right=findings, references=findings, hit=findings, novel=0)
    return parts_of(worst), parts_of(best)
