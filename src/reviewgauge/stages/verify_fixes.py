"""Run the tests of each fix on the change that it mends: they verify its label, refute it, or tell nothing.

Source: SWE-bench (arXiv:2310.06770) takes a fix for real when a test fails before it and passes after it; that it has
to fail on the change under review, too, and not as it did before that, is ours (docs/guides/build.md).
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import ClassVar, NamedTuple

from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.core.building import RESULTS, BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Change, ChangedFile, Comment, FileStatus, Origin, Tier
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.core.trust import ProgramText
from reviewgauge.repo.git.folders import remove_tree, scratch_folder, write_files
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.guarded.run import Ended, ProcessLimits, run_guarded
from reviewgauge.repo.guarded.sandbox import (
    Sandbox,
    SandboxView,
    check_sandbox,
    clean_environment,
    find_program,
    needed,
    no_program,
)
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.repo.syntax.languages import is_test, language
from reviewgauge.stages.pull_requests.candidates import sort_findings

LEDGER = "tests.jsonl"
VERIFIED = "verified"
_KEY = ("verify_fixes", "2")  # of what is remembered; the number changes with what a run is


@dataclass(frozen=True)
class VerifyFixes(Stage):
    """Runs `test` (a program and its arguments, without a shell) for each fix that changes tests.

    `{files}` stands for the tests that the fix changes, `{here}` for the folder that you are in. They are laid over
    four checkouts, without later commits: of the fix, of the commit before it, of the change, and of the commit before
    that. A label becomes *verified* where a test fails before the fix, in whatever way not after it, and on the change
    with the same kind of error, but not so before the change. It leaves where all tests pass on the change: the defect
    is younger. Any other one stays as it was; the card and `tests.jsonl` say why. Failing tests are read from what
    pytest, unittest, Go, TAP, Jest, RSpec, cargo, Maven, Gradle, .NET and PHPUnit print.

    `fails` are the exit codes that mean failing tests. After `seconds`, or over 256 processes, a run is ended.
    `env` are the variables that are passed on; `sandbox` and `visible` are those of the reviewer `command`.
    """

    example: ClassVar[str] = "reviewgauge build . --test 'pytest -q {files}' -o bench"

    test: ProgramText
    seconds: float = 300.0
    fails: tuple[int, ...] = (1,)
    env: tuple[ProgramText, ...] = ("PATH",)
    sandbox: Sandbox = "auto"
    visible: tuple[ProgramText, ...] = ()

    def __post_init__(self) -> None:
        try:
            words = shlex.split(self.test)
        except ValueError as error:
            raise ValueError(f"test={self.test!r} cannot be read: {error}") from None
        if not words:
            raise ValueError("test must name a program, such as 'pytest -q {files}'")
        if not 0 < self.seconds < inf or not self.fails or 0 in self.fails:
            raise ValueError("seconds must be above 0, and fails must name exit codes other than 0")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The candidates, their labels verified where the tests say so. Raises UserError before anything is run."""
        words = tuple(shlex.split(self.test))
        if not find_program(words[0], self.env):
            raise no_program(words[0])
        if self.sandbox.startswith("bwrap"):
            check_sandbox()
        runner = SuiteRunner(words, self.fails, self.seconds, self.env, self.sandbox, self.visible)
        verifier = _Verifier(runner, (*_KEY, self.test, repr((self.fails, self.seconds, self.sandbox))), context)
        total = sum(bool(_fixes(item)) for item in items)
        for item in items:
            fixes = _fixes(item)
            verifier.changes += bool(fixes)
            context.progress("running the tests of fixes", verifier.changes, total)
            verdicts = {fix: verifier.verdict(item.id, item.case.change, fix) for fix in fixes}
            yield from sort_findings(self, item, partial(_judged, verdicts), _YOUNGER) if verdicts else (item,)
        context.report(verifier.section())
        with suppress(UserError):  # outside of a build there is no folder
            write_whole(context.folder / RESULTS / LEDGER, b"".join(entry.to_line() for entry in verifier.ledger))


def _fixes(item: Candidate) -> list[str]:
    """The commits of the fixes that the labels of a case come from."""
    return list(dict.fromkeys(fix for one in item.case.references if (fix := _fix_of(one))))


def _fix_of(reference: Comment) -> str | None:
    return reference.resolution.commit if reference.origin is Origin.FIX and reference.resolution else None


