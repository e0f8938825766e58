from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import parse_patch, read_files, split_diff
from reviewgauge.repo.git.repository import Repository
from written_history import LINK, MODULE, PROGRAM, Content, Written, write_history

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the empty tree
UNLIMITED = 1 << 40
BODY = b"".join(b"line %d\n" % n for n in range(1, 41))
ODD = b'odd \xff\n\t"na\\me'
ODD_TEXT = 'odd \uf0ff\uf00a\uf009"na\uf05cme'


def changes(repository: Repository, base: str, head: str) -> dict[str, ChangedFile]:
    return {file.path: file for file in repository.changed_files(base, head)}


def status(files: dict[str, ChangedFile]) -> dict[str, str]:
    return {path: file.status.value for path, file in files.items()}


def otherwise(repository: Repository, base: str, head: str) -> dict[str, ChangedFile]:
    """The same change through the reader of whole diffs, which takes names from git's headers."""
    shape = ("-r", "-p", "-M50%", "--full-index", "--submodule=short", "--ignore-submodules=none")
    return {f.path: f for f in split_diff(repository.run("diff-tree", *shape, base, head).decode("utf-8", "replace"))}


# --- the stream ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What git prints for a change with a large file, a change of type, odd names and odd lines."""
    folder = tmp_path_factory.mktemp("stream") / "r"
    body = b"".join(b"%d diff --git a/x b/x\n" % n for n in range(60))
    base: dict[bytes, Content] = {b"f": body, b"link": b"text", b"gone": b"x\n"}
    head: dict[bytes, Content] = {b"big": body * 5, b"f": body + b"diff --git\n", b"link": (LINK, b"f"), b"z": b"1\n"}
    head |= {b"gone": None, b"a\ndiff --git a/q b/q\x01": b"x"}
    ids = write_history(folder, [Written(base), Written(head)])
    return Repository(folder).run("diff-tree", "-r", "-p", "--full-index", "-M", *ids)


def cut(text: bytes, sizes: list[int]) -> Iterator[bytes]:
    """`text` in blocks of these sizes, over and over."""
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        yield text[at : at + size]
        at, number = at + size, number + 1


def read(text: bytes, sizes: list[int], largest: int = UNLIMITED, room: int = UNLIMITED) -> dict[str, str | None]:
    return {file.path: file.patch for file in read_files(cut(text, sizes), "it", largest, room)}


def test_files_and_patches_go_together(printed: bytes) -> None:
    found = read(printed, [len(printed)])
    assert {path: patch is not None and patch.count("\n+") for path, patch in found.items()} == {
        "a\uf00adiff --git a/q b/q\uf001": 1, "big": 300, "f": 1, "gone": 0, "link": 1, "z": 1,
    }  # fmt: skip


@given(sizes=st.lists(st.integers(1, 4_000), min_size=1, max_size=5))
def test_how_the_stream_comes_does_not_matter(printed: bytes, sizes: list[int]) -> None:
    assert list(read(printed, sizes).items()) == list(read(printed, [len(printed)]).items())


def test_a_change_stays_within_its_limits(printed: bytes) -> None:
    """What comes after the room is used up is left out; small diffs that still fit are kept."""
    for limits in ((UNLIMITED, 3_000), (900, UNLIMITED)):
        assert [path for path, patch in read(printed, [64], *limits).items() if patch is None] == ["big"]
    assert set(read(printed, [64], 0).values()) == {None}


@given(st.binary(max_size=300), st.booleans())
def test_damage_never_makes_it_fail(printed: bytes, text: bytes, inside: bool) -> None:
    with contextlib.suppress(UserError):  # a name that is none
        read(printed[:400] + text if inside else text, [7], 100, 100)


# --- the changed files ---------------------------------------------------------------------------------------------


def test_every_kind_of_change(tmp_path: Path) -> None:
    base: dict[bytes, Content] = {
        b"kept": BODY, b"moved from": BODY + b"own\n", b"gone": b"bye", b"mode.sh": b"echo\n", b"image": b"\x00\x01",
        b"retyped": b"text\n", b"late nul": b"a" * 9000 + b"\x00\nb\n", b"crlf": BODY.replace(b"\n", b"\r\n"),
        b"module": (MODULE, b"1" * 40), b"latin": "caf\xe9\n".encode("latin-1"),
    }  # fmt: skip
    edits: dict[bytes, Content] = {
        b"kept": BODY.replace(b"line 9\n", b"LINE 9\r\n"), b"moved from": None, b"moved to": BODY + b"changed\n",
        b"gone": None, b"mode.sh": (PROGRAM, b"echo\n"), b"image": b"\x00\x02", b"retyped": (LINK, b"kept"),
        b"late nul": b"a" * 9000 + b"\x00\nc\n",
        b"crlf": BODY.replace(b"\n", b"\r\n").replace(b"line 3\r", b"LINE 3\r"),
        b"module": (MODULE, b"2" * 40), b"latin": "caf\xe8\n".encode("latin-1"), b"no newline": b"a\nb", b"empty": b"",
        ODD: b"x\n",
        b"diff --git a/x b/x": b"diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n",
    }  # fmt: skip
    ids = write_history(tmp_path / "r", [Written(base), Written(edits, b"second")])
    repository = Repository(tmp_path / "r")
    root, newest = changes(repository, EMPTY, ids[0]), changes(repository, ids[0], ids[1])
    assert set(status(root).values()) == {"added"} and len(root) == len(base)
    assert status(newest) == {
        "crlf": "modified", "diff --git a/x b/x": "added", "empty": "added", "gone": "deleted", "image": "modified",
        "kept": "modified", "late nul": "modified", "latin": "modified", "mode.sh": "modified", "module": "modified",
        "moved to": "renamed", "no newline": "added", ODD_TEXT: "added", "retyped": "type_changed",
    }  # fmt: skip
    files = newest
    assert files["moved to"].old_path == "moved from"
    assert files["image"].binary and files["image"].patch is None
    assert files["empty"].patch == files["mode.sh"].patch == ""
    assert files["no newline"].patch == "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file"
    assert files["latin"].patch == "@@ -1 +1 @@\n-caf\ufffd\n+caf\ufffd"
    assert files["late nul"].patch is not None and "\x00" not in files["late nul"].patch
    assert files["module"].patch == f"@@ -1 +1 @@\n-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}"
    assert files["crlf"].patch is not None and "\n+LINE 3\r\n" in files["crlf"].patch
    assert {line.text for h in parse_patch(files["retyped"].patch or "") for line in h.lines} == {"text", "kept"}
    assert len(parse_patch(files["diff --git a/x b/x"].patch or "")[0].lines) == 4
    assert newest == otherwise(repository, ids[0], ids[1])


