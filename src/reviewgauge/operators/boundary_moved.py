"""Move the bound of a comparison by one: `<` for `<=` and the like.

Source: ours; "relational operator replacement" of mutation testing (Offutt et al., TOSEM 1996), only where it moves a
bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import Severity
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant
from reviewgauge.repo.syntax.tree import Node

_MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class BoundaryMoved(Operator):
    """A comparison of order between two values lets one value more through, or one less."""

    severity: ClassVar[Severity] = Severity.HIGH

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("comparison"):
            sign = next((child for child in node.children if child.text in _MOVED), None)
            if sign is None or len(node.parts) != 2:
                continue
            left, right = node.parts
            moved = _MOVED[sign.text]
            wrong = f"{left.text} {moved} {right.text}"
            yield Plant(
                edits=(Edit(sign.start, sign.end, moved),),
                body=_told(wrong, left, right, moved),
                safe=(Edit(node.start, node.end, f"{right.text} {_MIRRORED[sign.text]} {left.text}"),),
            )


def _told(wrong: str, left: Node, right: Node, moved: str) -> str:
    what = "also holds" if "=" in moved else "does not hold"
    return (
        f"Off by one: `{wrong}` {what} when `{left.text}` equals `{right.text}`, and the bound is wrong by one there."
    )
