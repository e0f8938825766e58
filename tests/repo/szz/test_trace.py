"""SZZ on histories of which it is known who brought what: by variant, and what each looks through."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.repo.szz.trace import SzzSettings
from szz_stories import Story, reasons

TOP = 'import os\n\n\ndef total(items):\n    """Adds up."""\n    result = 0\n'
BUGGY = "    for item in items[1:]:\n        result += item.price * item.count\n"
SOUND = "    for item in items:\n        result += item.price * item.count\n"
END = "    return result\n"
BEFORE = TOP + "    for item in list(items):\n        result += item.price * item.count\n" + END


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "shop")


def test_a_plain_fix_leads_to_who_wrote_the_line(story: Story) -> None:
    story.commit({"shop.py": BEFORE})
    bug = story.commit({"shop.py": TOP + BUGGY + END})
    story.commit({"shop.py": TOP + BUGGY + END + "\n\nLIMIT = 3\n"})
    fix = story.commit({"shop.py": TOP + SOUND + END + "\n\nLIMIT = 3\n"})
    for variant in ("basic", "ag", "ma"):
        found = story.trace(fix, variant)
        assert [(i.commit, i.path, i.line, i.fix_path, i.fix_line) for i in found.inducing] == [
            (bug, "shop.py", 7, "shop.py", 7)
        ]
        assert found.inducing[0].text == "    for item in items[1:]:"
        assert found.inducing[0].reason == "modified by the fix"
        assert found.inducing[0].through == ()
        assert (found.fix, found.parent) == (fix, story.git("rev-parse", f"{fix}^"))
        assert found.skipped == ()
        assert found.notes == ()


def test_a_renamed_file_is_followed_also_in_a_circle(story: Story) -> None:
    story.commit({"a.py": BEFORE})
    bug = story.commit({"a.py": TOP + BUGGY + END})
    story.commit({"a.py": None, "b.py": TOP + BUGGY + END})
    story.commit({"b.py": None, "a.py": TOP + BUGGY + END})
    story.commit({"a.py": None, "sub/c.py": TOP + BUGGY + END})
    fix = story.commit({"sub/c.py": None, "d.py": TOP + SOUND + END})
    for variant in ("basic", "ag", "ma"):
        (line,) = story.trace(fix, variant).inducing
        assert (line.commit, line.path, line.fix_path) == (bug, "a.py", "sub/c.py")


WRAPPED = "    for item in items[\n        1:\n    ]:\n        result += item.price * item.count\n"
SPACED = "    for item in items[ 1: ]:\n        result += item.price  *  item.count\n"


@pytest.mark.parametrize("again", [WRAPPED, SPACED], ids=["broken into lines", "white space"])
def test_only_basic_blames_who_changed_the_format(story: Story, again: str) -> None:
    story.commit({"shop.py": BEFORE})
    bug = story.commit({"shop.py": TOP + BUGGY + END})
    form = story.commit({"shop.py": TOP + again + END})
    fix = story.commit({"shop.py": TOP + SOUND + END})
    assert form in story.blames(fix, "basic")
    for variant in ("ag", "ma"):
        assert story.blames(fix, variant) == {bug}


def test_what_was_looked_through_is_said(story: Story) -> None:
    story.commit({"shop.py": BEFORE})
    bug = story.commit({"shop.py": TOP + BUGGY + END})
    form = story.commit({"shop.py": TOP + WRAPPED + END})
    fix = story.commit({"shop.py": TOP + WRAPPED.replace("1:", "0:") + END})
    (line,) = story.trace(fix, "ag").inducing
    assert (line.commit, line.line, line.fix_line) == (bug, 7, 8)
    assert line.through == (f"{form[:12]} changes the format only",)


def test_comments_and_blank_lines_do_not_count(story: Story) -> None:
    story.commit({"shop.py": "a = 1\n"})
    bug = story.commit({"shop.py": "a = 1\nb = a / 0\n"})
    told = story.commit({"shop.py": "a = 1\n# as b is needed\n\nb = a / 0  # a quotient\n"})
    fix = story.commit({"shop.py": "a = 1\nb = a / 1  # a quotient\n"})
    assert story.blames(fix, "basic") == {told}
    found = story.trace(fix, "ag")
    assert set(found.commits) == {bug}
    assert {(d.item, d.reason) for d in found.skipped} == {("shop.py:2", "a comment"), ("shop.py:3", "a blank line")}
    words = story.commit({"shop.py": "a = 1\nb = a / 1  # a ratio\n"})
    assert story.blames(words, "basic") == {fix}
    nothing = story.trace(words, "ag")
    assert nothing.inducing == ()
    assert reasons(nothing) == [
        "the fix changes blank lines, comments, format or places only",
        "the fix changes its format only",
    ]


def test_a_fix_that_only_formats_has_nothing_to_blame(story: Story) -> None:
    first = story.commit({"shop.py": TOP + BUGGY + END})
    fix = story.commit({"shop.py": TOP + WRAPPED + END})
    assert story.blames(fix, "basic") == {first}
    assert story.blames(fix, "ag") == set()


def test_a_language_without_a_grammar_is_told_by_blank_lines_and_says_so(story: Story) -> None:
    first = story.commit({"a.zzz": "; one\n\nadd 1\n"})
    fix = story.commit({"a.zzz": "; two\nadd 2\n"})
    found = story.trace(fix, "ag")
    assert [(i.commit, i.line) for i in found.inducing] == [(first, 1), (first, 3)]
    assert found.notes == (
        "a.zzz: no grammar for such files, so comments are recognised by how a line begins, if at all",
    )
    assert story.trace(fix, "basic").notes == ()
    sql = story.commit({"b.lua": "-- one\n\nlocal a = 1\n"})
    found = story.trace(story.commit({"b.lua": "-- two\nlocal a = 2\n"}), "ag")
    assert [(i.commit, i.line) for i in found.inducing] == [(sql, 3)]
    assert found.notes == ("b.lua: no grammar for Lua, so comments are recognised by how a line begins, if at all",)


# --- merges and other commits without content of their own ---


def test_a_merge_that_settled_a_conflict_is_looked_through_by_ma(story: Story) -> None:
    story.commit({"a.py": "a = 1\nb = 2\nc = 3\n"})
    story.git("checkout", "-q", "-b", "side")
    bug = story.commit({"a.py": "a = 1\nb = compute(2, 4)\nc = 3\n"})
    story.git("checkout", "-q", "main")
    story.commit({"a.py": "a = 1\nb = 3\nc = 3\n"})
    merge = story.merge("side", {"a.py": "a = 1\nb = compute(3, 4)\nc = 3\n"})
    fix = story.commit({"a.py": "a = 1\nb = compute(3, 5)\nc = 3\n"})
    assert story.blames(fix, "basic") == {merge}
    assert story.blames(fix, "ag") == {merge}
    (line,) = story.trace(fix, "ma").inducing
    assert (line.commit, line.line) == (bug, 2)
    assert line.through == (f"{merge[:12]} merges",)


def test_a_line_that_a_merge_joined_from_both_sides_leads_to_both(story: Story) -> None:
    story.commit({"a.py": "a = 1\nb = compute(1, 1)\n"})
    story.git("checkout", "-q", "-b", "side")
    one = story.commit({"a.py": "a = 1\nb = compute(2, 1)\n"})
    story.git("checkout", "-q", "main")
    other = story.commit({"a.py": "a = 1\nb = compute(1, 2)\n"})
    story.merge("side", {"a.py": "a = 1\nb = compute(2, 2)\n"})
    fix = story.commit({"a.py": "a = 1\nb = compute(3, 2)\n"})
    assert story.blames(fix, "ma") == {one, other}


def test_a_line_that_only_a_merge_wrote_has_no_culprit_in_ma(story: Story) -> None:
    story.commit({"a.py": "a = 1\n"})
    story.git("checkout", "-q", "-b", "side")
    story.commit({"b.py": "b = 1\n"})
    story.git("checkout", "-q", "main")
    story.commit({"a.py": "a = 2\n"})
    merge = story.merge("side", {"b.py": "b = 1\n", "a.py": "a = 2\nimport_everything_else()\n"})
    fix = story.commit({"a.py": "a = 2\n"})
    assert story.blames(fix, "ag") == {merge}
    found = story.trace(fix, "ma")
    assert found.inducing == ()
    assert reasons(found) == ["written in a merge"]
    assert found.skipped[0].detail == merge


def test_a_clean_merge_is_never_blamed_and_can_be_the_fix(story: Story) -> None:
    story.commit({"shop.py": BEFORE, "b.py": "b = 1\n"})
    story.git("checkout", "-q", "-b", "side")
    bug = story.commit({"shop.py": TOP + BUGGY + END})
    story.git("checkout", "-q", "main")
    story.commit({"b.py": "b = 2\n"})
    merge = story.merge("side", {"shop.py": TOP + BUGGY + END})
    story.git("checkout", "-q", "-b", "mend")
    story.commit({"shop.py": TOP + SOUND + END})
    story.git("checkout", "-q", "main")
    story.commit({"b.py": "b = 3\n"})
    fix = story.merge("mend", {"shop.py": TOP + SOUND + END})
    for variant in ("basic", "ag", "ma"):
        found = story.trace(fix, variant)
        assert set(found.commits) == {bug}
        assert merge not in found.commits


def test_a_file_that_was_copied_as_it_was_is_followed_by_ma(story: Story) -> None:
    bug = story.commit({"trunk/shop.py": TOP + BUGGY + END})
    copy = story.commit({"branch/shop.py": TOP + BUGGY + END})
    fix = story.commit({"branch/shop.py": TOP + SOUND + END})
    assert story.blames(fix, "ag") == {copy}
    (line,) = story.trace(fix, "ma").inducing
    assert (line.commit, line.path) == (bug, "trunk/shop.py")
    assert line.through == (f"{copy[:12]} copies the file as it was",)


def test_line_ends_and_a_byte_order_mark_are_format(story: Story) -> None:
    bug = story.commit({"a.py": "first = 1\nsecond = 2\n"})
    dos = story.commit({"a.py": b"\xef\xbb\xbffirst = 1\r\nsecond = 2\r\n"})
    fix = story.commit({"a.py": b"\xef\xbb\xbffirst = 9\r\nsecond = 8\r\n"})
    assert story.blames(fix, "basic") == {dos}
    found = story.trace(fix, "ag")
    assert set(found.commits) == {bug}
    assert found.inducing[1].text == "second = 2", "without its carriage return"


# --- chains ---


def test_lines_of_several_authors_are_told_apart_and_one_can_be_chosen(story: Story) -> None:
    story.commit({"a.py": "a = 1\nb = 2\nc = 3\nd = 4\n"})
    two = story.commit({"a.py": "a = 10\nb = 20\nc = 3\nd = 4\n"})
    last = story.commit({"a.py": "a = 10\nb = 20\nc = 30\nd = 4\n"})
    fix = story.commit({"a.py": "a = 11\nb = 21\nc = 31\nd = 4\n"})
    assert story.trace(fix).commits == (two, last)
    assert story.trace(fix, choose="latest").commits == (last,)


# --- what only adds ---


def test_a_fix_that_only_adds_is_reported_and_can_be_traced_beside(story: Story) -> None:
    first = story.commit({"a.py": "def f(a):\n    return a.size\n"})
    near = story.commit({"a.py": "def f(a):\n\n    # b\n    b = 1\n    return a.size\n"})
    fix = story.commit({"a.py": "def f(a):\n\n    # b\n    b = 1\n    check(a)\n    return a.size\n"})
    found = story.trace(fix)
    assert found.inducing == ()
    assert reasons(found) == ["the fix only adds lines"]
    beside = story.trace(fix, beside=1)
    assert [(i.commit, i.fix_line, i.reason) for i in beside.inducing] == [
        (near, 4, "beside what the fix adds"),
        (first, 5, "beside what the fix adds"),
    ]
    assert {i.fix_line for i in story.trace(fix, beside=3).inducing} == {4, 5}, "ag and ma take code only"
    assert {i.fix_line for i in story.trace(fix, "basic", beside=3).inducing} == {2, 3, 4, 5}


def test_settings_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(UserError, match="variant='ra' is not a variant of SZZ"):
        SzzSettings("ra")  # type: ignore[arg-type]
