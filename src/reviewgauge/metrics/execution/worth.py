"""The tests that a finding is worth, as a build with `--test` recorded them."""

from __future__ import annotations

from collections.abc import Mapping

from reviewgauge.core.records import FAILING, Case, Tier, findings


def tests_worth(case: Case) -> Mapping[str, tuple[str, ...]]:
    """For each verified finding (by the id of its first phrasing) its failing tests; none: the command names none."""
    worth: dict[str, tuple[str, ...]] = {}
    for members in findings(case.references):
        known = [one.extra[FAILING] for one in members if one.tier is Tier.VERIFIED and FAILING in one.extra]
        if known:
            names = (name for tests in known if isinstance(tests, list) for name in tests)
            worth[members[0].id] = tuple(dict.fromkeys(map(str, names)))
    return worth


def why_worthless(case: Case) -> str:
    """Why no tests show what is wrong with a change; empty where some do."""
    if tests_worth(case):
        return ""
    if any(one.tier is Tier.VERIFIED for one in case.references):
        return "its findings do not name their tests: build again with --test (only new runs are made)"
    return "no test is known to show a finding: build with --test says which do"
