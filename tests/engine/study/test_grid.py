"""The cells of a study, and which changes of its file go on in the same folder."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.study import StudyFile, read_study
from reviewgauge.engine.study.grid import check_extension, filled, grid, words_in

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
        ('"{model} {context}"', '"{modl}"', "there is no axis 'modl' (there is: model, context, benchmark"),
        ('"{model} {context}"', '"{model}"', "two reviewers are called 'small'"),
        ('"file"]', MANY, "10,004 combinations of the axes (at most"),
        ('benchmarks = ["two"]', 'name = "own on two"', "two reviewers are called 'own on two'"),
    ],
)
def test_what_does_not_fit_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        grid(study(TEXT.replace(old, new)), "mine.toml")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"file"]', '"file", "pr"]'),
        ("attempts = 2", "attempts = 3"),
        ('metrics = ["hits"]', 'metrics = ["hits", "rouge"]'),
        ('title = "small"', 'title = "other"'),
        ('benchmarks = ["two"]', 'benchmarks = ["two"]\n[[table]]\nkind = "cost"'),
        ('[[reviewer]]\nspec = "silent"', '[[reviewer]]\nspec = "parrot"\n[[reviewer]]\nspec = "silent"'),
    ],
)
def test_what_is_added_goes_on(old: str, new: str) -> None:
    assert old in TEXT
    check_extension(study(), study(TEXT.replace(old, new)), "mine.toml", "out")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("attempts = 2", "attempts = 1", "attempts = 1, and out has 2"),
        ('context = ["none", "file"]', 'context = ["none"]', "the reviewer 'small file' of out is gone"),
        ('"fake:fickle-30"', '"fake:noisy-20"', "the reviewer 'big none' was prompt(model=\"fake:fickle-30\""),
        ("first(cases=2)", "first(cases=3)", "stages of the benchmark 'two' was ('first(cases=2)',), and is ('first"),
        ('metrics = ["hits"]', 'metrics = ["rouge"]', "the metric hits of 'one' is gone"),
        ('name = "one"', 'name = "uno"', "the benchmark 'one' of out is gone"),
    ],
)
def test_what_is_changed_is_refused_by_name(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(UserError) as error:
        check_extension(study(), study(TEXT.replace(old, new)), "mine.toml", "out")
    assert said in str(error.value) and "put it back as in out/study.toml" in str(error.value)
