from __future__ import annotations

import os
import subprocess
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.repo.diff.diffs import parse_patch, split_diff
from reviewgauge.repo.git.blobs import BlobReader
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import EPOCH, Commit, inspect, read_commits, read_history
from written_history import LINK, MODULE, PROGRAM, Content, Written, write_history

BODY = b"".join(b"line %d\n" % n for n in range(1, 41))
ODD = b'odd \xff\n\t"na\\me'
ODD_TEXT = 'odd \uf0ff\uf00a\uf009"na\uf05cme'


def one(repository: Repository, commit: str, **options: object) -> Commit:
    (found,) = read_history(repository, [commit], most=1, merges="first-parent", **options)  # type: ignore[arg-type]
    return found


def status(commit: Commit) -> dict[str, str]:
    return {file.path: file.status.value for file in commit.files}


def otherwise(repository: Repository, base: str, head: str) -> dict[str, ChangedFile]:
    """The same change through the reader of whole diffs, which takes names from git's headers."""
    shape = ("-r", "-p", "-M50%", "--full-index", "--submodule=short", "--ignore-submodules=none")
    return {f.path: f for f in split_diff(repository.run("diff-tree", *shape, base, head).decode("utf-8", "replace"))}


def by_path(commit: Commit) -> dict[str, ChangedFile]:
    return {file.path: file for file in commit.files}


# --- what changed --------------------------------------------------------------------------------------------------


def test_every_kind_of_change(tmp_path: Path) -> None:
    base: dict[bytes, Content] = {
        b"kept": BODY,
        b"moved from": BODY + b"own\n",
        b"gone": b"bye",
        b"mode.sh": b"echo\n",
        b"image": b"\x00\x01",
        b"retyped": b"text\n",
        b"late nul": b"a" * 9000 + b"\x00\nb\n",
        b"crlf": BODY.replace(b"\n", b"\r\n"),
        b"module": (MODULE, b"1" * 40),
        b"latin": "caf\xe9\n".encode("latin-1"),
    }
    edits: dict[bytes, Content] = {
        b"kept": BODY.replace(b"line 9\n", b"LINE 9\r\n"),
        b"moved from": None,
        b"moved to": BODY + b"changed\n",
        b"gone": None,
        b"mode.sh": (PROGRAM, b"echo\n"),
        b"image": b"\x00\x02",
        b"retyped": (LINK, b"kept"),
        b"late nul": b"a" * 9000 + b"\x00\nc\n",
        b"crlf": BODY.replace(b"\n", b"\r\n").replace(b"line 3\r", b"LINE 3\r"),
        b"module": (MODULE, b"2" * 40),
        b"latin": "caf\xe8\n".encode("latin-1"),
        b"no newline": b"a\nb",
        b"empty": b"",
        ODD: b"x\n",
        b"diff --git a/x b/x": b"diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n",
    }
    ids = write_history(tmp_path / "r", [Written(base), Written(edits, b"second")])
    repository = Repository(tmp_path / "r")
    newest, root = list(read_history(repository))
    assert (newest.id, root.id) == (ids[1], ids[0])
    assert newest.parents == (ids[0],) and root.parents == ()
    assert set(status(root).values()) == {"added"} and len(root.files) == len(base)
    assert status(newest) == {
        "crlf": "modified",
        "diff --git a/x b/x": "added",
        "empty": "added",
        "gone": "deleted",
        "image": "modified",
        "kept": "modified",
        "late nul": "modified",
        "latin": "modified",
        "mode.sh": "modified",
        "module": "modified",
        "moved to": "renamed",
        "no newline": "added",
        ODD_TEXT: "added",
        "retyped": "type_changed",
    }
    files = by_path(newest)
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
    assert by_path(newest) == otherwise(repository, ids[0], ids[1])
    blobs = dict(zip(files, newest.blobs, strict=True))
    assert (blobs["mode.sh"].old_mode, blobs["mode.sh"].new_mode) == ("100644", "100755")
    assert (blobs["gone"].new, blobs["no newline"].old) == ("", "")
    assert repository.run("cat-file", "blob", blobs["no newline"].new) == b"a\nb"
    assert newest.dropped == ()


