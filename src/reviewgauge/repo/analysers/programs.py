"""Runs each analyser and reads its answer: ruff, eslint, jshint, pmd, and lizard and the smells in a worker.

Each gets our rules and settings alone (`rules.toml`), and no comment in the code silences it. Adding a program: a
function and a line in `PROGRAMS` here, and its table there.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from reviewgauge.core.files import search_path
from reviewgauge.core.results import Drop
from reviewgauge.repo.analysers.findings import (
    AnalyserCrash,
    AnalyserJob,
    Finding,
    Output,
    SmellLimits,
    last_words,
    rules_of,
    run_program,
)
from reviewgauge.repo.diff.edits import TextEdit

SHIPPED = ("ruff", "lizard", "smells")
_WORKER = Path(__file__).with_name("worker.py")


def run_libraries(tools: Sequence[str], python: Sequence[str], other: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of the `tools` in the exported `python` files and in the `other` ones (which only lizard reads).

    Raises AnalyserCrash that names the tool at fault, AnalyserTimeout.
    """
    limits = {limit.name: getattr(job.settings, limit.name) for limit in fields(SmellLimits)}
    request = {"tools": ["parse", *tools], "python": list(python), "other": list(other), "limits": limits}
    # `-I`: no PYTHON* variable, no user packages, and above all no module from the folder under review
    command = [sys.executable, "-I", str(_WORKER)]
    status, out, err = run_program("the Python analysers", command, job, json.dumps(request).encode())
    return read_answer(out, status, err)


def read_answer(out: bytes, status: int, err: bytes) -> Output:
    """The worker's output as findings. Raises AnalyserCrash that names the tool that was running."""
    findings: list[Finding] = []
    unread: list[Drop] = []
    running = "parse"
    for line in out.splitlines():
        answer = json.loads(line)
        running = answer["tool"]
        for row in answer.get("rows", ()):
            if "unread" in row:
                unread.append(Drop(item=row["path"], by=running, reason=row["unread"]))
            else:
                lines = tuple((first, last) for first, last in row.get("lines", ()))
                findings.append(Finding(tool=running, **row | {"lines": lines}))
    if status != 0:
        how = f"ended by signal {-status}" if status < 0 else last_words(err)
        raise AnalyserCrash(f"{running} crashed: {how}")
    return Output(tuple(findings), tuple(unread))


