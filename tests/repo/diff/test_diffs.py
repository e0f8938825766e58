from __future__ import annotations

import difflib

from hypothesis import example, given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import changed_lines, hunk_count, parse_patch, split_diff

LINES = ["a", "b", "", " ", "-- x", "++ y", "@@ -1 +1 @@", "\\ odd", "diff --git a/q b/q", "c\r"]
TEXTS = st.lists(st.sampled_from(LINES))


def make_patch(old: list[str], new: list[str], context: int = 3) -> str:
    lines = difflib.unified_diff([f"{t}\n" for t in old], [f"{t}\n" for t in new], "a/f", "b/f", n=context)
    return "".join(lines).partition("+++ b/f\n")[2]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_a_whole_diff_splits_into_its_patches(files: list[tuple[list[str], list[str]]]) -> None:
    patches = [make_patch(old, new) for old, new in files]
    diff = "".join(
        f"diff --git a/d/f{i}.x b/d/f{i}.x\nindex 1..2 100644\n--- a/d/f{i}.x\n+++ b/d/f{i}.x\n{patch}"
        for i, patch in enumerate(patches)
    )
    found = split_diff(diff)
    assert [file.path for file in found] == [f"d/f{i}.x" for i in range(len(files))]
    for file, patch in zip(found, patches, strict=True):
        assert file.status is FileStatus.MODIFIED
        assert parse_patch(file.patch or "") == parse_patch(patch)


@given(TEXTS.filter(bool), TEXTS.filter(bool))
def test_unidiff_reads_the_same(old: list[str], new: list[str]) -> None:
    old, new = ([t for t in side if not t.endswith("\r")] for side in (old, new))  # unidiff splits at carriage returns
    patch = make_patch(old, new)
    oracle = PatchSet(f"--- a/f\n+++ b/f\n{patch}")
    expected = [
        (line.line_type, line.source_line_no, line.target_line_no) for f in oracle for hunk in f for line in hunk
    ]
    assert [(x.kind, x.old, x.new) for hunk in parse_patch(patch) for x in hunk.lines] == expected


PIECES = [*'@-+ \\,1290dab/\n\r\t"\x00', "diff --git ", "@@ -1 +1 @@\n", "\n--- a/f\n+++ b/f\n", "rename from x\n"]


@example("diff --git  ")  # a name of nothing
@example("diff --git a/x b/y\nrename from \nrename to ")
@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_damage_makes_the_readers_fail(text: str) -> None:
    parse_patch(text)
    split_diff(text)


GIT_DIFF = """\
diff --git a/old name.py b/new name.py
similarity index 90%
rename from old name.py
rename to new name.py
index 1111111..2222222 100644
--- a/old name.py\t
+++ b/new name.py\t
@@ -1,2 +1,2 @@ def f():
 x
--- a/fake
+++ b/fake
diff --git a/copy.txt b/copied.txt
similarity index 100%
copy from copy.txt
copy to copied.txt
diff --git a/run me.sh b/run me.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git a/blob.bin b/blob.bin
index 1..2 100644
GIT binary patch
literal 3
KcmZQzU|;|M00aO5

literal 2
JcmZQzU}OLQ00IC6

diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 4444444..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
\\ No newline at end of file
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
diff --git "a/na\\303\\257ve\\t.txt" "b/na\\303\\257ve\\t.txt"
index 5555555..6666666 100644
--- "a/na\\303\\257ve\\t.txt"
+++ "b/na\\303\\257ve\\t.txt"
@@ -3 +3 @@
-a
+b
\\ No newline at end of file
diff --git a/lib b/lib
index aaaaaaa..bbbbbbb 160000
--- a/lib
+++ b/lib
@@ -1 +1 @@
-Subproject commit aaaaaaa
+Subproject commit bbbbbbb
diff --git a/link b/link
deleted file mode 100644
index 7777777..0000000
--- a/link
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/link b/link
new file mode 120000
index 0000000..8888888
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+target
\\ No newline at end of file
"""


def test_everything_that_git_prints_is_told_apart() -> None:
    files = {file.path: file for file in split_diff(GIT_DIFF)}
    assert [(f.path, f.old_path, f.status.value, f.binary) for f in files.values()] == [
        ("new name.py", "old name.py", "renamed", False), ("copied.txt", "copy.txt", "copied", False),
        ("run me.sh", None, "modified", False), ("logo.png", None, "added", True), ("blob.bin", None, "modified", True),
        ("gone.txt", None, "deleted", False), ("empty.txt", None, "added", False),
        ("naïve\uf009.txt", None, "modified", False), ("lib", None, "modified", False),
        ("link", None, "type_changed", False),
    ]  # fmt: skip
    assert files["logo.png"].patch is None
    assert files["run me.sh"].patch == files["empty.txt"].patch == ""
    renamed = parse_patch(files["new name.py"].patch or "")
    assert [line.text for line in renamed[0].lines] == ["x", "-- a/fake", "++ b/fake"]
    assert renamed[0].heading == "def f():"
    assert changed_lines(files["link"], Side.OLD) == changed_lines(files["link"], Side.NEW) == {1}
    assert (files["gone.txt"].patch or "").endswith("\\ No newline at end of file")


def test_diffs_without_git_headers_are_read() -> None:
    diff = "--- x/a.c\t2024-01-01\n+++ x/a.c\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n"
    diff += "--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+n\n"
    assert [(f.path, f.status.value) for f in split_diff(diff)] == [("x/a.c", "modified"), ("n.c", "added")]


def test_a_mail_of_git_format_patch_is_read() -> None:
    mail = "From: A\nSubject: x\n\n---\n f | 1 +\n\ndiff --git a/f b/f\n"
    mail += "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n-- \n2.39.5\n"
    (file,) = split_diff(mail)
    assert changed_lines(file, Side.NEW) == {2}
    assert changed_lines(file, Side.OLD) == frozenset()


def test_a_hunk_that_is_cut_short_keeps_its_lines() -> None:
    (hunk,) = parse_patch("@@ -10,7 +10,8 @@ class A\n a\n b\n+c")
    assert [(line.kind, line.old, line.new) for line in hunk.lines] == [(" ", 10, 10), (" ", 11, 11), ("+", None, 12)]


def test_only_newlines_end_lines() -> None:
    (hunk,) = parse_patch("@@ -1 +1,2 @@\n a\x0c\u2028b\n+c\rd\r\n")
    assert [line.text for line in hunk.lines] == ["a\x0c\u2028b", "c\rd\r"]


def test_blank_context_lines_may_have_lost_their_blank() -> None:
    (hunk,) = parse_patch("@@ -1,3 +1,3 @@\n a\n\n-b\n+c")
    assert [(line.kind, line.new) for line in hunk.lines] == [(" ", 1), (" ", 2), ("-", None), ("+", 3)]


def test_a_hostile_path_is_made_harmless() -> None:
    (file,) = split_diff("--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n")
    assert ".." not in file.path.split("/")


def test_hunks_are_counted_only_where_diffs_are_at_hand() -> None:
    file = ChangedFile(path="f", patch="@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n")
    assert hunk_count(Change(repo="r", files=(file, ChangedFile(path="g")))) == 2
    assert hunk_count(Change(repo="r", files=(ChangedFile(path="g"),))) is None
    assert hunk_count(Change(repo="r", files=(ChangedFile(path="g", binary=True),))) == 0
    assert changed_lines(ChangedFile(path="g"), Side.NEW) == frozenset()
