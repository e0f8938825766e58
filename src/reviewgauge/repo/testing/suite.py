"""The tests of a fix, or of a file, run on a commit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.records import ChangedFile, FileStatus
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
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.repo.syntax.languages import is_test, language

FILES = "{files}"
_LAST_WORDS = 2_000  # characters of the output that are kept
_OUTPUT = 20_000_000  # bytes that a run may print
_PROCESSES = 256  # that a run may have at a time
NOT_STARTED = "the command could not be started"
MOST_FAILING = 2_000  # tests that are named; of more the first by name, whatever order they ran in
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

    def run(
        self,
        repository: Repository,
        commit: str,
        fix: str,
        tests: FixTests,
        edits: Mapping[str, bytes] | None = None,
    ) -> SuiteRun:
        """The run on `commit`, with the files of `edits` and the tests as they are in `fix` laid over it.

        Raises UserError where no process starts.
        """
        try:
            with workspace(repository, commit, whole=False) as made, scratch_folder() as top:
                _write_edits(made.folder, edits or {})
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
            "not started": NOT_STARTED,
        }
        return why[ended.ending]


@dataclass(frozen=True)
class TestCommand:
    """The parameters of a plug-in that runs `test`, a program and its arguments, without a shell."""

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

    def runner(self) -> SuiteRunner:
        """What runs the tests. Raises UserError where the program or the sandbox is missing."""
        words = tuple(shlex.split(self.test))
        if not find_program(words[0], self.env):
            raise no_program(words[0])
        if self.sandbox.startswith("bwrap"):
            check_sandbox()
        return SuiteRunner(words, self.fails, self.seconds, self.env, self.sandbox, self.visible)

    def key(self, *kind: str) -> tuple[str, ...]:
        """All but the commits and the machine that a remembered run depends on."""
        return (*kind, self.test, repr((self.fails, self.seconds, self.sandbox)))

    def installed(self) -> tuple[str, ...]:
        """The programs of the command, and the packages of the Pythons among them and in `visible`: changed when?"""
        programs = [Path(found) for word in shlex.split(self.test) if (found := find_program(word, self.env))]
        homes = [*(program.parent.parent for program in programs), *map(Path, self.visible)]
        packages = (found for home in homes for found in sorted(home.glob("lib/python*/*-packages")))
        return tuple(f"{path.resolve()} {path.stat().st_mtime_ns}" for path in dict.fromkeys([*programs, *packages]))


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


def _write_edits(folder: Path, edits: Mapping[str, bytes]) -> None:
    """Write files into a checkout, in which no link leads elsewhere. The paths are sound (`is_sound`)."""
    try:
        for path, content in edits.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    except OSError as error:
        raise UserError(f"cannot write the edits: {error.strerror}") from None


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
    return tuple(found) if len(found) <= MOST_FAILING else tuple(sorted(found)[:MOST_FAILING])


def test_names(failing: Iterable[str]) -> list[str]:
    """The names of failing tests without the kind of error."""
    return list(dict.fromkeys(name.partition(" - ")[0] for name in failing))


def _pytest_name(line: str) -> str:
    """`path::test[parameters] - Error` of a line of pytest's summary, without the error's message."""
    end = line.find("] - ") + 1 if "[" in line.partition(" - ")[0] else 0
    name, _, message = line[end:].partition(" - ")
    kind = re.match(r"[\w.]*", message)
    return " - ".join(filter(None, (line[:end] + name, kind[0] if kind else "")))
