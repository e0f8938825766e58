from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from engine_small import make_case, make_cases
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, Comment
from reviewgauge.engine.run.manifest import benchmark_hash


@given(st.integers(0, 2**31))
def test_order_does_not_matter(seed: int) -> None:
    cases = make_cases(8, references=2)
    mixed = random.Random(seed).sample(cases, len(cases))
    assert benchmark_hash(mixed) == benchmark_hash(cases)


def test_where_the_code_lies_does_not_matter() -> None:
    case = make_case(1)
    moved = case.model_copy(update={"change": case.change.model_copy(update={"git": "/somewhere/else.git"})})
    assert benchmark_hash([moved]) == benchmark_hash([case])


def test_the_order_of_facts_does_not_matter_and_a_line_reads_back_to_the_same_hash() -> None:
    case = make_case(1)
    turned = case.model_copy(update={"facts": dict(reversed(list(case.facts.items())))})
    assert benchmark_hash([turned]) == benchmark_hash([case])
    assert benchmark_hash([parse_record(Case, case.to_line(), "x")]) == benchmark_hash([case])


def test_every_other_change_shows() -> None:
    case = make_case(1)
    hashes = {
        benchmark_hash(cases)
        for cases in (
            [case],
            [case, case],
            [],
            [case.model_copy(update={"id": "other"})],
            [case.model_copy(update={"verdict": True})],
            [case.model_copy(update={"facts": {}})],
            [case.model_copy(update={"references": (*case.references, Comment(id="n", body="new"))})],
            [case.model_copy(update={"change": case.change.model_copy(update={"title": "t"})})],
        )
    }
    assert len(hashes) == 8