def _judged(verdicts: Mapping[str, Verdict], references: Sequence[Comment]) -> Sequence[Comment] | None:
    """A finding with what the tests say of it; None where they refute it."""
    verdict = verdicts.get(_fix_of(references[0]) or "")
    refuted = verdict is not None and verdict.outcome == _YOUNGER
    return None if refuted else [_marked(one, verdicts) for one in references]


def _marked(reference: Comment, verdicts: Mapping[str, Verdict]) -> Comment:
    found = verdicts.get(_fix_of(reference) or "")
    if found is None:
        return reference
    update: dict[str, object] = {"extra": {**reference.extra, "tests": found.detail or found.outcome}}
    if found.outcome == VERIFIED:
        update["tier"] = Tier.VERIFIED
    return reference.model_copy(update=update)


class Verdict(Record):
    """What the tests say of one label: `verified`, or why not, and the runs behind it. A line of the ledger."""

    case: str
    fix: str
    outcome: str
    detail: str = ""
    runs: Mapping[str, SuiteRun] = {}


@dataclass
class _Verifier:
    """Runs what no earlier build has run. `key` is everything but the commits that a result depends on."""

    runner: SuiteRunner
    key: tuple[str, ...]
    context: BuildContext
    ledger: list[Verdict] = field(default_factory=list)
    changes: int = 0

    def verdict(self, case: str, change: Change, fix: str) -> Verdict:
        """The verdict on the label of `change` that comes from `fix`."""
        runs: dict[str, SuiteRun] = {}
        outcome = self._outcome(change, fix, runs)
        detail = f"{_DETAIL}: {', '.join(_shown(runs)[:3])}" if outcome == VERIFIED else ""
        self.ledger.append(Verdict(case=case, fix=fix, outcome=outcome, detail=detail, runs=runs))
        return self.ledger[-1]

    def _outcome(self, change: Change, fix: str, runs: dict[str, SuiteRun]) -> str:
        if change.git is None or change.head is None:
            return "the code is not at hand"
        git = Path(change.git)
        repository = Repository(git if git.is_absolute() else self.context.folder / git)
        try:
            tests = changed_tests(repository.changed_files(f"{fix}^", fix, LARGEST_FILE))
            before = repository.run("rev-parse", "--verify", "--end-of-options", f"{fix}^").decode("ascii").strip()
        except UserError:
            return "the fix cannot be read"
        if not tests.run:
            return "the fix changes no tests"
        for name, commit in (("after the fix", fix), ("before the fix", before), ("on the change", change.head)):
            runs[name] = found = self._run(repository, commit, fix, tests)
            if not found.ran:
                return f"could not be tested {name}: {found.result.partition(':')[0]}"
            if name != "after the fix" and found.result == "pass":
                return _PASS[name]
            if name == "before the fix" and not _mended(runs):
                return _BOTH if found.failing else "the output names no failing test"
        shown = _shown(runs)
        if not shown:
            return _OTHERWISE
        if change.base is None:
            return VERIFIED
        runs["before the change"] = older = self._run(repository, change.base, fix, tests)
        return _OLDER if set(shown) <= set(older.failing) else VERIFIED

    def _run(self, repository: Repository, commit: str, fix: str, tests: FixTests) -> SuiteRun:
        key = (*self.key, fix, commit)
        if (known := self.context.recall(key)) is not None:
            return SuiteRun.model_validate_json(known)
        found = self.runner.run(repository, commit, fix, tests)
        # else the machine may lack something until next time
        if found.ran or commit != fix or "longer" in found.result:
            self.context.remember(key, found.to_line())
        return found

    def section(self) -> CardSection:
        """How many labels the tests speak for, and why not for the others."""
        outcomes = Counter(verdict.outcome for verdict in self.ledger)
        spoke = outcomes[VERIFIED] + sum(outcomes[reason] for reason in _SPEAKING)
        warnings = () if outcomes else ("no label comes from a fix: verify_fixes ran no tests",)
        return CardSection(
            by="verify_fixes",
            title="Tests of the fixes",
            text=(
                "A label is verified when a test that its fix changes fails before the fix and on the change, and "
                "neither after the fix nor, like that, before the change. One whose tests pass on the change is left "
                f"out. What could not be tested stays as it was; {LEDGER} has every run and what it printed."
            ),
            columns=("outcome", "fixes of changes"),
            rows=tuple(outcomes.most_common()),
            figures={"tested": spoke, "verified": outcomes[VERIFIED]},
            warnings=warnings,
        )


