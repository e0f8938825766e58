"""The cells of a study."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.study import StudyFile, filled, grid, read_study, words_in

TEXT = """
title = "small"
attempts = 2
metrics = ["hits"]
[axes]
model = { small = "fake:rules", big = "fake:fickle-30" }
context = ["none", "file"]
[[benchmark]]
name = "one"
data = "sample"
[[benchmark]]
name = "two"
data = "sample"
stages = ["first(cases=2)"]
[[reviewer]]
name = "{model} {context}"
spec = 'prompt(model="{model}", context="{context}")'
[[reviewer]]
spec = "silent"
benchmarks = ["two"]
[[reviewer]]
name = "own on {benchmark}"
spec = 'replay(path="{{case}}-{benchmark}.json")'
"""
MANY = ", ".join(['"file"', *(f'"{number}"' for number in range(5000))]) + "]"


def study(text: str = TEXT) -> StudyFile:
    return read_study(text.encode(), "mine.toml")


def test_every_combination_of_the_axes_that_a_spec_names() -> None:
    cells = grid(study(), "mine.toml")
    assert [cell.name for cell in cells["one"]] == ["small none", "small file", "big none", "big file", "own on one"]
    assert cells["one"][2].spec == 'prompt(model="fake:fickle-30", context="none")'
    assert cells["one"][2].coordinates == {"model": "big", "context": "none"}
    assert [cell.spec for cell in cells["two"]][-2:] == ["silent", 'replay(path="{case}-two.json")']


def test_words_in_braces() -> None:
    assert words_in("{a} {{b}} {c} {a}") == ["a", "c"]
    assert filled("{a} {{b}}", {"a": "1"}) == "1 {b}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"{model} {context}"', '"{modl}"', "'modl' is not an axis (the axes are model, context, benchmark"),
        ('"{model} {context}"', '"{model}"', "two reviewers are called 'small'"),
        ('"file"]', MANY, "10,004 combinations of the axes (at most"),
        ('benchmarks = ["two"]', 'name = "own on two"', "two reviewers are called 'own on two'"),
    ],
)
def test_what_does_not_fit_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        grid(study(TEXT.replace(old, new)), "mine.toml")
    assert said in str(error.value)
