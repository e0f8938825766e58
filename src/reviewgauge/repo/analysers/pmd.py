"""PMD (7 or newer) on Java: the rule set `quickstart`, which is what CRScore ran. Source: pmd.github.io."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from reviewgauge.repo.analysers.findings import AnalyserJob, Output, RawFinding, Unread
from reviewgauge.repo.analysers.programs import run_and_read

RULES = "rulesets/java/quickstart.xml"
_WORKED = (0, 4, 5)  # nothing found; findings; findings, and files that it could not read


def run_pmd(program: str, job: AnalyserJob) -> Output:
    """The findings of PMD in the exported Java files. Raises AnalyserCrash, AnalyserTimeout.

    It is given their folder, since it would take a file's name for an option or a list. It has no switch against
    annotations that silence it, but reports what they hide; the comment that does is a word that nobody can guess.
    """
    root = job.files.resolve()
    command = [program, "check", "--no-cache", "--no-progress", "--threads=1", "--format=json", f"--rulesets={RULES}"]
    if not job.settings.suppressions:
        command += ["--show-suppressed", f"--suppress-marker={secrets.token_hex(16)}"]
    command += [f"--dir={root}"]
    return run_and_read("pmd", command, job, _WORKED, lambda out: read_pmd(out, root))


def read_pmd(out: bytes, root: Path) -> Output:
    """PMD's JSON report on the files below `root`. Raises ValueError, KeyError, TypeError where it is not one."""
    report = json.loads(out)
    findings: list[RawFinding] = []
    for file in (*report["files"], *report["suppressedViolations"]):
        path = _path(file["filename"], root)
        for item in file["violations"]:
            level = f"{item['ruleset']}/{item['priority']}"
            start, end, text = int(item["beginline"]), int(item["endline"]), str(item["description"])
            findings.append(RawFinding("pmd", str(item["rule"]), path, start, end, text, level=level))
    unread: list[Unread] = []
    for error in report["processingErrors"]:
        reason = " ".join(str(error["message"]).replace(f"{root}/", "").split())
        unread.append(Unread("pmd", _path(error["filename"], root), f"does not parse: {reason}"[:200]))
    return Output(tuple(findings), tuple(unread))


def _path(name: str, root: Path) -> str:
    return Path(name).relative_to(root).as_posix()
