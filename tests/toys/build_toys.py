"""Small stages for the tests of builds: a source of numbered changes, and steps whose work can be counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.building import BuildContext, Candidate, CardSection, Decision
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.specs import short_spec


@dataclass(frozen=True)
class Count(Stage):
    """`n` changes, numbered; those divisible by `reviewed` come with a review."""

    n: int = 10
    reviewed: int = 0

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop]:
        yield from items
        for number in range(1, self.n + 1):
            context.progress("counting", number, self.n)
            case = Case(id=f"case-{number}", change=Change(repo="acme/shop", title=str(number)), facts={"n": number})
            said = (Review(case="x", system="bot"),) if self.reviewed and number % self.reviewed == 0 else ()
            yield Candidate(case=case, reviews=said)
        context.report(CardSection(by="count", title="Counting", figures={"counted": self.n}))


@dataclass(frozen=True)
class Given(Stage):
    """These candidates."""

    items: tuple[Candidate, ...] = ()

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate]:
        yield from self.items


@dataclass(frozen=True)
class Even(Stage):
    """Keeps even numbers."""

    def keep(self, case: Case) -> Case | str:
        return case if int(case.change.title) % 2 == 0 else "odd"


@dataclass(frozen=True)
class Halves(Stage):
    """Makes two of each."""

    def each(self, item: Candidate, context: BuildContext) -> Iterator[Candidate | Drop]:
        for part in ("a", "b"):
            yield item.with_case(id=f"{item.id}-{part}")


@dataclass(frozen=True)
class Ponder(Stage):
    """A costly step: writes down in the file `log` what it worked on, and breaks at the numbers it is told to."""

    costly = True
    log: str = ""
    breaks: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    def each(self, item: Candidate, context: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        number = int(item.case.change.title)
        if number in self.breaks and not Path(self.log + ".mended").exists():
            raise Failed(FailureKind.UNREADABLE, "no answer could be read")
        if number in self.ends and not Path(self.log + ".mended").exists():
            raise Failed(FailureKind.REQUEST, "the key is wrong", stops=True)
        with Path(self.log).open("a") as file:
            file.write(f"{number}\n")
        yield Decision(item=item.id, by=short_spec(self), decided="yes", shown=f"=number {number}")
        yield item.with_facts({"pondered": True})


@dataclass(frozen=True)
class Crooked(Stage):
    """Has a bug at one number."""

    at: int = 3

    def keep(self, case: Case) -> Case | str:
        return str(1 / (int(case.change.title) - self.at)) and case


@dataclass(frozen=True)
class Middle(Stage):
    """Needs the whole stream twice: keeps what is not the largest."""

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop]:
        largest = max((int(item.case.change.title) for item in items), default=0)
        for item in items:
            yield item if int(item.case.change.title) < largest else self.drop(item.id, "the largest", item.id)
