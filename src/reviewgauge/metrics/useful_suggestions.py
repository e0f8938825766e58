"""Do the suggestions of a review repair what it found, and break nothing? They are applied, and the tests run.

Source: ours, after c-CRAB (arXiv:2603.23448), which lets an agent act on a review; here nobody acts but the suggestion
itself. Tests of the fix decide, as in SWE-bench (arXiv:2310.06770).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured
from reviewgauge.core.records import Case, Review, Task, findings
from reviewgauge.core.results import CommentOutcome, CommentState, GroupOutcome, Matching
from reviewgauge.core.trust import ProgramText
from reviewgauge.metrics.execution.by_hits import ByHits
from reviewgauge.metrics.execution.runs import Remembered, TestedChange, Tried
from reviewgauge.metrics.execution.suggestions import Suggestion, Suggestions
from reviewgauge.repo.diff.edits import Refusal
from reviewgauge.repo.guarded.sandbox import Sandbox
from reviewgauge.repo.testing.suite import TestCommand

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

POLICY = "execution"
_INAPPLICABLE = ("does not apply", "changes nothing", "no place", "overlaps itself", "a deleted line")


@dataclass(frozen=True)
class UsefulSuggestions(ByHits, TestCommand):
    """`net`: the verified findings that a suggestion repairs, less the suggestions that break something, per finding.

    Each suggestion is applied alone to the change, then all together, and `test` runs as in `verify_fixes`, in a
    sandbox: the tests of each fix, laid over, and with `suite` (by default `test` without its `{files}`) all that
    exist. A finding is repaired where all its tests pass that failed; a suggestion does harm where a test fails that
    did not, or a file no longer parses. The untouched change is tested three times: what differs is left out as flaky.
    A suggestion that edits tests, or what runs them, is refused and counted. `agreement`: on how many findings `hits`
    (with `judge`, `location`, `tolerance`) says the same. Runs are remembered in the cache, none is made twice.
    """

    example: ClassVar[str] = "useful_suggestions(test='python -m pytest -q {files}')"

    test: ProgramText = ""
    sandbox: Sandbox = "bwrap"
    suite: ProgramText = ""

    headline: ClassVar[str] = "net"
    units: ClassVar[Mapping[str, str]] = {
        "net": "findings",
        "suggestions": "suggestions per change",
        "seconds": "seconds per change",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"broken", "broken_together", "refused", "seconds"})

    def __post_init__(self) -> None:
        """Raises ValueError for a command that cannot be read, and without a sandbox: suggestions are foreign code."""
        super().__post_init__()
        for command in filter(None, (self.test, self.suite)):
            self._command(command)
        if not self.sandbox.startswith("bwrap"):
            raise ValueError("suggestions are the code of others: sandbox must be bwrap or bwrap+network")

    @cached_property
    def _runners(self) -> tuple[Remembered, Remembered]:
        if not self.test:
            raise UserError(
                "useful_suggestions needs your test command",
                remedy="useful_suggestions(test='python -m pytest -q {files}'), or `test` in reviewgauge.toml",
            )
        return Remembered(self._command(self.test)), Remembered(self._command(self.suite or self.test))

    def _command(self, words: str) -> TestCommand:
        return TestCommand(words, self.seconds, self.fails, self.env, self.sandbox, self.visible)

    def unmeasurable(self, case: Case) -> str:
        """Only a change whose code is at hand can be tested."""
        if case.change.task is not Task.REVIEW:
            return f"the task is {case.change.task}, not review"
        if case.change.git is None or case.change.head is None:
            return "the code of the change is not at hand"
        return ""

    def parts(self, case: Case, review: Review) -> Measured | str:
        """Counts of findings, tests and suggestions. Raises UserError without a command, a program or a sandbox."""
        if reason := self.unmeasurable(case):
            return reason
        tested = TestedChange(case, *self._runners)
        problem = next((one.problem for one in tested.baselines.values() if one.problem), "")
        if problem and not tested.to_repair:
            return f"could not be tested as it is: {problem}"
        reader = Suggestions(case, tested, f"{self.test} {self.suite}")
        read = {comment.id: reader.read(comment) for comment in review.comments}
        applied = [one for one in read.values() if isinstance(one, Suggestion)]
        if applied and not tested.to_repair and tested.existing.problem:
            return f"could not be tested as it is: {tested.existing.problem}"
        tried = {one.comment: _try(tested, one) for one in applied}
        parts = _counts(tested, read, tried)
        if applied:
            files, left = reader.together(applied)
            whole = tried[applied[0].comment] if len(applied) == 1 else tested.attempt(files)
            parts |= {"overlapping": float(left), "changes_applied": 1.0, "broken_together": float(bool(whole.broken))}
            parts["repaired_together"] = float(len(_wholly(tested, whole)))
            parts["seconds"] += whole.seconds if len(applied) > 1 else 0.0
        matching = _matching(case, tested, read, tried)
        parts |= self._agreement(case, review, tested, matching)
        return Measured(parts=parts, matching=matching, fake=review.fake)

    def _agreement(self, case: Case, review: Review, tested: TestedChange, matching: Matching) -> dict[str, float]:
        """On how many findings `hits` says the same."""
        said = self.hits.parts(case, review) if tested.to_repair else ""
        if isinstance(said, str) or said.matching is None:
            return {}
        hit = {name: group.hit for group in said.matching.groups for name in group.members}
        same = sum(hit[group.group] == group.hit for group in matching.groups)
        return {"compared": float(len(matching.groups)), "same": float(same)}

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Every total is summed over the changes first. `broken` is a share of the suggestions that apply."""
        total, ratio = aggregate.total, aggregate.ratio
        return {
            "net": ratio(total("repaired") - total("broken"), total("findings")),
            "repaired": ratio(total("repaired"), total("findings")),
            "broken": ratio(total("broken"), total("applied")),
            "applicable": ratio(total("applied"), total("suggestions")),
            "agreement": ratio(total("same"), total("compared")),
            "tests": ratio(total("tests_repaired"), total("tests")),
            "repaired_together": ratio(total("repaired_together"), total("findings")),
            "broken_together": ratio(total("broken_together"), total("changes_applied")),
            "refused": ratio(total("refused"), total("suggestions")),
            "suggestions": ratio(total("suggestions"), total("changes")),
            "seconds": ratio(total("seconds"), total("changes")),
        }


