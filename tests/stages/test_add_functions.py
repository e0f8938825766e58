"""The code around the hunks of a change, from a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit, make_change
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.records import Case, Change, Issue, Snippet, Span
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.add_functions import AddFunctions

BEFORE = """import os


def first(a):
    b = a
    return b


class Shop:
    def price(self, n):
        total = n
        return total

    def stock(self):
        return 1


LIMIT = 3
"""


def run(stage: AddFunctions, context: BuildFolder, *changes: Change) -> list[Candidate | Drop | Decision]:
    items = [Candidate(case=Case(id=f"c{n}", change=change)) for n, change in enumerate(changes)]
    return list(stage.apply(items, context))


def snippets(stage: AddFunctions, context: BuildFolder, change: Change) -> tuple[Snippet, ...]:
    (made,) = run(stage, context, change)
    assert isinstance(made, Candidate)
    return made.case.change.snippets


def places(found: tuple[Snippet, ...]) -> list[tuple[str, str, str, int, int]]:
    return [(s.side.value, s.kind, s.name, s.start, s.end) for s in found]


def edited(tmp_path: Path, *edits: tuple[str, str], name: str = "shop.py") -> Change:
    after = BEFORE
    for old, new in edits:
        assert old in after
        after = after.replace(old, new)
    return make_change(tmp_path / "code", {name: BEFORE}, {name: after})


@pytest.mark.parametrize(("old", "new", "before", "after"), [
    ("total = n", "total = n\n        total *= 2", ("method", "Shop.price", 10, 12), ("method", "Shop.price", 10, 13)),
    ("LIMIT = 3", "LIMIT = 4", ("file", "", 1, 18), ("file", "", 1, 18)),
    # what is added at the end of a function belongs to it before, too
    ("    return b\n", "    return b\n    print(b)\n", ("function", "first", 4, 6), ("function", "first", 4, 7)),
    ("    def stock", "    def new(self):\n        return 2\n\n    def stock", ("class", "Shop", 9, 15), ("method",
        "Shop.new", 14, 15)),
    ("def first(a):\n    b = a\n    return b\n\n\n", "", ("function", "first", 4, 6), ("file", "", 1, 13)),
])  # fmt: skip
def test_the_smallest_scope_before_and_after(
    tmp_path: Path, context: BuildFolder, old: str, new: str, before: tuple[object, ...], after: tuple[object, ...]
) -> None:
    change = edited(tmp_path, (old, new))
    found = snippets(AddFunctions(changed=True), context, change)
    assert places(found) == [("old", *before), ("new", *after)]
    texts = BEFORE, BEFORE.replace(old, new)
    for one, text in zip(found, texts, strict=True):
        assert one.text == "\n".join(text.splitlines()[one.start - 1 : one.end])


def test_the_card_counts_what_the_papers_table_2_counts(tmp_path: Path, context: BuildFolder) -> None:
    change = edited(tmp_path, ("total = n", "total = n\n        total *= 2"))
    said = {"title": "Twice", "description": "", "issues": (Issue(number=1, title="Ä", body="b"),)}
    told = change.model_copy(update=said)
    cases = [
        Case(id=name, change=told, verdict=verdict, facts={"language": name})
        for name, verdict in (("Go", True), ("C", False), ("Rust", False))
    ]
    list(AddFunctions(changed=True).apply([Candidate(case=case) for case in cases], context))
    table = next(one for one in context.sections if one.title == "Entries and their context")
    assert table.columns == ("entries", "number", "languages", "lines of hunks", "length of text", "lines of code")
    assert table.rows == (("all", 3, 3, 3 * 7, 3 * 7, 3 * 7), ("unmerged", 2, 2, 2 * 7, 2 * 7, 2 * 7))


def test_two_hunks_in_one_scope_are_one_snippet(tmp_path: Path, context: BuildFolder) -> None:
    many = "def f():\n" + "".join(f"    x{n} = {n}\n" for n in range(40))
    after = many.replace("x2 = 2", "x2 = 0").replace("x35 = 35", "x35 = 0")
    change = make_change(tmp_path / "code", {"a.py": many}, {"a.py": after})
    assert len(change.files[0].patch.split("@@ -") if change.files[0].patch else ()) == 3
    assert places(snippets(AddFunctions(), context, change)) == [
        ("old", "function", "f", 1, 41),
        ("new", "function", "f", 1, 41),
    ]


def test_the_focus_narrows_it_to_one_hunk(tmp_path: Path, context: BuildFolder) -> None:
    change = edited(tmp_path, ("b = a", "b = a + 1"), ("LIMIT = 3", "LIMIT = 4"))
    focused = change.model_copy(update={"focus": Span(path="shop.py", start=4, end=6)})
    assert [s.name for s in snippets(AddFunctions(changed=True), context, focused)] == ["first", "first"]
    elsewhere = change.model_copy(update={"focus": Span(path="other.py", start=1, end=1)})
    assert snippets(AddFunctions(), context, elsewhere) == ()


def test_a_scope_that_is_too_long_becomes_a_window(tmp_path: Path, context: BuildFolder) -> None:
    long = "def f():\n" + "".join(f"    x{n} = {n}\n" for n in range(1200))
    change = make_change(tmp_path / "code", {"a.py": long}, {"a.py": long.replace("x200 = 200", "x200 = 0")})
    found = snippets(AddFunctions(changed=True), context, change)
    assert places(found) == [("old", "window", "f", 182, 222), ("new", "window", "f", 182, 222)]


def test_the_card_counts_kinds_and_says_why_there_are_windows(tmp_path: Path, context: BuildFolder) -> None:
    change = make_change(
        tmp_path / "code", {"a.py": "x = 1\n", "a.kt": "val x = 1\n"}, {"a.py": "x = 2\n", "a.kt": "val x = 2\n"}
    )
    run(AddFunctions(), context, change)
    section, _ = context.sections
    assert section.columns == ("kind", "before", "after")
    assert section.rows == (("file", 1, 1), ("window", 1, 1))
    assert "no grammar for Kotlin (2)" in section.text


@pytest.mark.slow
def test_links_and_large_files_have_no_snippet_and_are_counted(tmp_path: Path, context: BuildFolder) -> None:
    folder = tmp_path / "code"
    base = commit(folder, {"a.py": "x = 1\n", "big.py": "y = 1\n" * 1_700_000})
    (folder / "link").symlink_to("a.py")
    head = commit(folder, {"big.py": "y = 1\n" * 1_700_000 + "z = 1\n"})
    change = Change(repo="acme/shop", base=base, head=head, git=str(folder), files=make_files(folder, base, head))
    found = snippets(AddFunctions(), context, change)
    assert [s.path for s in found] == ["link"]  # the link's target, a line of text
    assert "not read: 10,200,000 bytes, over the limit of 10,000,000 (1)" in context.sections[0].text


def make_files(folder: Path, base: str, head: str) -> tuple[object, ...]:
    from reviewgauge.repo.git.repository import Repository

    return Repository(folder).changed_files(base, head)


@pytest.mark.parametrize(("update", "reason"), [
    ({"files": ()}, "no diff at hand"),
    ({"git": None}, "no code at hand: base and head are not in a repository on this machine"),
    ({"head": None}, "no code at hand: base and head are not in a repository on this machine"),
    ({"head": "0" * 40}, "a version of a changed file is not in the repository"),
    ({"git": "/nowhere/at/all"}, "the code cannot be read"),
])  # fmt: skip
def test_a_change_without_its_code_is_dropped(
    tmp_path: Path, context: BuildFolder, update: dict[str, object], reason: str
) -> None:
    change = edited(tmp_path, ("b = a", "b = a + 1")).model_copy(update=update)
    (drop,) = run(AddFunctions(), context, change)
    assert isinstance(drop, Drop)
    assert (drop.item, drop.by, drop.reason) == ("c0", "add_functions", reason)


@pytest.mark.drill
def test_the_order_stays_when_several_are_worked_on(tmp_path: Path, context: BuildFolder) -> None:
    folder = tmp_path / "code"
    changes = []
    for n in range(30):
        before = {"a.py": f"def f{n}():\n    return 0\n" + "    # padding\n" * (30 - n) * 20}
        base = commit(folder, before)
        changes.append(
            Change(
                repo="acme/shop",
                base=base,
                head=commit(folder, {"a.py": before["a.py"].replace("0", "1", 1)}),
                git=str(folder),
            )
        )
    changes = [c.model_copy(update={"files": make_files(folder, str(c.base), str(c.head))}) for c in changes]
    made = run(AddFunctions(), context, *changes)
    assert [m.id for m in made if isinstance(m, Candidate)] == [f"c{n}" for n in range(30)]
    names = [m.case.change.snippets[0].name for m in made if isinstance(m, Candidate)]
    assert names == [f"f{n}" for n in range(30)]


def test_code_that_is_no_utf8_is_shown_with_marks(tmp_path: Path, context: BuildFolder) -> None:
    change = make_change(tmp_path / "code", {"a.c": b"// \xe9\nint x;\n"}, {"a.c": b"// \xe9\nint y;\n"})
    assert snippets(AddFunctions(), context, change)[0].text == "// \N{REPLACEMENT CHARACTER}\nint x;"