def test_a_repository_of_longer_ids(tmp_path: Path) -> None:
    history = [Written({b"a": BODY}), Written({b"a": b"side\n" + BODY}, parents=(0,))]
    history += [Written({b"a": BODY + b"main\n"}, parents=(0,)), Written({b"a": b"merged\n" + BODY}, parents=(1, 2))]
    ids = write_history(tmp_path / "r", history, object_format="sha256")
    merge, *others = read_history(Repository(tmp_path / "r"), merges="first-parent")
    assert merge.id == ids[3] and len(merge.id) == 64 and status(merge) == {"a": "modified"}
    assert {c.id: status(c) for c in others} == {
        ids[2]: {"a": "modified"},
        ids[1]: {"a": "modified"},
        ids[0]: {"a": "added"},
    }
    with BlobReader(Repository(tmp_path / "r")) as blobs:
        assert blobs.read(others[-1].blobs[0].new) == BODY


def test_copies_are_found_when_asked_for(tmp_path: Path) -> None:
    ids = write_history(tmp_path / "r", [Written({b"a": BODY}), Written({b"a": BODY + b"x\n", b"b": BODY + b"y\n"})])
    repository = Repository(tmp_path / "r")
    assert status(one(repository, ids[1])) == {"a": "modified", "b": "added"}
    copied = by_path(one(repository, ids[1], copies=True))["b"]
    assert (copied.status, copied.old_path) == (FileStatus.COPIED, "a")


def test_a_round_of_renames_is_followed(tmp_path: Path) -> None:
    a, b, c = (b"".join(b"%s %d\n" % (name, n) for n in range(30)) for name in (b"one", b"two", b"three"))
    history = [Written({b"a": a, b"b": b, b"c": c}), Written({b"a": c, b"b": a, b"c": b})]
    history += [Written({b"b": None, b"z": a}), Written({b"z": None, b"b": a})]
    write_history(tmp_path / "r", history)
    commits = list(read_history(Repository(tmp_path / "r"), patches=False))
    assert status(commits[0]) == {"b": "renamed"} and commits[0].files[0].old_path == "z"
    assert status(commits[2]) == {"a": "modified", "b": "modified", "c": "modified"}
    assert all(file.patch is None for commit in commits for file in commit.files)


def test_only_names_or_nothing(tmp_path: Path) -> None:
    write_history(tmp_path / "r", [Written({b"a": b"1\n", ODD: b"2"}), Written({b"a": b"3\n"})])
    repository = Repository(tmp_path / "r")
    assert [status(c) for c in read_history(repository, patches=False)] == [
        {"a": "modified"},
        {"a": "added", ODD_TEXT: "added"},
    ]
    assert [c.files for c in read_history(repository, names=False)] == [(), ()]


def test_a_patch_over_the_limit_is_left_out_and_said_so(tmp_path: Path) -> None:
    huge = b"".join(b"%d some text of a line\n" % n for n in range(2_000))
    many = {b"many/%02d" % n: b"%d\n" % n * 4_000 for n in range(20)}
    history = [Written({b"a": b"1\n", b"huge": huge, b"z": b"1\n"}), Written(many), Written({b"a": b"2\n"})]
    write_history(tmp_path / "r", history)
    last, full, first = list(read_history(Repository(tmp_path / "r"), largest=20_000))
    assert by_path(first)["huge"].patch is None and not by_path(first)["huge"].binary
    assert by_path(first)["a"].patch == by_path(first)["z"].patch == "@@ -0,0 +1 @@\n+1"
    assert [(drop.item, "limit" in drop.reason) for drop in first.dropped] == [("huge", True)]
    assert sum(file.patch is None for file in full.files) == len(full.dropped) > 0
    assert len(full.files) == len(full.blobs) == 20
    assert last.files[0].patch == "@@ -1 +1 @@\n-1\n+2"


def test_a_path_no_record_can_hold_is_dropped_and_said_so(tmp_path: Path) -> None:
    long = b"/".join([b"d" * 200] * 21)
    write_history(tmp_path / "r", [Written({long: b"x\n", b"a": b"1\n"})])
    (commit,) = read_history(Repository(tmp_path / "r"))
    assert status(commit) == {"a": "added"} and commit.files[0].patch == "@@ -0,0 +1 @@\n+1"
    assert len(commit.blobs) == 1
    assert len(commit.dropped) == 1 and "path" in commit.dropped[0].reason


# --- merges --------------------------------------------------------------------------------------------------------


