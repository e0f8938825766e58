"""Match one review against one case: evidence in, a Matching out.

The evidence on a pair is its place and the judge's verdict. A policy turns the admissible pairs into credits,
and the credits into outcomes: every comment is exactly one of matched, duplicate, neutral, false; every finding is
exactly one of hit, missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from reviewgauge.core.records import Case, Comment, Review, Task, groups_of
from reviewgauge.core.results import CommentOutcome, CommentState, GroupOutcome, Matching, Pair, Verdict
from reviewgauge.judges.pairs.location import in_words, locate
from reviewgauge.metrics.matching import policies
from reviewgauge.metrics.matching.place import ChangedLines
from reviewgauge.metrics.matching.policies import Matrix, golden_scores, shared_out

Policy = Literal["optimal", "greedy", "any"]
Variant = Literal["", "aacr", "aacr_ids", "aacr_evaluation", "martian", "review_bench"]
LocationRule = Literal["hint", "gate", "only", "ignore"]
Table = Sequence[Sequence[Verdict | None]]
TIE = 1e-6  # what standing on the right lines adds to a pair's strength: it breaks ties and nothing more


@dataclass(frozen=True)
class Rules:
    """How evidence becomes outcomes; `metrics/hits.py` explains each choice.

    `every_vote`: all pairs that were voted on stay in the evidence, and not the telling ones alone.
    """

    policy: Policy
    variant: Variant
    location: LocationRule
    tolerance: int
    threshold: float
    sure: float
    penalty: float
    base_rate: float | None = None
    every_vote: bool = False

    @property
    def weighs_place(self) -> bool:
        """Whether the place of a pair is weighed into a probability that the judge found by words alone."""
        return self.location == "hint" and not self.variant

    def in_band(self, probability: float) -> bool:
        """Whether a probability is neither a yes nor a no."""
        return 1 - self.sure < probability < self.sure


def known_comments(case: Case) -> list[Comment]:
    """References, neutral and rejected comments of a case, in this order: the columns of the evidence."""
    return [*case.references, *case.neutral, *case.rejected]


def why_unmeasurable(case: Case) -> str:
    """Why a case cannot be matched with reviews; empty where it can."""
    if case.change.task is not Task.REVIEW:
        return f"the task is {case.change.task}, not review"
    return "" if case.references or case.clean else "no references, and not known to be clean"


class Evidence:
    """All pairs of one review and one case: place, verdict, and whether the pair may be credited at all."""

    def __init__(self, case: Case, review: Review, table: Table, rules: Rules) -> None:
        self.case, self.review, self.rules = case, review, rules
        self.known = known_comments(case)
        self._lines = ChangedLines(case.change.files)
        self.pairs = [
            [self._pair(comment, reference, verdict) for reference, verdict in zip(self.known, row, strict=True)]
            for comment, row in zip(review.comments, table, strict=True)
        ]
        self.copies = [] if rules.variant else _copies(review.comments)
        shape = (len(review.comments), len(self.known))
        self.probability = np.zeros(shape)
        self.allowed = np.zeros(shape, dtype=bool)
        self.tie = np.zeros(shape)
        for c, row in enumerate(self.pairs):
            for r, pair in enumerate(row):
                self.probability[c, r], self.allowed[c, r] = self._weigh(pair)
                near = 1 / (1 + pair.distance) if pair.distance is not None else 0.0
                self.tie[c, r] = TIE * (near + bool(pair.same_path))

    def _pair(self, comment: Comment, reference: Comment, verdict: Verdict | None) -> Pair:
        pair = locate(comment, reference, self.rules.tolerance, strict=self.rules.location == "gate")
        weighed = None
        if verdict is not None and self.rules.base_rate is not None and self.rules.weighs_place:
            weighed = self._lines.weigh(verdict.probability, self.rules.base_rate, comment, reference, pair)
        return pair.model_copy(update={"verdict": verdict, "weighed": weighed})

    def _weigh(self, pair: Pair) -> tuple[float, bool]:
        rules, verdict = self.rules, pair.verdict
        if rules.location == "only":
            return float(pair.located is True), pair.located is True
        if verdict is None:
            return 0.0, False
        p = verdict.probability if pair.weighed is None else pair.weighed
        same = verdict.same if verdict.same is not None and pair.weighed is None else p >= rules.threshold
        return p, same and not self.ruled_out(pair, p)

    def ruled_out(self, pair: Pair, probability: float) -> bool:
        """Whether its place rules a pair out."""
        if self.rules.location == "gate":
            return pair.located is False
        elsewhere = pair.weighed is None and pair.same_path is False
        return self.rules.location == "hint" and elsewhere and probability < self.rules.sure

    @property
    def strength(self) -> Matrix:
        """comments x known: probability of the pairs that may be credited, 0 elsewhere."""
        return np.where(self.allowed, self.probability + self.tie, 0.0)

    def unsure(self, c: int, r: int) -> bool:
        """Whether the pair lies in the judge's unsure band, after the place was weighed in."""
        pair = self.pairs[c][r]
        if pair.weighed is not None:
            return self.rules.in_band(pair.weighed)
        return pair.verdict is not None and pair.verdict.unsure

    def in_doubt(self, chance: float, c: int, columns: Sequence[int]) -> bool:
        """Whether a comment and a finding that it raises with this chance may be the same or not."""
        if self.rules.variant or self.rules.location == "only":
            return False
        if any(pair.weighed is not None and pair.located for pair in (self.pairs[c][r] for r in columns)):
            return 0 < chance < self.rules.sure  # on the right lines it may mean the finding, whatever it says
        if self.rules.sure > self.rules.threshold:
            return self.rules.in_band(chance)
        return self.unsure(c, max(columns, key=lambda r: float(self.probability[c, r])))

    def tells_where(self, comment: Comment) -> bool:
        """Whether a comment stands somewhere in particular."""
        return comment.span is None or self._lines.tells_where(comment.span)

    def unknown(self, c: int) -> bool:
        """No judge decided on this comment and some finding, so it may be right: stored verdicts can have gaps."""
        decided = self.rules.location == "only" or all(pair.verdict is not None for pair in self.pairs[c])
        return bool(self.pairs[c]) and not decided


