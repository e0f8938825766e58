from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Anchoring, Change, ChangedFile, Comment, FileStatus, Location, Side, Span
from reviewgauge.repo.diff.anchors import anchor, anchor_all
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.repository import Repository, code_reader

OLD = [f"old_line_{n}()" for n in range(1, 101)]
NEW = [
    *OLD[:9], "added_first(one,  two)", "added_second()", *OLD[9:49], "changed_fifty()", *OLD[50:60], "        }",
    *OLD[60:79], *OLD[81:], "old_line_20()",
]  # fmt: skip


def patch(old: list[str], new: list[str]) -> str:
    diff = difflib.unified_diff([f"{t}\n" for t in old], [f"{t}\n" for t in new], "a/f", "b/f")
    return "".join(diff).partition("+++ b/f\n")[2].rstrip("\n")


FILES = (
    ChangedFile(path="src/app.py", patch=patch(OLD, NEW)),
    ChangedFile(path="lib/new.py", old_path="lib/old.py", status=FileStatus.RENAMED, patch=patch(OLD, NEW[:60])),
    ChangedFile(path="added.py", status=FileStatus.ADDED, patch=patch([], ["fresh_one()", "fresh_two()"])),
    ChangedFile(path="gone.py", status=FileStatus.DELETED, patch=patch(["was_here()", "was_there()"], [])),
    ChangedFile(path="logo.png", binary=True),
    ChangedFile(path="far.py"),
)
CHANGE = Change(repo="r", files=FILES)
TEXTS = {
    ("src/app.py", Side.NEW): "\n".join(NEW) + "\n",
    ("src/app.py", Side.OLD): "\n".join(OLD) + "\n",
    ("lib/old.py", Side.OLD): "\n".join(OLD) + "\n",
    ("lib/new.py", Side.NEW): "\n".join(NEW[:60]) + "\n",
    ("src/other.py", Side.NEW): "untouched()\n",
}


def read(path: str, side: Side) -> str | None:
    return TEXTS.get((path, side))


def place(
    change: Change = CHANGE, quote: str | None = None, root: str | None = None, code: bool = True, **claim: object
) -> tuple[str, str | None, int | None, int | None, str | None]:
    comment = Comment(id="c", body="b", quote=quote, claimed=Location.model_validate(claim))
    found = anchor(comment, change, root, read if code else None)
    assert found.claimed == comment.claimed and found.body == "b" and found.anchoring is not None
    span = found.span
    where = (span.path, span.start, span.end, span.side.value) if span else (None, None, None, None)
    return (found.anchoring.value, *where)


INVALID = ("invalid", None, None, None, None)


@pytest.mark.parametrize("code", [True, False])
@pytest.mark.parametrize(("claim", "expected"), [
    ({"path": "src/app.py", "start": 10}, ("as_given", "src/app.py", 10, 10, "new")),
    ({"path": "src/app.py", "start": 10, "end": 11}, ("as_given", "src/app.py", 10, 11, "new")),
    ({"path": "src/app.py", "start": 11, "end": 10}, ("as_given", "src/app.py", 10, 11, "new")),
    ({"path": "src/app.py", "end": 11}, ("as_given", "src/app.py", 11, 11, "new")),
    ({"path": "src/app.py", "start": 50, "side": Side.OLD}, ("as_given", "src/app.py", 50, 50, "old")),
    ({"path": "src/app.py", "start": 30}, ("outside", "src/app.py", 30, 30, "new")),
    ({"path": "src/app.py"}, ("file_only", "src/app.py", None, None, "new")),
    ({"path": "src/app.py", "start": 0, "end": 0}, ("file_only", "src/app.py", None, None, "new")),
    ({"path": "src/app.py", "start": -3}, INVALID),
    ({"path": "src/app.py", "start": 5, "end": -3}, INVALID),
    ({"path": "src/app.py", "start": 10**30}, INVALID),
    ({"path": "nowhere.py", "start": 1}, INVALID),
    ({"path": "../../etc/passwd", "start": 1}, INVALID),
    ({"start": 5}, INVALID),
    ({}, ("none", None, None, None, None)),
    ({"path": "gone.py", "start": 2}, ("as_given", "gone.py", 2, 2, "old")),
    ({"path": "gone.py", "start": 2, "side": Side.NEW}, INVALID),
    ({"path": "added.py", "start": 2, "side": Side.OLD}, INVALID),
    ({"path": "added.py", "start": 2}, ("as_given", "added.py", 2, 2, "new")),
    ({"path": "added.py", "start": 2, "end": 900}, ("as_given", "added.py", 2, 2, "new")),
    ({"path": "logo.png", "start": 2}, INVALID),
    ({"path": "logo.png"}, ("file_only", "logo.png", None, None, "new")),
    ({"path": "far.py", "start": 7}, ("unchecked", "far.py", 7, 7, "new")),
])  # fmt: skip
def test_numbers(claim: dict[str, object], expected: tuple[object, ...], code: bool) -> None:
    assert place(code=code, **claim) == expected  # type: ignore[arg-type]


