"""Run tests on each change with a defect put in, and on its twin: where one fails on the change alone, it is verified.

Source: ours; a mutant that a test kills (DeMillo, Lipton and Sayward, 1978) surely changes what the code does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import ARM, FAILING, PAIR, Arm, Case, Comment, Tier
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.git.search import search_text
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.syntax.languages import is_test, language
from reviewgauge.repo.testing.suite import FILES, MOST_FAILING, FixTests, SuiteRun, changed_tests, test_names
from reviewgauge.stages.testing.ledger import LEDGER, VERIFIED, TestingStage, Verdict, keep_ledger

_MOST_FILES = 20  # of tests that are run for one defect
_WHOLE = FixTests((), (), ())  # the command names no files
_PASS = "the tests pass with the defect, too"
_FAIL = "the tests fail without the defect, too"


@dataclass(frozen=True)
class VerifyDefects(TestingStage):
    """Runs `test` (a program and its arguments, without a shell) with and without each defect that was put in.

    `{files}` stands for the tests of the fix that was taken back, as they are today or else as the fix left them; for
    other defects, for the test files that name the changed file, at most 20. A command without it runs all tests. A
    defect becomes *verified* where a test passes on the twin and fails on the change; any other one stays as it was,
    since many a real defect has no test; the card and `tests.jsonl` say why. Failing tests are read as by
    `verify_fixes`, whose other parameters these are. It stands behind `add_twins`.
    """

    example: ClassVar[str] = "reviewgauge build . --recipe injected --test 'pytest -q {files}' -o bench"
    needs_build: ClassVar[bool] = True

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The candidates, their defects verified where tests show them. Raises UserError before anything is run."""
        arms = Counter(item.case.facts.get(ARM) for item in items)
        twins = {item.case.facts[PAIR]: item.case for item in items if item.case.facts.get(ARM) == Arm.TWIN}
        verifier = _Verifier(self, context)
        for item in items:
            twin = twins.get(item.case.facts.get(PAIR, ""))
            if item.case.facts.get(ARM) != Arm.DEFECT or not item.case.references:
                yield item
                continue
            context.progress("running tests on defects", len(verifier.ledger), arms[Arm.DEFECT])
            verdict = verifier.verdict(item.case, twin)
            yield item.with_case(references=tuple(_marked(one, verdict) for one in item.case.references))
        context.report(_section(verifier.ledger))
        keep_ledger(context, verifier.ledger)


def _marked(reference: Comment, verdict: Verdict) -> Comment:
    extra: dict[str, object] = {**reference.extra, "tests": verdict.detail or verdict.outcome}
    if verdict.outcome != VERIFIED:
        return reference.model_copy(update={"extra": extra})
    extra[FAILING] = test_names(_newly_failing(verdict.runs))
    return reference.model_copy(update={"extra": extra, "tier": Tier.VERIFIED})


@dataclass
class _Verifier:
    """Runs what no earlier build has run."""

    stage: VerifyDefects
    context: BuildContext
    ledger: list[Verdict] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._runner, self._key = self.stage.runner(), self.stage.key("verify_defects", "1")

    def verdict(self, case: Case, twin: Case | None) -> Verdict:
        """What the tests say of the defect of a case."""
        runs: dict[str, SuiteRun] = {}
        fix = next((one.resolution.commit for one in case.references if one.resolution), None) or ""
        outcome = self._outcome(case, twin, fix, runs)
        failing = _newly_failing(runs) if outcome == VERIFIED else []
        detail = f"pass without the defect and fail with it: {', '.join(failing[:3]) or 'the command'}" if runs else ""
        detail = detail if outcome == VERIFIED else ""
        self.ledger.append(Verdict(case=case.id, fix=fix, outcome=outcome, detail=detail, runs=runs))
        return self.ledger[-1]

    def _outcome(self, case: Case, twin: Case | None, fix: str, runs: dict[str, SuiteRun]) -> str:
        if case.change.git is None or case.change.head is None or twin is None or twin.change.head is None:
            return "the code is not at hand, with and without the defect"
        git = Path(case.change.git)
        repository = Repository(git if git.is_absolute() else self.context.folder / git)
        path = next((one.span.path for one in case.references if one.span), "")
        tests = self._tests(repository, twin.change.head, fix, path)
        if tests is None:
            return "no test file names the changed file"
        for name, commit in (("without the defect", twin.change.head), ("with the defect", case.change.head)):
            runs[name] = found = self._run(repository, commit, fix if tests.paths else commit, tests)
            if not found.ran:
                return f"could not be tested {name}: {found.result.partition(':')[0]}"
        without, with_it = runs.values()
        if with_it.result == "pass":
            return _PASS
        return VERIFIED if without.result == "pass" or _newly_failing(runs) else _FAIL

    def _tests(self, repository: Repository, twin: str, fix: str, path: str) -> FixTests | None:
        """The tests to run, None where there are none. Those with `paths` are laid over the checkout out of the fix."""
        if FILES not in self.stage.test:
            return _WHOLE
        here = frozenset(repository.paths(twin))
        if fix:
            try:
                tests = changed_tests(repository.changed_files(f"{fix}^", fix, LARGEST_FILE))
            except UserError:
                tests = _WHOLE
            if today := tuple(one for one in tests.run if one in here):
                return FixTests((), (), today)
            if tests.run:
                return tests
        stem = path.rpartition("/")[2].partition(".")[0]
        hits = search_text(repository, twin, stem, words=True).found if stem else ()
        named = {one for one in here if stem and stem in one.rpartition("/")[2]}
        found = {one for one in named | {hit.path for hit in hits} if one in here and is_test(one) and language(one)}
        first = sorted(found, key=lambda one: (one not in named, one))[:_MOST_FILES]
        return FixTests((), (), tuple(first)) if first else None

    def _run(self, repository: Repository, commit: str, source: str, tests: FixTests) -> SuiteRun:
        key = (*self._key, commit, source, *tests.run)
        if (known := self.context.recall(key)) is not None:
            return SuiteRun.model_validate_json(known)
        found = self._runner.run(repository, commit, source, tests)
        if found.ran or "longer" in found.result:  # else the machine may lack something until next time
            self.context.remember(key, found.to_line())
        return found


def _newly_failing(runs: Mapping[str, SuiteRun]) -> list[str]:
    """The tests that fail with the defect and not without it; none where it is not known which failed without it."""
    without, with_it = runs["without the defect"], runs["with the defect"]
    if without.result == "fail" and not 0 < len(without.failing) < MOST_FAILING:
        return []
    known = {name.partition(" - ")[0] for name in without.failing}
    return [name for name in with_it.failing if name.partition(" - ")[0] not in known]


def _section(ledger: Iterable[Verdict]) -> CardSection:
    outcomes = Counter(verdict.outcome for verdict in ledger)
    spoke = sum(outcomes[reason] for reason in (VERIFIED, _PASS, _FAIL))
    return CardSection(
        by="verify_defects",
        title="Tests on the defects",
        text=(
            "A defect is verified when a test passes on the twin and fails on the change with the defect. The others "
            f"stay as they were: a defect that no test shows may be one all the same. {LEDGER} has every run."
        ),
        columns=("outcome", "defects"),
        rows=tuple(outcomes.most_common()),
        figures={"tested": spoke, "verified": outcomes[VERIFIED]},
        warnings=() if outcomes else ("no defect was put in: verify_defects ran no tests",),
    )
