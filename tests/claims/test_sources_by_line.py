"""Claims line by line: golden sentences, and what no diff may break."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewgauge.claims.sources import MOST, change_claims
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Span


def change(path: str, patch: str, **more: object) -> Change:
    return Change.model_validate({"repo": "o/r", "files": (ChangedFile(path=path, patch=patch),)} | more)


def hunk(*lines: str, start: int = 1) -> str:
    """A hunk of lines that begin with their mark."""
    old, new = (sum(line[:1] != mark for line in lines) for mark in "+-")
    return f"@@ -{start},{old} +{start},{new} @@\n" + "".join(f"{line}\n" for line in lines)


def said(path: str, *lines: str) -> list[str]:
    return [claim.body for claim in change_claims(change(path, hunk(*lines)))]


GOLDEN = {
    "changed, and one indented": ("a.py", [" def shipping(weight):", "-    if weight > 10:", "+    if weight >= 10:",
        "         return 5"], ["The line changes from `if weight > 10:` to `if weight >= 10:`."]),
    "removed": ("a.py", [" x = 1", "-y = 2"], ["The line `y = 2` is removed."]),
    "what tells nothing": ("a.c", ["-x();", "+else {", "+}"], ["The line `x();` is removed."]),
    "comment": ("a.py", ["-# old words", "+# new words"], ["The comment changes from `# old words` to `# new words`."]),
    "a comment's sign where nothing is code": ("a.txt", ["+# heading"], ["The line `# heading` is added."]),
    "a long line": ("a.py", [f"-x = {'abc ' * 50}+ 1", f"+x = {'abc ' * 50}+ 2"],
        ["The line changes from `\u2026abc abc abc abc abc + 1` to `\u2026abc abc abc abc abc + 2`."]),
    "punctuation": ("a.js", ["-},", "+}"], ["Only punctuation is changed."]),
    "no grammar": ("a.xyz", ["-limit 10", "+limit 20", "+flag on"], ["The line changes from `limit 10` to `limit 20`.",
        "The line `flag on` is added."]),
    "moved": ("a.py", [" def f():", "-    x = 1", "     y = 2", "+    x = 1"], ["Lines are moved."]),
    "white space": ("a.py", ["-x = 1", "+x  =  1"], ["Only white space and line breaks are changed."]),
    "blank": ("a.py", [" x = 1", "+", " y = 1"], ["Blank lines are changed."]),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_the_sentences_of_small_diffs(name: str) -> None:
    path, lines, expected = GOLDEN[name]
    assert said(path, *lines) == expected


def test_lines_are_those_of_the_new_version() -> None:
    rows = "     def f(self, x):\n-        return x > 1\n+        return x > 2\n         pass\n"
    patch = f"@@ -10,3 +20,3 @@ class A:\n{rows}"
    (claim,) = change_claims(change("a.py", patch))
    assert (claim.line, claim.id, claim.kind, claim.source) == (21, "1", "claim", "diff")
    gone = "@@ -10,3 +20,2 @@\n a = 1\n-b = 2\n c = 3\n"
    assert [claim.line for claim in change_claims(change("a.py", gone))] == [21]


def test_several_files_are_named_and_tests_come_last() -> None:
    files = (
        ChangedFile(path="tests/test_a.py", patch=hunk("-    if x > 1:", "+    if x > 2:", "         pass")),
        ChangedFile(path="a.py", patch=hunk("-x = 1", "+x = 2")),
        ChangedFile(path="new.py", old_path="old.py", status=FileStatus.RENAMED, patch=""),
        ChangedFile(path="gone.py", status=FileStatus.DELETED, patch=None),
        ChangedFile(path="x.bin", binary=True),
    )
    found = [claim.body for claim in change_claims(Change(repo="o/r", files=files))]
    assert found == [
        "gone.py: The file `gone.py` is removed.",
        "new.py: The file `old.py` is renamed to `new.py`.",
        "a.py: The line changes from `x = 1` to `x = 2`.",
        "tests/test_a.py: The line changes from `if x > 1:` to `if x > 2:`.",
    ]


def test_a_focus_is_told_alone() -> None:
    patch = hunk("-a = 1", "+a = 2") + hunk("-b = 1", "+b = 2", start=30)
    focused = change("a.py", patch, focus=Span(path="a.py", start=30, end=30))
    assert [claim.body for claim in change_claims(focused)] == ["The line changes from `b = 1` to `b = 2`."]


def test_there_are_never_more_than_the_limit() -> None:
    patch = "".join(hunk(f"-a{n} = 1", f"+a{n} = {n + 2}", start=10 * n + 1) for n in range(500))
    began = time.process_time()
    found = change_claims(change("a.py", patch))
    assert len(found) == MOST and time.process_time() - began < 20
    assert len({claim.id for claim in found}) == MOST


def test_huge_hunks_take_seconds_at_most() -> None:
    lines = [f"{mark}    value_{n} = call_{n}(argument_{n % 7}, {mark}{n})" for mark in "-+" for n in range(1, 1000)]
    began = time.process_time()
    assert len(change_claims(change("a.py", hunk(*lines)))) == MOST
    assert time.process_time() - began < 20


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
CODE = st.sampled_from(["def f(a, b=1):", "    if x:", "}", "{", '"""', "*/", "/*", "`"])


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.tuples(st.sampled_from(" +-"), st.one_of(LINES, CODE)), max_size=15),
    suffix=st.sampled_from(["py", "md"]),
)
def test_no_patch_breaks_it(lines: list[tuple[str, str]], suffix: str) -> None:
    patch = hunk(*(mark + text.replace("\n", " ").replace("\r", " ") for mark, text in lines))
    for text in (patch, patch.replace("@@ -1", "@@ -0"), patch[: len(patch) // 2]):
        one = change(f"a.{suffix}", text)
        found = change_claims(one)
        assert len(found) <= MOST and found == change_claims(one)
        assert all(claim.body and len(claim.body) < 1000 for claim in found)


def test_nothing_is_said_of_nothing() -> None:
    assert change_claims(Change(repo="o/r")) == ()
    assert change_claims(change("a.py", "")) == ()
    assert change_claims(change("a.py", hunk(" x = 1"))) == ()
    assert change_claims(change("a.py", "no diff at all")) == ()
