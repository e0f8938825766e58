"""Filters that read the change alone: language, documentation, generated files, duplicates, size."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_project import make_change
from pull_toys import candidate, pull, reference, thread
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile, FileStatus, Span, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.drop_documentation import DropDocumentation
from reviewgauge.stages.drop_duplicates import DropDuplicates
from reviewgauge.stages.drop_generated import DropGenerated
from reviewgauge.stages.drop_large import DropLarge
from reviewgauge.stages.keep_main_language import KeepMainLanguage

SMALL = "@@ -1 +1 @@\n-a\n+b"


def lines(count: int) -> str:
    return f"@@ -0,0 +1,{count} @@\n" + "\n".join(f"+line {n}" for n in range(count))


def case(*files: tuple[str, str | None], name: str = "a", **more: object) -> Case:
    changed = tuple(ChangedFile(path=path, patch=patch, binary=patch is None) for path, patch in files)
    return Case(id=name, change=Change.model_validate({"repo": "a/b", "files": changed, **more}))


def test_files_and_commits_are_further_limits() -> None:
    two = case(("a.py", SMALL), ("b.py", SMALL)).model_copy(update={"facts": {"commits": 3}})
    assert DropLarge(files=2, commits=3).keep(two) == two
    assert DropLarge(files=1).keep(two) == "more than 1 changed files"
    assert DropLarge(commits=2).keep(two) == "more than 2 commits"
    assert DropLarge(commits=2).keep(case(("a.py", SMALL))) == "no fact commits"
    stated = Case(id="a", change=Change(repo="a/b"), facts={"changed_lines": 1, "changed_files": 4})
    assert DropLarge(files=3).keep(stated) == "more than 3 changed files"
    bare = Case(id="a", change=Change(repo="a/b"), facts={"changed_lines": 1})
    assert DropLarge(files=3).keep(bare) == "no fact changed_files"


@pytest.mark.parametrize(
    ("files", "languages", "reason"),
    [
        ((("a.py", lines(5)), ("b.sh", lines(4))), {"Python": 9, "Shell": 1}, None),
        ((("a.py", lines(4)), ("b.sh", lines(5))), {"Python": 9, "Shell": 1}, "Shell in a repository of Python"),
        ((("a.py", lines(5)), ("b.sh", lines(5))), {"Python": 9}, None),
        ((("README.md", lines(9)),), {"Python": 9}, "no file in a programming language"),
        ((("README.md", lines(90)), ("a.py", lines(1))), {"Python": 9}, None),
        ((("a.h", lines(9)),), {"C++": 9, "C": 5}, None),
        ((("a.h", lines(9)),), {"Python": 9}, "C in a repository of Python"),
        ((("a.py", lines(9)),), {}, "the repository's languages are not known"),
    ],
)
def test_the_language_of_most_changed_lines_is_the_repositorys(
    files: tuple[tuple[str, str], ...], languages: dict[str, int], reason: str | None
) -> None:
    item = Candidate(case=case(*files), pull=pull(repo_languages=languages))
    said = KeepMainLanguage().narrow(item)
    assert (said if isinstance(said, str) else None) == reason


def test_the_language_of_most_commented_files_is_another_question() -> None:
    item = candidate(pull(thread("1", path="a.sh"), thread("2", path="a.sh"), thread("3", path="b.py")))
    assert KeepMainLanguage().narrow(item) == item, "a.py is what changed"
    assert KeepMainLanguage(by="commented").narrow(item) == "Shell in a repository of Python"
    assert KeepMainLanguage(by="commented").narrow(candidate(pull())) == "no comment on a file of code"
    assert KeepMainLanguage().narrow(candidate(None)) == "no pull request behind it"


def test_documentation_only() -> None:
    docs = case(("README.md", SMALL), ("docs/a.rst", SMALL))
    assert DropDocumentation().keep(docs) == "documentation only"
    mixed = case(("README.md", SMALL), ("a.py", SMALL))
    assert DropDocumentation().keep(mixed) == mixed
    assert DropDocumentation().keep(case()) == "no changed files at hand"
    data = case(("a.json", SMALL))
    assert DropDocumentation().keep(data) == data
    assert DropDocumentation(also=(".JSON",)).keep(data) == "documentation only"
    hunk = case(("README.md", SMALL), ("a.py", SMALL), focus=Span(path="README.md", start=1), task=Task.ASSESS)
    assert DropDocumentation().keep(hunk) == "documentation only", "the place that is asked about counts"


def test_generated_by_path_and_by_the_share_of_lines() -> None:
    both = case(("uv.lock", lines(9)), ("a.py", lines(1)))
    assert DropGenerated().keep(both) == both
    assert DropGenerated(share=0.9).keep(both) == "generated or vendored files"
    assert DropGenerated().keep(case(("vendor/x.go", None))) == "generated or vendored files"
    assert DropGenerated().keep(case()) == "no changed files at hand"


def test_generated_by_what_the_file_says_at_the_head_or_where_it_was_deleted(tmp_path: Path) -> None:
    marked = "# Code generated by a tool. DO NOT EDIT.\nx = {}\n"
    change = make_change(
        tmp_path / "r", {"a.py": marked.format(1), "b.py": marked.format(1)}, {"a.py": marked.format(2)}
    )
    assert DropGenerated().keep(Case(id="a", change=change)) == "generated or vendored files"
    plain = change.model_copy(update={"git": None})
    assert not isinstance(DropGenerated().keep(Case(id="a", change=plain)), str)
    gone = make_change(tmp_path / "s", {"a.py": marked.format(1), "b.py": "x\n"}, {"a.py": None})
    assert gone.files[0].status is FileStatus.DELETED
    assert DropGenerated().keep(Case(id="a", change=gone)) == "generated or vendored files"


# --- duplicates ----------------------------------------------------------------------------------------------------


def survivors(stage: Stage, cases: list[Case], folder: Path) -> tuple[list[str], list[Drop]]:
    place = BuildFolder(folder)
    found = list(stage.apply([Candidate(case=one) for one in cases], place))
    place.close()
    return [i.id for i in found if isinstance(i, Candidate)], [i for i in found if isinstance(i, Drop)]


def test_the_same_diff_elsewhere_is_a_duplicate(tmp_path: Path) -> None:
    backport = "@@ -7,2 +9,2 @@\n other\n-a\n+b  "
    cases = [
        case(("x.py", SMALL), name="first"),
        case(("x.py", backport), name="backport"),
        case(("y.py", SMALL), name="other file"),
        case(("x.py", "@@ -1 +1 @@\n-a\n+c"), name="other text"),
        case(("x.py", SMALL), name="same again", title="another title"),
        case(("pic.png", None), name="binary"),
        case(("pic.png", None), name="binary too"),
    ]
    kept, drops = survivors(DropDuplicates(), cases, tmp_path)
    assert kept == ["first", "other file", "other text", "binary", "binary too"]
    assert [(d.item, d.reason, d.detail) for d in drops] == [
        ("backport", "same diff", "as first"),
        ("same again", "same diff", "as first"),
    ]
    assert survivors(DropDuplicates(), [case(("x", None)), Case(id="b", change=Change(repo="a/b"))], tmp_path)[0] == [
        "a"
    ]


def test_places_and_tasks_of_one_diff_are_no_duplicates(tmp_path: Path) -> None:
    patch = "@@ -0,0 +1,3 @@\n+a\n+b\n+a"

    def focused(name: str, start: int, task: Task = Task.LOCATE) -> Case:
        return case(("x.py", patch), name=name, focus=Span(path="x.py", start=start), task=task)

    cases = [focused("1", 1), focused("2", 2), focused("3", 3), focused("1 again", 1), focused("4", 1, Task.COMMENT)]
    assert survivors(DropDuplicates(), cases, tmp_path)[0] == ["1", "2", "4"], "line 3 reads as line 1 does"
    whole = case(("x.py", patch), name="file", focus=Span(path="x.py"), task=Task.LOCATE)
    assert survivors(DropDuplicates(), [*cases, whole], tmp_path)[0] == ["1", "2", "4", "file"]


def test_words_and_comments_are_compared_where_asked(tmp_path: Path) -> None:
    said = reference(thread("1", path="x.py"))
    plain = case(("x.py", SMALL), name="a", title="Fix it").model_copy(update={"references": (said,)})
    other_diff = case(("x.py", lines(3)), name="b", title="Fix  it ").model_copy(update={"references": (said,)})
    silent = case(("x.py", SMALL), name="c")
    every = [plain, other_diff, silent]
    assert survivors(DropDuplicates(by=("text",)), every, tmp_path)[0] == ["a", "c"]
    assert survivors(DropDuplicates(by=("comments",)), every, tmp_path)[0] == ["a", "b", "c"]
    again = plain.model_copy(update={"id": "d"})
    assert survivors(DropDuplicates(by=("comments",)), [*every, again], tmp_path)[0] == ["a", "b", "c"]
    assert survivors(DropDuplicates(by=("diff", "text")), every, tmp_path)[0] == ["a"]
    with pytest.raises(UserError, match="by names some of"):
        load(Stage, "drop_duplicates(by=('title',))")
    with pytest.raises(UserError, match="by names some of"):
        load(Stage, "drop_duplicates(by=())")


@given(st.lists(st.integers(min_value=1, max_value=4), max_size=12))
def test_one_of_each_is_left(sizes: list[int]) -> None:
    cases = [case(("x.py", lines(n)), name=f"c{i}") for i, n in enumerate(sizes)]
    with TemporaryDirectory() as folder:
        kept, drops = survivors(DropDuplicates(), cases, Path(folder))
    assert len(kept) + len(drops) == len(cases)
    assert len(kept) == len(set(sizes))
