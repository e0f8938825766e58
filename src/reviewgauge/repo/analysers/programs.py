"""Runs each analyser and reads its answer: ruff, the Python libraries in one worker, eslint, shellcheck, cppcheck."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from reviewgauge.core.files import search_path
from reviewgauge.repo.analysers.findings import (
    AnalyserCrash,
    AnalyserJob,
    Output,
    RawFinding,
    SmellLimits,
    Unread,
    last_words,
    run_program,
)

# What a reviewer could rightly say of any project. Left out: layout and import order (a formatter's business), style
# that a project may settle either way (SIM, UP, C4, D, Q: UP also depends on the oldest Python a project supports,
# which its own settings say and those are not obeyed), and C90 (radon measures the same).
RULES = (
    "E7",  # comparison with None, bare except, lambda assignment
    "E9",  # cannot run
    "F",  # pyflakes: undefined and unused names, broken format strings
    "B",  # bugbear: likely bugs
    "S",  # the security rules of bandit
    "PLE",
    "PLW",  # pylint's errors and warnings
    "PERF",  # needless copies and loops
    "ASYNC",  # blocking calls in coroutines
    "DTZ",  # dates without a time zone
    "BLE",  # an except that catches everything
    "LOG",
    "N80",  # names of the wrong shape for what they name
    "T10",  # a debugger left in
    "SIM115",  # a file that is opened and not closed
    "RUF006",  # a task that nobody keeps
    "RUF008",
    "RUF009",
    "RUF012",  # mutable defaults of classes
    "RUF016",  # an index of the wrong type
    "RUF018",  # an assignment inside an assert
)
_NEWEST = "py313"  # syntax of every version up to this one is not a finding


def find_ruff() -> str | None:
    """The program: the one that the package brings, else the one on PATH."""
    try:
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        return os.fsdecode(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which("ruff", path=search_path())


def run_ruff(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of ruff in the exported `paths`. Raises AnalyserCrash, AnalyserTimeout."""
    command = [program, "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", "--no-fix", "--no-preview"]
    command += ["--output-format=json", f"--target-version={_NEWEST}", f"--select={','.join(RULES)}"]
    command += [] if job.settings.suppressions else ["--ignore-noqa"]
    # "./": ruff reads `@name` as a file of arguments, and `-name` as an option
    command += ["--", *(f"./{path}" for path in paths)]
    return run_and_read(
        "ruff", command, job, (0,), lambda out: _read_ruff(json.loads(out), os.path.realpath(job.files))
    )


def run_and_read(
    name: str, command: Sequence[str], job: AnalyserJob, good: Sequence[int], read: Callable[[bytes], Output]
) -> Output:
    """The output of a program, as `read` takes it; `good` are the exit codes of one that worked.

    Raises AnalyserCrash, also for output that `read` cannot read, and AnalyserTimeout.
    """
    status, out, err = run_program(name, command, job)
    if status not in good:
        raise AnalyserCrash(f"{name} crashed: {last_words(err)}")
    try:
        return read(out)
    except (ValueError, KeyError, TypeError) as error:
        raise AnalyserCrash(f"{name} printed unreadable output: {type(error).__name__}: {error}") from None


def _read_ruff(answer: list[dict[str, object]], root: str) -> Output:
    findings: list[RawFinding] = []
    unread: dict[str, Unread] = {}
    for item in answer:
        path = os.path.relpath(str(item["filename"]), root).replace(os.sep, "/")
        rule = item["code"]
        message = str(item["message"])
        start, end = item["location"], item["end_location"]
        assert isinstance(start, dict) and isinstance(end, dict)
        if rule is None or rule == "invalid-syntax":
            unread.setdefault(path, Unread("ruff", path, f"does not parse: {message} (line {start['row']})"))
            continue
        last = end["row"] - (end["column"] == 1 and end["row"] > start["row"])  # ends before that line's first letter
        findings.append(RawFinding("ruff", str(rule), path, start["row"], last, _advice(message, item.get("fix"))))
    return Output(tuple(findings), tuple(unread.values()))


def _advice(message: str, fix: object) -> str:
    advice = fix.get("message") if isinstance(fix, dict) else None
    return f"{message.rstrip('.')}. {advice}" if advice and advice not in message else message


LIBRARIES = ("radon", "lizard")  # as `installed` knows them by their packages
WORKED = (*LIBRARIES, "smells")  # what the worker runs
SHIPPED = ("ruff", *WORKED)
_WORKER = Path(__file__).with_name("worker.py")


