"""What messages say about mending, and what they only seem to say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.repo.history.fix_messages import (
    LONGEST_READ,
    FixKind,
    issue_numbers,
    read_message,
    says_what,
    speaks_of_a_defect,
)

ID = "c0ffee1234567890c0ffee1234567890c0ffee12"


@pytest.mark.parametrize(("message", "reason"), [
    ("Fix the cookie jar losing its policy", "word in the title"),
    ("cookies: fixed a crash on empty names", "word in the title"),
    ("fix(parser): read past the end", "conventional commit"),
    ("Bugfix: options were not processed", "conventional commit"),
    ("Off-by-one in the pager", "word in the title"),
    ("Unbroke the colours", "word in the title"),
    ("Use a lock, fixes a race condition", "word in the title"),
    ("Removed a silly bug of the parser", "word in the title"),
    ("Fix the error message of a crash", "word in the title"),
    ("Encode the body once instead of twice\n\nFixes #12", "closes an issue"),
    ("Merge pull request #7 from someone/patch-1\n\nFix a race condition in the pool", "word in the title"),
    ("Fix the parser and add tests", "word in the title"),
    ("Fix parsing of dates, with unit tests", "word in the title"),
    (f'Revert "Add a pool"\n\nThis reverts commit {ID}.', "revert"),
])  # fmt: skip
def test_a_message_that_mends_says_why(message: str, reason: str) -> None:
    found = read_message(message)
    assert (found.kind, found.reason) == (FixKind.YES, reason)


@pytest.mark.parametrize(("message", "about"), [
    ("Fix typo", "spelling"),
    ("fix a misspelled name", "spelling"),
    ("Fix error message", "spelling"),
    ("Fixed a variable name", "spelling"),
    ("docs: fix the crash course", "documentation"),
    ("Fixed broken links", "documentation"),
    ("Fix README of get", "documentation"),
    ("fix flake8", "style or lint"), ("Fix E251", "style or lint"), ("Fix pep8", "style or lint"),
    ("Fix an ugly default", "style or lint"),
    ("ci: fix the matrix", "tests or CI"),
    ("Speed up the tests", "tests or CI"),
    ("Python 3 compatibility", "porting"),
    ("Refactor the mess", "refactoring"),
    ("Fix build", "build or packaging"),
    ("fix setup.py", "build or packaging"),
    ("Bump urllib3 to fix CVE-2023-1", "build or packaging"),
    ("Fix version number", "release or version"),
    ("v2.1.0: bug fixes", "release or version"),
    ("Fix typing of Session", "types"), ("Fix `group` overload", "types"),
    ("Fix merge conflicts", "merge of lines"),
    ("Merge branch 'fix-crash'", "merge of lines"),
    ("feat: fix cards to the grid", "feature"),
    ("Fix the changelog", "documentation"),
])  # fmt: skip
def test_what_is_no_bug_fix_is_none_with_its_reason(message: str, about: str) -> None:
    found = read_message(message)
    assert (found.kind, found.reason.removeprefix("no bug fix: ")) == (FixKind.NO, about)


@pytest.mark.parametrize(("message", "reason"), [
    ("fixes", "does not say what it fixes"),
    ("Fix #12", "does not say what it fixes"),
    ("Some minor bug fixes", "does not say what it fixes"),
    ("Fixed two small bugs of the pager", "several fixes at once"),
    ("Fix a bug in the pager and increase its poll time", "fixes one thing and changes others"),
    ("Add support for proxies\n\nFixes #12", "feature that closes or mentions a defect"),
    ("Removed a check. Our converter fixes that now", "feature that closes or mentions a defect"),
    ("Add translations, as good as it gets before they fix a bug", "feature that closes or mentions a defect"),
    ("fix #4: add batches", "feature that closes or mentions a defect"),
    ("Fix the previous commit", "does not say what it fixes"),
    ("Small parser fixes and improvements", "several fixes at once"),
    ("Fix a few warnings of the parser", "several fixes at once"),
    ("Fixed lots of encoding issues, and improved the tests", "several fixes at once"),
    ("Workaround for the parser of App Engine", "word that may mean a defect"),
    ("Fixed a bug in the sum of items. Added an option", "fixes one thing and changes others"),
    ("Fix the pool and remove prints", "fixes one thing and changes others"),
    ("Handle expanduser failure", "word that may mean a defect"),
    ("Fehler bei leeren Namen behoben", "word that may mean a defect"),
    ("修复空指针", "word that may mean a defect"),
    ("Revert caching of contexts", "revert"),
    ("Fix docstring of get", "documentation, with a word of fixing"),
    ("Fix formatting", "style or lint, with a word of fixing"),
    ("Fix the client fixture", "tests or CI, with a word of fixing"),
    ("Fix Python 3 compatibility", "porting, with a word of fixing"),
    ("Refactor to fix the mess", "refactoring, with a word of fixing"),
    ("Strip comments from the query\n\nCloses #12", "documentation, with a word of fixing"),
    ("Encode the body\n\nFixes #12", "feature that closes or mentions a defect"),
    ("Fixed a template loading bug", "does not say what it fixes"),
    ("A flag for the pager\n\nFixes #12", "feature that closes or mentions a defect"),
    ("Configurable time limit\n\nFixes #12", "feature that closes or mentions a defect"),
])  # fmt: skip
def test_a_doubt_is_no_label(message: str, reason: str) -> None:
    found = read_message(message)
    assert (found.kind, found.reason) == (FixKind.PERHAPS, reason)


def test_what_says_nothing() -> None:
    assert read_message("Prefix all names").kind is FixKind.NO
    assert read_message("Use a fixed size buffer") == read_message("Rows of a fixed-length record")
    assert read_message("").kind is FixKind.NO
    assert read_message("fixture loader speaks JSON").kind is FixKind.NO


def test_a_revert_names_its_commit_and_a_revert_of_one_mends_nothing() -> None:
    found = read_message(f'Revert "Add a pool"\n\nThis reverts commit {ID}.\nIt deadlocks.')
    assert found.reverts == (ID,) and found.is_revert
    both = read_message(f"Revert two commits\n\nThis reverts commits {ID[:9]}, {ID[:8]} and {ID[:7]}.")
    assert both.reverts == (ID[:9], ID[:8], ID[:7])
    merged = read_message(f"Revert it\n\nThis reverts commit {ID[:9]}, reversing\nchanges made to {ID[:8]}.")
    assert merged.reverts == (ID[:9],)
    marked = read_message(f"[PR #12/{ID[:8]} backport][3.11] Revert: Add a pool\n\nReverts #7")
    assert marked.is_revert and marked.reverted_pulls == (7,)
    again = read_message(f'Revert "Revert "Add a pool""\n\nThis reverts commit {ID}.')
    assert again.kind is FixKind.NO and not again.is_revert
    aside = read_message(f"Fix the pool\n\nThis reverts commit {ID[:8]} in part.")
    assert aside.reverts == (ID[:8],) and not aside.is_revert


def test_says_what_looks_below_the_title_too() -> None:
    assert not says_what("Fix #12\n\nSigned-off-by: A <a@example.invalid>")
    assert says_what("Fix #12\n\nThe pool was never emptied.")
    assert says_what("Merge pull request #3 from a/b\n\nFix the pool losing calls")
    assert not says_what("Fix the pool") and not says_what("bugfix in the pager tool") and not says_what("pager fix")
    assert not says_what("fixed minor bug in the pool") and not says_what("Fix #12\n\n@ada wrote the fix in #12")
    assert says_what("Fix bug in the pool\n\nIt lost calls.") and says_what("Fix crash at start")
    assert not says_what("bugfix")


def test_issue_numbers() -> None:
    text = "Read headers once (#99)\n\nFixes #12, see GH-7 and acme/shop#8\nhttps://forge.example/a/b/issues/5 bug 1234"
    assert issue_numbers(text) == (12, 7, 8, 5, 1234)
    assert issue_numbers(text, closed=True) == (12,)
    assert issue_numbers("Merge pull request #3 from a/b\n\nResolves: issue #4", closed=True) == (4,)
    assert issue_numbers("closed #1\nfixed acme/shop#2\nresolves https://forge.example/a/b/issues/3", closed=True) == (
        1,
        2,
        3,
    )
    assert issue_numbers("colour #123abc, path/#4, 3 things") == ()


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    found = read_message(text)
    assert found.reason and isinstance(found.kind, FixKind)
    assert all(number >= 0 for number in issue_numbers(text))


@pytest.mark.parametrize("text", ["fix " * 90_000, "a/" * 90_000 + "#1", " and some " * 90_000, "(#1, " * 90_000])
def test_a_hostile_message_is_read(text: str) -> None:
    assert read_message(text) == read_message(text[:LONGEST_READ])


def test_a_title_that_calls_itself_a_fix_of_something_else_is_at_least_perhaps() -> None:
    found = read_message("fix: annotations when jinja is not installed")
    assert (found.kind, found.reason) == (FixKind.PERHAPS, "types, with a word of fixing")


@pytest.mark.parametrize(
    ("text", "speaks"),
    [("It will overflow the stack", True), ("This caused issues", True), ("Merged too early; it comes back", False)],
)
def test_words_of_a_defect(text: str, speaks: bool) -> None:
    assert speaks_of_a_defect(text) is speaks
