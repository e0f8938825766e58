"""What the rules of all tools mean in common words: category, severity, and which of them are one complaint."""

from __future__ import annotations

import re

from reviewgauge.core.records import Severity
from reviewgauge.repo.analysers.raw import RawFinding

# Rules that fire on every use of a module, whatever is done with it. The use itself has its own rule.
_EVERY_USE = frozenset(f"{letter}{number}" for letter in "BS" for number in (*range(403, 412), 603, 607))
_ASSERT = frozenset({"B101", "S101"})
_TEST_FILE = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")
_COMPLEXITY = frozenset({"cyclomatic", "cognitive"})

_RUFF_CATEGORIES = (
    ("PERF", "performance"),
    ("S", "security"),
    ("N", "maintainability"),
    ("E7", "maintainability"),
    ("F401", "maintainability"),
    ("F811", "maintainability"),
    ("F841", "maintainability"),
    ("PLW0", "maintainability"),
    ("PLW2901", "maintainability"),
)
_RUFF_SEVERITIES = (
    (("E9", "F70", "F82", "F50", "F52", "F63", "PLE"), Severity.HIGH),
    (("E722", "E711", "E721", "F811", "S", "B", "PLW", "RUF", "DTZ", "ASYNC", "SIM115", "T10"), Severity.MEDIUM),
)
_ESLINT_SECURITY = frozenset({"no-eval", "no-implied-eval", "no-new-func", "no-script-url"})
_ESLINT_PERFORMANCE = frozenset({"no-await-in-loop"})
_ESLINT_TIDY = frozenset({"no-unused-vars", "eqeqeq", "no-empty", "no-useless-escape", "no-useless-catch"})
_LEVELS = {
    "HIGH": Severity.HIGH,
    "MEDIUM": Severity.MEDIUM,
    "LOW": Severity.LOW,
    "error": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "performance": Severity.LOW,
    "portability": Severity.LOW,
    "info": Severity.LOW,
    "style": Severity.INFO,
}


def ignored(finding: RawFinding) -> bool:
    """Whether no reviewer would say this: any use of a module, or `assert` in a test."""
    if finding.tool not in ("ruff", "bandit"):
        return False
    return finding.rule in _EVERY_USE or (finding.rule in _ASSERT and _TEST_FILE.search(finding.path) is not None)


def complaint(finding: RawFinding) -> str:
    """A key that two tools share when they say the same: ruff took bandit's rules over with their numbers."""
    if finding.rule in _COMPLEXITY:
        return "complexity"
    if finding.tool == "bandit":
        return f"S{finding.rule[1:]}"
    return finding.rule


def category(finding: RawFinding) -> str:
    """security, performance, maintainability or defect."""
    rule = finding.rule
    if rule in _COMPLEXITY:
        return "maintainability"
    if finding.tool == "bandit":
        return "security"
    if finding.tool == "ruff":
        if rule == "SIM115":
            return "defect"
        return next((word for start, word in _RUFF_CATEGORIES if rule.startswith(start)), "defect")
    if finding.tool == "eslint":
        if rule in _ESLINT_SECURITY:
            return "security"
        if rule in _ESLINT_PERFORMANCE:
            return "performance"
        return "maintainability" if rule in _ESLINT_TIDY else "defect"
    if finding.level == "performance":
        return "performance"
    return "maintainability" if finding.level in ("style", "portability") else "defect"


def severity(finding: RawFinding) -> Severity:
    """The tool's own grade where it has one, else a grade by the rule. A complexity counts by its excess."""
    if finding.rule in _COMPLEXITY:
        return Severity.MEDIUM if float(finding.level) >= 2 else Severity.LOW
    if finding.tool == "ruff":
        if finding.rule == "S101":
            return Severity.LOW
        return next((grade for starts, grade in _RUFF_SEVERITIES if finding.rule.startswith(starts)), Severity.LOW)
    if finding.tool == "eslint":
        return Severity.LOW if finding.rule in _ESLINT_TIDY else Severity.MEDIUM
    return _LEVELS.get(finding.level, Severity.LOW)