def match(case: Case, review: Review, table: Table, rules: Rules) -> Matching:
    """The Matching of a review. `table`: one row per comment, one verdict per known comment (`known_comments`).

    Independent of the order of comments and references, except under the published greedy variants, whose point
    that is.
    """
    if not rules.variant:
        case, review, table = _in_fixed_order(case, review, table)
    evidence = Evidence(case, review, table, rules)
    references = len(case.references)
    groups = groups_of(case.references)
    strength = _by_group(evidence.strength[:, :references], groups)
    contested = _closer_to_something_else(evidence, references)
    strength[contested, :] = 0.0
    found = _credit(evidence, strength, groups)
    chances = _chances(evidence, groups, contested)
    alone = chances.copy()
    alone[evidence.copies, :] = 0.0
    outcomes = _comment_outcomes(evidence, groups, strength, found, chances)
    shares = shared_out(alone).tolist()
    return Matching(
        policy=rules.policy + (f":{rules.variant}" if rules.variant else ""),
        comments=tuple(one.model_copy(update={"probability": p}) for one, p in zip(outcomes, shares, strict=True)),
        groups=tuple(_group_outcomes(evidence, groups, found.credits, golden_scores(alone, rules.penalty))),
        line_hits=found.line_hits,
        pairs=tuple(kept_pairs(evidence, groups, found.credits)),
        broken=_broken(rules, len(review.comments), found.credits, found.seen),
    )


def _in_fixed_order(case: Case, review: Review, table: Table) -> tuple[Case, Review, Table]:
    rows = sorted(range(len(review.comments)), key=lambda i: review.comments[i].id)
    columns: list[int] = []
    start = 0
    parts = []
    for part in (case.references, case.neutral, case.rejected):
        order = sorted(range(len(part)), key=lambda i, part=part: part[i].id)  # type: ignore[misc]
        columns += [start + i for i in order]
        parts.append(tuple(part[i] for i in order))
        start += len(part)
    case = case.model_copy(update=dict(zip(("references", "neutral", "rejected"), parts, strict=True)))
    review = review.model_copy(update={"comments": tuple(review.comments[i] for i in rows)})
    return case, review, [[table[i][j] for j in columns] for i in rows]


def _by_group(strength: Matrix, groups: list[list[int]]) -> Matrix:
    """comments x groups: a finding is as close as its closest phrasing."""
    if not groups:
        return np.zeros((strength.shape[0], 0))
    return np.stack([strength[:, indices].max(axis=1) for indices in groups], axis=1)


def _closer_to_something_else(evidence: Evidence, references: int) -> list[int]:
    """Comments that match a neutral or rejected comment better than any reference."""
    strength = evidence.strength
    if strength.shape[1] == references or not strength.size or evidence.rules.variant:
        return []
    other = strength[:, references:].max(axis=1)
    own = strength[:, :references].max(axis=1) if references else np.zeros(len(other))
    return [int(c) for c in np.flatnonzero(other > own)]


