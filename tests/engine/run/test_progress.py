from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.progress import Selection, parse_only


def test_words_become_a_selection() -> None:
    assert parse_only([]) == Selection()
    assert parse_only(["case=a/b#1", "failed", "case=x*"]) == Selection(failed=True, cases=("a/b#1", "x*"))


@pytest.mark.parametrize("word", ["fail", "case", "case=", "kind=network", ""])
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(UserError, match="--only"):
        parse_only([word])


def test_a_case_is_taken_by_its_id_or_by_a_pattern() -> None:
    assert Selection().takes("anything")
    only = Selection(cases=("a[1]", "b*"))
    assert [case for case in ("a[1]", "a1", "b", "bc", "c") if only.takes(case)] == ["a[1]", "a1", "b", "bc"]


def test_a_name_that_fits_nothing_is_refused() -> None:
    Selection(cases=("a", "b*")).check(["a", "bc"])
    with pytest.raises(UserError, match=r"case=c\* matches none of the 2 cases \(such as a\)"):
        Selection(cases=("a", "c*")).check(["a", "bc"])
