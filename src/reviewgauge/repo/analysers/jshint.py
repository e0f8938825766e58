"""JSHint (2.13 or newer) on JavaScript, which CRScore takes its issues from. Source: jshint.com/docs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from reviewgauge.repo.analysers.findings import AnalyserJob, Output, RawFinding, Unread
from reviewgauge.repo.analysers.programs import rewrite, run_and_read

# The newest language that it knows. How to break lines and end statements is a formatter's business. By default it
# gives up on a file after 50 warnings.
_OPTIONS = {"esversion": 11, "asi": True, "laxbreak": True, "laxcomma": True, "maxerr": 1_000_000}
# In strict code it takes every global of the project for undefined (W117) and "use strict" itself for a slip (W097);
# W002 is about Internet Explorer 8, W069 prefers `a.b` to `a["b"]`.
_LEFT_OUT = ("W002", "W069", "W097", "W117")
_REPORTER = """module.exports = {reporter: function (results) {
  process.stdout.write(JSON.stringify(results.map(function (item) {
    return [item.file, item.error.code, item.error.line, item.error.reason];
  })));
}};
"""
_DIRECTIVE = re.compile(rb"\bjs(?=hint\b|lint\b)")  # anywhere: it allows blanks of all kinds before the word


def run_jshint(program: str, paths: Sequence[str], job: AnalyserJob) -> Output:
    """The findings of JSHint in the exported `paths`, with our own settings. Raises AnalyserCrash, AnalyserTimeout.

    It has no switch against comments that silence it, so the exported copies lose those.
    """
    if not job.settings.suppressions:
        for path in paths:
            rewrite(job.files / path, _DIRECTIVE, b"xx")
    settings, ignored, reporter = (job.home / name for name in ("jshint.json", "jshint.ignore", "jshint-reporter.js"))
    options = _OPTIONS | {f"-{code}": True for code in _LEFT_OUT}
    settings.write_text(json.dumps(options), encoding="utf-8")
    ignored.write_text("", encoding="utf-8")  # else it looks for such a file in every folder above
    reporter.write_text(_REPORTER, encoding="utf-8")
    command = [program, f"--config={settings}", f"--exclude-path={ignored}", f"--reporter={reporter}"]
    return run_and_read("jshint", [*command, *(f"./{path}" for path in paths)], job, (0, 2), read_jshint)


def read_jshint(out: bytes) -> Output:
    """What our reporter prints: `[file, code, line, reason]` each. A code with E is a file that it gave up on."""
    findings: list[RawFinding] = []
    unread: dict[str, Unread] = {}
    for file, code, line, reason in json.loads(out):
        path = str(file).removeprefix("./")
        if str(code).startswith("E"):
            unread.setdefault(path, Unread("jshint", path, f"does not parse: {reason} (line {line})"))
        elif line > 0:
            findings.append(RawFinding("jshint", str(code), path, line, line, str(reason)))
    return Output(tuple(item for item in findings if item.path not in unread), tuple(unread.values()))
