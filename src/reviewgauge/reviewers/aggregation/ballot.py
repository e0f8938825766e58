"""Votes: which comments of several reviews raise the same finding, and what enough of the reviews say.

Own method. Comments of two reviews are compared by a judge, never two of one review, which tells them apart itself.
The most alike go together first, and a group takes in what is on average as like its members as the judge asks for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.records import Case, Change, Comment, Review, Span, Task
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.judges.pairs.asking import Compared, judge_of, judge_some
from reviewgauge.judges.pairs.location import gap
from reviewgauge.reviewers.reading.model_answers import MOST_LINES
from reviewgauge.reviewers.reading.review_files import unique

MOST_COMMENTS = 500  # of all reviews of one change together: each pair is compared
NEAR = 10  # lines between two comments that can raise one finding: attempts quote different lines of it
_TIE = 1e-6  # what nearness adds: of two findings in the same words, each goes with its neighbour
_RANK_CONSTANT = 60  # reciprocal rank fusion, Cormack, Clarke and Buettcher 2009
_SHOWN = 100  # findings in the trace

Place = tuple[int, int]  # (review, comment)


class Finding(NamedTuple):
    """Comments of different reviews that raise the same thing; the first speaks for them."""

    members: Sequence[Place]

    @property
    def votes(self) -> int:
        """How many reviews raise it."""
        return len(self.members)


def majority(n: int) -> int:
    """The least number that is more than half of `n`."""
    return n // 2 + 1


@dataclass(frozen=True, eq=False)
class Ballot:
    """Several reviews of one change, compared once; `report` counts the votes of some of them."""

    change: Change
    reviews: Sequence[Review]
    judge: str

    @cached_property
    def _likeness(self) -> dict[tuple[Place, Place], float]:
        """The probability that two comments raise the same thing, for the pairs that stand close enough."""
        count = sum(len(review.comments) for review in self.reviews)
        if count > MOST_COMMENTS:
            problem = f"the attempts made {count:,} comments, and votes compare at most {MOST_COMMENTS}"
            raise Failed(FailureKind.REQUEST, problem)
        found: dict[tuple[Place, Place], float] = {}
        judge = judge_of(self.judge)
        case = Case(id=self.change.id or self.change.repo, change=self.change)
        for one, other in combinations(range(len(self.reviews)), 2):
            first, second = self.reviews[one].comments, self.reviews[other].comments
            near = [(c, r) for c in range(len(second)) for r in range(len(first)) if _close(second[c], first[r])]
            if not near:
                continue
            verdicts = judge_some(judge, Compared(case, second, first, self.reviews[other]), near)
            for (c, r), verdict in verdicts.items():
                if verdict is not None:
                    distance = _distance(second[c].span, first[r].span)
                    tie = 0.0 if distance is None else _TIE / (1 + distance)
                    found[(one, r), (other, c)] = verdict.probability + tie
        return found

    def findings(self, chosen: Iterable[int] | None = None) -> list[Finding]:
        """The findings of the chosen reviews (all by default), those with most votes first."""
        kept = sorted(range(len(self.reviews)) if chosen is None else set(chosen))
        places = [(owner, at) for owner in kept for at in range(len(self.reviews[owner].comments))]
        within, likeness = set(kept), self._likeness
        pairs = [pair for pair in likeness if pair[0][0] in within and pair[1][0] in within]
        group = {place: [place] for place in places}
        threshold = judge_of(self.judge).threshold
        for one, other in sorted(pairs, key=lambda pair: (-likeness[pair], pair)):
            mine, theirs = group[one], group[other]
            if mine is theirs or {place[0] for place in mine} & {place[0] for place in theirs}:
                continue
            across = [likeness.get((min(a, b), max(a, b)), 0.0) for a in mine for b in theirs]
            if sum(across) / len(across) < threshold:
                continue
            mine += theirs
            for place in theirs:
                group[place] = mine
        groups = {id(members): members for members in group.values()}
        found = [Finding(self._speaker_first(members)) for members in groups.values()]
        return sorted(found, key=lambda finding: (-finding.votes, min(finding.members)))

    def _speaker_first(self, members: Sequence[Place]) -> list[Place]:
        """The members with the one that is most like all others in front."""
        likeness = self._likeness
        total: dict[Place, float] = defaultdict(float)
        for a, b in combinations(sorted(members), 2):
            for place in (a, b):
                total[place] += likeness.get((a, b), 0.0)
        return sorted(members, key=lambda place: (-total[place], place))

    def comment(self, place: Place) -> Comment:
        """The comment at a place."""
        return self.reviews[place[0]].comments[place[1]]

    def report(self, least: int = 0, chosen: Sequence[int] | None = None) -> Review:
        """What at least `least` of the chosen reviews say (0: more than half), and their vote as the verdict.

        Where one comment is asked for, it is the one with most votes.
        """
        chosen = range(len(self.reviews)) if chosen is None else chosen
        reviews = [self.reviews[at] for at in chosen]
        needed = least or majority(len(reviews))
        findings = self.findings(chosen)
        kept = [finding for finding in findings if finding.votes >= needed]
        trace = [f"votes: {len(kept)} of {len(findings)} findings were raised by {needed} or more of {len(reviews)}"]
        if self.change.task is Task.COMMENT:  # one comment is asked for
            kept = findings[:1]
        for at, finding in enumerate(findings[:_SHOWN]):
            word = "kept" if at < len(kept) else "dropped"
            trace.append(f"{word}, {finding.votes} of {len(reviews)}: {shown(self.comment(finding.members[0]))}")
        return Review(
            case=self.change.id or self.change.repo,
            system="votes",
            comments=unique(
                with_votes(self.comment(finding.members[0]), finding.votes, len(reviews)) for finding in kept
            ),
            verdict=_verdict(reviews) if self.change.task is Task.ASSESS else None,
            ranked_lines=_fused([review.ranked_lines for review in reviews]),
            trace="\n".join(trace) if findings else None,
        )


def with_votes(comment: Comment, votes: int, of: int) -> Comment:
    """The comment with the share of the reviews that raise it as its confidence."""
    extra = {**comment.extra, "votes": votes, "attempts": of}
    return comment.model_copy(update={"confidence": votes / of, "extra": extra})


def shown(comment: Comment) -> str:
    """Place and first words of a comment, on one line."""
    span = comment.span
    place = "" if span is None else f"{span.path}{f':{span.start}' if span.start else ''}: "
    return one_line(f"{place}{comment.body}", 120)


def check_judge(spec: str) -> None:
    """Raise ValueError for a judge that reads the answers, which nobody has who aggregates reviews."""
    try:
        judge = judge_of(spec)
    except UserError as error:
        raise ValueError(str(error)) from None
    if judge.reads_labels:
        raise ValueError(f"judge={spec!r} reads the labels of a case: choose one that compares comments")


def _close(one: Comment, other: Comment) -> bool:
    """Whether two comments stand where one finding can be; what has no place can stand anywhere."""
    a, b = one.span, other.span
    if a is None or b is None:
        return True
    distance = _distance(a, b)
    return a.path == b.path and (distance is None or distance <= NEAR)


def _distance(one: Span | None, other: Span | None) -> int | None:
    if one is None or other is None or one.path != other.path or one.side != other.side:
        return None
    return gap(one, other)


def _verdict(reviews: Sequence[Review]) -> bool:
    """What more than half of the verdicts say; a tie is a no."""
    given = [review.verdict for review in reviews if review.verdict is not None]
    if not given:
        raise Failed(FailureKind.UNREADABLE, "no attempt says whether the change can be merged")
    return sum(given) >= majority(len(given))


def _fused(rankings: Sequence[Sequence[Span]]) -> tuple[Span, ...]:
    """The lines that the rankings name, best first by the sum of 1 / (60 + rank)."""
    score: Counter[Span] = Counter()
    for ranking in rankings:
        for rank, line in enumerate(dict.fromkeys(ranking), start=1):
            score[line] += 1 / (_RANK_CONSTANT + rank)  # type: ignore[assignment]  # counts of a Counter may be floats
    return tuple(line for line, _ in score.most_common(MOST_LINES))