def _copies(comments: Sequence[Comment]) -> list[int]:
    """Comments that say the same words at the same place as one before them.

    They claim nothing that the first does not claim. Left in, they would be credited for *other* findings that the
    judge takes for similar, and repeating oneself would pay.
    """
    seen: set[tuple[str, object]] = set()
    copies = []
    for c, comment in enumerate(comments):
        key = (" ".join(comment.body.split()), comment.span)
        if key in seen:
            copies.append(c)
        seen.add(key)
    return copies


def _credit(evidence: Evidence, strength: Matrix, groups: list[list[int]]) -> policies.Published:
    rules = evidence.rules
    on_lines = count_line_hits(evidence, groups)
    if rules.variant.startswith("aacr"):
        first = [evidence.case.references[indices[0]] for indices in groups]
        meaning = None if rules.location == "only" else strength
        if rules.variant == "aacr_evaluation":
            return policies.aacr_evaluation(meaning, evidence.review.comments, first, rules.tolerance)
        ids = rules.variant == "aacr_ids"
        return policies.aacr(meaning, evidence.review.comments, first, rules.tolerance, ids=ids)
    if rules.variant == "martian":
        return policies.martian(strength)._replace(line_hits=on_lines)
    policy = {"optimal": policies.assign, "greedy": policies.strongest_first, "any": policies.any_hit}
    contest = strength.copy()
    contest[evidence.copies, :] = 0.0
    return policies.Published(policy[rules.policy](contest), frozenset(), on_lines)


def count_line_hits(evidence: Evidence, groups: list[list[int]]) -> int:
    """The number of findings with a comment on their lines, one-to-one, whatever its text."""
    located = np.array([[float(pair.located is True) for pair in row] for row in evidence.pairs])
    if not located.size:
        return 0
    if not evidence.rules.variant:
        located[[c for c, comment in enumerate(evidence.review.comments) if not evidence.tells_where(comment)], :] = 0.0
    located[evidence.copies, :] = 0.0
    return len(policies.assign(_by_group(located[:, : len(evidence.case.references)], groups)))


def _comment_outcomes(
    evidence: Evidence,
    groups: list[list[int]],
    strength: Matrix,
    found: policies.Published,
    chances: Matrix,
) -> list[CommentOutcome]:
    credited: dict[int, list[int]] = {}
    for c, g in found.credits:
        credited.setdefault(c, []).append(g)
    names = [evidence.case.references[indices[0]].id for indices in groups]
    outcomes = []
    for c, comment in enumerate(evidence.review.comments):
        outcome = partial(CommentOutcome, comment=comment.id)
        if c in credited:
            g = credited[c][0]
            reason = why(evidence, c, groups[g])
            if len(credited[c]) > 1:
                reason += f"; also credited for {', '.join(names[i] for i in credited[c][1:])}"
            unsure = evidence.in_doubt(chances[c, g], c, groups[g])
            outcomes.append(outcome(state=CommentState.MATCHED, group=names[g], unsure=unsure, reason=reason))
        elif strength.shape[1] and strength[c].max() > 0:
            g = int(strength[c].argmax())
            reason = "lost its finding to a surer comment" if c in found.seen else "says again what another comment hit"
            reason = f"{reason}: {why(evidence, c, groups[g])}"
            outcomes.append(outcome(state=CommentState.DUPLICATE, group=names[g], reason=reason))
        elif chances.shape[1] and evidence.in_doubt(chances[c].max(), c, groups[g := int(chances[c].argmax())]):
            reason = f"may raise {why(evidence, c, groups[g])}"
            outcomes.append(outcome(state=CommentState.UNSURE, group=names[g], unsure=True, reason=reason))
        else:
            outcomes.append(_left_over(evidence, c, comment))
    return outcomes


def _left_over(evidence: Evidence, c: int, comment: Comment) -> CommentOutcome:
    """A comment that raises no reference: neutral, or false and perhaps known to be wrong."""
    case = evidence.case
    start, middle = len(case.references), len(case.references) + len(case.neutral)
    strength = evidence.strength[c]
    neutral = strength[start:middle].max(initial=0.0)
    rejected = strength[middle:].max(initial=0.0)
    if neutral > 0 and neutral >= rejected:
        r = start + int(strength[start:middle].argmax())
        return CommentOutcome(comment=comment.id, state=CommentState.NEUTRAL, reason=why(evidence, c, [r]))
    if rejected > 0:
        r = middle + int(strength[middle:].argmax())
        reason = f"says again what the benchmark calls wrong: {why(evidence, c, [r])}"
        return CommentOutcome(comment=comment.id, state=CommentState.FALSE, rejected=True, reason=reason)
    if evidence.unknown(c):
        return CommentOutcome(comment=comment.id, state=CommentState.NEUTRAL, reason="no verdict was recorded on it")
    reason = "nothing to compare it with"
    if start:
        near = int((evidence.probability[c, :start] + evidence.tie[c, :start]).argmax())
        reason = f"nearest finding: {why(evidence, c, [near])}"
    return CommentOutcome(comment=comment.id, state=CommentState.FALSE, reason=reason)


