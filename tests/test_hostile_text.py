"""Short hostile text holds no parser for long: each of these took seconds to minutes, or crashed, before.

`tests/test_regexes.py` holds the patterns to linear time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format
from reviewgauge.core.specs import load
from reviewgauge.models.answers.readers import Unreadable, json_object, yes_no
from reviewgauge.models.text.words import prose
from reviewgauge.repo.diff.diffs import split_diff
from reviewgauge.repo.history.commits import LONGEST_SUBJECT, read_object
from reviewgauge.repo.history.fix_messages import issue_numbers, read_message, says_what
from reviewgauge.repo.history.landed_changes import _joins_lines, _title, own_text
from reviewgauge.reviewers.reading.model_answers import read_notes
from reviewgauge.stages.augment import read_summary
from reviewgauge.stages.keep_english import judge_text

BLANKS = " " * 40_000


@pytest.mark.parametrize(("read", "text"), [
    (yes_no, f"<answer>{' ' * 18_000}"), (yes_no, "<think></think>" * 60_000), (json_object, '<answer>{"a":' * 20_000),
    (json_object, "\n".join(f'{{"a":{number}}}' for number in range(4_000))), (json_object, '"\\' * 100_000),
    (read_notes, "<note>" * 16_000 + "<end />"), (read_notes, ("<diff>" + "</note>") * 16_000 + "<end />"),
    (read_notes, f"<{BLANKS}end"), (read_summary, "- \n" * 100_000),
])  # fmt: skip
def test_a_hostile_answer_is_unreadable_at_once(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


@pytest.mark.parametrize(("form", "text"), [
    ("tags", "<diff>" * 100_000), ("pr_agent", "review: " + "[" * 300_000), ("pr_agent", "review: " + "- " * 300_000),
    ("pr_agent", "review: {a: 1" + ":1" * 400_000 + "}"), ("pr_agent", "review:\n" + "- a: b\n" * 150_000),
    ("pr_agent", "review:\n  a: &a [x, x]\n" + "".join(f"  b{n}: &b{n} [*a, *a]\n" for n in range(9))),
    ("pr_agent", "```yaml\n" * 100_000), ("codex", '{"a": "' * 100_000), ("github", "[1] " * 100_000 + "[")
])  # fmt: skip
def test_a_hostile_review_is_refused_at_once(form: str, text: str) -> None:
    with pytest.raises(BadInput):
        load(Format, form).read(text.encode(), "review")


@pytest.mark.parametrize("text", [
    f"# {BLANKS}x", "```a\n" * 100_000, "````" * 100_000, "~" * 400_000, f"**{BLANKS}", f"<!--{BLANKS}" * 10,
    f"1. a\n{'   b' * 9_000}",
])  # fmt: skip
def test_a_hostile_text_is_read_at_once(text: str) -> None:
    with suppress(BadInput):  # code without words is no review
        load(Format, "markdown").read(text.encode(), "review")
    assert judge_text(text) is not None
    assert isinstance(prose(text), str)


@pytest.mark.parametrize("message", [
    f"Merge{BLANKS}x", f"Merge{BLANKS}\n\nx", f"{BLANKS},{BLANKS}tests", "x" * 100_000, "#1" * 9_000 + " x",
    f"fixes{BLANKS}", "a." * 50_000, f"x\n\nA{'-' * 50_000}", f"x ({'#1, ' * 9_000}", "merge " * 9_000,
    "https://a/" * 9_000,
])  # fmt: skip
def test_a_hostile_commit_message_is_read_at_once(message: str) -> None:
    head = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"
    commit = read_object("a" * 40, (head + message).encode())
    assert len(commit.subject) <= LONGEST_SUBJECT
    assert read_message(commit.message) is not None
    assert isinstance(says_what(commit.message), bool)
    assert issue_numbers(commit.message) is not None
    assert isinstance(own_text(commit.body), str)
    assert isinstance(_title(commit) + str(_joins_lines(commit)), str)


def test_a_diff_of_one_file_in_many_pieces_is_joined_once() -> None:
    piece = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
    (file,) = split_diff(piece * 9_000)
    assert file.patch is not None
    assert file.patch.count("\n+y") == 9_000
