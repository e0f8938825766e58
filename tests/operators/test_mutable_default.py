from __future__ import annotations

import pytest

from planted import bodies, clean, code_of, planted
from reviewgauge.operators.mutable_default import MutableDefault

GUARD = """
    def pay(items: list | None = None):
        if items is None:
            items = []
        {}
        return items
"""
CLASS = """
    from dataclasses import dataclass, field


    @dataclass
    class Till:
        items: list[int] = {}
        names: dict = field(default_factory=make)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GUARD.format("items.append(1)"), "def pay(items: list = []):\n    items.append(1)\n    return items"),
        (GUARD.format("print(items)"), None),  # nobody changes it
        (GUARD.replace("items = []", "items = [1]").format("items.append(1)"), None),
        (
            "class A:\n    def __init__(self, b=None):\n        self.b = b or {}",
            "class A:\n    def __init__(self, b={}):\n        self.b = b",
        ),
        ("class A:\n    def __init__(self, b=None):\n        self.b = b or c", None),
        ("class A:\n    def __init__(self, b):\n        self.b = b or {}", None),
        (CLASS.format("field(default_factory=list)"), clean(CLASS).replace(": list[int] = {}", " = []")),
        (CLASS.format("field(default_factory=list, repr=False)"), None),
        (CLASS.format("[]"), None),
        (
            "from dataclasses import field\n\nclass A:\n    b: list = field(default_factory=list)",
            None,  # an import would be unused
        ),
    ],
)
def test_all_share_one(before: str, after: str) -> None:
    made = [one.after for one in planted(MutableDefault(), code_of("python", before))]
    assert made == ([] if after is None else [after])


@pytest.mark.parametrize(("source", "said"), [
    (GUARD.format("items.append(1)"),
        "Mutable default: `items=[]` is made once and shared by all calls, and `items.append` lets it change, so "
        "what one call leaves in it is there in the next."),
    (CLASS.format("field(default_factory=list)"),
        "`items` is one list for all instances of `Till`: what one puts into it, all others have."),
])  # fmt: skip
def test_the_sentence_says_who_shares_it(source: str, said: str) -> None:
    assert bodies(MutableDefault(), "python", source) == [said]
