"""The shipped stages, and that every case is either kept or counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.stages.where import Where

PATCH = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"  # two lines added, one deleted


def case(name: str, patch: str | None = None, **facts: str | int | bool) -> Case:
    files = (ChangedFile(path="a.py", patch=patch),) if patch is not None else ()
    return Case(id=name, change=Change(repo=f"r/{name}", files=files), facts=facts)


LINES = "changed_lines"


@pytest.mark.parametrize(("one", "where", "reason"), [
    (case("a", PATCH), Where(fact=LINES, at_most=3), None),
    (case("a", PATCH), Where(fact=LINES, at_most=2), "changed_lines over 2"),
    (case("a", PATCH, changed_lines=9999), Where(fact=LINES, at_most=3), None),
    (case("a", changed_lines=11), Where(fact=LINES, at_most=10), "changed_lines over 10"),
    (case("a"), Where(fact=LINES, at_most=10), "no diff at hand, and no fact changed_lines"),
    (case("a", changed_lines=True), Where(fact=LINES, at_most=1), "no diff at hand, and no fact changed_lines"),
    (case("a", PATCH), Where(fact="changed_files", at_least=2), "changed_files under 2"),
    (case("a", changed_files=4), Where(fact="changed_files", at_least=2, at_most=4), None),
    (case("a", commits=3), Where(fact="commits", at_most=2.5), "commits over 2.5"),
    (case("a", size="S"), Where(fact="size", at_most=2), "size is not a number"),
    (case("a"), Where(fact="commits", at_most=2), "does not state commits"),
])  # fmt: skip
def test_limits_are_of_what_is_counted_else_of_what_is_stated(one: Case, where: Where, reason: str | None) -> None:
    said = where.narrow(Candidate(case=one))
    assert (said if isinstance(said, str) else None) == reason


def test_where_keeps_by_a_fact_or_the_repository_and_says_the_other_value() -> None:
    go = case("a", language="go", year=1)
    assert Where(fact="language", values=("go", "c")).narrow(Candidate(case=go)) == Candidate(case=go)
    assert Where(fact="language", values=("c",)).narrow(Candidate(case=go)) == "language is go"
    assert Where(fact="colour", values=("red",)).narrow(Candidate(case=go)) == "does not state colour"
    assert Where(fact="repo", values=("r/a",)).narrow(Candidate(case=go)) == Candidate(case=go)
    assert Where(fact="year", values=(True,)).narrow(Candidate(case=go)) == "year is 1", "True is not 1 here"
    for wrong in ({"fact": "language"}, {"values": ("go",)}, {"fact": "year", "values": (1,), "at_most": 2}):
        with pytest.raises(ValueError, match="needs a fact, and values or limits"):
            Where(**wrong)


@dataclass(frozen=True)
class Twice(Stage):
    """Splits every case into two: a stage that sees the stream."""

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop]:
        for one in items:
            yield one
            yield one.with_case(id=one.id + "-again")


def test_stages_apply_in_their_order() -> None:
    kept, drops = apply_stages(
        [case("a", language="go"), case("b", language="c")], [Twice(), Where("language", ("c",))]
    )
    assert [one.id for one in kept] == ["b", "b-again"]
    assert [drop.item for drop in drops] == ["a", "a-again"]
    assert apply_stages([], [Twice()]) == ([], [])