def why(evidence: Evidence, c: int, columns: list[int]) -> str:
    """The evidence on the closest of some known comments, as text."""
    r = max(columns, key=lambda i: evidence.probability[c, i] + evidence.tie[c, i])
    pair = evidence.pairs[c][r]
    words = [evidence.known[r].id]
    if pair.verdict is not None:
        words.append(f"probability {evidence.probability[c, r]:.2f}")
        if pair.verdict.reason:
            words.append(pair.verdict.reason)
    where = in_words(pair)
    return ", ".join([*words, where] if where else words)


def _chances(evidence: Evidence, groups: list[list[int]], contested: list[int]) -> Matrix:
    """comments x groups: how likely each comment raises each finding; 0 where place or another meaning rules it out."""
    possible = evidence.probability[:, : len(evidence.case.references)].copy()
    for c, r in np.ndindex(possible.shape):
        if evidence.ruled_out(evidence.pairs[c][r], float(possible[c, r])):
            possible[c, r] = 0.0
    possible[contested, :] = 0.0
    return _by_group(possible, groups)


def _group_outcomes(
    evidence: Evidence, groups: list[list[int]], credits: policies.Credits, chances: Matrix
) -> list[GroupOutcome]:
    """`chances`: the probability of each group after assignment."""
    hit_by: dict[int, list[int]] = {}
    for c, g in credits:
        hit_by.setdefault(g, []).append(c)
    comments = evidence.review.comments
    outcomes = []
    for g, indices in enumerate(groups):
        members = tuple(evidence.case.references[i].id for i in indices)
        cells = [(c, i) for c in range(len(comments)) for i in indices]
        best = max(cells, key=lambda cell: evidence.probability[cell], default=None)
        nearest, reason = None, "the review has no comments"
        if g in hit_by:
            reason = why(evidence, hit_by[g][0], indices)
        elif comments:
            closest = (evidence.probability + evidence.tie)[:, indices].max(axis=1)
            c = int(closest.argmax())
            nearest = comments[c].id
            reason = f"closest comment {nearest}: {why(evidence, c, indices)}"
        outcomes.append(
            GroupOutcome(
                group=members[0],
                members=members,
                hit=g in hit_by,
                comments=tuple(comments[c].id for c in hit_by.get(g, [])),
                nearest=nearest,
                probability=float(chances[g]),
                unsure=best is not None and evidence.in_doubt(chances[g], best[0], indices),
                reason=reason,
            )
        )
    return outcomes


def kept_pairs(evidence: Evidence, groups: list[list[int]], credits: policies.Credits) -> list[Pair]:
    """The pairs to keep: credited ones, the closest of every comment and every finding, and those with votes."""
    if not evidence.probability.size:
        return []
    weight = evidence.probability + evidence.tie
    keep = {(c, int(weight[c].argmax())) for c in range(weight.shape[0])}
    keep |= {(c, max(groups[g], key=lambda i, c=c: weight[c, i])) for c, g in credits}  # type: ignore[misc]
    for indices in groups:
        c = int(weight[:, indices].max(axis=1).argmax())
        keep.add((c, max(indices, key=lambda i, c=c: weight[c, i])))  # type: ignore[misc]
    if evidence.rules.every_vote:
        pairs = ((c, r, pair) for c, row in enumerate(evidence.pairs) for r, pair in enumerate(row))
        keep |= {(c, r) for c, r, pair in pairs if pair.verdict is not None and pair.verdict.votes}
    return [evidence.pairs[c][r] for c, r in sorted(keep)]


def _broken(rules: Rules, comments: int, credits: policies.Credits, seen: frozenset[int]) -> tuple[str, ...]:
    if rules.variant != "martian":
        return ()
    holders = {c for c, _ in credits}
    broken = []
    if len(holders) < len(credits):
        broken.append(f"{len(credits) - len(holders)} true positives more than comments credited for them")
    if seen:
        broken.append(f"{len(seen)} of {comments} comments are neither true nor false positives")
    return tuple(broken)
