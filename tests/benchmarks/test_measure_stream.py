"""A stream is measured window by window, and nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from timed.measure_stream import measure_stream

from engine_small import Halting, Length, Together, make_case
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Failure
from reviewgauge.core.specs import load
from reviewgauge.engine.measure import measure
from reviewgauge.metrics.meteor import Meteor
from reviewgauge.metrics.rouge import Rouge
from reviewgauge.metrics.tfidf import Tfidf

pytestmark = pytest.mark.processes


def pairs(count: int) -> Iterator[tuple[Case, Review]]:
    """Cases and reviews with texts of their own."""
    change = Change(repo="o/r")
    for i in range(count):
        reference = Comment(id="r", body=f"check row {i} for null before call {i % 97} of handler{i}")
        said = Comment(id="c", body=f"row {i} may be null in handler{i + i % 2}, add a check")
        name = f"case-{i}"
        yield (
            Case(id=name, change=change, references=(reference,)),
            Review(case=name, system="s", comments=(said,)),
        )


def reviewed(count: int) -> list[tuple[Case, Review]]:
    return [(make_case(i), Review(case=f"case-{i:03d}", system="s")) for i in range(count)]


@pytest.mark.parametrize("batch", [1, 7, 1024])
@pytest.mark.parametrize("metric", [Rouge(), Tfidf(), Meteor(wordnet="none"), Length()])
def test_the_answers_are_those_of_one_batch(metric: Metric, batch: int) -> None:
    items = [*pairs(30), *reviewed(10)]
    assert list(measure_stream(metric, items, batch)) == list(measure(metric, items))


def test_no_more_than_a_window_is_read_ahead() -> None:
    read = 0

    def counted() -> Iterator[tuple[Case, Review]]:
        nonlocal read
        for item in pairs(100):
            read += 1
            yield item

    answers = measure_stream(Rouge(), counted(), batch=10)
    assert read == 0
    assert len(list(islice(answers, 11))) == 11
    assert read == 20


def test_a_window_that_breaks_leaves_the_others_alone() -> None:
    answers = list(measure_stream(Halting(), reviewed(8), batch=4))
    assert [isinstance(answer, Failure) for answer in answers] == [False, False, False, True] * 2


def test_what_cannot_be_streamed_is_refused_at_once() -> None:
    for metric in (Together(), Tfidf(idf="batch")):
        with pytest.raises(UserError, match="looks at all reviews together"):
            measure_stream(metric, pairs(1))
    with pytest.raises(UserError, match="batch=0"):
        measure_stream(Rouge(), pairs(1), batch=0)
    with pytest.raises(BadInput, match="weights"):
        list(measure_stream(Halting(refuse=True), reviewed(1)))


@pytest.mark.drill
@pytest.mark.parametrize("spec", ["rouge", "tfidf"])
def test_memory_does_not_grow_with_the_stream(spec: str) -> None:
    """The most that a fresh process holds in 30,000 pairs is what it held in 15,000, when the token caches are full."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests / "toys"), str(tests.parent / "benchmarks")])
    ran = subprocess.run(
        [sys.executable, __file__, spec, "15000", "30000"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    early, late = map(int, ran.stdout.split())
    assert late - early < 10 * 1024, f"{early} KB grew to {late} KB"


def main(spec: str, *counts: str) -> None:
    """Print the peak memory (KB on Linux) after each count of pairs."""
    import resource

    answers = measure_stream(load(Metric, spec), pairs(int(counts[-1])))
    done = 0
    for count in map(int, counts):
        done += sum(isinstance(answer, Measured) for answer in islice(answers, count - done))
        assert done == count
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main(*sys.argv[1:])
