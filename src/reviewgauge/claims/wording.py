"""The sentences of claims: what they say of a fact that is added, removed or changed, and how they quote code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.repo.syntax.facts import Fact

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


class Words(NamedTuple):
    """How telling a kind of fact is where it is added or removed, and where it is changed; and the three sentences."""

    ranks: tuple[int, int]
    added: str
    removed: str
    changed: str


# {noun}: of the fact. {name}, {text}: of the fact, {old_name}, {old}: before. {change}: `before` to `after`.
# {assigned}: `name = text`, {reassigned}: from one to the other. {place}: " in `function`", or empty.
WORDS = {
    "condition": Words(
        (12, 10),
        "{A} {noun} is added{place}: {head}.",
        "The {noun} {old} is removed{place}.",
        "The {noun}{place} changes from {change}.",
    ),
    "raise": Words(
        (14, 15),
        "An error is now {noun}{place}: {text}.",
        "The error {old} is no longer {noun} here{place}.",
        "The error that is {noun}{place} changes from {change}.",
    ),
    "handler": Words(
        (14, 14),
        "Errors are now caught{place}: {text}.",
        "Errors are no longer caught by {old}{place}.",
        "The errors that are caught{place} change from {change}.",
    ),
    "block": Words((17, 17), "A `{noun}` block is added{place}.", "A `{noun}` block is removed{place}.", ""),
    "test": Words((20, 20), "The test {argument} is added{place}.", "The test {argument} is removed{place}.", ""),
    "return": Words(
        (26, 22),
        "{text} is {noun}{place}.",
        "{old} is no longer {noun} here{place}.",
        "The value {noun}{place} changes from {change}.",
    ),
    "exit": Words(
        (26, 22),
        "An early return is added{place}.",
        "An early return is removed{place}.",
        "The value returned{place} changes from {change}.",
    ),
    "branches": Words(
        (28, 26),
        "A {noun} is added{place}: {head}.",
        "The {noun} over {old} is removed{place}.",
        "The {noun}{place} changes from {change}.",
    ),
    "loop": Words(
        (28, 24),
        "A loop is added{place}: {text}.",
        "The loop {old} is removed{place}.",
        "The loop{place} changes from {change}.",
    ),
    "attribute": Words((34, 33), "{text} is added{place}.", "{old} is removed{place}.", "{old} becomes {text}{place}."),
    "call": Words(
        (40, 32),
        "A call to {name} is added{place}: {text}.",
        "A call to {name} is removed{place}: {old}.",
        "The call to {name}{place} changes from {change}.",
    ),
    "assign": Words(
        (45, 30),
        "{name} is set to {text}{place}.",
        "{assigned} is removed{place}.",
        "The value of {name}{place} changes from {change}.",
    ),
    "update": Words(  # `x += 1`, or a target of another name
        (45, 30),
        "{assigned} is added{place}.",
        "{assigned} is removed{place}.",
        "The assignment{place} changes from {reassigned}.",
    ),
    "new": Words(
        (43, 30),
        "A new {noun} {name} is added{place} with the value {text}.",
        "{assigned} is removed{place}.",
        "The value of {name}{place} changes from {change}.",
    ),
    "declare": Words(
        (43, 36),
        "A new {noun} {name} is declared{place}: {text}.",
        "The {noun} {name} is removed{place}: {old}.",
        "The declaration of the {noun} {name}{place} changes from {change}.",
    ),
    "entry": Words(
        (47, 42),
        "The entry {name} is added{place} with the value {text}.",
        "The entry {name} is removed{place}; its value was {old}.",
        "The entry {name}{place} changes from {change}.",
    ),
    "replaced": Words((0, 32), "", "", "The {noun} {old_name} is replaced by {name}{place}."),
    "import": Words(
        (60, 58), "An import is added: {text}.", "The import {old} is removed.", "The import changes from {change}."
    ),
}
_NOUNS = {
    "while": "loop condition", "until": "loop condition", "assert": "assertion", "finally_clause": "finally",
    "ensure": "ensure", "try_statement": "try", "yield": "yielded",
}  # fmt: skip
_BRANCHES = ("switch", "match")
_TESTS = ("test", "it", "describe")


def is_test(fact: Fact) -> bool:
    """Whether a call defines a test: `it("adds", () => ...)`."""
    return fact.kind == "call" and fact.name in _TESTS and "".join(fact.arguments)[:1] in ("'", '"', "`")


def sentence(old: Fact | None, new: Fact | None, place: str) -> tuple[int, str]:
    """(rank, sentence) about a fact that is added (no `old`), removed (no `new`) or changed; "" where none is due."""
    fact = new or old
    assert fact is not None
    row, noun = _row(old, new, fact)
    words = WORDS[row]
    template = words.changed if old and new else words.removed if old else words.added
    before, after = (_assigned(one or fact) for one in (old, new))
    keyword = "" if fact.name in ("?:", "assert") else f"{fact.name} "
    text = template.format(
        A="An" if noun[:1] == "a" else "A",
        noun=noun,
        place=place,
        name=quoted(fact.name),
        text=quoted(fact.text),
        old=quoted((old or fact).text),
        old_name=quoted((old or fact).name),
        head=quoted(keyword + fact.text),
        argument=quoted("".join(fact.arguments[:1])),
        change=from_to((old or fact).text, fact.text),
        assigned=quoted(after),
        reassigned=from_to(before, after),
    )
    return words.ranks[bool(old and new)], text


def _row(old: Fact | None, new: Fact | None, fact: Fact) -> tuple[str, str]:
    """(row of WORDS, noun) for a fact."""
    kind, renamed = fact.kind, bool(old and new and old.name != new.name)
    noun = _NOUNS.get(fact.name, "")
    if kind == "condition":
        return ("branches", fact.name) if fact.name in _BRANCHES else (kind, noun or kind)
    if kind == "handler":
        return ("block" if noun else kind), noun
    if kind == "raise":
        return kind, "raised" if fact.name in ("", "raise") else "thrown"
    if kind == "return":
        return kind if fact.text else "exit", noun or "returned"
    if kind == "call":
        return "test" if is_test(fact) and not (old and new) else "replaced" if renamed else kind, "call to"
    if kind == "entry":
        return "replaced" if renamed else kind, kind
    if kind == "assign":
        sign, word = (*fact.arguments, "=", "")[:2]
        return "update" if renamed or sign != "=" else "new" if word else kind, word
    return kind, "".join(fact.arguments[:1]) or "variable"


def _assigned(fact: Fact) -> str:
    return f"{fact.name} {(fact.arguments or ('=',))[0]} {fact.text}"


def quoted(code: str) -> str:
    """A piece of code in back-quotes, in one line, cut where it is long; "nothing" where it is empty."""
    text = " ".join(code.split()).replace("`", "'")
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`" if text else "nothing"


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
