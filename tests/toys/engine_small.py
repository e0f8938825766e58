"""Small real plug-ins and cases for the engine's tests, and programs that the tests run as other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.protocols import Measured, Metric, Reviewer
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span, Usage
from reviewgauge.core.results import Bounds, Drop, Failed, Failure, FailureKind, Outcome
from reviewgauge.engine.review import review
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.chat.client import ChatClient, chat_model
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.reviewers.prompt import Prompt

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


def pause() -> None:
    """Sleep $ECHO_DELAY seconds; with $ECHO_GATE=FILE, add a byte to it, and after $ECHO_FREE bytes wait for FILE.open.

    So a test knows how many items are being worked on, and lets them go on when it has done what it wanted.
    """
    if gate := os.environ.get("ECHO_GATE"):
        with Path(gate).open("ab") as file:
            file.write(b".")
            file.flush()
            place = file.tell()
        while place > int(os.environ.get("ECHO_FREE", "0")) and not Path(f"{gate}.open").exists():
            time.sleep(0.01)
    time.sleep(float(os.environ.get("ECHO_DELAY", "0")))


@dataclass(frozen=True)
class Echo(Reviewer):
    """Says the title of the change, after $ECHO_DELAY seconds (no parameter: the pace is not part of who it is)."""

    words: str = "look at"
    needs_diff: ClassVar[bool] = False

    @property
    def system(self) -> str:
        return "echo"

    def review(self, change: Change) -> Review:
        pause()
        comment = Comment(id="c", body=f"{self.words} {change.title}", span=Span(path="a.py", start=2))
        usage = Usage(calls=1, tokens_in=10, tokens_out=2, dollars=0.5)
        return Review(case="unset", system="unset", comments=(comment,), usage=usage)


def patched_cases(count: int) -> list[Case]:
    """Cases whose change adds one line that the fake model has something to say about, another one each."""
    found = []
    for case in make_cases(count):
        file = ChangedFile(path="a.py", patch=f"@@ -1,2 +1,3 @@\n a\n+eval({case.id[-3:]})\n c\n")
        found.append(case.model_copy(update={"change": case.change.model_copy(update={"files": (file,)})}))
    return found


@dataclass(frozen=True)
class Asking(Reviewer):
    """The prompt reviewer, after $ECHO_DELAY seconds. Changes whose title ends in `broken` break it in that way."""

    model: str = "fake:example"
    broken: str = ""

    @property
    def system(self) -> str:
        return "asking"

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def review(self, change: Change) -> Review:
        pause()
        found = Prompt(self.model).review(change)
        if self.broken and change.title.endswith(self.broken):
            raise Failed(FailureKind.REFUSAL, "it will not", remedy="ask another model", raw="no")
        return found


@dataclass(frozen=True)
class Halted(Reviewer):
    """Stops the run at the change whose title ends in `at`."""

    at: str = "4"
    how: str = "budget"
    needs_diff: ClassVar[bool] = False

    def review(self, change: Change) -> Review:
        if change.title.endswith(self.at):
            if self.how == "extra":
                raise MissingExtra("openai", "models")
            raise Failed(FailureKind.BUDGET, "the budget is spent", remedy="--budget 2", stops=True)
        return Review(case="x", system="x")


@dataclass(frozen=True)
class Voting(Metric):
    """Asks a model `votes` times about each review. Cases that end in `fail` fail, those in `halt` stop the run."""

    votes: int = 3
    together: bool = False
    fail: str = "-"
    halt: str = "-"
    headline: ClassVar[str] = "votes"

    @property
    def models(self) -> tuple[str, ...]:
        return ("fake:example",)

    @property
    def joint(self) -> bool:
        return self.together

    def parts(self, case: Case, review: Review) -> Measured | str:
        request = Request(messages=(user(f"{case.id} {review.system} {review.attempt}"),))
        for trial in range(1, self.votes + 1):
            chat_model("fake:example").ask(request, trial=trial)
        if case.id.endswith((self.fail, self.halt)):
            raise Failed(FailureKind.REFUSAL, "no", stops=case.id.endswith(self.halt))
        return Measured(parts={"votes": float(self.votes)})


@dataclass(frozen=True)
class Pausing(Voting):
    """One vote, after $ECHO_DELAY seconds."""

    votes: int = 1

    def parts(self, case: Case, review: Review) -> Measured | str:
        pause()
        return super().parts(case, review)


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


def slowly(number: int) -> int:
    time.sleep(0.1)
    return number


def crash_kind(failure: object) -> FailureKind | None:
    return failure.kind if isinstance(failure, Failure) else None


def timeless(outcome: Outcome) -> Outcome:
    """The outcome without its seconds, which differ from run to run."""
    if outcome.review is None:
        return outcome
    usage = outcome.review.usage.model_copy(update={"seconds": 0.0})
    return outcome.model_copy(update={"review": outcome.review.model_copy(update={"usage": usage})})


def main(arguments: Sequence[str]) -> int:
    """`engine_small.py FOLDER CASES DELAY [model]`, for tests that kill it; UserErrors as on the command line."""
    folder, count, asks = arguments[0], int(arguments[1]), len(arguments) > 3
    os.environ["ECHO_DELAY"] = arguments[2]
    reviewer: Reviewer = Asking() if asks else Echo()
    executor: Executor = Threads(8) if asks else Serial()
    cases = patched_cases(count) if asks else make_cases(count)
    try:
        with (
            RunFolder.create(folder, dataset="small", dataset_path="", cases=cases) as run,
            ChatClient(ChatSettings(), run.append_call),
        ):
            print("started", flush=True)
            totals = review(run, reviewer, executor=executor, attempts=2)
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
