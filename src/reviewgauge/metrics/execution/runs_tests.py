"""A metric that runs the tests of a change, always in a sandbox: what it runs is the code of others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Review, Task
from reviewgauge.core.specs import plugin_name
from reviewgauge.core.trust import ProgramText
from reviewgauge.metrics.execution.by_hits import ByHits
from reviewgauge.metrics.execution.runs import TIMES, Remembered, TestedChange, usual_seconds
from reviewgauge.metrics.execution.worth import tests_worth
from reviewgauge.repo.guarded.sandbox import Sandbox
from reviewgauge.repo.testing.suite import TestCommand


@dataclass(frozen=True)
class RunsTests(ByHits, TestCommand):
    """`test` runs the tests of fixes, `suite` all of them (by default `test` without its `{files}`)."""

    runs_programs: ClassVar[bool] = True

    test: ProgramText = ""
    sandbox: Sandbox = "bwrap"
    suite: ProgramText = ""

    def __post_init__(self) -> None:
        """Raises ValueError for a command that cannot be read, and without a sandbox: suggestions are foreign code."""
        super().__post_init__()
        for command in filter(None, (self.test, self.suite)):
            self._command(command)
        if not self.sandbox.startswith("bwrap"):
            raise ValueError("suggestions are the code of others: sandbox must be bwrap or bwrap+network")

    @cached_property
    def _runners(self) -> tuple[Remembered, Remembered]:
        if not self.test:
            raise UserError(
                f"{plugin_name(self)} needs your test command",
                remedy=f"{plugin_name(self)}(test='python -m pytest -q {{files}}'), or `test` in reviewgauge.toml",
            )
        return Remembered(self._command(self.test)), Remembered(self._command(self.suite or self.test))

    def _command(self, words: str) -> TestCommand:
        return TestCommand(words, self.seconds, self.fails, self.env, self.sandbox, self.visible)

    def unmeasurable(self, case: Case) -> str:
        """Only a change whose code is at hand can be tested."""
        if case.change.task is not Task.REVIEW:
            return f"the task is {case.change.task}, not review"
        if case.change.git is None or case.change.head is None:
            return "the code of the change is not at hand"
        return ""

    def change(self, case: Case) -> TestedChange:
        """The change and what tests it; nothing runs yet. Raises UserError for no command, program or sandbox."""
        return TestedChange(case, *self._runners)

    def edits_of(self, review: Review) -> int:
        """How many sets of edits to one change its review leads to, at most."""
        raise NotImplementedError

    def dry_run(self, items: Iterable[tuple[Case, Review]]) -> str:
        """How many runs of tests there are at most, and about how long they take."""
        untouched: dict[str, int] = {}
        runs = 0
        for case, review in items:
            if self.unmeasurable(case):
                continue
            sets, edits = len(tests_worth(case)), self.edits_of(review)
            untouched[case.id] = max(untouched.get(case.id, 0), TIMES * (sets + bool(edits)))
            runs += edits * (sets + 1)
        runs += sum(untouched.values())
        timed, seconds = usual_seconds()
        minutes = (
            f"about {runs * seconds / 60:.0f} minutes, as the {timed:,} runs in the cache took {seconds:.1f} s each"
        )
        return f"at most {runs:,} runs of tests; {minutes if timed else 'none was timed here yet'}"