def test_a_file_that_the_change_does_not_touch_is_outside_when_the_code_can_tell() -> None:
    claim = {"path": "src/other.py", "start": 1}
    assert place(code=True, **claim) == ("outside", "src/other.py", 1, 1, "new")  # type: ignore[arg-type]
    assert place(code=False, **claim) == INVALID  # type: ignore[arg-type]
    assert place(code=True, path="src/other.py", start=10_000) == INVALID


@pytest.mark.parametrize(("path", "root"), [
    ("./src/app.py", None), ("a/src/app.py", None), ("b/src/app.py", None), ("src\\app.py", None),
    ("/home/me/project/src/app.py", None),
    ("/home/me/project/src/app.py", "/home/me/project"),
    ("/home/me/project/src/app.py", "/home/me/project/"),
    ("/private/elsewhere/src/app.py", "/home/me/project"),
    ("C:\\work\\src\\app.py", "C:\\work"),
    ("file:///home/me/src/app.py", None),
    ("  src/app.py ", None),
])  # fmt: skip
def test_paths_in_all_their_spellings(path: str, root: str | None) -> None:
    assert place(path=path, start=10, root=root) == ("as_given", "src/app.py", 10, 10, "new")


def test_renames_are_followed_both_ways() -> None:
    assert place(path="lib/old.py", start=10) == ("renamed", "lib/new.py", 10, 10, "new")
    assert place(path="lib/new.py", start=50, side=Side.OLD) == ("renamed", "lib/old.py", 50, 50, "old")
    assert place(path="lib/old.py", start=50, side=Side.OLD) == ("as_given", "lib/old.py", 50, 50, "old")
    assert place(path="lib/new.py", start=10) == ("as_given", "lib/new.py", 10, 10, "new")
    assert place(path="lib/old.py")[:2] == ("renamed", "lib/new.py")


@pytest.mark.parametrize("code", [True, False])
def test_a_number_beyond_the_file_is_a_line_of_the_diff(code: bool) -> None:
    """added.py has two lines; its patch has three: the header and both."""
    assert place(path="added.py", start=3, code=code) == ("diff_line", "added.py", 2, 2, "new")
    assert place(path="added.py", start=4, code=code) == INVALID
    rows = (FILES[3].patch or "").split("\n")
    assert rows[2] == "-was_there()"
    assert place(path="gone.py", start=3, code=code) == ("diff_line", "gone.py", 2, 2, "old")


def test_github_positions() -> None:
    rows = (FILES[0].patch or "").split("\n")
    for position, text in enumerate(rows):
        found = place(path="src/app.py", position=position)
        if text.startswith("@@"):
            assert found == INVALID
        elif text.startswith("-"):
            assert found[4] == "old" and found[2] is not None and OLD[found[2] - 1] == text[1:]
        else:
            assert found[4] == "new" and found[2] is not None and NEW[found[2] - 1] == text[1:]
    assert place(path="src/app.py", position=len(rows)) == INVALID
    assert place(path="src/app.py", position=1, start=10)[2] == 10, "a line beats the deprecated position"


