"""The findings of all analysers, their categories and severities, and how to run a program on hostile files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewgauge.core.files import search_path
from reviewgauge.core.records import Severity
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.diff.edits import TextEdit
from reviewgauge.repo.guarded.run import UNSEEN, ProcessLimits, run_guarded
from reviewgauge.repo.tables import read_table

STACK = 256 << 20  # bytes; a sum of some thousand terms in generated code nests as deep, and is not a reason to crash
OUTPUT_LIMIT = 200_000_000  # bytes of a tool's output that are read
PROCESSES = 1_000  # that a tool may have at a time
# A file that overflows the stack is one that PMD could not read, and does not end it. It runs for a few seconds, too
# short to compile itself well
_JAVA = "-Xmx2g -Xss16m -XX:+UseSerialGC -XX:-UsePerfData -XX:TieredStopAtLevel=1 -Dpmd.error_recovery"
_RULES = read_table(__package__, "rules")
TOOLS = {tool: frozenset(rules["languages"]) for tool, rules in _RULES.items()}
"""The languages that each analyser reads."""
_OF_TESTS = frozenset({"S101", "shotgun-surgery", "low-cohesion"})
_TEST_FILE = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. Lines are 1-based and count in the head version.

    As the tool reports it, `function` is set where it is about a whole function, from `start` to `end`, and `lines`
    where it is about some of the lines between them: the first and the last of each range. Placed on changed lines it
    has a `quote`, the function around it, and the other tools that report the same. `edits` mend it.
    """

    tool: str
    rule: str
    path: str
    start: int
    end: int
    message: str
    level: str = ""
    function: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    quote: str = ""
    agree: tuple[str, ...] = ()
    edits: tuple[TextEdit, ...] = ()

    @property
    def category(self) -> str:
        """security, performance, maintainability or defect."""
        return self._known("categories", "category") or "maintainability"

    @property
    def severity(self) -> Severity:
        """The tool's own where it has one, else one by the rule. A complexity or smell counts by its excess."""
        known = self._known("severities", "severity")
        return Severity(known) if known else Severity.MEDIUM if float(self.level) >= 2 else Severity.LOW

    @property
    def complaint(self) -> str:
        """A key that equal findings of two tools share."""
        return str(_RULES["jshint"]["same_as"].get(self.rule, self.rule))

    @property
    def ignored(self) -> bool:
        """Whether no reviewer would report it: any use of a module; in a test, `assert` and calls to what is tested."""
        if self.tool == "ruff" and re.fullmatch(_RULES["ruff"]["every_use"], f" {self.rule}"):
            return True
        return self.rule in _OF_TESTS and _TEST_FILE.search(self.path) is not None

    def _known(self, patterns: str, otherwise: str) -> str:
        """What the table says of it; empty for a complexity and a smell, which are not in it."""
        rules = _RULES[self.tool]
        what = f"{self.level} {self.rule}"
        found = (value for value, pattern in rules.get(patterns, {}).items() if re.fullmatch(pattern, what))
        return str(next(found, rules.get(otherwise, "")))


@dataclass(frozen=True, slots=True)
class Output:
    """The findings in one change, of a tool or of all, and the files that could not be read: the others count."""

    findings: tuple[Finding, ...] = ()
    unread: tuple[Drop, ...] = ()


@dataclass(frozen=True)
class ToolChoice:
    """Which tools to run."""

    tools: tuple[Word, ...] = ()


@dataclass(frozen=True)
class SmellLimits:
    """The highest figures that are not a smell; of cohesion the lowest, in percent. Lengths are in characters.

    PyScent's: pylint's defaults, 5 calls, 30%, 60 and 72 characters. The parameters are CRScore's (Table 14: "more than
    n parameters, n = 6"); pylint's own limit is 5. `complexity` is lizard's limit, too. `external_calls` are those in
    one class to what it does not define.
    """

    complexity: int = 10
    statements: int = 50
    parameters: int = 6
    branches: int = 12
    attributes: int = 7
    methods: int = 20
    external_calls: int = 5
    cohesion: int = 30
    lambda_length: int = 60
    comprehension_length: int = 72


@dataclass(frozen=True)
class AnalyserSettings(SmellLimits, ToolChoice):  # the fields of the last base come first
    """`seconds` limits each tool."""

    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class AnalyserJob:
    """The folders in which tools work: the exported files and an empty home."""

    files: Path
    home: Path
    settings: AnalyserSettings = AnalyserSettings()


class AnalyserCrash(RuntimeError):
    """An analyser crashed, or printed something unreadable. The change has no result."""


class AnalyserTimeout(TimeoutError):
    """An analyser ran out of time. The change has no result."""


def run_program(name: str, argv: Sequence[str], job: AnalyserJob, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """(exit status, stdout, stderr) of a program in the exported files.

    It starts without a shell, under the guard (all that it started ends with it, and with us), with an empty home and
    few variables of ours (PATH, the library path), so that neither the repository's nor the user's settings apply.
    Raises AnalyserTimeout after `job.settings.seconds`, AnalyserCrash when it cannot be started, prints too much, or
    may have left a process.
    """
    given = None
    if stdin:
        given = job.home / "stdin"
        given.write_bytes(stdin)
    limits = ProcessLimits(job.settings.seconds, OUTPUT_LIMIT, PROCESSES, errors=OUTPUT_LIMIT)
    ended = run_guarded(argv, job.files, _environment(job.home), limits, stdin=given)
    if ended.unproved and ended.unproved != UNSEEN:
        raise AnalyserCrash(f"{name}: {ended.unproved}")
    if ended.ending == "timeout":
        raise AnalyserTimeout(f"{name} did not finish within {job.settings.seconds:g} s")
    if ended.ending != "exit" or ended.code is None:
        problem = {
            "not started": f"could not be started: {ended.words}",
            "output": f"printed more than {OUTPUT_LIMIT:,} bytes",
            "processes": f"had more than {PROCESSES:,} processes at a time",
        }
        raise AnalyserCrash(f"{name} {problem.get(ended.ending, 'was ended')}")
    return ended.code, ended.out, ended.err


def _environment(home: Path) -> dict[str, str]:
    kept = {key: found for key in ("PATH", "LD_LIBRARY_PATH") if (found := search_path(key))}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"), str(home))
    fixed = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "RUST_MIN_STACK": str(STACK), "ESLINT_USE_FLAT_CONFIG": "true"}
    fixed["PMD_JAVA_OPTS"] = _JAVA
    return kept | homes | fixed


def last_words(err: bytes) -> str:
    """The end of a program's standard error, on one line."""
    text = " ".join(err.decode("utf-8", "replace").split())
    return text[-300:] or "it printed no message"


def rules_of(tool: str) -> dict[str, Any]:
    """What `rules.toml` says of a tool."""
    return dict(_RULES[tool])
