"""Let in what a function cannot deal with: no check of a parameter at its start.

Source: ours; "missing check of a parameter" of ODC's class checking (Chillarege et al., TSE 1992).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.records import RequiredContext
from reviewgauge.operators.code.conditions import mirrored
from reviewgauge.operators.code.guards import guard, in_front
from reviewgauge.operators.code.names import says
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant
from reviewgauge.operators.code.sentences import quoted, tell, where
from reviewgauge.repo.syntax.tree import Node

_ORDER = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class MissingValidation(Operator):
    """A function does not turn away a value that is out of range, empty or of the wrong kind."""

    needs: ClassVar[RequiredContext] = RequiredContext.FILE

    @override
    def plants(self, code: Code) -> Iterator[Plant]:
        for node in code.nodes("if"):
            taken = in_front(code, node)
            found = guard(code, node) if taken else None
            if found is None:
                continue
            text = found.condition.text
            word = next((one for one in found.words if one in taken), "")
            typed = code.tree.grammar == "typescript" and says("guard", "types", text)  # it narrows a type
            if not word or typed or says("guard", "null", text) or says("path", "checked", text):
                continue
            values = {"where": where(code, node), "condition": quoted(text), "use": quoted(found.use)}
            body = tell("missing_validation", "accepted", word=word, **values)
            yield Plant((found.gone,), body, _other_way(code, found.condition))


def _other_way(code: Code, condition: Node) -> tuple[Edit, ...]:
    """The same check with its sides exchanged, where it compares two things by order."""
    sign = next((one for one in condition.children if one.text in _ORDER), None)
    fixed = code.is_a(condition.parts[-1], "number")  # `0 > count` would stand out
    fits = sign is not None and not fixed and len(condition.parts) == 2 and code.adds(condition)
    return (mirrored(condition, sign),) if fits and sign is not None else ()
