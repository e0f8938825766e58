"""The file of a study: what is wrong with it is named by file, table, key and what there is."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import BadInput
from reviewgauge.core.study import StudyFile, grid, read_study

SMALL = """
title = "small"
metrics = ["hits"]
[axes]
context = ["none", "file"]
[[benchmark]]
data = "sample"
[[reviewer]]
spec = 'prompt(model="fake:rules", context="{context}")'
"""


@pytest.mark.parametrize(("text", "said"), [
    (SMALL + 'spce = "x"', "reviewer[0].spce: is not a field of this record"),
    (SMALL.replace("metrics", "metric"), "field metric: is not a field of this record"),
    (SMALL + '[[table]]\nkind = "sums"', "field table[0].kind: should be 'leaderboard', 'comparisons'"),
    (SMALL + '[[table]]\nkind = "slices"', "[[table]] 1 (slices): slices need by"),
    (SMALL + '[[table]]\nkind = "ablation"\naxis = "contxt"\nbaseline = "x"', "there is no 'contxt' (there is: "),
    (SMALL + '[[table]]\nkind = "ablation"\naxis = "context"\nbaseline = "x"', "there is no 'x' (there is: none"),
    (SMALL + 'benchmarks = ["other"]', "[[reviewer]] 1, benchmarks: there is no 'other' (there is: sample)"),
    (SMALL + '[[benchmark]]\ndata = "sample"', "[[benchmark]] 2: a second benchmark is called 'sample'"),
    (SMALL + '[[benchmark]]\ndata = "sample"\nname = "../x"', "[[benchmark]] 2: '../x' is no name for a file"),
    ("title = ", "is not valid TOML"),
    ('title = "t"', "field benchmark: is missing"),
    (SMALL + "[on.other]\nattempts = 0", "[on.other], field attempts: should be greater"),
])  # fmt: skip
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read_study(text.encode(), "mine.toml")
    assert str(error.value).startswith("mine.toml")
    assert said in str(error.value)


def test_a_variant_takes_the_place_of_the_same_keys_alone() -> None:
    text = SMALL + '[on.paid]\nattempts = 3\n[[on.paid.reviewer]]\nspec = "silent"\n'
    study = read_study(text.encode(), "mine.toml", "paid")
    assert (study.attempts, [one.spec for one in study.reviewer]) == (3, ["silent"])
    assert [one.data for one in study.benchmark] == ["sample"]
    with pytest.raises(BadInput, match=r"has no \[on.free\] \(there is: paid\)"):
        read_study(text.encode(), "mine.toml", "free")


# --- the cells -------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(("old", "new", "said"), [
    ('"{model} {context}"', '"{modl}"', "'modl' is not an axis (the axes are model, context, benchmark"),
    ('"{model} {context}"', '"{model}"', "two reviewers are called 'small'"),
    ('"file"]', MANY, "10,004 combinations of the axes (at most"),
    ('benchmarks = ["two"]', 'name = "own on two"', "two reviewers are called 'own on two'"),
])  # fmt: skip
def test_cells_that_do_not_fit_are_named(old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        grid(study(TEXT.replace(old, new)), "mine.toml")
    assert said in str(error.value)