@pytest.fixture
def merged(tmp_path: Path) -> tuple[Repository, list[str]]:
    """A branch that changes one file, a merge of it that changes another line and deletes a third file."""
    history = [
        Written({b"f": BODY, b"g": b"g\n", ODD: BODY}),
        Written({b"f": BODY.replace(b"line 3\n", b"branch\n"), b"new": b"n\n"}, parents=(0,)),
        Written({b"f": BODY.replace(b"line 30\n", b"main\n"), b"h": b"h\n"}, parents=(0,)),
        Written(
            {
                b"f": BODY.replace(b"line 30\n", b"main\n").replace(b"line 3\n", b"both\n"),
                b"new": b"n\n",
                b"g": None,
                ODD: BODY.replace(b"line 1\n", b"own\n"),
            },
            b"Merge branch",
            parents=(2, 1),
        ),
    ]
    return Repository(tmp_path / "r"), write_history(tmp_path / "r", history)


def test_what_a_merge_shows_is_chosen(merged: tuple[Repository, list[str]]) -> None:
    repository, ids = merged
    plain = next(read_history(repository))
    assert plain.is_merge and plain.parents == (ids[2], ids[1]) and plain.files == ()
    first = next(read_history(repository, merges="first-parent"))
    assert by_path(first) == otherwise(repository, ids[2], ids[3])
    assert set(status(first)) == {"f", "new", "g", ODD_TEXT}
    assert [c.id for c in read_history(repository, first_parent=True)] == [ids[3], ids[2], ids[0]]
    assert by_path(next(read_history(repository, first_parent=True))) == by_path(first)


# --- which commits -------------------------------------------------------------------------------------------------


def test_the_walk_is_chosen(merged: tuple[Repository, list[str]]) -> None:
    repository, ids = merged
    everything = [c.id for c in read_history(repository)]
    assert everything[0] == ids[3] and everything[-1] == ids[0] and set(everything) == set(ids)
    assert [c.id for c in read_history(repository, reverse=True)] == everything[::-1]
    assert [c.id for c in read_history(repository, [ids[1]], without=[ids[0]])] == [ids[1]]
    assert [c.id for c in read_history(repository, most=2)] == everything[:2]
    only = list(read_history(repository, paths=["g"], merges="first-parent"))
    assert [(c.id, status(c)) for c in only] == [(ids[3], {"g": "deleted"}), (ids[0], {"g": "added"})]
    odd = list(read_history(repository, paths=[ODD_TEXT], merges="first-parent"))
    assert [c.id for c in odd] == [ids[3], ids[0]]
    assert list(read_history(repository, paths=["*"])) == []
    given = [ids[0], ids[2], ids[0]]
    assert [c.id for c in read_commits(repository, given)][:2] == given[:2]
    assert list(read_commits(repository, [])) == []


def test_wrong_clocks_neither_end_the_walk_nor_turn_it_around(tmp_path: Path) -> None:
    days = [10, 11, 1, 12, 13]  # the third commit is dated before its parents
    history = [Written({b"f": b"%d\n" % n}, when=f"{day * 86400} +0200") for n, day in enumerate(days)]
    ids = write_history(tmp_path / "r", history)
    repository = Repository(tmp_path / "r")
    assert [c.id for c in read_history(repository)] == ids[::-1]
    since, until = datetime(1970, 1, 11, tzinfo=UTC), datetime(1970, 1, 13, tzinfo=UTC)
    assert [c.id for c in read_history(repository, since=since)] == [ids[4], ids[3], ids[1], ids[0]]
    assert [c.id for c in read_history(repository, since=since, until=until)] == [ids[3], ids[1], ids[0]]
    assert [c.id for c in read_history(repository, since=since, until=until, reverse=True, most=2)] == [ids[1], ids[3]]
    assert [c.files[0].patch for c in read_history(repository, until=datetime(1970, 1, 3, tzinfo=UTC))] == [
        "@@ -1 +1 @@\n-1\n+2"
    ]
    assert list(read_history(repository, until=EPOCH)) == []


# --- messages, authors, dates --------------------------------------------------------------------------------------


