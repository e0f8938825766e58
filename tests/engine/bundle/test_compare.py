from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.engine.bundle.compare import Differs, compare_table, compare_text, first_difference, same_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(max_size=3), deeper, max_size=3),
    max_leaves=8,
)
NINE = 1e-9


@given(JSON, JSON)
def test_a_difference_is_the_same_from_both_sides(one: object, other: object) -> None:
    assert first_difference(one, one, NINE) is None
    there, back = first_difference(one, other, NINE), first_difference(other, one, NINE)
    assert (there is None) == (back is None)


def test_the_first_difference_is_named_by_its_place() -> None:
    stored = {"parts": {"hit": 1.0}, "groups": [{"hit": True}, {"hit": False}], "reason": ""}
    found = {"parts": {"hit": 1.0}, "groups": [{"hit": True}, {"hit": True}], "reason": "x"}
    assert first_difference(stored, found, NINE) == ("groups[1].hit", False, True)
    assert first_difference({"a": 1}, {"a": 1, "b": None}, NINE) is None, "a default that is not written is the same"
    assert first_difference({"a": [1]}, {"a": [1, 2]}, NINE) == ("a", [1], [1, 2])


@pytest.mark.parametrize(("one", "other", "tolerance", "same"), [
    (1.0, 1.0 + 1e-12, NINE, True), (1.0, 1.0 + 1e-6, NINE, False), (1.0, 1.0 + 1e-6, 1e-4, True), (1, 1.0, NINE, True),
    (0.0, 1e-15, NINE, True), (0.0, 1e-6, NINE, False),
    (0.0, 1e-8, 1e-4, True),  # beside 0 the distance counts
    (True, 1, NINE, False), ("1", 1, NINE, False), (None, 0.0, NINE, False),
])  # fmt: skip
def test_numbers_are_the_same_but_for_rounding(one: object, other: object, tolerance: float, same: bool) -> None:
    assert same_value(one, other, tolerance) is same


def test_a_difference_that_a_machine_can_make_says_so() -> None:
    assert "--digits 4" in str(Differs("scores", 0.5, 0.5000001))
    assert "--digits" not in str(Differs("scores", 0.5, 0.6))
    assert "--digits" not in str(Differs("scores", "no score", "a score"))


TABLE = "system,measure,value,value: low\na,f1,0.5,0.4\nb,f1,0.25,0.1\n"


@pytest.mark.parametrize(("stored", "row", "column", "old", "new"), [
    (TABLE.replace("0.25", "0.75"), "b f1", "value", "0.75", "0.25"),
    (TABLE.replace("0.25", ""), "b f1", "value", "nothing", "0.25"),
    (TABLE.replace("0.25", "high"), "b f1", "value", "high", "0.25"),
    (TABLE.replace("b,f1", "c,f1"), "b f1", "system", "c", "b"),
    (TABLE.replace("value,", "score,"), "the heading", "value", "score", "value"),
    (TABLE + "c,f1,1,1\n", "c f1", "", "a row", "no such row"),
    (TABLE[: TABLE.index("b,f1")], "b f1", "", "no such row", "a row"),
    (TABLE.replace("0.25,0.1", "0.25,0.1,9"), "b f1", "", "9", "nothing"),
])  # fmt: skip
def test_a_table_differs_by_row_and_column(stored: str, row: str, column: str, old: str, new: str) -> None:
    with pytest.raises(Differs) as caught:
        compare_table("table", stored, TABLE, NINE)
    found = caught.value
    assert (found.file, found.row, found.column, found.stored, found.found) == ("table", row, column, old, new)


def test_a_table_may_differ_by_rounding_and_a_text_may_not() -> None:
    assert compare_table("table", TABLE.replace("0.25", "0.25000000000001"), TABLE, NINE) == 4, "figures are counted"
    compare_text("text", "a\nb\n", "a\nb\n")
    for other in ("a\nc\n", "a\n", "a\nb\nc\n"):
        with pytest.raises(Differs, match=r"line [23]"):
            compare_text("text", other, "a\nb\n")
