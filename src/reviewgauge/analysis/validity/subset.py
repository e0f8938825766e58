"""One part of the rows of a report: those where facts, or the system, have the values that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reviewgauge.analysis.validity.rows import ReviewTable
from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.errors import UserError

_MOST_NAMED = 20  # values of a fact that an error lists
_LONGEST = 80  # characters of a folder's name
_PLAIN = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class RowFilter:
    """Facts and the values that they may have, by fact; a row is in where each fact has one of its values."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, asked: Mapping[str, Fact] | Sequence[str] | str) -> RowFilter | None:
        """`{"system": "Auger"}` or `["system=Auger"]`; a fact that is named again may have either value. None for none.

        Raises UserError for text without a `=`.
        """
        found: dict[str, set[str]] = {}
        for fact, value in asked.items() if isinstance(asked, Mapping) else map(_pair, _words(asked)):
            found.setdefault(fact, set()).add(str(value))
        return cls(tuple((fact, tuple(sorted(found[fact]))) for fact in sorted(found))) if found else None

    @property
    def name(self) -> str:
        """`language = java or python and system = Auger`."""
        return " and ".join(f"{fact} = {' or '.join(values)}" for fact, values in self.values)

    @property
    def folder(self) -> str:
        """`where-language-java+python-system-Auger`: a name that any file system takes, another for each slice."""
        words = [word for fact, values in self.values for word in (fact, *values)]
        named = "-".join(f"{fact}-{'+'.join(values)}" for fact, values in self.values)
        if len(named) <= _LONGEST and all(_PLAIN.fullmatch(word) and word.strip(".") == word for word in words):
            return f"where-{named}"
        short = re.sub(r"[^\w.+-]+", "-", named)[:_LONGEST].strip("-.")
        return f"where-{short}-{content_id(self.name, length=8)}"

    def narrow(self, bench: ReviewTable) -> ReviewTable:
        """The bench with only these rows chosen. Raises UserError for a fact, a value or a mixture that no row has."""
        chosen = np.ones(len(bench.keys), dtype=np.bool_)
        for fact, values in self.values:
            if fact not in bench.known_facts:
                raise UserError(f"no case has the fact {fact!r}", remedy=f"there are: {_listed(bench.known_facts)}")
            there = bench.shown(fact)
            for value in values:
                if value not in there:
                    known = sorted(set(there))
                    raise UserError(f"no review has {fact} = {value}", remedy=f"there are: {_listed(known)}")
            chosen &= np.isin(np.array(there, dtype=object).astype(str), values)
        if not chosen.any():
            raise UserError(f"no review has {self.name}", remedy="each is there, but not all of them together")
        return replace(bench, chosen=chosen, where=self.name)


def _words(asked: Sequence[str] | str) -> Iterable[str]:
    return [asked] if isinstance(asked, str) else asked


def _pair(text: str) -> tuple[str, str]:
    fact, equals, value = text.partition("=")
    if not equals or not fact.strip() or not value.strip():
        raise UserError(f"{text!r} is not FACT=VALUE", remedy="such as system=Auger or language=java")
    return fact.strip(), value.strip()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
