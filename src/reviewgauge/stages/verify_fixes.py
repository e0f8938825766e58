"""Run the tests of each fix on the change that it mends: they verify its label, refute it, or tell nothing.

Source: SWE-bench (arXiv:2310.06770) takes a fix for real when a test fails before it and passes after it; that it has
to fail on the change under review, too, and not as it did before that, is ours (docs/guides/build.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import FAILING, Change, Comment, Origin, Tier
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.testing.suite import MOST_FAILING, FixTests, SuiteRun, SuiteRunner, changed_tests, test_names
from reviewgauge.stages.pull_requests.candidates import sort_findings
from reviewgauge.stages.testing.ledger import LEDGER, VERIFIED, TestingStage, Verdict, keep_ledger

_KEY = ("verify_fixes", "2")  # of what is remembered; the number changes with what a run is


@dataclass(frozen=True)
class VerifyFixes(TestingStage):
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

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The candidates, their labels verified where the tests say so. Raises UserError before anything is run."""
        verifier = _Verifier(self.runner(), self.key(*_KEY), context)
        total = sum(bool(_fixes(item)) for item in items)
        for item in items:
            fixes = _fixes(item)
            verifier.changes += bool(fixes)
            context.progress("running the tests of fixes", verifier.changes, total)
            verdicts = {fix: verifier.verdict(item.id, item.case.change, fix) for fix in fixes}
            yield from sort_findings(self, item, partial(_judged, verdicts), _YOUNGER) if verdicts else (item,)
        context.report(verifier.section())
        keep_ledger(context, verifier.ledger)


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
    extra: dict[str, object] = {**reference.extra, "tests": found.detail or found.outcome}
    if found.outcome != VERIFIED:
        return reference.model_copy(update={"extra": extra})
    extra[FAILING] = test_names(_new(found.runs))
    return reference.model_copy(update={"extra": extra, "tier": Tier.VERIFIED})


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
        runs["before the change"] = self._run(repository, change.base, fix, tests)
        return VERIFIED if _new(runs) else _OLDER

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
    if after.result == "fail" and not 0 < len(after.failing) < MOST_FAILING:
        return []  # what failed is not known
    left = {name.partition(" - ")[0] for name in after.failing}
    return [name for name in runs["before the fix"].failing if name.partition(" - ")[0] not in left]


def _shown(runs: Mapping[str, SuiteRun]) -> list[str]:
    """The tests that the fix mends and that fail on the change in the same way as before the fix."""
    return [name for name in _mended(runs) if name in runs["on the change"].failing]


def _new(runs: Mapping[str, SuiteRun]) -> list[str]:
    """Those of `_shown` that did not fail so before the change already."""
    older = runs["before the change"].failing if "before the change" in runs else ()
    return [name for name in _shown(runs) if name not in older]
