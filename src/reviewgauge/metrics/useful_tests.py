"""How much of what failing tests show did the review find? Each finding is worth the tests of its fix; nothing runs.

Source: c-CRAB (arXiv:2603.23448), whose unit is a test made from a review. Tests of the fix itself, and a finding
beside the test as a unit, are ours: one finding may be behind many tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reviewgauge.core.protocols import Aggregate, Measured
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds
from reviewgauge.metrics.execution.by_hits import ByHits
from reviewgauge.metrics.execution.worth import tests_worth, why_worthless

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


@dataclass(frozen=True)
class UsefulTests(ByHits):
    """`findings`: the share of the verified findings that were hit; `tests`: the share of the tests that show them.

    A finding is verified where a build with `--test` saw tests fail on the change that its fix mends, or on a defect
    that was put in and not on its twin. A hit counts by the evidence that `hits` has with the same `judge`, `location`
    and `tolerance`. Other findings, and comments that match none, count neither way: see `hits` for those.
    """

    example: ClassVar[str] = "reviewgauge build . --test 'pytest -q {files}' -o bench"

    headline: ClassVar[str] = "findings"

    def unmeasurable(self, case: Case) -> str:
        """Only a case with a verified finding can be measured."""
        return why_worthless(case)

    def parts(self, case: Case, review: Review) -> Measured | str:
        """Counts of findings and of tests, hit and in all; what the judge is unsure of counts as its probability."""
        if reason := self.unmeasurable(case):
            return reason
        found = self.hits.parts(case, review)
        if isinstance(found, str) or found.matching is None:
            return found
        worth = tests_worth(case)
        credit = {name: group.credit for group in found.matching.groups for name in group.members}
        parts = {
            "findings": float(len(worth)),
            "found": sum(credit[finding] for finding in worth),
            "tests": float(sum(map(_count, worth.values()))),
            "tests_found": sum(credit[finding] * _count(tests) for finding, tests in worth.items()),
        }
        return found.model_copy(update={"parts": parts, "facets": {}})

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Every total is summed over the changes first."""
        total, ratio = aggregate.total, aggregate.ratio
        return {
            "findings": ratio(total("found"), total("findings")),
            "tests": ratio(total("tests_found"), total("tests")),
        }

    def bounds(self, case: Case) -> Bounds:
        """At worst no verified finding is hit, at best all are."""
        worth = tests_worth(case)
        if not worth:
            return Bounds(worst={}, best={})
        n, tests = float(len(worth)), float(sum(map(_count, worth.values())))
        every = {"findings": n, "tests": tests}
        return Bounds(worst=every, best={**every, "found": n, "tests_found": tests})


def _count(tests: tuple[str, ...]) -> int:
    """The number of tests of a finding; a command that names none is one."""
    return len(tests) or 1
