"""The balance of what is left at the end of a recipe."""

from __future__ import annotations

import pytest

from reviewgauge.core.building import CardSection
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.report_balance import ReportBalance
from reviewgauge.stages.resample import Resample
from reviewgauge.stages.stratify import Stratify
from sampled import Drawn, candidate, section

LINES = ReportBalance(features=("changed_lines",))


def told(context: BuildFolder) -> CardSection:
    return section(context.sections, "Balance of the benchmark")


def test_it_describes_the_cases_that_are_left_and_not_those_that_were_matched(context: BuildFolder) -> None:
    items = [candidate(f"bad{n}", False, changed_lines=10 * n) for n in range(1, 21)]
    items += [candidate(f"clean{n}", True, changed_lines=10 * n) for n in range(1, 61)]
    matched = Drawn(Resample(features=("changed_lines",)), items, context).kept
    drawn = Drawn(Stratify(by=("verdict",), per_cell=4), matched, context).kept
    last = Drawn(LINES, drawn, context)
    assert last.kept == drawn
    assert not last.drops
    after = section(context.sections, "Balance").rows[1]
    (final,) = told(context).rows
    assert (after[2:4], final[1:3]) == ((20, 20), (4, 4))
    changed = [item.case.facts["changed_lines"] for item in drawn if item.id.startswith("bad")]
    assert final[3] == pytest.approx(sum(float(str(lines)) for lines in changed) / 4)
    assert after[6] == 0.0
    assert final[5] != 0.0, "the draw upset it"
    assert "a reviewer gains by counting" in told(context).warnings[0]


def test_too_few_of_a_kind_and_a_difference_that_is_left_are_said(context: BuildFolder) -> None:
    items = [candidate(f"bad{n}", False, changed_lines=900) for n in range(4)]
    items += [candidate("clean", True, changed_lines=3), candidate("who", None, changed_lines=3)]
    items += [candidate("blank", True)]
    Drawn(LINES, items, context)
    text = told(context).text
    assert "4 changed and 1 clean cases are in the benchmark" in text
    assert "3 changed cases have no counterpart" in text
    assert "Not counted: 1 of which nobody knows, 1 that do not state all of these facts" in text
    (warning,) = told(context).warnings
    assert "differ by that of changed_lines, which tells all of them apart: a reviewer gains by counting" in warning
    assert told(context).figures == {"changed": 4, "clean": 1, "unmatched": 3}


def test_a_balanced_one_is_called_so(context: BuildFolder) -> None:
    Drawn(LINES, [candidate(f"{v}{n}", v, changed_lines=n) for n in range(9) for v in (True, False)], context)
    assert "The largest difference is SMD 0.00 of changed_lines." in told(context).text
    assert told(context).warnings == ()
    assert "counterpart" not in told(context).text


def test_without_cases_there_is_nothing_to_compare(context: BuildFolder) -> None:
    assert Drawn(ReportBalance(), [], context).ids == []
    assert told(context).rows[0][:3] == ("product_lines", 0, 0)
    with pytest.raises(ValueError, match="needs features"):
        ReportBalance(features=())
