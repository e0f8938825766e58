"""The rules that go by tables of words: their docstrings hold the tables as they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewgauge.models.fake.rules import classes, points


@pytest.mark.parametrize(
    ("rule", "table"),
    [
        (classes.category, classes.CATEGORY_WORDS),
        (classes.context, classes.CONTEXT_WORDS),
        (classes.domain, classes.DOMAIN_WORDS),
        (points.extract, points.TYPE_WORDS),
    ],
)
def test_the_docstring_holds_the_table(rule: Callable[..., str], table: classes.WordTable) -> None:
    lines = [line.strip() for line in (rule.__doc__ or "").splitlines() if line.strip().startswith("- ")]
    assert lines == [f"- {name}: {', '.join(words)}" for name, words in table]


def test_grave_words_are_those_that_are_listed() -> None:
    text = " ".join((points.extract.__doc__ or "").split())
    *first, last = points.GRAVE
    assert f"a point with {', '.join(first)} or {last}," in text
