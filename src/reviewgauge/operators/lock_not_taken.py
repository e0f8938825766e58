"""Touch what threads share without the lock that guards it.

Source: ours; "missing synchronisation" of concurrency mutation operators (Bradbury et al., ConMAn, 2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext, Severity
from reviewgauge.operators.code.blocks import following, statement, unwrapped, uses, without
from reviewgauge.operators.code.names import says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import inner, statements, tell, where
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class LockNotTaken(Operator):
    """A section that a lock guards runs without it."""

    severity: ClassVar[Severity] = Severity.HIGH
    needs: ClassVar[RequiredContext] = RequiredContext.FILE

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in (*code.nodes("with"), *code.nodes("synchronized")):
            body, lock = node.get("body"), node.parts[0].text.strip("()")
            named = not code.is_a(node, "synchronized")
            if body is None or (named and (not _is_lock(code, lock, node) or f"{lock}." in body.text)):
                continue  # a condition that is waited for must be held
            edit = unwrapped(code, node, body)
            if edit and _shares(code, [body]):
                yield Plant((edit,), _told(code, [body], lock, "tasks" if node.text.startswith("async") else "threads"))
        if code.tree.grammar == "java":
            yield from _modifiers(code)
        for node in code.nodes("call"):
            yield from _taken(code, node)
        for node in code.nodes("let"):
            yield from _guard(code, node)


def _modifiers(code: Code) -> Iterator[Plant]:
    for node in code.nodes("function"):
        words = next((one.children for one in node.children if one.kind == "modifiers"), [])
        word = next((one for one in words if one.text == "synchronized"), None)
        body = node.get("body")
        if word is None or body is None or not _shares(code, [body]):
            continue
        edit = Edit(word.start, word.end + 1, "")
        if code.adds(edit):
            yield Plant((edit,), _told(code, [body], "this"))


def _taken(code: Code, node: Node) -> Iterator[Plant]:
    """A lock that is taken by a call, and given back in `defer`, `finally` or a later statement of the block."""
    lock, _, word = callee(node).rpartition(".")
    first = statement(code, node)
    if first is None or first.text.rstrip(";") != node.text or not says("lock", "take", word):
        return
    rest = list(following(code, first))
    last = next((one for one in rest if _gives(code, one, lock)), None)
    if last is None or not _is_lock(code, lock, first):
        return
    section, edits = [one for one in rest if one.end <= last.start], [without(code, first), without(code, last)]
    if code.is_a(last, "defer") and last is rest[0]:
        section, edits = rest[1:], [without(code, first, last)]
    elif code.is_a(last, "try") and (body := last.get("body")) is not None:
        section, edits = [body], [without(code, first), unwrapped(code, last, body)]
    made = tuple(edit for edit in edits if edit)
    function = code.around(node, "function") or code.tree.root
    given = sum(1 for one in function.walk() if code.is_a(one, "call") and _gives_it(one, lock))
    unused = code.tree.grammar == "go" and uses(function, lock.split(".", maxsplit=1)[0]) == 3
    if len(made) == len(edits) and _shares(code, section) and given == 1 and not unused:
        yield Plant(made, _told(code, section, lock), _exclusive(code, node, last))


def _gives(code: Code, node: Node, lock: str) -> bool:
    """Whether a statement is all for giving the lock back, or a `try` that ends so."""
    if code.is_a(node, "try"):
        held = [one for part in node.parts if code.is_a(part, "finally") for block in part.parts for one in block.parts]
        return len(held) == 1 and len(node.parts) == 2 and _gives(code, held[0], lock)
    call = next((one for one in node.walk() if code.is_a(one, "call")), None)
    return call is not None and _gives_it(call, lock) and node.text.removeprefix("defer ").rstrip(";") == call.text


def _gives_it(call: Node, lock: str) -> bool:
    name, _, word = callee(call).rpartition(".")
    return name == lock and says("lock", "give", word)


def _exclusive(code: Code, node: Node, last: Node) -> tuple[Edit, ...]:
    """A lock for writers where one for readers would do."""
    reads = [one for one in (*node.walk(), *last.walk()) if one.text in ("RLock", "RUnlock")]
    edits = tuple(Edit(one.start, one.start + 1, "") for one in reads)
    return edits if len(edits) == 2 and all(code.adds(one) for one in edits) else ()


def _guard(code: Code, node: Node) -> Iterator[Plant]:
    """A guard of Rust that nobody names: it holds the lock to the end of its block."""
    pattern, value = node.get("pattern"), node.get("value")
    if pattern is None or value is None or not pattern.text.startswith("_") or pattern.text == "_":
        return
    calls = [callee(one).rpartition(".") for one in value.walk() if code.is_a(one, "call")]
    lock = next((name for name, _, word in calls if says("lock", "guard", word)), "")
    edit = without(code, node)
    if lock and edit:
        yield Plant((edit,), _told(code, list(following(code, node)), lock))


def _is_lock(code: Code, text: str, node: Node) -> bool:
    """Whether it is a lock by its name, and one that the file knows from elsewhere."""
    name = text.split("(", maxsplit=1)[0].rsplit(".", 1)[-1]
    return says("lock", "held", text) and "," not in text and uses(code.tree.root, name) > uses(node, name)


def _shares(code: Code, section: list[Node]) -> bool:
    """Whether a section shares anything: a lone call may well lock for itself, a failure is nobody else's."""
    lines = [inner(line) for part in section for line in (statements(code, part) or [part])]
    return len(lines) > 1 or not any(code.is_a(lines[0], role) for role in ("call", "raise"))


def _changes(code: Code, node: Node) -> bool:
    return code.is_a(node, "assignment") or code.is_a(node, "increment")


def _told(code: Code, section: list[Node], lock: str, who: str = "threads") -> str:
    nodes = [one for part in section for one in part.walk() if "\n" not in one.text]
    changed = [one.get("left") or one.parts[0] for one in nodes if _changes(code, one)]
    shared = [f"`{one.text}` is changed" for one in changed if not one.text.isidentifier()]
    held = [one.text for one in nodes if code.is_a(one, "member") and one.field != "function" and "(" not in one.text]
    calls = [one for one in nodes if code.is_a(one, "call")]
    held.sort(key=lambda name: not name.startswith(("self.", "this.")))
    shared += [f"`{name}` is used" for name in held] + [f"`{callee(one)}` is called" for one in calls]
    first = shared[0] if shared else "shared state is used"
    place = where(code, section[0]) or " here"
    return tell("lock_not_taken", "race", shared=first, where=place, lock=lock, who=who)
