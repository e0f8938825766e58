"""Several attempts at one review, and votes: which comments raise the same finding, and what enough reviews say.

Attempts are numbered like those of a run, so that what a run has in the cache is not asked for again. Votes are our
own method. Comments of two reviews are compared by a judge, never two of one review, which tells them apart itself.
The most alike go together first, and a group takes in what is on average as like its members as the judge asks for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case, Change, Comment, Review, Span, Task, Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.judges.pairs.asking import Compared, judge_of, judge_some
from reviewgauge.judges.pairs.location import gap
from reviewgauge.models.chat.client import current_tracker, track_usage
from reviewgauge.reviewers.reading.model_answers import MOST_LINES
from reviewgauge.reviewers.reading.review_files import unique

_AT_ONCE = 16  # threads; how many calls may be in flight is the client's to say
_LONGEST_TRACE = 20_000  # characters of one attempt's trace


class Attempted(NamedTuple):
    """One attempt, named in traces by `name`: its review, or how it failed."""

    name: str
    answer: Review | Failed


class _Done(NamedTuple):
    attempted: Attempted
    usage: Usage
    fake: bool


def attempt_all(change: Change, reviewers: Sequence[Reviewer], n: int) -> list[Attempted]:
    """`n` attempts of each reviewer, at the same time where it asks a model. Their cost goes to the caller's tally.

    Raises Failed where the next change would fail, too, and whatever is a bug of a reviewer.
    """
    outer = current_tracker()
    before = (outer.attempt - 1) * n if outer else 0
    work = [partial(_attempt, change, reviewer, before + at, at, n) for reviewer in reviewers for at in range(1, n + 1)]
    if any(reviewer.models for reviewer in reviewers):
        pool = ThreadPoolExecutor(min(len(work), _AT_ONCE))
        try:
            done = [one.result() for one in [pool.submit(job) for job in work]]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # where one stops the run, the others are not waited for
    else:
        done = [job() for job in work]
    for one in done:
        if outer is not None and one.usage.calls:
            outer.add(one.usage, fake=one.fake)
    return [one.attempted for one in done]


def _attempt(change: Change, reviewer: Reviewer, attempt: int, at: int, n: int) -> _Done:
    answer: Review | Failed
    with track_usage(attempt) as tracker:
        try:
            answer = reviewer.review(change)
        except Failed as error:
            if error.stops:
                raise
            answer = error
        except MissingExtra:
            raise
        except UserError as error:
            answer = Failed(FailureKind.CRASH, error.problem, remedy=error.remedy)
    own = tracker.usage
    if isinstance(answer, Review):
        own = answer.usage if answer.usage.calls else own
        answer = answer.model_copy(update={"fake": answer.fake or tracker.fake})
    name = f"attempt {at} of {reviewer.system}" if n > 1 else reviewer.system
    return _Done(Attempted(name, answer), own, tracker.fake or (isinstance(answer, Review) and answer.fake))


def answered(attempts: Sequence[Attempted]) -> list[Review]:
    """The reviews. Raises Failed, as the first that failed did, where fewer than half of the attempts have one."""
    reviews = [one.answer for one in attempts if isinstance(one.answer, Review)]
    broken = [(one.name, one.answer) for one in attempts if isinstance(one.answer, Failed)]
    if 2 * len(reviews) < len(attempts):
        name, first = broken[0]
        problem = f"{len(broken)} of {len(attempts)} attempts failed, first {name}: {first.problem}"
        raise Failed(first.kind, problem, remedy=first.remedy, raw=first.raw)
    return reviews


def remarks(attempts: Sequence[Attempted]) -> list[str]:
    """For the trace: the attempts without an answer, and what the others noted, each note once."""
    notes = [
        f"{one.name} failed and is left out: {one_line(one.answer.problem)}"
        for one in attempts
        if isinstance(one.answer, Failed)
    ]
    traces: dict[str, list[str]] = {}
    for one in attempts:
        if isinstance(one.answer, Review) and one.answer.trace:
            traces.setdefault(one.answer.trace[:_LONGEST_TRACE], []).append(one.name)
    for trace, names in traces.items():
        notes.append(f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} noted:\n{trace}")
    return notes


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
