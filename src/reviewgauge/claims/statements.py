"""One sentence about a change, and how pieces of code are quoted in it."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_QUOTE = 160  # characters of code in a sentence


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about a hunk. The lower `rank`, the more telling; `line` is that of the new version.

    `old` and `new` are the rows of the hunk's sides that it speaks of, counted from 0.
    """

    rank: int
    line: int
    text: str
    old: tuple[int, ...] = ()
    new: tuple[int, ...] = ()


def quoted(code: str) -> str:
    """A piece of code in back-quotes, in one line, cut where it is long."""
    text = " ".join(code.split()).replace("`", "'")
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`"


def from_to(old: str, new: str) -> str:
    """`a` to `b`, cut so that the difference shows."""
    if max(len(old), len(new)) <= LONGEST_QUOTE:
        return f"{quoted(old)} to {quoted(new)}"
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, old.rfind(" ", 0, max(start - 20, 0)) + 1)
    dots = "\N{HORIZONTAL ELLIPSIS}" if start else ""
    return f"{quoted(dots + old[start:])} to {quoted(dots + new[start:])}"


def listed(names: list[str], most: int = 6) -> str:
    """ "a", "a and b", "a, b and c", "a, b and 7 others"."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
