"""What the card counts: each figure by hand."""

from __future__ import annotations

from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.reports.build_card import Spread
from reviewgauge.engine.build.folder import Census


def census(*cases: Case) -> Census:
    found = Census()
    for case in cases:
        found.add(case)
    return found


def case(name: str, *said: Comment, verdict: bool | None = None, **facts: str | int | float | bool) -> Case:
    return Case(id=name, change=Change(repo="acme/shop"), references=said, verdict=verdict, facts=facts)


def test_every_case_and_every_finding_is_counted_once() -> None:
    one, again = Comment(id="a", body="x"), Comment(id="b", body="x", same_as="a")
    found = census(
        case("1", verdict=True),
        case("2", one, again, verdict=False),
        case("3", one),
        case("4"),
        case("5", verdict=False),
    )
    assert list(found.counts.items()) == [
        ("changes", 5), ("changed", 3), ("clean", 1), ("without a verdict", 1), ("references", 3), ("findings", 2),
        ("neutral", 0), ("rejected", 0),
    ]  # fmt: skip


def test_numbers_are_spread_and_words_are_counted() -> None:
    found = census(*(case(str(n), commits=n, language="Go" if n else "C", year=2020, new=n > 1) for n in range(4)))
    assert found.spreads()["commits"] == Spread(
        n=4, smallest=0, lower=0.75, median=1.5, upper=2.25, largest=3, mean=1.5
    )
    assert found.distributions() == {
        "language": {"Go": 3, "C": 1},
        "new": {"False": 2, "True": 2},
        "repository": {"acme/shop": 4},
        "year": {"2020": 4},
    }
