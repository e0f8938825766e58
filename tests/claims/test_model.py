"""Reading a model's two lists of claims."""

from __future__ import annotations

import pytest

from reviewgauge.claims.model import read_claims
from reviewgauge.models.answers.text import Unreadable

GOOD = "Claims:\n- `tax` is a new parameter.\n- It is 0.\n\nImplications:\n- Callers may pass a tax."
READ = (("claim", "`tax` is a new parameter."), ("claim", "It is 0."), ("implication", "Callers may pass a tax."))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("- ", "* "),
        GOOD.replace("- `", "1. `").replace("- It", "2. It").replace("- Callers", "1) Callers"),
        GOOD.replace("Claims:", "### Low-level changes").replace("Implications:", "### High-level implications"),
        GOOD.replace("Claims:", "**Claims:**").replace("Implications:", "**Implications**:"),
        GOOD.replace("Claims:", "1. Low-level claims (what changes):").replace("Implications:", "2. Implications:"),
        f"Here is what the change does:\n\n{GOOD}",
        f"<think>Claims:\n- no</think>\n{GOOD}",
        GOOD.replace("It is 0.", "It\n  is 0."),
        GOOD.replace("It is 0.", "It\n  - is 0."),
        GOOD.replace("\n- It", "\n\n- It"),
        GOOD.replace("\n", "\r\n"),
    ],
)
def test_two_lists_are_read_however_they_are_marked(text: str) -> None:
    assert read_claims(text) == READ


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Claims:\nNone\n\nImplications:\nNone.", ()),
        ("Claims:\n- None\n\nImplications:\n- The output changes.", (("implication", "The output changes."),)),
        ("Implications:\n- B.\n\nClaims:\n- A.", (("implication", "B."), ("claim", "A."))),
    ],
)
def test_a_list_may_say_none(text: str, found: tuple[tuple[str, str], ...]) -> None:
    assert read_claims(text) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("I'm sorry, but I can't help with that.", "refuses"),
        ("Claims:\n- A.", "no section Implications"),
        ("Implications:\n- A.", "no section Claims"),
        ("- A.\n- B.", "more than a word"),
        ("The parameter is new.", "no section Claims"),
        ("Claims:\n\nImplications:\n- A.", "a section is empty"),
        ("Claims:\n- A.\n\nImplications:\n", "a section is empty"),
        ("Claims:\nThe parameter is new.\n\nImplications:\n- A.", "not an item"),
        (f"{GOOD}\n\nLet me know if you want more.", "not an item"),
        (f"{GOOD}\n\n{GOOD}", "two sections of claims"),
        ("Claims:\n- ...\n\nImplications:\n- ...", "left blank"),
        (GOOD.replace("It is 0.", "x" * 1001), "1001 characters"),
        (GOOD.replace("- It is 0.\n", "- It is 0.\n" * 60), "61 items"),
        (f"{'Well. ' * 50}\n{GOOD}", "more than a word"),
        ("<think>Claims:", "reasoning does not end"),
    ],
)
def test_anything_else_is_unreadable(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_claims(text)
