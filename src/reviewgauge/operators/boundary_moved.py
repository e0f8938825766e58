"""Move the bound of a comparison by one: `<` for `<=` and the like.

Source: ours; "relational operator replacement" of mutation testing (Offutt et al., TOSEM 1996), only where it moves a
bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.conditions import BOTH, mirrored, operator_of
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant
from reviewgauge.operators.code.sentences import does, quoted, tell
from reviewgauge.repo.syntax.tree import Node

_MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_TERNARY = ("conditional_expression", "ternary_expression")
_PLAIN = {"does": "do", "goes": "go"}
_LENGTH = re.compile(r"(?i)(?:\blen\(.*\)|(?:len|length|size|count)(?:\(\))?)$")
# values that are almost never equal, and bounds where one more or less does no harm
_VAGUE = re.compile(
    r"\d\.\d|\b(?:time|clock|random|now|elapsed|deadline|monotonic|perf_counter|Date)\b|NaN|(?i:timeout|buf|capacity|\bcap\("
    r"|chunk|warn|threshold)| & |indexOf"
)


@dataclass(frozen=True)
class BoundaryMoved(Operator):
    """A comparison of order between two values lets one value more through, or one less."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("comparison"):
            sign = operator_of(node)
            if sign is None or sign.text not in _MOVED or not code.adds(node):
                continue
            left, right = node.parts
            if code.around(node, "function") is None or _VAGUE.search(node.text):
                continue
            moved = _MOVED[sign.text]
            if _is_always_so(left, right, moved) or _is_guarded(code, node, moved) or _cuts_off(code, node):
                continue
            middle = node.source[left.end : right.start].decode()
            plain = not any("\n" in one or "#" in one or "//" in one for one in (left.text, middle, right.text))
            plain = plain and not any(_is_literal(code, one) for one in node.parts)
            safe = (mirrored(node, sign),)
            fits = plain and not _tested_by(code, node, "loop")
            yield Plant((Edit(sign.start, sign.end, moved),), _told(code, node, moved), safe if fits else ())


def _is_literal(code: Code, node: Node) -> bool:
    """Whether it is a literal, which authors write on the right."""
    literals = ("unary_operator", "unary_expression", "character_literal", "rune_literal", "char_literal")
    return code.is_a(node, "number") or code.is_a(node, "string") or node.kind in literals


def _is_always_so(left: Node, right: Node, moved: str) -> bool:
    """Whether nothing lies at the bound: `len(x) >= 0`, and "if there are any, do it for each" for `n > 0`."""
    if "0" not in (left.text, right.text):
        return False
    size = left if right.text == "0" else right
    none_left_out = (">=", "<") if size is left else ("<=", ">")  # `n > 0` and `n <= 0` were moved
    return _LENGTH.search(size.text[-200:]) is not None or moved in none_left_out


def _is_guarded(code: Code, node: Node, moved: str) -> bool:
    """Whether others decide at the bound, as in `n >= 1 && x[0] == y`, or a `not` turns what the sentence would say.

    A round too many whose bound is `n - 1` looks ahead; scripts then read what is undefined and is equal to nothing.
    """
    chain = list(takewhile(lambda one: code.is_a(one, "both") or "parenthes" in one.kind, node.above()))
    above = chain[-1].parent if chain else node.parent
    guarded = any(sign.text in BOTH for one in chain if (sign := operator_of(one)) is not None)
    fixed = any(_is_literal(code, one) for one in node.parts)  # a length that the next operand goes into
    if code.is_a(above, "not") or (guarded and ("=" not in moved or fixed)):
        return True
    scripts = code.tree.grammar in ("javascript", "typescript", "tsx")
    return scripts and "=" in moved and any(code.is_a(one, "arithmetic") for one in node.parts)


def _cuts_off(code: Code, node: Node) -> bool:
    """Whether the smaller or larger of two is kept, or a value is cut at the bound: at the bound all is the same."""
    branch = _tested_by(code, node, "if")
    if branch is None and node.parent is not None and node.parent.kind in _TERNARY:
        both = "\n".join(f"return {one.text}" for one in node.parent.parts if one is not node)
    elif branch is not None:
        both = "\n".join(one.text for one in (branch.get("consequence"), branch.get("alternative")) if one is not None)
    else:
        return False
    left, right = (re.escape(one.text) for one in node.parts)
    kept = rf"(?:\breturn |= )(?:{left}|{right})\s*(?:;|$|}})"
    cut = (
        rf"(?:\.\.=?|:)\s*{right}\s*\]|\[\s*{right}\s*(?:\.\.|:)|(?i:slice|sub\w*|truncate|take|min|max)\([^)]*{right}"
    )
    return re.search(f"{kept}|{cut}", both, re.MULTILINE) is not None


def _told(code: Code, node: Node, moved: str) -> str:
    left, right = node.parts
    way = "more" if "=" in moved else "less"
    values = {"wrong": quoted(f"{left.text} {moved} {right.text}"), "left": quoted(left), "right": quoted(right)}
    if _tested_by(code, node, "loop") is not None:
        return tell("boundary_moved", f"loop_{way}", **values)
    branch = _tested_by(code, node, "if")
    if branch is None:
        return tell("boundary_moved", way, **values)
    deed = does(code, branch.get("consequence"))
    return tell("boundary_moved", f"if_{way}", deed=deed if way == "more" else _plain(deed), **values)


def _plain(deed: str) -> str:
    """A deed after "does not": "return `None`" for "returns `None`"."""
    verb, _, rest = deed.partition(" ")
    return f"{_PLAIN.get(verb, verb.removesuffix('s'))} {rest}".strip()


def _tested_by(code: Code, node: Node, role: str) -> Node | None:
    """The statement of a role in whose condition a node stands."""
    for one in (node, *node.above()):
        if one.field == "condition" and one.parent is not None:
            held = one.parent if one.parent.kind != "for_clause" else one.parent.parent
            return held if code.is_a(held, role) else None
        if role == "loop" and one.parent is not None and one.parent.kind == "for_statement" and one.field != "body":
            return one.parent
        if code.is_a(one, "function"):
            return None
    return None