_DETAIL = "fail on the change and before the fix, and no longer after it"
_BOTH = "the tests fail after the fix, too"
_YOUNGER = "the tests pass on the change: the defect came later"
_PASS = {"before the fix": "the tests pass without the fix", "on the change": _YOUNGER}
_OTHERWISE = "the tests fail on the change in another way than before the fix"
_OLDER = "the tests fail before the change as they do on it"  # an older defect, or one in what the change adds
_SPEAKING = (_BOTH, *_PASS.values(), _OTHERWISE, _OLDER)


def _mended(runs: Mapping[str, SuiteRun]) -> list[str]:
    """The tests that fail before the fix, in whatever way, and not after it."""
    after = runs["after the fix"]
    if after.result == "fail" and not 0 < len(after.failing) < _MOST_FAILING:
        return []  # what failed is not known
    left = {name.partition(" - ")[0] for name in after.failing}
    return [name for name in runs["before the fix"].failing if name.partition(" - ")[0] not in left]


def _shown(runs: Mapping[str, SuiteRun]) -> list[str]:
    """The tests that the fix mends and that fail on the change in the same way as before the fix."""
    return [name for name in _mended(runs) if name in runs["on the change"].failing]


# --- the tests of a fix, run on a commit ------------------------------------------------------------------------------

FILES = "{files}"
_LAST_WORDS = 2_000  # characters of the output that are kept
_OUTPUT = 20_000_000  # bytes that a run may print
_PROCESSES = 256  # that a run may have at a time
_MOST_FAILING = 200  # tests that are named
_SUPPORT = re.compile(r"conftest|__init__|setup|helpers?|utils?|fixtures?", re.IGNORECASE)
_TEST = re.compile(r"test|spec", re.IGNORECASE)
_FAILING = re.compile(  # pytest; unittest; Go; TAP; Jest; RSpec; cargo; Maven; Gradle; .NET; PHPUnit
    r"(?:FAILED|ERROR) (?P<pytest>[^\s:]+\.py(?:(?:::| - ).*)?)|(?P<unittest>(?:FAIL|ERROR): \w++ \([\w.]++\))"
    r"|--- FAIL: (?P<go>\S++)|not ok \d++ ?-? ?(?P<tap>.++)|● (?!Console)(?P<jest>.++)|rspec (?P<rspec>\S++)"
    r"|test (?P<cargo>\S++) \.\.\. FAILED|\[ERROR\] ++(?P<maven>\w[\w.]*+)(?=:\d)|(?P<gradle>\S++ > \S++) FAILED"
    r"|Failed (?P<dotnet>\S++) \[|\d++\) (?P<phpunit>[\w\\\\]++::\w++)"
)
_LONGEST_LINE = 1_000


class FixTests(NamedTuple):
    """The tests that a fix changes: all of their `paths`, of which some are `gone` after it, and those to `run`."""

    paths: tuple[str, ...]
    gone: tuple[str, ...]
    run: tuple[str, ...]


def changed_tests(files: Sequence[ChangedFile]) -> FixTests:
    """The tests among the files of a fix. Those to run are code, and named like tests where any of them is."""
    tests = [file for file in files if is_test(file.path) or _name(file.path) == "conftest.py"]
    here = [file.path for file in tests if file.status is not FileStatus.DELETED]
    gone = [file.path for file in tests if file.status is FileStatus.DELETED]
    gone += [file.old_path for file in tests if file.old_path and file.status is FileStatus.RENAMED]
    code = [path for path in here if language(path) and not _SUPPORT.fullmatch(_name(path).rpartition(".")[0])]
    named = [path for path in code if _TEST.search(_name(path))]
    return FixTests(tuple(here), tuple(gone), tuple(named or code))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class SuiteRun(Record):
    """One run of tests. `result` is `pass`, `fail`, or why there is none; `failing` names tests as the output does."""

    commit: str
    result: str
    failing: tuple[str, ...] = ()
    seconds: float = 0.0
    output: str = ""

    @property
    def ran(self) -> bool:
        """Whether it says anything about the code."""
        return self.result in ("pass", "fail")