def _try(tested: TestedChange, suggestion: Suggestion) -> Tried:
    """What one suggestion does; where a file no longer parses nothing is run."""
    if suggestion.unparsed:
        return Tried({}, tuple(f"{path} no longer parses" for path in suggestion.unparsed), 0.0)
    return tested.attempt(suggestion.files)


def _wholly(tested: TestedChange, tried: Tried) -> list[str]:
    """The findings all of whose tests pass."""
    return [name for name, tests in tested.to_repair.items() if tried.repaired.get(name) == tests]


def _counts(
    tested: TestedChange, read: Mapping[str, Suggestion | Refusal | None], tried: Mapping[str, Tried]
) -> dict[str, float]:
    refused = Counter(one.group in _INAPPLICABLE for one in read.values() if isinstance(one, Refusal))
    sound = [one for one in tried.values() if not one.broken]
    passing = {(name, test) for one in sound for name, tests in one.repaired.items() for test in tests}
    flaky = {test for one in tested.baselines.values() for test in one.flaky}
    return {
        "changes": 1.0,
        "findings": float(len(tested.to_repair)),
        "untestable": float(len(tested.worth) - len(tested.to_repair)),
        "repaired": float(len({name for one in sound for name in _wholly(tested, one)})),
        "tests": float(sum(map(len, tested.to_repair.values()))),
        "tests_repaired": float(len(passing)),
        "flaky": float(len(flaky | (tested.existing.flaky if tried else frozenset()))),
        "suggestions": float(len(tried) + refused.total()),
        "inapplicable": float(refused[True]),
        "refused": float(refused[False]),
        "applied": float(len(tried)),
        "outside": float(sum(bool(one.outside) for one in read.values() if isinstance(one, Suggestion))),
        "broken": float(len(tried) - len(sound)),
        "seconds": sum(one.seconds for one in tried.values()),
    }


def _matching(
    case: Case,
    tested: TestedChange,
    read: Mapping[str, Suggestion | Refusal | None],
    tried: Mapping[str, Tried],
) -> Matching:
    """What each suggestion did and which findings were repaired, as the report shows what comments hit."""
    by: dict[str, list[str]] = {name: [] for name in tested.to_repair}
    outcomes = []
    for comment, one in read.items():
        done = tried.get(comment)
        whole = _wholly(tested, done) if done and not done.broken else []
        state = CommentState.FALSE if done and done.broken else CommentState.NEUTRAL
        if whole:
            state = CommentState.DUPLICATE if all(by[name] for name in whole) else CommentState.MATCHED
        group = next((name for name in whole if not by[name]), whole[0] if whole else None)
        for name in whole:
            by[name].append(comment)
        outcomes.append(CommentOutcome(comment=comment, state=state, group=group, reason=_words(one, done, tested)))
    members = {own[0].id: tuple(one.id for one in own) for own in findings(case.references)}
    groups = tuple(
        GroupOutcome(
            group=name,
            members=members[name],
            hit=bool(by[name]),
            comments=tuple(by[name]),
            reason="" if by[name] else f"no suggestion makes {_named(sorted(tests))} pass",
        )
        for name, tests in tested.to_repair.items()
    )
    return Matching(policy=POLICY, comments=tuple(outcomes), groups=groups)


def _words(one: Suggestion | Refusal | None, done: Tried | None, tested: TestedChange) -> str:
    """What became of a suggestion, in a sentence."""
    if one is None:
        return "it suggests no code"
    if isinstance(one, Refusal):
        return f"its suggestion was {'not applied' if one.group in _INAPPLICABLE else 'refused and not run'}: {one}"
    assert done is not None
    passing = sorted(test for tests in done.repaired.values() for test in tests)
    if done.broken:  # where tests no longer run, those that failed are not named either
        parts = [f"its suggestion breaks {_named(done.broken)}"]
    else:
        effect = f"{_named(passing)} passes now" if passing else "no failing test passes"
        parts = [f"its suggestion was applied: {effect}", *(() if tested.existing.problem else ("it breaks nothing",))]
    parts += [f"it edits {_named(one.outside)} beside the change"] if one.outside else []
    return "; ".join(parts)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
