"""Operators for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reviewgauge.operators.code.operator import Code, Operator, Plant


@dataclass(frozen=True)
class Broken(Operator):
    """It has a bug."""

    def plants(self, code: Code) -> Iterable[Plant]:
        raise IndexError(code.tree.path)