@dataclass(frozen=True)
class SuiteRunner:
    """Runs a command in a scrubbed checkout, with the tests of a fix laid over it.

    `fails` are the exit codes that mean failing tests: with any other one nothing is known.
    """

    argv: tuple[str, ...]
    fails: tuple[int, ...]
    seconds: float
    variables: tuple[str, ...]
    sandbox: Sandbox
    visible: tuple[str, ...]

    def run(self, repository: Repository, commit: str, fix: str, tests: FixTests) -> SuiteRun:
        """The run on `commit`, with the tests as they are in `fix`. Raises UserError where no process starts."""
        try:
            with workspace(repository, commit, whole=False) as made, scratch_folder() as top:
                _lay_over(repository, fix, made.folder, tests)
                ended = self._run(made.folder, top, tests.run)
                output = (ended.out + b"\n" + ended.err).decode("utf-8", "replace").replace("\x00", "")
                output = output.replace(str(made.folder), ".")
        except UserError as error:
            if error.problem.startswith("cannot start a process"):
                raise
            return SuiteRun(commit=commit, result=f"no checkout of it can be made: {error.problem}")
        words = hide_secrets(output[-3 * _LAST_WORDS :]).strip()[-_LAST_WORDS:]
        return SuiteRun(
            commit=commit,
            result=self._result(ended),
            failing=failing_tests(output),
            seconds=round(ended.seconds, 2),
            output=f"{words}\n{ended.unproved}".strip(),
        )

    def _run(self, folder: Path, top: Path, files: Iterable[str]) -> Ended:
        program = find_program(self.argv[0], self.variables)
        argv = [program, *_words(self.argv[1:], files)]
        environment = {**clean_environment(top, self.variables), "COLUMNS": "1000", "PYTHONDONTWRITEBYTECODE": "1"}
        view = None
        if self.sandbox.startswith("bwrap"):
            readable = [*needed([Path(program)]), *(Path(word).expanduser().absolute() for word in self.visible)]
            view = SandboxView(readable, [folder.parent, top], "network" in self.sandbox)
        limits = ProcessLimits(self.seconds, _OUTPUT, _PROCESSES, namespace=self.sandbox != "off")
        return run_guarded(argv, folder, environment, limits, view=view, scratch=(folder.parent, top))

    def _result(self, ended: Ended) -> str:
        if ended.ending == "exit":
            if ended.code == 0:
                return "pass"
            return "fail" if ended.code in self.fails else f"the command ended with exit code {ended.code}"
        why = {
            "timeout": f"the command took longer than {self.seconds:g} seconds",
            "output": "the command printed too much",
            "processes": f"the command had more than {_PROCESSES} processes at a time",
            "not started": "the command could not be started",
        }
        return why[ended.ending]


def _words(argv: Iterable[str], files: Iterable[str]) -> list[str]:
    """The arguments with the files in place of `{files}`: one by one, or quoted for a shell inside of a longer one."""
    paths = [f"./{path}" if path.startswith("-") else path for path in files]
    words: list[str] = []
    for word in argv:
        if word == FILES:
            words += paths
        else:
            words.append(word.replace("{here}", str(Path.cwd())).replace(FILES, shlex.join(paths)))
    return words


def _lay_over(repository: Repository, fix: str, folder: Path, tests: FixTests) -> None:
    """Put the tests of the fix in place of those in the folder."""
    wanted = set(tests.paths)
    try:
        for target in (folder / path for path in (*tests.paths, *tests.gone)):
            if target.is_dir():
                remove_tree(target)
            else:
                with suppress(NotADirectoryError):  # the change has a file where the fix has a folder
                    target.unlink(missing_ok=True)
        for drop in write_files(repository, folder, [e for e in repository.entries(fix) if e.path in wanted]):
            raise UserError(f"{drop.item} of the fix {drop.reason}")
    except OSError as error:
        raise UserError(f"cannot write the tests of the fix: {error.strerror}") from None


def failing_tests(output: str) -> tuple[str, ...]:
    """The failing tests that an output names in one of the usual ways, with the kind of error where it tells."""
    matches = (_FAILING.match(line.strip()[:_LONGEST_LINE]) for line in output.splitlines())
    names = ((match.lastgroup or "", hide_secrets(match[match.lastgroup or 0])) for match in matches if match)
    found = dict.fromkeys(one_line(_pytest_name(name) if program == "pytest" else name) for program, name in names)
    return tuple(found)[:_MOST_FAILING]


def _pytest_name(line: str) -> str:
    """`path::test[parameters] - Error` of a line of pytest's summary, without the error's message."""
    end = line.find("] - ") + 1 if "[" in line.partition(" - ")[0] else 0
    name, _, message = line[end:].partition(" - ")
    kind = re.match(r"[\w.]*", message)
    return " - ".join(filter(None, (line[:end] + name, kind[0] if kind else "")))
