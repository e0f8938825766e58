"""Do the suggestions of a review repair what it found, and break nothing? They are applied, and the tests run.

Source: ours, after c-CRAB (arXiv:2603.23448), which lets an agent act on a review; here nobody acts but the suggestion
itself. Tests of the fix decide, as in SWE-bench (arXiv:2310.06770).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reviewgauge.core.protocols import Aggregate, Measured
from reviewgauge.core.records import Case, Review
from reviewgauge.metrics.execution.outcomes import INAPPLICABLE, matching_of, try_one, wholly
from reviewgauge.metrics.execution.runs import TestedChange, Tried
from reviewgauge.metrics.execution.runs_tests import RunsTests
from reviewgauge.metrics.execution.suggestions import Suggestion, Suggestions, suggests
from reviewgauge.repo.diff.edits import Refusal

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


@dataclass(frozen=True)
class UsefulSuggestions(RunsTests):
    """`net`: the verified findings that a suggestion repairs, less the suggestions that break something, per finding.

    Each suggestion is applied alone to the change, then all together, and `test` runs as in `verify_fixes`, in a
    sandbox: the tests of each fix, laid over, and with `suite` (by default `test` without its `{files}`) all that
    exist. A finding is repaired where all its tests pass that failed; a suggestion does harm where a test fails that
    did not, or a file no longer parses. The untouched change is tested three times: what differs is left out as flaky.
    A suggestion that edits tests, or what runs them, is refused and counted. `agreement`: on how many findings `hits`
    (with `judge`, `location`, `tolerance`) says the same. Runs are remembered in the cache, none is made twice.
    """

    example: ClassVar[str] = "useful_suggestions(test='python -m pytest -q {files}')"

    headline: ClassVar[str] = "net"
    units: ClassVar[Mapping[str, str]] = {
        "net": "findings",
        "suggestions": "suggestions per change",
        "seconds": "seconds per change",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"broken", "broken_together", "refused", "seconds"})

    def edits_of(self, review: Review) -> int:
        """One a suggestion, and all together."""
        found = sum(suggests(comment) for comment in review.comments)
        return found + (found > 1)

    def parts(self, case: Case, review: Review) -> Measured | str:
        """Counts of findings, tests and suggestions. Raises UserError without a command, a program or a sandbox."""
        if reason := self.unmeasurable(case):
            return reason
        tested = self.change(case)
        if (problem := tested.problem) and not tested.to_repair:
            return f"could not be tested as it is: {problem}"
        reader = Suggestions(case, tested, f"{self.test} {self.suite}")
        read = {comment.id: reader.read(comment) for comment in review.comments}
        applied = [one for one in read.values() if isinstance(one, Suggestion)]
        if applied and not tested.to_repair and tested.existing.problem:
            return f"could not be tested as it is: {tested.existing.problem}"
        tried = {one.comment: try_one(tested, one) for one in applied}
        parts = _counts(tested, read, tried)
        if applied:
            files, left = reader.together(applied)
            whole = tried[applied[0].comment] if len(applied) == 1 else tested.attempt(files)
            parts |= {"overlapping": float(left), "changes_applied": 1.0, "broken_together": float(bool(whole.broken))}
            parts["repaired_together"] = float(len(wholly(tested, whole)))
            parts["seconds"] += whole.seconds if len(applied) > 1 else 0.0
        matching = matching_of(case, tested, read, tried)
        parts |= self.agreement(case, review, matching)
        return Measured(parts=parts, matching=matching, fake=review.fake)

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


def _counts(
    tested: TestedChange, read: Mapping[str, Suggestion | Refusal | None], tried: Mapping[str, Tried]
) -> dict[str, float]:
    refused = Counter(one.group in INAPPLICABLE for one in read.values() if isinstance(one, Refusal))
    sound = [one for one in tried.values() if not one.broken]
    passing = {(name, test) for one in sound for name, tests in one.repaired.items() for test in tests}
    flaky = {test for one in tested.baselines.values() for test in one.flaky}
    return {
        "changes": 1.0,
        "findings": float(len(tested.to_repair)),
        "untestable": float(len(tested.worth) - len(tested.to_repair)),
        "repaired": float(len({name for one in sound for name in wholly(tested, one)})),
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