def _run_and_read(
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


def _as_files(paths: Sequence[str]) -> list[str]:
    """Names that no program takes for an option or a list of arguments (`-name`, `@name`)."""
    return [f"./{path}" for path in paths]


# --- ruff: docs.astral.sh/ruff -------------------------------------------------------------------------------------


def find_ruff() -> str | None:
    """The program: the one that the package brings, else the one on PATH."""
    try:
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        return os.fsdecode(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which("ruff", path=search_path())


def run_ruff(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of ruff in the exported `paths`; syntax of every Python up to 3.13 is no finding."""
    command = [program, "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", "--no-fix", "--no-preview"]
    command += ["--output-format=json", "--target-version=py313", f"--select={','.join(rules_of('ruff')['rules'])}"]
    command += ["--ignore-noqa", "--", *_as_files(paths)]
    root = os.path.realpath(job.files)
    return _run_and_read("ruff", command, job, (0,), lambda out: _read_ruff(json.loads(out), root))


def _read_ruff(answer: list[dict[str, Any]], root: str) -> Output:
    findings: list[Finding] = []
    unread: dict[str, Drop] = {}
    for item in answer:
        path = os.path.relpath(str(item["filename"]), root).replace(os.sep, "/")
        rule, message, start, end = item["code"], str(item["message"]), item["location"], item["end_location"]
        if rule is None or rule == "invalid-syntax":
            reason = f"does not parse: {message} (line {start['row']})"
            unread.setdefault(path, Drop(item=path, by="ruff", reason=reason))
            continue
        last = end["row"] - (end["column"] == 1 and end["row"] > start["row"])  # ends before that line's first letter
        fix = item.get("fix") or {}
        advice, edits = fix.get("message"), tuple(_ruff_edit(path, edit) for edit in fix.get("edits", ()))
        message = f"{message.rstrip('.')}. {advice}" if advice and advice not in message else message
        findings.append(Finding("ruff", str(rule), path, start["row"], last, message, edits=edits))
    return Output(tuple(findings), tuple(unread.values()))


def _ruff_edit(path: str, edit: dict[str, Any]) -> TextEdit:
    start, end = edit["location"], edit["end_location"]
    return TextEdit(
        path=path,
        start=start["row"],
        end=end["row"],
        start_column=start["column"],
        end_column=end["column"],
        text=edit["content"] or "",
    )


# --- ESLint, 8.57 or newer: eslint.org -----------------------------------------------------------------------------


def run_eslint(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of eslint in the exported `paths`, with our own rules and no other settings.

    A file is read as a module first, and as a script where that fails.
    """
    modules = _eslint(program, paths, "module", job)
    scripts = [item.item for item in modules.unread if "arsing error" in item.reason]
    if not scripts:
        return modules
    again = _eslint(program, scripts, "commonjs", job)
    kept = tuple(item for item in modules.unread if item.item not in scripts)
    return Output(modules.findings + again.findings, kept + again.unread)


def _eslint(program: str, paths: Sequence[str], source_type: str, job: AnalyserJob) -> Output:
    known = rules_of("eslint")
    rules = dict.fromkeys(known["rules"], "error") | known["options"]
    options = {"ecmaVersion": "latest", "sourceType": source_type, "parserOptions": {"ecmaFeatures": {"jsx": True}}}
    config = [
        {"ignores": ["!**/node_modules/"]},
        {"files": ["**/*.js", "**/*.mjs", "**/*.cjs", "**/*.jsx"], "languageOptions": options, "rules": rules},
        {"linterOptions": {"noInlineConfig": True, "reportUnusedDisableDirectives": "off"}},
    ]
    settings = job.home / f"eslint-{source_type}.config.cjs"
    settings.write_text(f"module.exports = {json.dumps(config)};\n", encoding="utf-8")
    command = [program, "--config", str(settings), "--format", "json", "--no-color", "--", *_as_files(paths)]
    return _run_and_read("eslint", command, job, (0, 1), lambda out: _read_eslint(json.loads(out), job.files.resolve()))


def _read_eslint(answer: list[dict[str, Any]], root: Path) -> Output:
    findings: list[Finding] = []
    unread: list[Drop] = []
    for file in answer:
        path = Path(str(file["filePath"])).relative_to(root).as_posix()
        for item in file["messages"]:
            rule, message, start = item["ruleId"], str(item["message"]), item.get("line")
            if rule is not None:
                findings.append(Finding("eslint", rule, path, start, item.get("endLine") or start, message))
            elif item.get("fatal") or message.startswith("File ignored"):  # else it talks about directives
                unread.append(Drop(item=path, by="eslint", reason=message))
    return Output(tuple(findings), tuple(unread))


# --- JSHint, 2.13 or newer, which CRScore takes its issues from: jshint.com/docs -----------------------------------

_REPORTER = """module.exports = {reporter: function (results) {
  process.stdout.write(JSON.stringify(results.map(function (item) {
    return [item.file, item.error.code, item.error.line, item.error.reason];
  })));
}};
"""
_DIRECTIVE = re.compile(rb"\bjs(?=hint\b|lint\b)")  # anywhere: it allows blanks of all kinds before the word


def run_jshint(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of JSHint in the exported `paths`, with our own settings.

    It has no switch against comments that silence it, so the exported copies lose those.
    """
    for path in paths:
        file = job.files / path
        file.write_bytes(_DIRECTIVE.sub(b"xx", file.read_bytes()))
    settings, ignored, reporter = (job.home / name for name in ("jshint.json", "jshint.ignore", "jshint-reporter.js"))
    settings.write_text(json.dumps(rules_of("jshint")["options"]), encoding="utf-8")
    ignored.write_text("", encoding="utf-8")  # else it looks for such a file in every folder above
    reporter.write_text(_REPORTER, encoding="utf-8")
    command = [program, f"--config={settings}", f"--exclude-path={ignored}", f"--reporter={reporter}"]
    return _run_and_read("jshint", [*command, *_as_files(paths)], job, (0, 2), read_jshint)


def read_jshint(out: bytes) -> Output:
    """What our reporter prints: `[file, code, line, reason]` each. A code with E is a file that it gave up on."""
    findings: list[Finding] = []
    unread: dict[str, Drop] = {}
    for file, code, line, reason in json.loads(out):
        path = str(file).removeprefix("./")
        if str(code).startswith("E"):
            problem = f"does not parse: {reason} (line {line})"
            unread.setdefault(path, Drop(item=path, by="jshint", reason=problem))
        elif line > 0:
            findings.append(Finding("jshint", str(code), path, line, line, str(reason)))
    return Output(tuple(item for item in findings if item.path not in unread), tuple(unread.values()))


# --- PMD, 7 or newer, with the rule set that CRScore ran: pmd.github.io --------------------------------------------


def run_pmd(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of PMD in the exported Java files.

    It is given their folder, since it would take a file's name for an option or a list. It has no switch against
    annotations that silence it, but reports what they hide; the comment that does is a word that nobody can guess.
    """
    root = job.files.resolve()
    command = [program, "check", "--no-cache", "--no-progress", "--threads=1", "--format=json"]
    command += ["--rulesets=rulesets/java/quickstart.xml", "--show-suppressed"]
    command += [f"--suppress-marker={secrets.token_hex(16)}", f"--dir={root}"]
    # nothing found; findings; findings, and files that it could not read
    return _run_and_read("pmd", command, job, (0, 4, 5), lambda out: read_pmd(out, root))


def read_pmd(out: bytes, root: Path) -> Output:
    """PMD's JSON report on the files below `root`. Raises ValueError, KeyError, TypeError where it is not one."""
    report = json.loads(out)
    findings: list[Finding] = []
    for file in (*report["files"], *report["suppressedViolations"]):
        path = _below(file["filename"], root)
        for item in file["violations"]:
            level = f"{item['ruleset']}/{item['priority']}"
            start, end, text = int(item["beginline"]), int(item["endline"]), str(item["description"])
            findings.append(Finding("pmd", str(item["rule"]), path, start, end, text, level=level))
    unread: list[Drop] = []
    for error in report["processingErrors"]:
        reason = " ".join(["does not parse:", *str(error["message"]).replace(f"{root}/", "").split()])
        unread.append(Drop(item=_below(error["filename"], root), by="pmd", reason=reason[:200]))
    return Output(tuple(findings), tuple(unread))


def _below(name: str, root: Path) -> str:
    return Path(name).relative_to(root).as_posix()


PROGRAMS = {"ruff": run_ruff, "eslint": run_eslint, "jshint": run_jshint, "pmd": run_pmd}  # in the order of their runs