def test_a_round_of_renames_is_followed(tmp_path: Path) -> None:
    a, b, c = (b"".join(b"%s %d\n" % (name, n) for n in range(30)) for name in (b"one", b"two", b"three"))
    history = [Written({b"a": a, b"b": b, b"c": c}), Written({b"a": c, b"b": a, b"c": b})]
    history += [Written({b"b": None, b"z": a})]
    ids = write_history(tmp_path / "r", history)
    renamed = changes(Repository(tmp_path / "r"), ids[1], ids[2])
    assert status(renamed) == {"z": "renamed"} and renamed["z"].old_path == "b"
    turned = changes(Repository(tmp_path / "r"), ids[0], ids[1])
    assert status(turned) == {"a": "modified", "b": "modified", "c": "modified"}


def test_a_path_that_no_record_can_hold_is_named(tmp_path: Path) -> None:
    long = b"/".join([b"d" * 200] * 21)
    ids = write_history(tmp_path / "r", [Written({b"a": b"1\n"}), Written({long: b"x\n"})])
    with pytest.raises(UserError, match=f"the change from {ids[0]} to {ids[1]} has a file whose path is not a path: d"):
        Repository(tmp_path / "r").changed_files(ids[0], ids[1])


def test_files_too_large_to_compare_are_binary(tmp_path: Path) -> None:
    """Over 20 MB git would hold both versions; they count as binary, also when they are text."""
    large = b"a line of fifty characters, more or less, of text\n" * 450_000
    ids = write_history(tmp_path / "r", [Written({b"large": large}), Written({b"large": large + b"x\n", b"a": b"1\n"})])
    last = Repository(tmp_path / "r").changed_files(ids[0], ids[1])
    assert [(f.path, f.binary, f.patch) for f in last] == [("a", False, "@@ -0,0 +1 @@\n+1"), ("large", True, None)]


# --- against other readers -----------------------------------------------------------------------------------------

Line = tuple[str, int | None, int | None, str]
LINES = ["", " ", "a", "b", "-- x", "++ y", "@@ -1 +1 @@", "\\ odd", "diff --git a/q b/q", "--- a/f", "+++ b/f", "ä"]
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(LINES), max_size=14),
    st.sampled_from(["", "\n"]),
)
NAMES = st.sampled_from(["f", "a b", "-x", "d/diff --git a", 'q"', "ü", "\t"])


@given(st.lists(st.dictionaries(NAMES, st.one_of(st.none(), TEXTS), max_size=4), min_size=1, max_size=6))
@pytest.mark.slow
def test_unidiff_and_our_other_reader_see_the_same(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str | None]]
) -> None:
    """Random files through several commits: hunks as unidiff has them, files as whole diffs name them."""
    folder = tmp_path_factory.mktemp("pairs") / "r"
    there: set[str] = set()
    history = []
    for state in states:
        files = {name: text for name, text in state.items() if text is not None or name in there}
        there = {name for name in there | set(files) if files.get(name, "") is not None}
        history.append(Written({n.encode(): None if t is None else t.encode() for n, t in files.items()}))
    ids = write_history(folder, history)
    repository = Repository(folder)
    for base, head in pairwise(ids):
        found = changes(repository, base, head)
        assert found == otherwise(repository, base, head)
        shown = repository.run("show", "--format=", "-M50%", head).decode()
        # unidiff splits lines where Python does, and reads no quoted names: only the hunks are held against it
        oracle = [
            [(line.line_type, line.source_line_no, line.target_line_no, line.value) for line in hunk if hunk]
            for file in PatchSet(_without_headers(shown))
            for hunk in file
        ]
        assert [_lines(hunk) for hunk in oracle] == [
            [(x.kind, x.old, x.new, x.text) for x in hunk.lines]
            for file in found.values()
            for hunk in parse_patch(file.patch or "")
        ]


def _lines(hunk: list[Line]) -> list[Line]:
    return [(kind, old, new, text.removesuffix("\n")) for kind, old, new, text in hunk if kind != "\\"]


def _without_headers(diff: str) -> str:
    """The same hunks under plain names, one pair of names for each file that has hunks."""
    kept: list[str] = []
    inside = False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            inside = False
        elif line.startswith("@@ ") and not inside:
            kept += ["--- a/f", "+++ b/f"]
            inside = True
        if inside:
            kept.append(line)
    return "\n".join(kept)
