"""Figures from papers and published files, each with its source. See also tests/datasets for the data's own counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from reviewbench.core.plugins import load
from reviewbench.core.protocols import Dataset, Measured, Metric
from reviewbench.core.records import Case, Review
from reviewbench.datasets.aacr_bench import AacrBench
from reviewbench.datasets.martian import Martian

JUDGES = ("anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929", "openai_gpt-5.2")


@cache
def aacr_cases(folder: Path) -> tuple[Case, ...]:
    return tuple(AacrBench(path=str(folder / "aacr-bench")).cases())


def summed(metric: Metric, items: Iterator[tuple[Case, Review]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for case, review in items:
        measured = metric.parts(case, review)
        if isinstance(measured, Measured):
            totals.update({name: int(value) for name, value in measured.parts.items() if value == int(value)})
    return totals


@pytest.mark.parametrize(
    ("spec", "matched"),
    [
        ("hits(judge='exact')", 1505),
        ("hits(judge='lexical')", 1505),
        ("hits(location='only')", 1505),
        ("hits(judge='exact', policy='greedy', variant='aacr')", 196),
        ("hits(location='only', policy='greedy', variant='aacr_ids')", 1242),
    ],
)
def test_aacr_gold_comments_given_back_as_predictions(shared_data: Path, spec: str, matched: int) -> None:
    """AACR-Bench's evaluator (official repository, commit 540dd9b) on its own positive_samples.json.

    196 as published, because its references have no id; 1,242 line matches once they have one. All 1,505 must match.
    """
    metric = load(Metric, spec)
    oracle = ((c, Review(case=c.id, system="gold", comments=c.references)) for c in aacr_cases(shared_data))
    totals = summed(metric, oracle)
    assert (totals["hit"], totals["references"], totals["changes"]) == (matched, 1505, 196)


@cache
def martian_run(folder: Path, judge: str) -> tuple[tuple[Case, Review], ...]:
    dataset: Dataset = Martian(path=str(folder / "martian"))
    reviews, labels = dataset.recorded(extractor=judge)
    cases = {case.id: case for case in dataset.cases()}
    on: dict[str, list[object]] = {}
    for label in labels:
        on.setdefault(label.subject.case, []).append(label)
    cases = {key: case.model_copy(update={"labels": tuple(on.get(key, ()))}) for key, case in cases.items()}
    return tuple((cases[review.case], review) for review in reviews)


@pytest.mark.parametrize("judge", JUDGES)
def test_martian_stored_figures_come_out_of_the_stored_verdicts(shared_data: Path, judge: str) -> None:
    """Martian's results/<judge>/evaluations.json: tp, fn and candidates of every one of its 360 reviews."""
    from reviewbench.datasets._martian_verdicts import stored_counts

    metric = load(Metric, "hits(judge='recorded', policy='greedy', variant='martian')")
    stored = stored_counts(shared_data / "martian", judge)
    run = martian_run(shared_data, judge)
    assert len(run) == len(stored) == 360
    for case, review in run:
        measured = metric.parts(case, review)
        assert isinstance(measured, Measured)
        counts = stored[review.system, case.change.url or ""]
        found = {k: int(measured.parts[k]) for k in ("hit", "missed", "comments")}
        assert found == {"hit": counts.tp, "missed": counts.fn, "comments": counts.candidates}, (case.id, review.system)


@pytest.mark.parametrize("judge", JUDGES)
def test_martian_corrected_reading_keeps_the_identities(shared_data: Path, judge: str) -> None:
    """One-to-one, the same verdicts: one candidate counts for one golden, and matched + false + neutral add up."""
    metric = load(Metric, "hits(judge='recorded')")
    published = summed(
        load(Metric, "hits(judge='recorded', policy='greedy', variant='martian')"),
        iter(martian_run(shared_data, judge)),
    )
    corrected = summed(metric, iter(martian_run(shared_data, judge)))
    assert corrected["hit"] == corrected["matched"] < published["hit"]
    states = ("matched", "duplicate", "neutral", "false")
    assert sum(corrected[state] for state in states) == corrected["comments"] == published["comments"]
    assert corrected["hit"] + corrected["missed"] == corrected["references"] == 12 * 85
