"""SZZ on what goes wrong: cut, damaged and armed repositories; and its answers against a model of who wrote what."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.szz.same_code import find_renames, same_code
from reviewgauge.repo.szz.trace import SzzSettings, trace, trace_many
from szz_stories import Story, reasons


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "shop")


@pytest.mark.slow
def test_a_cut_history_is_never_blamed(story: Story, tmp_path: Path) -> None:
    story.commit({"a.py": "a = 1\nb = 1\n"})
    inside = story.commit({"a.py": "a = 1\nb = 2\n"})
    kept = story.commit({"a.py": "a = 1\nb = 3\n"})
    fix = story.commit({"a.py": "a = 9\nb = 9\n"})
    story.git("clone", "-q", "--depth", "3", f"file://{story.folder}", str(tmp_path / "cut"))
    for repository in (Repository(tmp_path / "cut"), mirror_local(tmp_path / "cut", tmp_path / "mirror.git")):
        for variant in ("basic", "ag", "ma"):
            found = trace(repository, fix, SzzSettings(variant))
            assert [(i.commit, i.fix_line) for i in found.inducing] == [(kept, 2)]
            assert [(d.item, d.reason, d.detail) for d in found.skipped] == [
                ("a.py:1", "the history is cut off before this line was written", inside)
            ]
        oldest = trace(repository, inside)
        assert reasons(oldest) == ["the parent of the fix is not here"]


def test_a_missing_blob_costs_its_own_fix_only(story: Story) -> None:
    story.commit({"a.py": "a = 1\n", "b.py": "b = 1\n"})
    bug = story.commit({"a.py": "a = 2\n", "b.py": "b = 2\n"})
    lost = story.commit({"a.py": "a = 3\n"})
    fix = story.commit({"b.py": "b = 3\n"})
    blob = story.git("rev-parse", f"{lost}:a.py")
    (story.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    traces = list(trace_many(story.repository, [lost, fix, lost, fix], SzzSettings(), jobs=1))
    assert [t.commits for t in traces] == [(), (bug,), (), (bug,)]
    assert reasons(traces[0]) == ["the fix cannot be read"]


def test_paths_of_any_bytes_are_traced(story: Story) -> None:
    name = b'caf\xe9 "x"\ttab.py'
    target = bytes(story.folder) + b"/" + name
    bug = story.commit({})
    for text in (b"a = 1\n", b"a = 2\n"):
        with open(target, "wb") as file:  # noqa: PTH123 - a path of bytes
            file.write(text)
        bug, fix = story.git("rev-parse", "HEAD"), story.commit({})
    (line,) = story.trace(fix, "ma").inducing
    assert line.commit == bug
    assert line.fix_path == line.path == 'caf\uf0e9 "x"\uf009tab.py'


def test_texts_that_are_no_utf8_and_no_text_are_harmless(story: Story) -> None:
    bug = story.commit({"a.py": b"a = '\xe9'\n-- b\n++ c\n@@ -1 +1 @@\n"})
    fix = story.commit({"a.py": b"a = '\xea'\n-- d\n++ e\n@@ -1 +2 @@\ndiff --git a/x b/x\n"})
    found = story.trace(fix, "basic")
    assert set(found.commits) == {bug}
    assert [i.text for i in found.inducing] == ["a = '\N{REPLACEMENT CHARACTER}'", "-- b", "++ c", "@@ -1 +1 @@"]


def test_revisions_that_the_repository_wants_ignored_are_not(story: Story, tmp_path: Path) -> None:
    story.commit({"a.py": "a = 1\n"})
    bug = story.commit({"a.py": "a = 2\n"})
    fix = story.commit({"a.py": "a = 3\n"})
    listed = tmp_path / "ignored"
    listed.write_text(f"{bug}\n")
    story.git("config", "blame.ignoreRevsFile", str(listed))
    assert story.blames(fix, "basic") == {bug}
    story.git("config", "blame.ignoreRevsFile", "no-such-file")
    assert reasons(story.trace(fix)) == ["cannot be blamed"]
    assert trace(mirror_local(story.folder, tmp_path / "m.git"), fix).commits == (bug,), "a mirror has no such setting"


def test_what_takes_too_long_is_said(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.commit({"a.py": "a = 1\n"})
    fix = story.commit({"a.py": "a = 2\n"})
    monkeypatch.setattr("reviewgauge.repo.szz.trace._SECONDS", 1e-9)
    found = story.trace(fix)
    assert found.inducing == ()
    assert len(found.skipped) == 1


# --- against a model of who wrote what ---

Steps = list[tuple[str, int, int]]
STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "change", "delete", "rename"]), st.integers(0, 30), st.integers(1, 4)),
    min_size=1,
    max_size=12,
)


def grow(steps: Steps) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """(path, lines with the number of the commit that wrote each) after each commit; no two lines are the same."""
    path, lines = "f.py", [(f"line_{n} = {n}", 0) for n in range(12)]
    yield path, lines
    for number, (what, place, count) in enumerate(steps, 1):
        fresh = [(f"line_{number}_{n} = {n}", number) for n in range(count)]
        at = place % max(len(lines), 1)
        if what == "insert":
            lines = lines[:at] + fresh + lines[at:]
        elif what == "change":
            lines = lines[:at] + fresh[: len(lines) - at] + lines[at + count :]
        elif what == "delete" and len(lines) > count + 6:
            lines = lines[:at] + lines[at + count :]
        elif what == "rename":
            path = f"f{number}.py"
        yield path, lines


@given(steps=STEPS, chosen=st.sets(st.integers(0, 30), min_size=1, max_size=5))
@pytest.mark.slow
def test_basic_finds_who_wrote_each_line(tmp_path: Path, steps: Steps, chosen: set[int]) -> None:
    story = Story(Path(tempfile.mkdtemp(dir=tmp_path)) / "shop")
    commits: list[str] = []
    path, lines = "", [("", 0)]
    for path, lines in grow(steps):
        for old in story.folder.glob("*.py"):
            old.unlink()
        commits.append(story.commit({path: "".join(f"{text}\n" for text, _ in lines)}))
    wrong = {n % len(lines) for n in chosen}
    fixed = [f"fixed_{n} = {n}" if n in wrong else text for n, (text, _) in enumerate(lines)]
    fix = story.commit({path: "".join(f"{text}\n" for text in fixed)})
    expected = {(n + 1, commits[lines[n][1]]) for n in wrong}
    for variant in ("basic", "ag", "ma"):
        assert {(i.fix_line, i.commit) for i in story.trace(fix, variant).inducing} == expected


TOKENS = st.lists(st.lists(st.sampled_from(["a", "b", "(", ")", ",", "="]), max_size=4).map(tuple), max_size=8)


@given(TOKENS)
def test_code_is_the_same_as_itself_and_as_itself_on_one_line(lines: list[tuple[str, ...]]) -> None:
    filled = {n for n, line in enumerate(lines) if line}
    assert set(same_code(lines, lines)) >= {n for n in filled if lines[n] != (",",)}
    joined = [tuple(token for line in lines for token in line)]
    assert set(same_code(joined, joined)) == ({0} if joined[0] else set())


def test_part_of_a_line_is_not_the_same_code() -> None:
    assert same_code([("return", "x")], [("return", "x", "+", "1")]) == {}
    assert same_code([("f", "(", "a", ",", "b", ")")], [("f", "(", "a", ","), ("b", ")")]) == {0: (0,), 1: (0,)}
    assert same_code([("x", ",")], [("x",)]) == {}, "a tuple of one is not a trailing comma"
    assert same_code([("f", "(", "a", ")")], [("f", "("), ("a", ","), (")",)]) == {0: (0,), 1: (0,), 2: (0,)}


def test_a_rename_needs_a_definition_and_takes_every_place() -> None:
    definition, use = ("def", "f", "(", "n", ")", ":"), ("return", "n", "+", "n")
    other, used = ("def", "f", "(", "m", ")", ":"), ("return", "m", "+", "m")
    assert find_renames([([definition], [other]), ([use], [used])]) == {"n": "m"}
    assert find_renames([([use], [used]), ([use], [used])]) == {}, "nothing says that n is defined here"
    assert find_renames([([definition], [other]), ([use], [used]), ([("n", "-")], [("n", "*")])]) == {}
    assert find_renames([([definition], [other])]) == {}, "one place"
    swap = [([("a", "=", "b")], [("b", "=", "a")])] * 2
    assert find_renames(swap) == {}
