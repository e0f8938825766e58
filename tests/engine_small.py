"""Small real plug-ins and cases for the engine's tests, and programs that the tests run as other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewbench.core.errors import BadInput, UserError
from reviewbench.core.protocols import Measured, Metric, Reviewer
from reviewbench.core.records import Case, Change, ChangedFile, Comment, Review, Span, Usage
from reviewbench.core.results import Bounds, Drop, Failure, FailureKind, Outcome
from reviewbench.engine.executors import Serial
from reviewbench.engine.review import review
from reviewbench.engine.store import RunFolder

PATCH = "@@ -1,2 +1,3 @@\n a\n+b\n c\n"


def make_case(number: int, references: int = 1, diff: bool = True) -> Case:
    name = f"case-{number:03d}"
    files = (ChangedFile(path="a.py", patch=PATCH),) if diff else ()
    return Case(
        id=name,
        change=Change(repo="o/r", title=name, files=files),
        references=tuple(
            Comment(id=f"r{n}", body=f"finding {n} of {name}", span=Span(path="a.py", start=2 + n))
            for n in range(references)
        ),
        facts={"language": "Python", "year": 2024},
    )


def make_cases(count: int, references: int = 1) -> list[Case]:
    return [make_case(number, references) for number in range(count)]


@dataclass(frozen=True)
class Echo(Reviewer):
    """Says the title of the change, after $ECHO_DELAY seconds (no parameter: the pace is no part of who it is)."""

    words: str = "look at"
    needs_diff: ClassVar[bool] = False

    @property
    def system(self) -> str:
        return "echo"

    def review(self, change: Change) -> Review:
        time.sleep(float(os.environ.get("ECHO_DELAY", "0")))
        comment = Comment(id="c", body=f"{self.words} {change.title}", span=Span(path="a.py", start=2))
        usage = Usage(calls=1, tokens_in=10, tokens_out=2, dollars=0.5)
        return Review(case="unset", system="unset", comments=(comment,), usage=usage)


@dataclass(frozen=True)
class Clumsy(Reviewer):
    """Breaks in another way on each change; which way stands in the title. A file makes it work again."""

    mended: str = ""
    needs_diff: ClassVar[bool] = False

    def review(self, change: Change) -> Review:
        assert change.id is not None
        number = int(change.title[-3:]) % 7
        if number and not (self.mended and os.path.exists(self.mended)):  # noqa: PTH110
            break_somehow(number)
        return Review(case=change.id, system="x", comments=(Comment(id="c", body="fine"),))


def break_somehow(number: int) -> None:
    if number == 1:
        raise TimeoutError("too slow")
    if number == 2:
        raise ConnectionResetError("gone")
    if number == 3:
        raise BadInput("answer.json", "is not valid JSON")
    if number == 4:
        raise UserError("no key", remedy="set one")
    if number == 5:
        raise ZeroDivisionError("1/0\n\x1b[31mred")
    raise ValueError("odd")


@dataclass(frozen=True)
class Unprepared(Reviewer):
    """Cannot start."""

    needs_diff: ClassVar[bool] = True

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        raise UserError("the file my.sarif does not exist")

    def review(self, change: Change) -> Review:
        raise AssertionError("never reached")


@dataclass(frozen=True)
class Length(Metric):
    """The share of comments that name their change, with bounds; `version` is a pin."""

    version: str = "1"
    headline: ClassVar[str] = "precision"

    def pins(self) -> Mapping[str, str]:
        return {"version": self.version}

    def parts(self, case: Case, review: Review) -> Measured | str:
        if case.id.endswith("5"):
            return "ends in five"
        if case.id.endswith("6"):
            raise ZeroDivisionError("six")
        if case.id.endswith("7"):
            return Measured(parts={"right": float("nan"), "said": 1.0})
        return Measured(parts={"right": 1.0, "said": float(len(review.comments))})

    def bounds(self, case: Case) -> Bounds:
        return Bounds(worst={"right": 0.0, "said": 1.0}, best={"right": 1.0, "said": 1.0})


@dataclass(frozen=True)
class Together(Metric):
    """How many systems there are on the case: depends on the whole batch."""

    headline: ClassVar[str] = "systems"

    @property
    def joint(self) -> bool:
        return True

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "needs the batch"

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        for case, _ in items:
            yield Measured(parts={"systems": float(sum(other.id == case.id for other, _ in items))})


@dataclass(frozen=True)
class Halting(Metric):
    """A batch that breaks after three items, or that refuses the whole run."""

    refuse: bool = False

    def parts(self, case: Case, review: Review) -> Measured | str:
        return Measured(parts={"n": 1.0})

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        if self.refuse:
            raise BadInput("weights.json", "is missing", remedy="fetch it")
        for case, found in items[:3]:
            yield self.parts(case, found)
        raise MemoryError("too big")


def square(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number * number


def die(number: int) -> int:
    if number == 2:
        os._exit(7)
    if number == 4:
        time.sleep(60)
    return number


def unpicklable(number: int) -> object:
    return (lambda: number) if number else 0


def crash_kind(failure: object) -> FailureKind | None:
    return failure.kind if isinstance(failure, Failure) else None


def timeless(outcome: Outcome) -> Outcome:
    """The outcome without its seconds, which differ from run to run."""
    if outcome.review is None:
        return outcome
    usage = outcome.review.usage.model_copy(update={"seconds": 0.0})
    return outcome.model_copy(update={"review": outcome.review.model_copy(update={"usage": usage})})


def main(arguments: Sequence[str]) -> int:
    """`engine_small.py FOLDER CASES DELAY`, for tests that kill it: the command line's handling of UserErrors."""
    folder, cases = arguments[0], int(arguments[1])
    os.environ["ECHO_DELAY"] = arguments[2]
    try:
        with RunFolder.create(folder, dataset="small", dataset_path="", cases=make_cases(cases)) as run:
            print("started", flush=True)
            totals = review(run, Echo(), executor=Serial(), attempts=2)
    except UserError as error:
        print(error, flush=True)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"done {totals.done} skipped {totals.skipped}", flush=True)
    return 0


if __name__ == "__main__":
    # As a terminal starts programs; whoever starts the tests in the background has them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
