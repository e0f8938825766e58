"""SWR-Bench's taxonomy of change-points: two groups, 11 leaves, and the two groups of leaves E.1 and E.3.

Source: Zeng et al., "Benchmarking and Studying the LLM-based Code Review" (SWR-Bench), arXiv:2509.01494, Table I.
The paper speaks of 11 types where it defines them and of 13 where it asks a model: the 13 are these, E.1 and E.3
among them. All are read; a type is reported as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class ChangeType(NamedTuple):
    """A type's name and what it covers, in the words of Table I."""

    name: str
    covers: str


TYPES: Mapping[str, ChangeType] = {
    "E.1": ChangeType("Documentation", "Modifying in-code information for better human understanding."),
    "E.1.1": ChangeType("Textual", "Changing textual code elements (comments, names)."),
    "E.1.2": ChangeType("Language Supported", "Using language features for documentation purposes."),
    "E.2": ChangeType("Visual Representation", "Modifying code layout for better style and readability."),
    "E.3": ChangeType("Structure", "Altering the project's organization or architecture."),
    "E.3.1": ChangeType("Organization", "Reorganizing code by moving or removing parts."),
    "E.3.2": ChangeType(
        "Solution Approach", "Altering implementation methods or adding maintainability elements (e.g., tests)."
    ),
    "F.1": ChangeType("Interface", "Modifying interactions between codebase parts."),
    "F.2": ChangeType("Logic", "Changing the code's logical operations or algorithms."),
    "F.3": ChangeType("Resource", "Altering how variables or resources are managed."),
    "F.4": ChangeType("Check", "Modifying checks for unhandled states/conditions."),
    "F.5": ChangeType("Support", "Adjusting interactions with external support systems or libraries."),
    "F.6": ChangeType("Larger Defects", "Fixing major, extensive functional issues or missing features."),
}
GROUPS = ("E.1", "E.3")  # what is not a leaf
_CODE = re.compile(r"([EF](?:\.\d){1,2})\.?(?:[\s:,(–—-]++(.*))?", re.IGNORECASE | re.DOTALL)


def change_type(text: str | None) -> str | None:
    """The code of the type that `text` names: "F.2", "F.2 Logic", "f.2: Logic". None where it names none.

    A name beside the code must fit it: "F.2 Check" names two types, so none.
    """
    found = _CODE.fullmatch((text or "").strip())
    if found is None or (code := found[1].upper()) not in TYPES:
        return None
    words = re.findall(r"[a-z]+", (found[2] or "").lower())
    return code if not words or TYPES[code].name.split()[0].lower() in words else None


def functional(code: str | None) -> bool:
    """Whether a type is a functional one."""
    return code is not None and code.startswith("F")


def listing(*, groups: bool = True) -> str:
    """The types for a prompt, one a line; without `groups` the leaves alone."""
    lines = [f"- {code} {kind.name}: {kind.covers}" for code, kind in TYPES.items() if groups or code not in GROUPS]
    return "\n".join(lines)
