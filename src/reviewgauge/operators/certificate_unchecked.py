"""Accept any certificate: TLS without the check of who is at the other end.

Source: ours; CWE-295, improper certificate validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.blocks import statement
from reviewgauge.operators.code.names import says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, callee
from reviewgauge.operators.code.sentences import quoted, tell, where
from reviewgauge.repo.syntax.tree import Node


@dataclass(frozen=True)
class CertificateUnchecked(Operator):
    """A connection accepts the certificate of anyone."""

    category: ClassVar[str] = "security"
    severity: ClassVar[Severity] = Severity.CRITICAL
    languages: ClassVar[Sequence[str]] = ("python", "javascript", "typescript", "go", "rust")

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        grammar, source = code.tree.grammar, code.tree.source.decode()
        for node in (*code.nodes("call"), *code.nodes("new"), *code.nodes("literal")):
            name, held = callee(node), node.get("arguments") or node.get("body")
            if held is None:
                continue
            if grammar == "python" and says("certificate", "python_library", source):
                if says("certificate", "python_call", name):
                    yield from _python(code, held)
            elif grammar == "python" and says("certificate", "python_context", name):
                yield from _context(code, node)
            elif grammar == "go" and (kind := node.get("type")) is not None and kind.text == "tls.Config":
                yield from _added(code, held, "InsecureSkipVerify: ", "true", "false")
            elif grammar == "rust" and says("certificate", "rust_call", name):
                yield from _chained(code, node)
            elif says("certificate", "node_call", name) and says("certificate", "node_library", source):
                for one in held.parts:
                    if one.kind == "object" and one.parts:
                        yield from _added(code, one, "rejectUnauthorized: ", "false", "true")


def _python(code: Code, held: Node) -> Iterator[Plant]:
    verify = next((one for one in held.parts if one.text.startswith("verify=")), None)
    if verify is None and held.parts and not held.parts[-1].text.startswith("*"):
        yield from _added(code, held, "verify=", "False", "True")
    elif verify is not None and verify.text != "verify=False" and code.adds(verify):
        yield Plant((Edit(verify.start, verify.end, "verify=False"),), _told(code, held, "verify=False"))


def _context(code: Code, node: Node) -> Iterator[Plant]:
    """A context of Python's `ssl` on the side of a client, which checks by default."""
    whole = statement(code, node)
    left = whole.parts[0].get("left") if whole is not None and whole.parts else None
    if whole is None or left is None or whole.parts[0].get("right") is not node or "CLIENT_AUTH" in node.text:
        return
    if code.adds(whole) and f"{left.text}.check_hostname" not in code.tree.source.decode():
        new = f"\n{code.tree.indent(whole)}{left.text}."
        off = f"{new}check_hostname = False{new}verify_mode = ssl.CERT_NONE"
        on = f"{new}check_hostname = True{new}verify_mode = ssl.CERT_REQUIRED"
        yield _plant(code, whole, off, on, f"{left.text}.verify_mode = ssl.CERT_NONE")


def _chained(code: Code, node: Node) -> Iterator[Plant]:
    """A builder of reqwest: one more call in the chain, written as the next one."""
    chain = node.parent
    if chain is not None and code.adds(node):
        between = node.source[node.end : chain.end].decode("utf-8", "replace")
        call = f"{between[: between.find('.')]}.danger_accept_invalid_certs"
        if "danger_accept" not in (statement(code, node) or node).text:
            yield _plant(code, node, f"{call}(true)", f"{call}(false)", "danger_accept_invalid_certs(true)")


def _added(code: Code, held: Node, word: str, off: str, on: str) -> Iterator[Plant]:
    """One more entry at the end of a list of arguments or fields, written as those before it."""
    last = held.parts[-1] if held.parts else held.children[0]
    lines = code.tree.line(last.start) > code.tree.line(held.start)
    own = not code.tree.source[code.tree.line_start(last.start) : last.start].strip()
    if word.strip(" :=") in held.text or code.is_a(last, "comment") or lines != own:
        return
    comma = next((one for one in held.children if one.start >= last.end and one.text == ","), None)
    lead = f"\n{code.tree.indent(last)}{word}" if lines else f" {word}"
    if not code.adds(last):
        return
    if not held.parts:
        yield _plant(code, last, word + off, word + on, word + off)
    elif comma is None:
        yield _plant(code, last, f",{lead}{off}", f",{lead}{on}", word + off)
    else:
        yield _plant(code, comma, f"{lead}{off},", f"{lead}{on},", word + off)


def _plant(code: Code, after: Node, off: str, on: str, shown: str) -> Plant:
    return Plant((Edit(after.end, after.end, off),), _told(code, after, shown), (Edit(after.end, after.end, on),))


def _told(code: Code, node: Node, shown: str) -> str:
    return tell("certificate_unchecked", "off", shown=quoted(shown), where=where(code, node))
