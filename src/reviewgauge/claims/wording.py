"""The sentences of claims: what they say of a fact that is added, removed or changed, and how they quote code."""

from __future__ import annotations

from dataclasses import dataclass

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


RANKS = {  # kind: how telling a fact is where it is added or removed, and where it is changed
    "condition": (12, 10), "raise": (14, 15), "handler": (14, 14), "block": (17, 17), "test": (20, 20),
    "return": (26, 22), "exit": (26, 22), "switch": (28, 26), "match": (28, 26), "loop": (28, 24),
    "attribute": (34, 33), "call": (40, 32), "declare": (43, 36), "new": (43, 30), "assign": (44, 30),
    "entry": (47, 42), "import": (60, 58),
}  # fmt: skip
# {text}: the code; {value}: what a name is set to; {head}: the code with its keyword; {change}: `before` to `after`;
# {place}: " in `function`", or empty
_SENTENCES = {
    "added": "{A} {noun} is added{place}: {head}.",
    "removed": "The {noun} {text} is removed{place}.",
    "changed": "The {noun}{place} changes from {change}.",
    "replaced": "The {noun}{place} changes from {change}.",
    "assign changed": "The value of {name}{place} changes from {change}.",
    "attribute added": "{text} is added{place}.",
    "attribute removed": "{text} is removed{place}.",
    "declare added": "A new {noun} {name} is declared{place}: {text}.",
    "declare changed": "The declaration of the {noun} {name}{place} changes from {change}.",
    "new added": "A new {noun} {name} is added{place} with the value {value}.",
    "new changed": "The value of {name}{place} changes from {change}.",
    "block added": "A `{noun}` block is added{place}.",
    "block removed": "A `{noun}` block is removed{place}.",
    "call added": "A call to {name} is added{place}: {text}.",
    "call removed": "A call to {name} is removed{place}: {text}.",
    "call changed": "The call to {name}{place} changes from {change}.",
    "call replaced": "The call to {old_name} is replaced by {name}{place}.",
    "entry replaced": "The entry {old_name} is replaced by {name}{place}.",
    "entry added": "The entry {name} is added{place} with the value {value}.",
    "entry changed": "The entry {name}{place} changes from {change}.",
    "exit added": "An early return is added{place}.",
    "exit removed": "An early return is removed{place}.",
    "exit changed": "The value returned{place} changes from {change}.",
    "handler added": "Errors are now caught{place}: {text}.",
    "handler removed": "Errors are no longer caught by {text}{place}.",
    "handler changed": "The errors that are caught{place} change from {change}.",
    "raise added": "An error is now {noun}{place}: {text}.",
    "raise removed": "The error {text} is no longer {noun} here{place}.",
    "raise changed": "The error that is {noun}{place} changes from {change}.",
    "return added": "{text} is {noun}{place}.",
    "return removed": "{text} is no longer {noun} here{place}.",
    "return changed": "The value {noun}{place} changes from {change}.",
    "test added": "The test {test} is added{place}.",
    "test removed": "The test {test} is removed{place}.",
}
_NOUNS = {  # by the name of a fact: the keyword of a condition, the node of a handler
    "while": "loop condition", "until": "loop condition", "assert": "assertion", "yield": "yielded",
    "finally_clause": "finally", "ensure": "ensure", "try_statement": "try", "try_with_resources_statement": "try",
}  # fmt: skip


def sentence(old: Fact | None, new: Fact | None, place: str) -> tuple[int, str]:
    """(rank, sentence) about a fact that is added (no `old`), removed (no `new`) or changed; "" where none is due."""
    fact = new or old
    assert fact is not None
    kind, noun = _kind_and_noun(fact)
    verb = "added" if old is None else "removed" if new is None else "changed" if old.name == new.name else "replaced"
    template = _SENTENCES.get(f"{kind} {verb}", _SENTENCES[verb])
    whole = verb != "changed"  # where a value changes, the sentence names what it goes to
    before, after = (_code(one or fact, whole) for one in (old, new))
    text = template.format(
        A="An" if noun[:1] in "aei" else "A",
        noun=noun,
        place=place,
        name=quoted(fact.name),
        old_name=quoted((old or fact).name),
        text=quoted(after),
        value=quoted(fact.text),
        head=quoted(after if kind != "condition" or fact.name in ("?:", "assert") else f"{fact.name} {after}"),
        change=from_to(before, after),
        test=quoted("".join(fact.arguments[:1])),
    )
    return RANKS[kind][bool(old and new)], text


def _kind_and_noun(fact: Fact) -> tuple[str, str]:
    kind, noun = fact.kind, _NOUNS.get(fact.name, "")
    if kind == "condition":
        return (fact.name, fact.name) if fact.name in RANKS else (kind, noun or kind)
    if kind == "handler":
        return "block" if noun else kind, noun
    if kind == "raise":
        return kind, "raised" if fact.name in ("", "raise") else "thrown"
    if kind == "return":
        return kind if fact.text else "exit", noun or "returned"
    if kind == "assign":
        declared = "".join(fact.arguments[1:2])
        return ("new", declared) if declared else (kind, "assignment")
    if kind == "declare":
        return kind, "".join(fact.arguments[:1]) or "variable"
    return "test" if is_test(fact) else kind, kind


def is_test(fact: Fact) -> bool:
    """Whether a call defines a test: `it("adds", () => ...)`."""
    named = fact.kind == "call" and fact.name in ("test", "it", "describe")
    return named and "".join(fact.arguments)[:1] in ("'", '"', "`")


def _code(fact: Fact, whole: bool) -> str:
    """A fact as it is quoted; `whole`: with the name that a value goes to."""
    if fact.kind == "assign" and whole:
        return f"{fact.name} {(fact.arguments or ('=',))[0]} {fact.text}"
    return f"{fact.name}: {fact.text}" if fact.kind == "entry" and whole else fact.text or fact.name


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