@pytest.mark.parametrize("code", [True, False])
@pytest.mark.parametrize(("claim", "expected"), [
    ({"quote": "added_second()"}, ("quote", "src/app.py", 11, 11, "new")),
    ({"quote": "added_second()", "start": 60}, ("quote", "src/app.py", 11, 11, "new")),
    ({"quote": "added_second()", "start": 11}, ("as_given", "src/app.py", 11, 11, "new")),
    ({"quote": "added_second()", "start": 9, "end": 12}, ("as_given", "src/app.py", 9, 12, "new")),
    ({"quote": "  added_first(one, two)\n\n\tadded_second()  "}, ("quote", "src/app.py", 10, 11, "new")),
    ({"quote": "+added_first(one, two)\n+added_second()"}, ("quote", "src/app.py", 10, 11, "new")),
    ({"quote": "@@ -1 +1 @@\n+added_second()\r\n"}, ("quote", "src/app.py", 11, 11, "new")),
    ({"quote": "second("}, ("quote", "src/app.py", 11, 11, "new")),
    ({"quote": "-old_line_50()\n+changed_fifty()"}, ("quote", "src/app.py", 52, 52, "new")),
    ({"quote": "-old_line_50()"}, ("quote", "src/app.py", 50, 50, "old")),
    ({"quote": "old_line_50()", "start": 3}, ("quote", "src/app.py", 50, 50, "old")),
    ({"quote": "old_line_50()", "side": Side.NEW}, ("quote", "src/app.py", 50, 50, "old")),
    ({"quote": "added_first(one, two)\n...\nx"}, ("quote", "src/app.py", 10, 10, "new")),
    ({"quote": "}", "start": 10}, ("as_given", "src/app.py", 10, 10, "new")),
    ({"quote": "}"}, ("quote", "src/app.py", 63, 63, "new")),
    ({"quote": "never_written()", "start": 10}, ("as_given", "src/app.py", 10, 10, "new")),
    ({"quote": "never_written()"}, ("file_only", "src/app.py", None, None, "new")),
    ({"hunk": "+added_first(one,  two)\n+added_second()"}, ("quote", "src/app.py", 10, 11, "new")),
])  # fmt: skip
def test_quotes_beat_numbers(claim: dict[str, object], expected: tuple[object, ...], code: bool) -> None:
    assert place(code=code, path="src/app.py", **claim) == expected  # type: ignore[arg-type]


def test_a_quote_that_stands_in_several_places_goes_to_the_claimed_number_else_to_a_changed_line() -> None:
    assert place(path="src/app.py", quote="old_line_20()", start=24) == ("outside", "src/app.py", 22, 22, "new")
    assert place(path="src/app.py", quote="old_line_20()", start=95)[:3] == ("quote", "src/app.py", len(NEW))
    assert place(path="src/app.py", quote="old_line_20()")[:3] == ("quote", "src/app.py", len(NEW))
    assert place(path="src/app.py", quote="old_line_20()", code=False)[2] == len(NEW)


def test_code_quoted_from_another_file_of_the_change_overrules_an_invented_path() -> None:
    assert place(path="invented.py", start=4, quote="fresh_two()")[0] == "invalid"  # says too little
    assert place(path="invented.py", start=4, quote="fresh_one()\nfresh_two()") == ("quote", "added.py", 1, 2, "new")
    assert place(hunk="+fresh_two()") == ("quote", "added.py", 2, 2, "new")
    assert place(quote="fresh_two()") == ("quote", "added.py", 2, 2, "new")
    assert place(quote="never_written()") == ("none", None, None, None, None)
    assert place(hunk="+never_written()") == INVALID


def test_without_any_diff_claims_are_taken_as_they_are() -> None:
    bare = Change(repo="r", files=(ChangedFile(path="src/app.py"),))
    assert place(bare, path="/x/src/app.py", start=9, end=3) == ("unchecked", "src/app.py", 3, 9, "new")
    assert place(bare, path="./other.py", start=9, side=Side.OLD) == ("unchecked", "other.py", 9, 9, "old")
    assert place(bare, path="other.py") == ("unchecked", "other.py", None, None, "new")
    assert place(bare, path="/x/other.py", root="/x", start=1) == ("unchecked", "other.py", 1, 1, "new")
    for claim in ({"path": "/x/other.py"}, {"path": "../other.py"}, {"path": "o.py", "start": -1}, {"start": 3}):
        assert place(bare, **claim) == INVALID
    assert place(bare, hunk="+a") == ("unchecked", None, None, None, None)
    assert place(bare) == ("none", None, None, None, None)


def test_a_comment_with_a_span_and_no_claim_is_held_to_its_span() -> None:
    good = Comment(id="c", body="b", span=Span(path="src/app.py", start=10))
    bad = Comment(id="d", body="b", span=Span(path="nowhere.py", start=10))
    first, second = anchor_all([good, bad], CHANGE)
    assert first.span == good.span and first.anchoring is Anchoring.AS_GIVEN
    assert second.span is None and second.anchoring is Anchoring.INVALID


