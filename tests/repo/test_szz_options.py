"""SZZ: what is followed with `refactoring`, dates, limits, order and threads."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reviewgauge.repo.szz.trace import Fix, SzzSettings, index_history, trace, trace_many
from szz_stories import BEGIN, Story, reasons

HELPER = (
    "def price_of(item, discount):\n"
    "    base = item.price * item.count\n"
    "    reduced = base - discount.share * base\n"
    "    return max(reduced, item.lowest_price)\n"
)
OTHER = "import os\n\n\ndef first():\n    return os.name\n\n\n"
LAST = "\n\ndef last():\n    return os.sep + os.linesep\n"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "shop")


# --- refactoring ---


def test_a_function_that_moved_within_its_file_is_followed(story: Story) -> None:
    bug = story.commit({"a.py": OTHER + HELPER + LAST})
    move = story.commit({"a.py": OTHER + LAST.lstrip() + "\n\n" + HELPER})
    fix = story.commit({"a.py": OTHER + LAST.lstrip() + "\n\n" + HELPER.replace("- discount", "* discount")})
    found = story.trace(fix, refactoring=True)
    assert set(found.commits) == {bug}
    assert found.inducing[0].line == 10
    if found.inducing[0].through:  # git may have shown the other function as the one that moved
        assert found.inducing[0].through == (f"{move[:12]} moves the line",)


def test_a_function_that_moved_to_another_file_is_followed_with_refactoring_only(story: Story) -> None:
    bug = story.commit({"a.py": OTHER + HELPER + LAST, "b.py": "import sys\n"})
    move = story.commit({"a.py": OTHER + LAST, "b.py": "import sys\n\n\n" + HELPER})
    fix = story.commit({"b.py": "import sys\n\n\n" + HELPER.replace("- discount", "* discount")})
    assert story.blames(fix) == {move}
    (line,) = story.trace(fix, refactoring=True).inducing
    assert (line.commit, line.path, line.line, line.fix_path) == (bug, "a.py", 10, "b.py")
    assert line.through == (f"{move[:12]} moves the line",)
    assert story.blames(fix, "basic", refactoring=True) == {bug}


def test_a_short_line_elsewhere_is_no_move(story: Story) -> None:
    story.commit({"a.py": "x = 1\nbreak_it()\n", "b.py": "import sys\n"})
    other = story.commit({"a.py": "x = 1\n", "b.py": "import sys\nbreak_it()\n"})
    fix = story.commit({"b.py": "import sys\nbreak_it(1)\n"})
    assert story.blames(fix, refactoring=True) == {other}


NAMED = "def total(items):\n    n = 0\n    for item in items[1:]:\n        n += item\n    return n\n"


def test_a_renamed_variable_is_seen_through_with_refactoring_only(story: Story) -> None:
    bug = story.commit({"a.py": NAMED})
    renamed = re.sub(r"\bn\b", "count", NAMED)
    rename = story.commit({"a.py": renamed})
    fix = story.commit({"a.py": renamed.replace("count += item", "count += item * 2")})
    assert story.blames(fix) == {rename}
    (line,) = story.trace(fix, refactoring=True).inducing
    assert (line.commit, line.line) == (bug, 4)
    assert line.through == (f"{rename[:12]} renames identifiers only",)


def test_what_a_fix_moves_or_renames_does_not_count_with_refactoring(story: Story) -> None:
    story.commit({"a.py": OTHER + HELPER + LAST, "b.py": "import sys\n"})
    bug = story.commit({"a.py": OTHER + HELPER + LAST + "limit = 3\n", "b.py": "import sys\n"})
    fix = story.commit({"a.py": OTHER + LAST + "limit = 4\n", "b.py": "import sys\n\n\n" + HELPER})
    found = story.trace(fix, refactoring=True)
    assert set(found.commits) == {bug}
    assert "the fix moves it" in reasons(found)
    rename = story.commit({"a.py": (OTHER + LAST).replace("last", "tail") + "limit = 4\nend = tail()\n"})
    both = (OTHER + LAST).replace("last", "ultimate") + "limit = 4\nend = ultimate()\n"
    only = story.commit({"a.py": both})
    assert story.blames(only) != set()
    found = story.trace(only, refactoring=True)
    assert found.inducing == ()
    assert "the fix renames identifiers only" in reasons(found)
    assert rename in story.blames(only)


# --- dates ---


def test_the_date_of_the_issue_and_the_age_decide(story: Story) -> None:
    story.commit({"a.py": "a = 1\nb = 2\n"})  # day 1
    story.commit({"a.py": "a = 10\nb = 2\n"})  # day 2
    late = story.commit({"a.py": "a = 10\nb = 20\n"}, day=30)
    early = story.git("rev-parse", "HEAD^")
    story.day = 40
    fix = story.commit({"a.py": "a = 11\nb = 21\n"}, day=40)
    assert story.blames(fix) == {early, late}
    assert story.blames(Fix(fix, opened=BEGIN + timedelta(days=10))) == {early}
    found = story.trace(Fix(fix, opened=BEGIN + timedelta(days=1)))
    assert found.inducing == ()
    assert {(d.item, d.reason) for d in found.skipped} == {
        ("a.py:1", "written after the issue was opened"),
        ("a.py:2", "written after the issue was opened"),
    }
    assert story.trace(fix).when == datetime(2020, 2, 10, tzinfo=UTC)


def test_a_clock_that_runs_ahead_is_noted_and_drops_nothing(story: Story) -> None:
    story.commit({"a.py": "a = 1\n"})
    bug = story.commit({"a.py": "a = 2\n"}, day=900)
    fix = story.commit({"a.py": "a = 3\n"})
    found = story.trace(fix)
    assert set(found.commits) == {bug}
    assert found.notes == (f"{bug[:12]} is dated after the fix that follows it",)


# --- limits ---


def test_large_fixes_are_skipped_with_a_reason(story: Story) -> None:
    story.commit({f"f{n}.py": "a = 1\nb = 1\n" for n in range(4)})
    fix = story.commit({f"f{n}.py": "a = 2\nb = 2\n" for n in range(4)})
    assert len(story.trace(fix, max_files=4, max_lines=8).inducing) == 8
    files, lines = story.trace(fix, max_files=3), story.trace(fix, max_lines=7)
    assert (files.inducing, lines.inducing) == ((), ())
    assert [(d.item, d.reason, d.detail) for d in files.skipped] == [(fix, "more than 3 files", "4")]
    assert [(d.item, d.reason, d.detail) for d in lines.skipped] == [(fix, "more than 7 deleted lines", "8")]


LONG = f"a = 1  # {'-' * 100}\n" * 20  # 2200 bytes


@pytest.mark.slow
def test_files_that_are_no_code_of_ours_are_skipped_with_a_reason(story: Story) -> None:
    marked = "# Code generated by tool. DO NOT EDIT.\n"
    files = {"README.md": "a\n", "vendor/x.py": "a = 1\n", "made.py": marked + "a = 1\n", "tests/test_a.py": "a = 1\n"}
    story.commit({**files, "image.bin": b"\x00\x01", "long.py": LONG, "link": "x", "a.py": "a = 1\n"})
    (story.folder / "link").unlink()
    (story.folder / "link").symlink_to("a.py")
    story.commit({})
    (story.folder / "link").unlink()
    (story.folder / "link").symlink_to("b.py")
    changed = {name: content.replace("a", "b") for name, content in files.items()}
    fix = story.commit({**changed, "image.bin": b"\x00\x02", "long.py": LONG.replace("a", "b"), "a.py": "a = 2\n"})
    found = story.trace(fix, largest_file=2000, tests=False)
    assert {i.fix_path for i in found.inducing} == {"a.py"}
    assert {d.item: d.reason for d in found.skipped} == {
        "README.md": "documentation", "vendor/x.py": "generated or vendored", "made.py": "generated or vendored",
        "tests/test_a.py": "a test", "image.bin": "binary, or larger than 2000 bytes",
        "long.py": "binary, or larger than 2000 bytes", "link": "a symbolic link",
    }  # fmt: skip
    everything = story.trace(fix, documentation=True, generated=True)
    assert {i.fix_path for i in everything.inducing} == {*files, "long.py", "a.py"}


def test_a_submodule_is_skipped(story: Story) -> None:
    story.commit({"a.py": "a = 1\n"})
    story.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    story.git("commit", "-q", "-m", "a submodule")
    story.git("update-index", "--cacheinfo", f"160000,{'2' * 40},sub")
    story.git("commit", "-q", "-m", "another")
    found = story.trace(story.git("rev-parse", "HEAD"))
    assert reasons(found) == ["a submodule", "the fix changes no file that is traced"]


# --- many ---


@pytest.mark.slow
def test_many_fixes_come_in_their_order_whatever_the_threads(story: Story) -> None:
    commits = [story.commit({"a.py": f"a = {n}\n"}) for n in range(30)]
    given = [*commits[::-1], "f" * 40, "no commit", "x\ny"]
    one = list(trace_many(story.repository, given, SzzSettings(), jobs=1))
    three = list(trace_many(story.repository, iter(given), SzzSettings(), jobs=3))
    assert one == three
    assert [t.fix for t in one] == given
    assert [t.commits for t in one[:29]] == [(commit,) for commit in commits[28::-1]]
    assert [reasons(t) for t in one[29:]] == [["the fix has no parent"]] + [["the fix is not in this repository"]] * 3


def test_a_stream_that_is_left_early_ends_its_git(story: Story) -> None:
    commits = [story.commit({"a.py": f"a = {n}\n"}) for n in range(3)]

    def endless() -> object:
        while True:
            yield from commits

    stream = trace_many(story.repository, endless())  # type: ignore[arg-type]
    assert next(stream).fix == commits[0]
    stream.close()


def test_a_history_is_indexed_only_below_our_own_folder(story: Story, tmp_path: Path) -> None:
    fix = [story.commit({"a.py": f"a = {n}\n"}) for n in range(3)][-1]
    before = story.trace(fix)
    assert not index_history(story.repository, tmp_path / "ours")
    graph = story.folder / ".git/objects/info/commit-graph"
    assert not graph.exists()
    assert index_history(story.repository, tmp_path)
    assert graph.exists()
    assert trace(story.repository, fix) == before


# --- what a fix is about ---


TALK = """class Call:
    def send(self):
        target = self.host.resolve(self.url, strict=True)
        return self.session.open(target, timeout=self.limit * 1000)
