"""The rules that go by tables of words: docs/fake.md quotes their docstrings, so those hold the tables as they are."""

from __future__ import annotations

from types import ModuleType

import pytest

from reviewgauge.models.fake.rules import class_category, class_context, class_domain, points_extract


@pytest.mark.parametrize("rule", [class_category, class_context, class_domain, points_extract])
def test_the_docstring_holds_the_table(rule: ModuleType) -> None:
    lines = [line for line in (rule.__doc__ or "").splitlines() if line.startswith("- ")]
    assert lines == [f"- {name}: {', '.join(words)}" for name, words in rule.WORDS]


def test_grave_words_are_those_that_are_listed() -> None:
    said = " ".join((points_extract.__doc__ or "").split())
    *first, last = points_extract.GRAVE
    assert f"a point with {', '.join(first)} or {last}," in said
