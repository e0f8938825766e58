"""Accept any certificate: TLS without the check of who is at the other end.

Source: ours; CWE-295, improper certificate validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.blocks import are_added, statement
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import quoted
from reviewgauge.operators.code.signatures import name_of
from reviewgauge.operators.code.words import says
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class CertificateUnchecked(Operator):
    """A connection accepts the certificate of anyone."""

    category: ClassVar[str] = "security"
    severity: ClassVar[Severity] = Severity.CRITICAL
    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript", "go", "rust")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        find = _FINDERS.get(code.tree.grammar)
        if find is not None:
            yield from find(code)


def _python(code: Code) -> Iterator[Plant]:
    known = says("certificate", "python_library", code.tree.source.decode())
    for node in code.nodes("call"):
        name, held, whole = callee(node), node.get("arguments"), statement(code, node)
        if held is not None and known and says("certificate", "python_call", name):
            yield from _argument(code, node, held, name)
        left = whole.parts[0].get("left") if whole is not None and whole.parts else None
        if left is None or whole is None or not says("certificate", "python_context", name):
            continue
        if "CLIENT_AUTH" in node.text:  # the side of a server, which asks for no certificate
            continue
        right = whole.parts[0].get("right")
        if right is node and are_added(code, whole.start, whole.end) and whole.end == _line_end(code, whole.end):
            new = f"\n{code.tree.indent(whole)}{left.text}."
            off = f"{new}check_hostname = False{new}verify_mode = ssl.CERT_NONE"
            on = f"{new}check_hostname = True{new}verify_mode = ssl.CERT_REQUIRED"
            if f"{left.text}.check_hostname" not in code.tree.source.decode():
                yield _plant(code, whole, off, on, f"{left.text}.verify_mode = ssl.CERT_NONE")


def _argument(code: Code, node: Node, held: Node, name: str) -> Iterator[Plant]:
    keys = [one for one in held.parts if one.kind == "keyword_argument"]
    verify = next((one.get("value") for one in keys if one.text.startswith("verify=")), None)
    if verify is not None:
        if verify.text != "False" and are_added(code, verify.start, verify.end):
            body = _told(code, node, f"{name}(..., verify=False)")
            yield Plant((Edit(verify.start, verify.end, "False"),), body)
    elif held.parts and not any(one.kind == "dictionary_splat" for one in held.parts):
        yield from _added(code, node, held, "verify=False", "verify=True")


def _node(code: Code) -> Iterator[Plant]:
    if not says("certificate", "node_library", code.tree.source.decode()):
        return
    for node in (*code.nodes("call"), *code.nodes("new")):
        held = node.get("arguments")
        options = next((one for one in held.parts if one.kind == "object"), None) if held is not None else None
        if options is None or not options.parts or not says("certificate", "node_call", callee(node)):
            continue
        if "rejectUnauthorized" not in options.text:
            yield from _added(code, node, options, "rejectUnauthorized: false", "rejectUnauthorized: true")


def _go(code: Code) -> Iterator[Plant]:
    for node in code.nodes("literal"):
        kind, held = node.get("type"), node.get("body")
        if kind is None or held is None or not says("certificate", "go_type", kind.text):
            continue
        if "InsecureSkipVerify" not in held.text:
            yield from _added(code, node, held, "InsecureSkipVerify: true", "InsecureSkipVerify: false")


def _rust(code: Code) -> Iterator[Plant]:
    for node in code.nodes("call"):
        chain = node.parent
        if not says("certificate", "rust_call", callee(node)) or "builder" not in callee(node).lower():
            continue
        if chain is None or "danger_accept" in (statement(code, node) or node).text:
            continue
        between = node.source[node.end : chain.end].decode("utf-8", "replace")
        lead = between[: between.find(".")]
        if are_added(code, node.start, node.end):
            call = f"{lead}.danger_accept_invalid_certs"
            yield _plant(code, node, f"{call}(true)", f"{call}(false)", "danger_accept_invalid_certs(true)")


_FINDERS: Mapping[str, Callable[[Code], Iterator[Plant]]] = {
    "python": _python,
    "javascript": _node,
    "typescript": _node,
    "tsx": _node,
    "go": _go,
    "rust": _rust,
}


def _added(code: Code, node: Node, held: Node, off: str, on: str) -> Iterator[Plant]:
    """One more entry at the end of a list of arguments or fields, written as those before it."""
    last = held.parts[-1] if held.parts else None
    if last is None:
        yield _plant(code, held.children[0], off, on, off)
        return
    if not are_added(code, last.start, last.end) or code.is_a(last, "comment"):
        return
    lines = code.tree.line(last.start) > code.tree.line(held.start)
    if lines and code.tree.source[code.tree.line_start(last.start) : last.start].strip():
        return
    comma = next((one for one in held.children if one.start >= last.end and one.text == ","), None)
    lead = f"\n{code.tree.indent(last)}" if lines else " "
    if comma is None:
        yield _plant(code, last, f",{lead}{off}", f",{lead}{on}", off)
    else:
        yield _plant(code, comma, f"{lead}{off},", f"{lead}{on},", off)


def _plant(code: Code, after: Node, off: str, on: str, shown: str) -> Plant:
    return Plant((Edit(after.end, after.end, off),), _told(code, after, shown), (Edit(after.end, after.end, on),))


def _told(code: Code, node: Node, shown: str) -> str:
    function = name_of(code.around(node, "function"))
    return (
        f"{quoted(shown)}{f' in `{function}`' if function else ''} turns the check of TLS certificates off: "
        "anyone on the way can pose as the server, read what is sent and change it."
    )


def _line_end(code: Code, byte: int) -> int:
    end = code.tree.source.find(b"\n", byte)
    return end if end >= 0 else len(code.tree.source)