def run_libraries(tools: Sequence[str], python: Sequence[str], other: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of the `tools` in the exported `python` files and in the `other` ones (which only lizard reads).

    Raises AnalyserCrash that names the tool at fault, AnalyserTimeout.
    """
    request = {
        "tools": ["parse", *tools],
        "python": list(python),
        "other": list(other),
        "cyclomatic": job.settings.complexity,
        "smells": {limit.name: getattr(job.settings, limit.name) for limit in fields(SmellLimits)},
        "suppressions": job.settings.suppressions,
    }
    # `-I`: no PYTHON* variable, no user packages, and above all no module from the folder under review
    command = [sys.executable, "-I", str(_WORKER)]
    status, out, err = run_program("the Python analysers", command, job, json.dumps(request).encode())
    return read_answer(out, status, err)


def read_answer(out: bytes, status: int, err: bytes) -> Output:
    """The worker's output as findings. Raises AnalyserCrash that names the tool that was running."""
    findings: list[RawFinding] = []
    unread: list[Unread] = []
    functions: dict[str, list[tuple[str, int, int]]] = {}
    running = "parse"
    for line in out.splitlines():
        answer = json.loads(line)
        running = answer["tool"]
        for row in answer.get("rows", ()):
            if "unread" in row:
                unread.append(Unread(running, row["path"], row["unread"]))
            elif "functions" in row:
                functions[row["path"]] = [(name, start, end) for name, start, end in row["functions"]]
            else:
                lines = tuple((first, last) for first, last in row.get("lines", ()))
                findings.append(RawFinding(tool=running, **row | {"lines": lines}))
    if status != 0:
        how = f"ended by signal {-status}" if status < 0 else last_words(err)
        raise AnalyserCrash(f"{running} crashed: {how}")
    return Output(tuple(findings), tuple(unread), functions)


# Rules of eslint's core that find likely errors and need to know nothing of the project (no-undef would need its
# globals). They are named one by one because the ready-made list is in a package of its own.
_ESLINT_WORDS = (
    "array-callback-return constructor-super eqeqeq for-direction getter-return no-async-promise-executor"
    " no-await-in-loop no-case-declarations no-class-assign no-compare-neg-zero no-cond-assign no-const-assign"
    " no-constant-binary-expression no-constant-condition no-control-regex no-debugger no-dupe-args"
    " no-dupe-class-members no-dupe-else-if no-dupe-keys no-duplicate-case no-empty no-empty-pattern no-eval"
    " no-ex-assign no-fallthrough no-func-assign no-implied-eval no-import-assign no-invalid-regexp no-loop-func"
    " no-loss-of-precision no-new-func no-new-native-nonconstructor no-obj-calls no-promise-executor-return"
    " no-prototype-builtins no-redeclare no-script-url no-self-assign no-self-compare no-setter-return"
    " no-sparse-arrays no-template-curly-in-string no-this-before-super no-throw-literal"
    " no-unmodified-loop-condition no-unreachable no-unreachable-loop no-unsafe-finally no-unsafe-negation"
    " no-unsafe-optional-chaining no-unused-vars no-use-before-define no-useless-catch require-atomic-updates"
    " use-isnan valid-typeof"
)
ESLINT_RULES = tuple(_ESLINT_WORDS.split())
_ESLINT_OPTIONS = {
    "eqeqeq": ["error", "smart"],
    "no-use-before-define": ["error", {"functions": False, "classes": False}],
    "no-unused-vars": ["error", {"args": "none"}],
}
_SHELL_SYNTAX = frozenset({1009, 1070, 1072, 1073})  # shellcheck gave up on the file
_COMMENT = re.compile(rb"#[^\n]*")
_DIRECTIVE = re.compile(rb"\bshellcheck(?=[ \t]+\w+=)")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(include|import|include_next|embed)\b[^\n]*", re.MULTILINE)


def run_eslint(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of eslint (8.57 or newer) in the exported `paths`, with our own rules and no other settings.

    A file is read as a module first, and as a script where that fails. Raises AnalyserCrash, AnalyserTimeout.
    """
    modules = _eslint(program, paths, "module", job)
    scripts = [item.path for item in modules.unread if "arsing error" in item.reason]
    if not scripts:
        return modules
    again = _eslint(program, scripts, "commonjs", job)
    kept = tuple(item for item in modules.unread if item.path not in scripts)
    return Output(modules.findings + again.findings, kept + again.unread)


def _eslint(program: str, paths: Sequence[str], source_type: str, job: AnalyserJob) -> Output:
    rules = {name: _ESLINT_OPTIONS.get(name, "error") for name in ESLINT_RULES}
    options = {"ecmaVersion": "latest", "sourceType": source_type, "parserOptions": {"ecmaFeatures": {"jsx": True}}}
    linting = {"noInlineConfig": not job.settings.suppressions, "reportUnusedDisableDirectives": "off"}
    config = [
        {"ignores": ["!**/node_modules/"]},
        {"files": ["**/*.js", "**/*.mjs", "**/*.cjs", "**/*.jsx"], "languageOptions": options} | {"rules": rules},
        {"linterOptions": linting},
    ]
    settings = job.home / f"eslint-{source_type}.config.cjs"
    settings.write_text(f"module.exports = {json.dumps(config)};\n", encoding="utf-8")
    command = [program, "--config", str(settings), "--format", "json", "--no-color"]
    command += ["--", *(f"./{path}" for path in paths)]
    return run_and_read("eslint", command, job, (0, 1), lambda out: _read_eslint(json.loads(out), job.files.resolve()))


def _read_eslint(answer: list[dict[str, object]], root: Path) -> Output:
    findings: list[RawFinding] = []
    unread: list[Unread] = []
    for file in answer:
        path = Path(str(file["filePath"])).relative_to(root).as_posix()
        messages = file["messages"]
        assert isinstance(messages, list)
        for item in messages:
            rule, message = item["ruleId"], str(item["message"])
            if rule is None:  # no finding: a syntax error, a file that it will not read, or talk about directives
                if item.get("fatal") or message.startswith("File ignored"):
                    unread.append(Unread("eslint", path, message))
                continue
            start = item["line"]
            findings.append(RawFinding("eslint", rule, path, start, item.get("endLine") or start, message))
    return Output(tuple(findings), tuple(unread))


def run_shellcheck(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of shellcheck (0.7 or newer) in the exported `paths`. Raises AnalyserCrash, AnalyserTimeout.

    It has no switch against comments that silence it, so the exported copies lose those.
    """
    if not job.settings.suppressions:
        for path in paths:
            rewrite(job.files / path, _COMMENT, lambda comment: _DIRECTIVE.sub(b"shell-check", comment[0]))
    command = [program, "--norc", "--format=json1", "--severity=info", "--color=never"]
    return run_and_read("shellcheck", [*command, *(f"./{path}" for path in paths)], job, (0, 1), _read_shellcheck)


def _read_shellcheck(out: bytes) -> Output:
    findings: list[RawFinding] = []
    unread: dict[str, Unread] = {}
    for item in json.loads(out)["comments"]:
        path, code, message = item["file"].removeprefix("./"), item["code"], item["message"]
        if code in _SHELL_SYNTAX:
            unread[path] = Unread("shellcheck", path, f"does not parse: {message} (line {item['line']})")
            continue
        findings.append(
            RawFinding("shellcheck", f"SC{code}", path, item["line"], item["endLine"], message, level=item["level"])
        )
    return Output(tuple(findings), tuple(unread.values()))


def run_cppcheck(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of cppcheck in the exported `paths`. Raises AnalyserCrash, AnalyserTimeout.

    The exported copies lose their `#include` lines (not the lines' numbers): an include names any file of this
    machine, and the headers of a project are not available anyway.
    """
    for path in paths:
        rewrite(job.files / path, _INCLUDE, b"")
    command = [program, "--quiet", "--enable=warning,performance,portability", "--template-location="]
    command += ["--template={file}\t{line}\t{severity}\t{id}\t{message}", "--suppress=missingInclude"]
    command += ["--inline-suppr"] if job.settings.suppressions else []
    status, _, err = run_program("cppcheck", [*command, *(f"./{path}" for path in paths)], job)
    if status != 0:
        raise AnalyserCrash(f"cppcheck crashed: {last_words(err)}")
    findings: list[RawFinding] = []
    unread: list[Unread] = []
    for line in err.decode("utf-8", "replace").splitlines():
        parts = line.split("\t", 4)
        if len(parts) != 5 or not parts[1].isdigit():
            continue
        path, number, level, rule, message = parts
        path = path.removeprefix("./")
        if rule in ("syntaxError", "internalAstError", "preprocessorErrorDirective", "unknownMacro"):
            unread.append(Unread("cppcheck", path, f"does not parse: {message} (line {number})"))
        elif path in paths and int(number) > 0 and level != "information":
            findings.append(RawFinding("cppcheck", rule, path, int(number), int(number), message, level=level))
    return Output(tuple(findings), tuple(unread))


def rewrite(file: Path, pattern: re.Pattern[bytes], by: bytes | Callable[[re.Match[bytes]], bytes]) -> None:
    """Replace what `pattern` matches in an exported file."""
    before = file.read_bytes()
    after = pattern.sub(by, before)
    if after != before:
        file.write_bytes(after)