def test_messages_in_any_encoding(tmp_path: Path) -> None:
    history = [
        Written(message="naïve 文\n\nbody\n".encode()),
        Written(message="Grüße\n".encode("latin-1"), encoding=b"ISO-8859-1"),
        Written(message="Grüße €\n".encode("cp1252")),
        Written(message="日本\n".encode("shift-jis"), encoding=b"SHIFT-JIS"),
        Written(message=b""),
        Written(message=b"\n\n  two\nlines  \n\nand a body\n\nof two\n\n"),
        Written(message=b"0" * 32 + b"\ndiff --git a/f b/f\n@@ -1 +1 @@\n:100644 100644 a b M\x01f\n"),
    ]
    write_history(tmp_path / "r", history)
    commits = list(read_history(Repository(tmp_path / "r")))[::-1]
    assert [c.subject for c in commits[:6]] == ["naïve 文", "Grüße", "Grüße €", "日本", "", "two lines"]
    assert commits[0].body == "body" and commits[5].body == "and a body\n\nof two"
    assert commits[6].message.endswith("M\x01f") and commits[6].files == ()


def test_authors_are_names_and_times_are_plausible(tmp_path: Path) -> None:
    history = [
        Written(author="Zoë <z@example.invalid>".encode(), authored="1700000000 +0530"),
        Written(author=b"zoe@example.invalid <zoe@example.invalid>"),
        Written(author=b"<z@example.invalid>", authored="99999999999999 +0000"),
        Written(author="Jürgen <j@x>".encode("latin-1"), authored="0 +0000", when="99999999999999 +0000"),
    ]
    write_history(tmp_path / "r", history)
    commits = list(read_history(Repository(tmp_path / "r")))[::-1]
    assert [c.author for c in commits] == ["Zoë", "zoe", "", "Jürgen"]
    assert commits[0].authored == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC) == commits[0].committed
    assert [c.sound_times for c in commits] == [True, True, False, False]
    assert commits[2].authored == commits[2].committed == commits[0].committed
    assert (commits[3].authored, commits[3].committed) == (EPOCH, EPOCH)


# --- errors --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    ids = write_history(tmp_path / "r", [Written({b"f": b"%d\n" % n * 99}) for n in range(3)])
    repository = Repository(tmp_path / "r")
    for tip in ("nowhere", "0" * 40, "refs/heads/none"):
        with pytest.raises(UserError, match=r"no such branch or commit|damaged or missing") as error:
            list(read_history(repository, [tip]))
        assert "\n" not in str(error.value)
    for tip in ("--output=x", "a..b", "", "main\n", "^main"):
        with pytest.raises(UserError, match="is not a commit"):
            next(read_history(repository, [tip]))
    with pytest.raises(UserError):
        list(read_commits(repository, [ids[0], "1" * 40]))
    write_history(tmp_path / "empty", [])
    with pytest.raises(UserError, match="an empty repository has none"):
        list(read_history(Repository(tmp_path / "empty")))
    with pytest.raises(UserError, match="is not a git directory"):
        list(read_history(Repository(tmp_path / "nowhere")))


def test_damage_is_said_after_what_could_be_read(tmp_path: Path) -> None:
    history = [Written({b"f": BODY + b"%d\n" % n}) for n in range(5)]
    ids = write_history(tmp_path / "r", history)
    repository = Repository(tmp_path / "r")
    blob = repository.run("rev-parse", f"{ids[1]}:f").decode().strip()
    loose = tmp_path / "r" / "objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"damaged")
    read: list[str] = []
    with pytest.raises(UserError, match=r"damaged or missing.*git fsck"):
        read.extend(commit.id for commit in read_history(repository))
    assert read and ids[4] in read and ids[1] not in read
    assert len(list(read_history(repository, names=False))) == 5
    loose.unlink()
    with pytest.raises(UserError, match="damaged or missing"):
        list(read_history(repository))


def test_nothing_of_the_repository_runs_or_changes_what_is_read(tmp_path: Path) -> None:
    """Its configuration, attributes and order files are an attacker's: none of them may have a say."""
    history = [Written({b"a.txt": BODY, b"b.txt": b"1\n"}), Written({b"a.txt": BODY + b"x\n", b"b.txt": b"2\n"})]
    write_history(tmp_path / "r", history)
    expected = list(read_history(Repository(tmp_path / "r")))
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    program.chmod(0o755)
    (tmp_path / "order").write_text("b.txt\na.txt\n")
    armed = {
        "diff.external": program,
        "diff.x.textconv": program,
        "diff.x.command": program,
        "core.pager": program,
        "core.fsmonitor": program,
        "core.alternateRefsCommand": program,
        "gpg.program": program,
        "log.showSignature": "true",
        "diff.orderFile": tmp_path / "order",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.context": "0",
        "diff.renames": "false",
        "diff.suppressBlankEmpty": "true",
        "diff.algorithm": "patience",
        "diff.colorMoved": "true",
        "color.ui": "always",
        "color.diff": "always",
        "log.showRoot": "false",
        "log.follow": "true",
        "log.date": "relative",
        "log.decorate": "full",
        "format.pretty": "oneline",
        "i18n.logOutputEncoding": "latin1",
        "core.quotePath": "false",
    }
    for key, value in armed.items():
        subprocess.run(["git", "config", key, str(value)], cwd=tmp_path / "r", check=True)
    (tmp_path / "r" / "info").mkdir(exist_ok=True)
    (tmp_path / "r" / "info" / "attributes").write_text("* diff=x\n")
    assert list(read_history(Repository(tmp_path / "r"))) == expected
    assert not marker.exists()


