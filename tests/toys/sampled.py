"""Candidates with facts, for the tests of the stages that draw samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewgauge.core.base import Fact
from reviewgauge.core.building import BuildContext, Candidate, CardSection, Decision
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.results import Drop


def candidate(
    name: str, verdict: bool | None = None, repo: str = "acme/shop", said: int = 0, **facts: Fact
) -> Candidate:
    """A candidate with `said` references."""
    references = tuple(Comment(id=f"r{n}", body="why?") for n in range(said))
    case = Case(id=name, change=Change(repo=repo), verdict=verdict, references=references, facts=facts)
    return Candidate(case=case)


class Stream:
    """Candidates that are made anew each time they are gone through, as a build's are."""

    def __init__(self, items: Iterable[Candidate]) -> None:
        self._lines = [item.to_line() for item in items]
        self.passes = 0

    def __iter__(self) -> Iterator[Candidate]:
        self.passes += 1
        for line in self._lines:
            yield Candidate.model_validate_json(line)


class Drawn:
    """What a stage made of a stream."""

    def __init__(self, stage: Stage, items: Iterable[Candidate], context: BuildContext) -> None:
        made: list[Candidate | Drop | Decision] = list(stage.apply(Stream(items), context))
        self.kept = [one for one in made if isinstance(one, Candidate)]
        self.ids = [one.id for one in self.kept]
        self.drops = {one.item: one for one in made if isinstance(one, Drop)}
        self.reasons = sorted({drop.reason for drop in self.drops.values()})
        assert len(made) == len(self.kept) + len(self.drops)


def section(sections: Iterable[CardSection], title: str) -> CardSection:
    """The section of a card with a title."""
    return next(one for one in sections if one.title == title)
