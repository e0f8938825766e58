"""Which comments of several reviews are one finding, and who gets a vote."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fickle_changes import fickle_case, named_change
from reviewgauge.core.records import Comment, Review, Side, Span
from reviewgauge.core.results import Failed
from reviewgauge.reviewers.aggregation.ballot import MOST_COMMENTS, NEAR, Ballot

CHANGE = named_change(fickle_case(1, 3))
LEAK = "The file is never closed when parsing fails."
TYPO = "Rename usr to user."


def at(line: int | None, body: str, path: str = "a.py", side: Side = Side.NEW) -> Comment:
    span = None if line is None else Span(path=path, start=line, end=line, side=side)
    return Comment(id=f"{path}{line}{side}{body[:5]}", body=body, span=span)


def ballot(*said: Sequence[Comment]) -> Ballot:
    return Ballot(CHANGE, [Review(case="c", system="s", comments=tuple(comments)) for comments in said], "lexical")


def votes(of: Ballot) -> list[tuple[str, int]]:
    return [(of.comment(finding.members[0]).body, finding.votes) for finding in of.findings()]


def test_the_same_in_other_words_is_one_finding_and_the_most_typical_speaks() -> None:
    found = votes(ballot([at(3, LEAK)], [at(4, "The file is never closed when parsing fails!")], [at(3, TYPO)]))
    assert found == [(LEAK, 2), (TYPO, 1)]


def test_one_review_has_one_vote_however_often_it_says_so() -> None:
    assert votes(ballot([at(3, LEAK), at(4, LEAK), at(5, LEAK)], [at(9, TYPO)])) == [(LEAK, 1)] * 3 + [(TYPO, 1)]


def test_the_same_words_elsewhere_are_another_finding() -> None:
    assert votes(ballot([at(3, LEAK)], [at(3 + NEAR + 1, LEAK)])) == [(LEAK, 1), (LEAK, 1)]
    assert votes(ballot([at(3, LEAK)], [at(3 + NEAR, LEAK)])) == [(LEAK, 2)]
    assert votes(ballot([at(3, LEAK)], [at(3, LEAK, "b.py")])) == [(LEAK, 1), (LEAK, 1)]
    assert votes(ballot([at(3, LEAK)], [at(None, LEAK)])) == [(LEAK, 2)], "what has no place can stand anywhere"


def test_of_two_findings_in_the_same_words_each_goes_with_its_neighbour() -> None:
    of = ballot([at(3, LEAK), at(6, LEAK)], [at(6, LEAK), at(3, LEAK)], [at(6, LEAK)])
    lines = [{span.start for m in f.members if (span := of.comment(m).span)} for f in of.findings()]
    assert (votes(of), lines) == ([(LEAK, 3), (LEAK, 2)], [{6}, {3}])


def test_a_subset_is_counted_as_if_the_others_had_not_been_asked() -> None:
    said = [[at(3, LEAK)], [at(3, TYPO)], [at(4, LEAK), at(3, TYPO)], [at(30, TYPO)]]
    whole = ballot(*said)
    for chosen in ([0, 2], [1, 2], [0, 1, 3], [3]):
        alone = ballot(*[said[at] for at in chosen])
        assert whole.report(1, chosen).comments == alone.report(1).comments
        assert whole.report(0, chosen).comments == alone.report(0).comments


def test_lines_are_ranked_by_all_rankings() -> None:
    lines = [Span(path="a.py", start=n, end=n) for n in (1, 2, 3)]
    rankings = [(lines[0], lines[1]), (lines[1], lines[2]), (lines[1], lines[0])]
    reviews = [Review(case="c", system="s", ranked_lines=ranking) for ranking in rankings]
    assert Ballot(CHANGE, reviews, "lexical").report().ranked_lines == (lines[1], lines[0], lines[2])


def test_more_comments_than_can_be_compared_are_a_failure() -> None:
    many = [at(n, f"{TYPO} {n}") for n in range(1, MOST_COMMENTS + 1)]
    with pytest.raises(Failed, match="501 comments, and votes compare at most 500"):
        ballot(many, [at(3, LEAK)]).report()