def test_git_ends_when_nobody_reads_on(tmp_path: Path) -> None:
    write_history(tmp_path / "r", [Written({b"f": BODY * 500 + b"%d\n" % n}) for n in range(60)])
    repository = Repository(tmp_path / "r")
    blocks = repository.stream("cat-file", "--batch-all-objects", "--batch", block=10)
    assert len(next(blocks)) == 10
    before = _children()
    blocks.close()
    assert len(_children()) == len(before) - 1
    commits = read_history(repository)
    next(commits)
    commits.close()  # type: ignore[attr-defined]
    assert len(_children()) == len(before) - 1


def _children() -> list[str]:
    """The processes that this one has started and not yet ended."""
    own = f"PPid:\t{os.getpid()}\n"
    states = [path.read_text() for path in Path("/proc").glob("[0-9]*/status") if path.exists()]
    return [state for state in states if own in state]


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
    write_history(folder, history)
    repository = Repository(folder)
    for commit in read_history(repository):
        if commit.parents:
            expected = otherwise(repository, commit.parents[0], commit.id)
            assert by_path(commit) == expected
            assert {f.path: f for f in repository.changed_files(commit.parents[0], commit.id)} == expected
        shown = repository.run("show", "--format=", "-M50%", commit.id).decode()
        # unidiff splits lines where Python does, and reads no quoted names: only the hunks are held against it
        oracle = [
            [(line.line_type, line.source_line_no, line.target_line_no, line.value) for line in hunk if hunk]
            for file in PatchSet(_without_headers(shown))
            for hunk in file
        ]
        assert [_lines(hunk) for hunk in oracle] == [
            [(x.kind, x.old, x.new, x.text) for x in hunk.lines]
            for file in commit.files
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


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    """Ten times the history takes no more memory: what is held is one commit and one block."""
    lines = [b"line %d of the file\n" % n for n in range(2_000)]
    history = []
    for number in range(600):
        at = number * 37 % 1_900
        lines[at : at + 60] = [b"%d by commit %d\n" % (n, number) for n in range(60)]
        history.append(Written({b"f": b"".join(lines), b"d/%d" % (number % 7): b"%d\n" % number * 500}))
    write_history(tmp_path / "r", history)
    repository = Repository(tmp_path / "r")
    for _ in read_history(repository, most=30):
        pass
    peaks = []
    for most in (60, 600):
        tracemalloc.start()
        count = sum(1 for commit in read_history(repository, most=most) if commit.files)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        parse_patch.cache_clear()
        assert count == most
    assert peaks[1] < 1.5 * peaks[0] + 1_000_000


@pytest.mark.slow
def test_files_too_large_to_compare_are_binary(tmp_path: Path) -> None:
    """Over 20 MB git would hold both versions; they count as binary, also when they are text."""
    large = b"a line of fifty characters, more or less, of text\n" * 450_000
    write_history(tmp_path / "r", [Written({b"large": large}), Written({b"large": large + b"x\n", b"a": b"1\n"})])
    last, first = list(read_history(Repository(tmp_path / "r")))
    assert [(f.path, f.binary, f.patch) for f in last.files] == [
        ("a", False, "@@ -0,0 +1 @@\n+1"),
        ("large", True, None),
    ]
    assert first.files[0].binary


DAY = 86_400
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def at(day: int) -> str:
    """A day after 2020 began."""
    return f"{1_577_836_800 + day * DAY} +0000"


def clone(source: Path, target: Path, *options: str) -> Repository:
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=source, check=True)
    subprocess.run(["git", "clone", "-q", *options, f"file://{source}", str(target)], check=True, capture_output=True)
    return Repository(target)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    history = [Written({b"f": b"%d\n" % n}, when=at(n)) for n in range(6)]
    history += [Written({b"g": b"1"}, when=at(7), parents=(2,)), Written({b"g": b"1"}, when=at(8), parents=(5, 6))]
    write_history(tmp_path / "source.git", history)
    return tmp_path / "source.git"


