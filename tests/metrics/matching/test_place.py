"""What a place says: much where chance would seldom hit it, little where it often does, never against the words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewgauge.core.records import ChangedFile, Comment, Origin, Span
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.matching.place import ChangedLines

BASE = 0.36
chances = st.floats(0.001, 0.999)


def at(start: int, end: int | None = None, path: str = "a.py") -> Comment:
    return Comment(id=f"{path}-{start}", body="x", span=Span(path=path, start=start, end=end))


def change(*lines: int) -> ChangedLines:
    """A change that adds so many lines to a.py, b.py and so on."""
    files = []
    for number, count in enumerate(lines):
        patch = f"@@ -0,0 +1,{count} @@\n" + "\n".join("+x" for _ in range(count))
        files.append(ChangedFile(path=f"{'abc'[number]}.py", patch=patch))
    return ChangedLines(files)


def weighed(lines: ChangedLines, probability: float, comment: Comment, reference: Comment) -> float:
    found = lines.weigh(probability, BASE, comment, reference, locate(comment, reference, 1))
    assert found is not None
    return found


def test_three_labelled_of_two_hundred_lines_say_more_than_ten_of_twelve() -> None:
    few, many = change(200), change(12)
    gain = [
        weighed(lines, 0.3, at(2), reference) / weighed(lines, 0.3, at(40), reference)
        for lines, reference in ((few, at(1, 3)), (many, at(1, 10)))
    ]
    assert gain[0] > 2 * gain[1] > 2


@given(chances, chances)
def test_surer_words_stay_surer_at_every_place(one: float, other: float) -> None:
    lines, reference = change(60, 20), at(5, 7)
    low, high = sorted((one, other))
    for comment in (at(6), at(50), at(3, path="b.py")):
        assert weighed(lines, low, comment, reference) <= weighed(lines, high, comment, reference) + 1e-12


@given(chances, st.integers(20, 3_000))
@example(0.9989999999999999, 20)
def test_the_right_lines_are_never_worse_than_others(words: float, count: int) -> None:
    lines, reference = change(count, count), at(5, 6)
    on, off, elsewhere = (weighed(lines, words, at(*where), reference) for where in ((5,), (18,), (18, 18, "b.py")))
    assert 0 <= off <= on <= 1 and 0 <= elsewhere <= on


def test_without_a_place_or_doubt_there_is_nothing_to_weigh() -> None:
    lines, nowhere = change(30), Comment(id="n", body="x")
    assert lines.weigh(0.5, BASE, nowhere, at(3), locate(nowhere, at(3), 1)) is None
    assert lines.weigh(1.0, BASE, at(3), at(3), locate(at(3), at(3), 1)) is None


def test_to_name_no_line_pays_nothing_where_the_reference_is_a_fix() -> None:
    """Its probability by words is for a comment that stands somewhere: without, a bot's "hi" had .19."""
    lines, nowhere, fix = change(200), Comment(id="n", body="x"), at(3).model_copy(update={"origin": Origin.FIX})
    assert weighed(lines, 0.19, nowhere, fix) < 0.1
    assert weighed(lines, 0.8, nowhere, fix) > 0.5
    assert weighed(lines, 0.19, at(50), fix) < weighed(lines, 0.19, nowhere, fix) < weighed(lines, 0.19, at(3), fix)
    assert weighed(lines, 0.19, at(3), fix.model_copy(update={"span": None})) < 0.1


def test_a_change_whose_lines_are_not_at_hand_has_the_usual_chance() -> None:
    assert weighed(ChangedLines([]), 0.43, at(10), at(10)) == pytest.approx(0.558, abs=0.005)


def test_a_comment_on_all_lines_stands_nowhere() -> None:
    lines, reference = change(200), at(5, 6)
    assert weighed(lines, 0.1, at(1, 200), reference) < weighed(lines, 0.1, at(5), reference) / 2
    ends = [end for end in (1, 10, 50, 51) if lines.tells_where(Span(path="a.py", start=1, end=end))]
    assert ends == [1, 10, 50]
