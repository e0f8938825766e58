from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.engine.bundle.archive import Unpacked
from reviewgauge.engine.bundle.compare import (
    Contents,
    Differs,
    compare_tables,
    compare_text,
    count_figures,
    first_difference,
    same_value,
)
from reviewgauge.engine.bundle.contents import BundleManifest, FileEntry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(max_size=3), deeper, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_value_does_not_differ_from_itself(value: object) -> None:
    assert first_difference(value, value) is None


@given(JSON, JSON)
def test_a_difference_is_the_same_from_both_sides(one: object, other: object) -> None:
    there, back = first_difference(one, other), first_difference(other, one)
    assert (there is None) == (back is None)


def test_the_first_difference_is_named_by_its_place() -> None:
    stored = {"parts": {"hit": 1.0}, "groups": [{"hit": True}, {"hit": False}], "reason": ""}
    found = {"parts": {"hit": 1.0}, "groups": [{"hit": True}, {"hit": True}], "reason": "x"}
    assert first_difference(stored, found) == ("groups[1].hit", False, True)
    assert first_difference({"a": 1}, {"a": 1, "b": None}) is None, "a default that is not written is the same"
    assert first_difference({"a": [1]}, {"a": [1, 2]}) == ("a", "1 entries", "2 entries")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.0 + 1e-12, True),
        (1.0, 1.0 + 1e-6, False),
        (1, 1.0, True),
        (0.0, 1e-15, True),
        (0.0, 1e-6, False),
        (True, 1, False),
        (True, True, True),
        ("1", 1, False),
        (None, 0.0, False),
    ],
)
def test_numbers_are_the_same_but_for_rounding(one: object, other: object, same: bool) -> None:
    assert same_value(one, other) is same


def test_fewer_digits_let_rounding_pass() -> None:
    assert first_difference([0.5], [0.5000001], 1e-4) is None
    assert first_difference([0.5], [0.501], 1e-4) is not None
    assert same_value(0.0, 1e-8, 1e-4), "beside 0 the distance counts"
    assert not same_value(0.0, 1e-6, 1e-4)


def test_a_difference_that_a_machine_can_make_says_so(tmp_path: Path) -> None:
    there = contents(tmp_path, scores="")
    assert "--digits 4" in there.differs("scores", 0.5, 0.5000001).difference.hint
    assert there.differs("scores", 0.5, 0.6).difference.hint == ""


def contents(folder: Path, **texts: str) -> Contents:
    for name, text in texts.items():
        (folder / name).write_text(text)
    entry = FileEntry(bytes=1, sha256="a" * 64)
    manifest = BundleManifest(
        format=1, reviewgauge="0", python="3", libraries={}, runs=(), tables=(), resamples=1, seed=0,
        files=dict.fromkeys(texts, entry),
    )  # fmt: skip
    return Contents(folder, manifest, dict.fromkeys(texts, Unpacked(1, "a" * 64)))


TABLE = "system,reading,value\na,f1,0.5\nb,f1,0.25\n"


@pytest.mark.parametrize(
    ("stored", "row", "column", "old", "new"),
    [
        (TABLE.replace("0.25", "0.75"), "b f1", "value", "0.75", "0.25"),
        (TABLE.replace("0.25", ""), "b f1", "value", "nothing", "0.25"),
        (TABLE.replace("0.25", "high"), "b f1", "value", "high", "0.25"),
        (TABLE.replace("b,f1", "c,f1"), "b f1", "system", "c", "b"),
        (TABLE.replace("value", "score"), "the heading", "value", "score", "value"),
        (TABLE + "c,f1,1\n", "c f1", "", "a row", "none"),
        ("system,reading,value\na,f1,0.5\n", "b f1", "", "no such row", "one"),
        (TABLE.replace("0.25", "0.25,9"), "b f1", "column 4", "9", "nothing"),
    ],
)
def test_a_table_differs_by_row_and_column(
    tmp_path: Path, stored: str, row: str, column: str, old: str, new: str
) -> None:
    with pytest.raises(Differs) as caught:
        compare_tables(contents(tmp_path, table=stored), "table", TABLE, labels=2)
    found = caught.value.difference
    assert (found.file, found.row, found.column, found.stored, found.found) == ("table", row, column, old, new)


def test_a_table_may_differ_by_rounding_and_a_text_may_not(tmp_path: Path) -> None:
    there = contents(tmp_path, table=TABLE.replace("0.25", "0.25000000000001"), text="a\nb\n")
    compare_tables(there, "table", TABLE, labels=2)
    compare_text(there, "text", "a\nb\n")
    for other in ("a\nc\n", "a\n", "a\nb\nc\n"):
        with pytest.raises(Differs, match=r"line [23]"):
            compare_text(there, "text", other)


def test_figures_are_counted_and_words_are_not() -> None:
    assert count_figures(TABLE) == 2
    assert count_figures("a,b\n1,x\n,-2.5\n") == 2