"""
EXTRACTED = """class Call:
    def send(self):
        return talk(self)
"""
HELPED = """def talk(call):
    target = call.host.resolve(call.url, strict=True)
    return call.session.open(target, timeout=call.limit * 1000)
"""


def test_a_helper_that_was_extracted_leads_to_where_it_was_written(story: Story) -> None:
    bug = story.commit({"a.py": TALK})
    helper = story.commit({"a.py": EXTRACTED, "b.py": HELPED})
    fix = story.commit({"b.py": HELPED.replace("* 1000", "/ 1000")})
    assert story.blames(fix) == {helper}
    (line,) = story.trace(fix, refactoring=True).inducing
    assert (line.commit, line.path, line.line) == (bug, "a.py", 4)
    assert line.through == (f"{helper[:12]} moves the line, with other names of variables",)


@pytest.mark.parametrize(("before", "after"), [
    ("def f(a, b=None):\n    return a\n", "def f(a: int, b: str | None = None) -> int:\n    return a\n"),
    ("def f(a):\n    x = a[0]\n    return x\n", "def f(a):\n    x: int = cast(int, a[0])\n    return x\n"),
    ("def f(a):\n    if a:\n        return 1\n    if not a:\n        return 2\n",
        "def f(a):\n    if a:\n        return 1\n    elif not a:\n        return 2\n"),
], ids=["annotations", "a cast", "elif"])  # fmt: skip
def test_types_and_an_elif_are_no_defect_with_refactoring(story: Story, before: str, after: str) -> None:
    wrote = story.commit({"a.py": before})
    typed = story.commit({"a.py": after})
    assert story.blames(typed) == {wrote}
    found = story.trace(typed, refactoring=True)
    assert found.inducing == () and "the fix changes type annotations only" in reasons(found)


CONDITION = "def f(a, b):\n    if (\n        a.ready\n        and b.ready\n    ):\n        return a\n"
QUERY = "def f(db):\n    return db.run('''\n        select name\n        from people\n    ''')\n"


@pytest.mark.parametrize(("before", "after", "line"), [
    (CONDITION, CONDITION.replace("b.ready\n", "b.ready\n        and not a.closed\n"), 4),
    (QUERY, QUERY.replace("people\n", "people\n        where alive\n"), 4),
], ids=["condition", "string"])  # fmt: skip
def test_a_line_put_into_a_condition_or_a_string_is_about_it(story: Story, before: str, after: str, line: int) -> None:
    wrote = story.commit({"a.py": before})
    found = story.trace(story.commit({"a.py": after}), refactoring=True).inducing
    assert {one.commit for one in found} == {wrote}
    assert {one.reason for one in found} == {"in a condition or text that the fix adds to"}
    assert line in {one.line for one in found}
