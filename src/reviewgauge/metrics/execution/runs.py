"""Runs of tests on a change, as it is and with edits, each made once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from reviewgauge.contexts.code.store import keep_arrays, kept_indexes, read_arrays
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, groups_of
from reviewgauge.metrics.execution.worth import tests_worth
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.testing.suite import (
    NOT_STARTED,
    FixTests,
    SuiteRun,
    SuiteRunner,
    TestCommand,
    changed_tests,
    test_names,
)

TIMES = 3  # the untouched change is tested so often: what differs is flaky
COMMAND = "the command"  # stands for the tests of a command that names none
_SLOT = "tests-"  # in the cache of indexes
_ALL = FixTests((), (), ())


def failing(run: SuiteRun) -> frozenset[str]:
    """The failing tests of a run."""
    return frozenset(test_names(run.failing) or ([COMMAND] if run.result == "fail" else []))


def usual_seconds() -> tuple[int, float]:
    """How many runs are remembered, and how long they took on average; (0, 0.0) where none is."""
    names = [file.stem for file in (kept_indexes() or ("", []))[1] if file.stem.startswith(_SLOT)]
    found = [run.seconds for name in names if (run := _recall(name)) is not None]
    return len(found), sum(found) / max(1, len(found))


def _recall(name: str) -> SuiteRun | None:
    """A run that is kept; None where there is none that can be read."""
    known = read_arrays(name) or {}
    with suppress(BadInput):
        return parse_record(SuiteRun, known["run"].tobytes(), name) if "run" in known else None
    return None


@dataclass(frozen=True)
class Remembered:
    """Runs tests, or reads what an earlier call found; nothing is run twice, also by a process that was killed."""

    command: TestCommand

    @cached_property
    def _runner(self) -> SuiteRunner:
        return self.command.runner()

    @cached_property
    def _key(self) -> tuple[str, ...]:
        return (*self.command.key("useful", "3"), *self.command.installed())

    def run(
        self,
        repository: Repository,
        commit: str,
        fix: str,
        tests: FixTests,
        *,
        edits: Mapping[str, bytes],
        time: int,
    ) -> SuiteRun:
        """One run. What says nothing of the code is not kept: the machine may lack something until next time."""
        contents = (part for path in sorted(edits) for part in (path.encode(), edits[path]))
        names = [*self._key, commit, fix, *tests.run, str(time)]
        key = hashlib.sha256()
        for part in (*(name.encode() for name in names), *contents):
            key.update(b"%d:" % len(part) + part)
        slot = f"{_SLOT}{key.hexdigest()[:40]}"
        if (known := _recall(slot)) is not None:
            return known
        found = self._runner.run(repository, commit, fix or commit, tests, edits)
        if found.result == NOT_STARTED and edits:
            raise UserError(f"{NOT_STARTED}: {self.command.test}", remedy="check the sandbox and what `visible` names")
        if found.ran or (found.result.startswith("the command ") and found.result != NOT_STARTED):
            keep_arrays(slot, {"run": np.frombuffer(found.to_line(), dtype=np.uint8)})
        return found


@dataclass(frozen=True)
class Untouched:
    """What one set of tests does on the untouched change: what fails each time, and what differs (`flaky`).

    `problem` says why nothing is known; `speaks`: it prints something.
    """

    failing: frozenset[str]
    flaky: frozenset[str]
    problem: str
    speaks: bool
    seconds: float


@dataclass(frozen=True)
class Tried:
    """What edits do: of each finding the tests that no longer fail, and what breaks: tests, or why none ran."""

    repaired: Mapping[str, frozenset[str]]
    broken: tuple[str, ...]
    seconds: float


class TestedChange:
    """The sets of tests that judge a change: of each fix that a verified finding has, and all that exist (`""`)."""

    def __init__(self, case: Case, fixes: Remembered, everything: Remembered) -> None:
        """Raises UserError where the code of the change is not at hand."""
        assert case.change.git is not None and case.change.head is not None
        self.head, self.repository = case.change.head, Repository(Path(case.change.git))
        self._everything, self._fixes = everything, fixes
        self.tests: dict[str, FixTests] = {"": _ALL}
        self.fix_of: dict[str, str] = {}
        worth = tests_worth(case)
        for members in groups_of(case.references):
            own = [case.references[at] for at in members]
            if own[0].id in worth:
                fix = next((one.resolution.commit for one in own if one.resolution and one.resolution.commit), "")
                self.fix_of[own[0].id] = self._known(fix)
        self.worth = {name: frozenset(tests or (COMMAND,)) for name, tests in worth.items()}

    def _known(self, fix: str) -> str:
        """The fix, or "" where it changes no tests that can be run: then all tests judge."""
        try:
            tests = changed_tests(self.repository.changed_files(f"{fix}^", fix, LARGEST_FILE)) if fix else _ALL
        except UserError:
            return ""
        if tests.run:
            self.tests[fix] = tests
        return fix if tests.run else ""

    @cached_property
    def paths(self) -> frozenset[str]:
        """All files of the tests of fixes."""
        return frozenset(path for tests in self.tests.values() for path in (*tests.paths, *tests.gone))

    def run(self, fix: str, edits: Mapping[str, bytes], time: int = 1) -> SuiteRun:
        """One run of one set of tests."""
        runner = self._fixes if fix else self._everything
        return runner.run(self.repository, self.head, fix, self.tests[fix], edits=edits, time=time)

    def untouched(self, fix: str) -> Untouched:
        """What this set of tests does on the change as it is."""
        runs: list[SuiteRun] = []
        for time in range(1, TIMES + 1):
            runs.append(self.run(fix, {}, time))
            if not runs[-1].ran:
                break
        seen = [failing(run) for run in runs]
        always = frozenset.intersection(*seen)
        problem = next((run.result for run in runs if not run.ran), "")
        seconds = sum(run.seconds for run in runs)
        return Untouched(always, frozenset.union(*seen) - always, problem, any(run.output for run in runs), seconds)

    @cached_property
    def baselines(self) -> Mapping[str, Untouched]:
        """What the tests of each fix do on the untouched change."""
        return {fix: self.untouched(fix) for fix in dict.fromkeys(self.fix_of.values())}

    @property
    def problem(self) -> str:
        """Why the tests of a fix say nothing of the untouched change; empty where all do."""
        return next((one.problem for one in self.baselines.values() if one.problem), "")

    @cached_property
    def existing(self) -> Untouched:
        """What all tests do on the untouched change."""
        return self.baselines.get("") or self.untouched("")

    @cached_property
    def to_repair(self) -> Mapping[str, frozenset[str]]:
        """The tests of each finding that fail on the untouched change each time; findings without any are left out."""
        found = {name: self.worth[name] & self.baselines[fix].failing for name, fix in self.fix_of.items()}
        return {name: tests for name, tests in found.items() if tests}

    def attempt(self, edits: Mapping[str, bytes]) -> Tried:
        """Run everything with these files. A set of tests that says nothing without them says nothing with them."""
        repaired: dict[str, frozenset[str]] = {}
        broken: list[str] = []
        seconds = 0.0
        for fix, before in {**self.baselines, "": self.existing}.items():
            if before.problem:
                continue
            run = self.run(fix, edits)
            seconds += run.seconds
            mute = run.result == "pass" and before.speaks and not run.output
            if not run.ran or mute:
                broken.append("the tests end without a word" if mute else run.result)
                continue
            now = failing(run)
            broken += sorted(now - before.failing - before.flaky)
            own = {name: tests - now for name, tests in self.to_repair.items() if self.fix_of[name] == fix}
            repaired |= {name: tests for name, tests in own.items() if tests}
        return Tried(repaired, tuple(dict.fromkeys(broken)), seconds)
