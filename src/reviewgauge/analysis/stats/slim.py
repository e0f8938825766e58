"""Cases and scores without their texts and evidence: what tables are made from, held in memory as a whole."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.results import Bounds, Failure, Parts, Score

T = TypeVar("T")
_MOST = 5_000  # values that are kept once each: with more, few of them are equal
_CASE = {"id", "change", "references", "verdict", "facts"}


@dataclass(frozen=True, slots=True)
class SlimScore:
    """What tables need of a `Score`; `broken` are the accounting identities that its matching breaks."""

    case: str
    system: str
    attempt: int
    metric: str
    benchmark: str
    parts: Parts | None
    facets: Mapping[str, Mapping[str, Parts]]
    failure: Failure | None
    bounds: Bounds | None
    pins: Mapping[str, str]
    fake: bool
    broken: tuple[str, ...]


class Slimmer:
    """Makes slim records, which share what is equal in many of them: repositories, facets, pins."""

    def __init__(self) -> None:
        self._known: dict[Hashable, object] = {}
        self._rows: dict[Hashable, _Row] = {}  # of one score

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        """One value for equal keys."""
        if (known := self._known.get(key)) is None:
            known = make()
            if len(self._known) < _MOST:
                self._known[key] = known
        return known  # type: ignore[return-value]  # made under this key

    def case(self, case: Case) -> Case:
        """The case with its id, repository, facts, verdict, and how each finding is founded; without any text."""
        founded = tuple((one.tier, one.origin) for one in case.references)
        repo = case.change.repo
        return Case.model_construct(
            _CASE,
            id=sys.intern(case.id),
            change=self._once(("repo", repo), lambda: Change(repo=repo)),
            references=self._once(("references", founded), lambda: tuple(map(_outline, case.references))),
            verdict=case.verdict,
            facts={sys.intern(name): self._fact(value) for name, value in case.facts.items()},
        )

    def score(self, score: Score) -> SlimScore:
        """The score without its evidence."""
        self._rows.clear()
        return SlimScore(
            case=sys.intern(score.case),
            system=sys.intern(score.system),
            attempt=score.attempt,
            metric=sys.intern(score.metric),
            benchmark=sys.intern(score.benchmark),
            parts=None if score.parts is None else self._parts(score.parts),
            facets=self._facets(score.facets),
            failure=score.failure,
            bounds=score.bounds,
            pins=self._once(("pins", *score.pins.items()), lambda: score.pins),
            fake=score.fake,
            broken=score.matching.broken if score.matching is not None else (),
        )

    def _fact(self, value: Fact) -> Fact:
        return sys.intern(value) if isinstance(value, str) else value

    def _parts(self, parts: Parts) -> Parts:
        """The parts; those of a facet are often all that a score has."""
        key = tuple(parts.items())
        if (row := self._rows.get(key)) is None:
            names = self._once(("names", *parts), lambda: tuple(parts))
            row = self._rows[key] = _Row(names, array("d", parts.values()))
        return row

    def _facets(self, facets: Mapping[str, Mapping[str, Parts]]) -> Mapping[str, Mapping[str, Parts]]:
        key = tuple((name, *((value, *parts.items()) for value, parts in of.items())) for name, of in facets.items())
        return self._once(
            ("facets", key),
            lambda: {name: {value: self._parts(parts) for value, parts in of.items()} for name, of in facets.items()},
        )


class _Row(Mapping[str, float]):
    """Numbers by name, in a tenth of the memory of a dict: the names are shared."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: tuple[str, ...], values: array[float]) -> None:
        self._names, self._values = names, values

    @override
    def __getitem__(self, name: str) -> float:
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    @override
    def items(self) -> ItemsView[str, float]:
        return dict(zip(self._names, self._values, strict=True)).items()  # the inherited one looks each name up

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @override
    def __len__(self) -> int:
        return len(self._names)


def _outline(reference: Comment) -> Comment:
    return Comment(id=reference.id, body="", tier=reference.tier, origin=reference.origin)
