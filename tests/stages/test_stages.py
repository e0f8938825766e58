"""The shipped stages, and that every case is either kept or counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.stages.drop_large import DropLarge
from reviewgauge.stages.where import Where

PATCH = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"  # two lines added, one deleted


def case(name: str, patch: str | None = None, **facts: str | int | bool) -> Case:
    files = (ChangedFile(path="a.py", patch=patch),) if patch is not None else ()
    return Case(id=name, change=Change(repo=f"r/{name}", files=files), facts=facts)


def test_size_is_counted_in_the_diff_else_stated_else_not_known() -> None:
    assert DropLarge(lines=3).keep(case("a", PATCH)) == case("a", PATCH)
    assert DropLarge(lines=2).keep(case("a", PATCH)) == "more than 2 changed lines"
    assert DropLarge(lines=3).keep(case("a", PATCH, changed_lines=9999)) == case("a", PATCH, changed_lines=9999)
    assert DropLarge(lines=10).keep(case("a", changed_lines=11)) == "more than 10 changed lines"
    assert DropLarge().keep(case("a")) == "no diff at hand, and no fact changed_lines"
    assert DropLarge().keep(case("a", changed_lines=True)) == "no diff at hand, and no fact changed_lines"


def test_where_keeps_by_a_fact_or_the_repository_and_says_the_other_value() -> None:
    go = case("a", language="go", year=1)
    assert Where(fact="language", values=("go", "c")).keep(go) == go
    assert Where(fact="language", values=("c",)).keep(go) == "language is go"
    assert Where(fact="colour", values=("red",)).keep(go) == "does not state colour"
    assert Where(fact="repo", values=("r/a",)).keep(go) == go
    assert Where(fact="year", values=(True,)).keep(go) == "year is 1", "True is not 1 here"
    with pytest.raises(ValueError, match="needs a fact and values"):
        Where(fact="language")


@given(st.lists(st.sampled_from(["go", "c", "java"]), min_size=1, max_size=8), st.sampled_from([("go",), ("go", "c")]))
def test_every_case_is_kept_or_counted(languages: list[str], wanted: tuple[str, ...]) -> None:
    cases = [case(f"c{i}", language=language) for i, language in enumerate(languages)]
    if not set(languages) & set(wanted):
        with pytest.raises(UserError, match=f"drops all {len(cases)} cases"):
            apply_stages(cases, [Where(fact="language", values=wanted)])
        return
    kept, drops = apply_stages(cases, [Where(fact="language", values=wanted)])
    assert sorted([c.id for c in kept] + [d.item for d in drops]) == sorted(c.id for c in cases)
    assert all(c.facts["language"] in wanted for c in kept)


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