def test_a_sound_repository(source: Path) -> None:
    found = inspect(Repository(source), now=NOW)
    assert (found.name, found.branch, found.bare, found.detached) == ("source", "main", True, False)
    assert (found.commits, found.merges) == (8, 1)
    assert (found.first, found.last) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 9, tzinfo=UTC))
    assert found.warnings == () and not (found.shallow or found.partial or found.empty or found.borrows)


@pytest.mark.slow
def test_what_is_lacking_is_said(source: Path, tmp_path: Path) -> None:
    shallow = inspect(clone(source, tmp_path / "s", "--depth=2"), now=NOW)
    assert shallow.shallow and not shallow.bare and shallow.commits < 8
    assert "shallow" in shallow.warnings[0] and "--unshallow" in shallow.warnings[0]
    repository = clone(source, tmp_path / "p", "--bare", "--filter=blob:none")
    partial = inspect(repository, now=NOW)
    assert partial.partial and partial.commits == 8 and "partial" in partial.warnings[0]
    with pytest.raises(UserError, match=r"partial clone are missing.*without --filter"):
        list(read_history(repository))
    assert (
        len(list(read_history(clone(source, tmp_path / "s2", "--depth=3", "--bare"))))
        == inspect(Repository(tmp_path / "s2"), now=NOW).commits
    )
    with pytest.raises(UserError, match=r"lacks the files of HEAD \(clone it again without --filter\)"):
        inspect(clone(source, tmp_path / "t", "--bare", "--filter=tree:0"))
    subprocess.run(["git", "clone", "-q", "-s", "--bare", str(source), str(tmp_path / "b")], check=True)
    assert inspect(Repository(tmp_path / "b"), now=NOW).borrows


def test_empty_detached_and_unborn(source: Path, tmp_path: Path) -> None:
    write_history(tmp_path / "empty", [])
    empty = inspect(Repository(tmp_path / "empty"))
    assert empty.empty and empty.commits == 0 and empty.branch == "main" and "no commits yet" in empty.warnings[0]
    checkout = tmp_path / "c"
    clone(source, checkout)
    subprocess.run(["git", "checkout", "-q", "--detach", "HEAD~1"], cwd=checkout, check=True)
    detached = inspect(Repository(checkout), now=NOW)
    assert detached.detached and detached.commits == 6 and not detached.bare and detached.name == "c"
    linked = tmp_path / "linked"
    subprocess.run(["git", "worktree", "add", "-q", "-b", "other", str(linked)], cwd=checkout, check=True)
    found = inspect(Repository(linked), now=NOW)
    assert (found.branch, found.bare, found.commits) == ("other", False, 6)
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/nowhere"], cwd=source, check=True)
    with pytest.raises(
        UserError, match=r"HEAD of source names nowhere, which does not exist \(name one of its branches: main\)"
    ):
        inspect(Repository(source))
    assert inspect(Repository(source), "main", now=NOW).commits == 8
    (source / "HEAD").unlink()
    with pytest.raises(UserError):
        inspect(Repository(source))
    with pytest.raises(UserError, match="is not a git directory"):
        inspect(Repository(tmp_path / "nowhere"))


def test_wrong_clocks_are_counted(tmp_path: Path) -> None:
    days = [10, 11, 3, 12, 11]  # the third is eight days before its parent, the last only one
    history = [Written({b"f": b"%d\n" % n}, when=at(day)) for n, day in enumerate(days)]
    history += [Written(when=at(9_999)), Written(when="0 +0000"), Written(when="99999999999999 +0000")]
    write_history(tmp_path / "r", history)
    found = inspect(Repository(tmp_path / "r"), now=NOW)
    assert (found.commits, found.skewed, found.implausible) == (8, 1, 3)
    assert (found.first, found.last) == (datetime(2020, 1, 4, tzinfo=UTC), datetime(2020, 1, 13, tzinfo=UTC))
    assert found.warnings == (
        "1 commit of r is dated over a day before a parent",
        "3 commits of r are dated before 1990, in the future, or not at all",
    )