CLAIMS = st.builds(
    Location,
    path=st.none()
    | st.sampled_from([f.path for f in FILES] + ["lib/old.py", "/x/src/app.py", "~x", "..", ""])
    | st.text("a/.\\:~é"),
    start=st.none() | st.integers(-5, 130) | st.integers(),
    end=st.none() | st.integers(-5, 130) | st.integers(),
    side=st.none() | st.sampled_from(Side),
    position=st.none() | st.integers(-5, 60) | st.integers(),
    hunk=st.none() | st.sampled_from(["+added_second()", "@@", "", "-\n+"]) | st.text("+- \n\ra()}"),
)
QUOTES = st.none() | st.sampled_from([*NEW[8:14], "}", "...", ""]) | st.text("+- \n\r\t@a()}é")


@given(CLAIMS, QUOTES, st.none() | st.sampled_from(["/x", "", "/", "src"]), st.booleans(), st.booleans())
def test_whatever_is_claimed_gets_one_honest_answer(
    claim: Location, quote: str | None, root: str | None, code: bool, diff: bool
) -> None:
    change = CHANGE if diff else Change(repo="r", files=tuple(ChangedFile(path=f.path) for f in FILES))
    comment = Comment(id="c", body="b", quote=quote, claimed=claim)
    found = anchor(comment, change, root, read if code else None)
    assert found.claimed == claim
    if found.anchoring in (Anchoring.INVALID, Anchoring.NONE):
        assert found.span is None
        return
    if found.span is None:
        assert found.anchoring is Anchoring.UNCHECKED and claim.path is None
        return
    if not diff:
        assert found.anchoring is Anchoring.UNCHECKED
        return
    file = next(f for f in FILES if found.span.path in (f.path, f.old_path))
    assert found.span.path == (file.old_path or file.path if found.span.side is Side.OLD else file.path)
    text = read(found.span.path, found.span.side) if code else None
    if text is not None and found.span.start is not None and found.span.end is not None:
        assert found.span.end <= text.count("\n"), "a line that does not exist"
    again = anchor(found.model_copy(update={"claimed": None, "quote": None}), change, root, read if code else None)
    assert again.span == found.span, "a span that was found stays where it is"


@given(st.integers(1, len(NEW)))
def test_every_changed_line_is_found_by_number_and_by_quote(line: int) -> None:
    by_number = place(path="src/app.py", start=line)
    assert by_number[1:] == ("src/app.py", line, line, "new")
    if line in changed_lines(FILES[0], Side.NEW):
        assert by_number[0] == "as_given"
        assert place(path="src/app.py", quote=NEW[line - 1])[2] == line


def test_a_real_repository_is_read(tmp_path: Path, git: Callable[..., str], commit: Callable[[], str]) -> None:
    folder = tmp_path / "repo"
    (folder / "before.py").write_text("\n".join(OLD) + "\n")
    base = commit()
    git("mv", "before.py", "after.py")
    (folder / "after.py").write_text("\n".join(NEW) + "\n")
    head = commit()
    change = Change(
        repo="r", base=base, head=head, files=Repository(folder).changed_files(base, head), git=str(folder / ".git")
    )
    reader = code_reader(change)
    assert reader is not None
    assert reader("after.py", Side.NEW) == "\n".join(NEW) + "\n"
    assert reader("before.py", Side.OLD) == "\n".join(OLD) + "\n"
    assert reader("after.py", Side.OLD) is None and reader("../x", Side.NEW) is None
    (found,) = anchor_all(
        [Comment(id="c", body="b", claimed=Location(path="/w/before.py", start=1000), quote="changed_fifty( )")],
        change,
        read=reader,
    )
    assert found.anchoring is Anchoring.INVALID
    (found,) = anchor_all(
        [Comment(id="c", body="b", claimed=Location(path="before.py", start=30))], change, read=reader
    )
    assert found.span == Span(path="after.py", start=30) and found.anchoring is Anchoring.OUTSIDE
    assert code_reader(CHANGE) is None
    gone = code_reader(change.model_copy(update={"git": str(tmp_path / "nowhere")}))
    assert gone is not None and gone("after.py", Side.NEW) is None
