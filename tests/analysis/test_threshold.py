"""Thresholds: CRScore's rule, its links and its five sigmas, by hand on a small study; and the shipped ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from judged_studies import study as real_study
from judged_toys import Study, study
from reviewgauge.analysis.stats.bootstrap import Resamples
from reviewgauge.analysis.threshold import Material, fit_threshold, gather, random_pairs
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Claim, Comment
from reviewgauge.core.reports.threshold import FittedThreshold
from reviewgauge.core.specs import load
from reviewgauge.metrics.coverage.vectors import TextVectors
from reviewgauge.metrics.crscore import MOST_PAIRS, SHIPPED, Crscore

WORDS = Crscore(soft=False, claims="references")
NO_DIFF = Crscore(soft=False)
FEW = Resamples(resamples=20)


def gathered(made: Study, system: str = "", metric: Crscore = WORDS) -> Material:
    human = next(iter(made.humans()), None)
    return gather(made.cases, made.bench(), made.labels, human, metric=metric, system=system)


def similarity(made: Study) -> dict[tuple[str, str], float]:
    """The similarity of each review, which is one sentence, to its only claim, as the metric's evidence has it."""
    cases = {case.id: case for case in made.cases}
    metric = Crscore(claims="references", variant="closest")
    found = {}
    for outcome in made.outcomes:
        assert outcome.review is not None
        measured = metric.parts(cases[outcome.case], outcome.review)
        assert isinstance(measured, Measured)
        found[outcome.case, outcome.system] = measured.parts["con"]
    return found


def linked(made: Study) -> Study:
    """The study with links: a review that people gave 4 or 5 addresses the claim."""
    links = tuple(
        Label(
            subject=Subject(kind=SubjectKind.LINK, case=one.subject.case, system=one.subject.system, claim="r"),
            rater="ann",
            rater_kind=RaterKind.HUMAN,
            dimension="addressed",
            value=int(float(one.value) >= 4),
        )
        for one in made.labels
    )
    return replace(made, labels=(*made.labels, *links))


def test_the_rule_is_the_mean_similarity_of_the_best_systems_sentences() -> None:
    made = study(30)
    found = fit_threshold(WORDS, gathered(made), FEW)
    alike = similarity(made)
    assert found.threshold.value == pytest.approx(fmean(v for (_, system), v in alike.items() if system == "best"))
    assert (found.threshold.n, found.reviews, found.changes) == (30, 30, 30)
    assert found.threshold.low is not None and found.threshold.high is not None
    assert found.threshold.low < (found.threshold.value or 0) < found.threshold.high
    weak = fit_threshold(WORDS, gathered(made, "weak"), FEW)
    assert weak.threshold.value == pytest.approx(fmean(v for (_, system), v in alike.items() if system == "weak"))


def test_the_metric_that_is_named_uses_the_threshold() -> None:
    found = fit_threshold(Crscore(model="chars", soft=False, claims="references"), gathered(study(8)), FEW)
    metric = load(Metric, found.spec)
    assert isinstance(metric, Crscore)
    assert metric.limit == found.here.threshold == pytest.approx(found.threshold.value, abs=1e-3)
    assert metric.claims == "references" and metric.model == "chars"


def test_annotated_changes_are_left_out_where_enough_others_are_there() -> None:
    made = study(50)
    half = replace(made, labels=tuple(one for one in made.labels if one.subject.case < "case-025"))
    found = gathered(half)
    assert {found.bench.keys[at][0] for at in found.rows} == {f"case-{n:03d}" for n in range(25, 50)}
    assert not found.warnings and found.system == "best"
    most = replace(made, labels=tuple(one for one in made.labels if one.subject.case < "case-040"))
    assert len(gathered(most).rows) == 50 and "10 of the 50 reviews" in gathered(most).warnings[0]


def test_where_changes_bring_claims_those_without_are_left_out() -> None:
    found = gathered(study(9), metric=NO_DIFF)  # every third toy change has none
    assert len(found.rows) == 6 and found.warnings[-1].startswith("3 changes are left out: the change has no claims")


def test_each_threshold_has_the_correlation_of_rel_with_people() -> None:
    made = study(30)
    found = fit_threshold(WORDS, gathered(made), FEW)
    alike = similarity(made)
    people = [float(one.value) for one in made.labels]
    for point in found.points:
        rel = [float(alike[one.subject.case, one.subject.system or ""] > point.threshold) for one in made.labels]
        assert point.spearman is not None and point.kendall is not None and point.spearman.n == 120
        if len(set(rel)) > 1:
            assert point.spearman.value == pytest.approx(spearmanr(rel, people).statistic)
            assert point.kendall.value == pytest.approx(kendalltau(rel, people).statistic)
    best = found.best
    assert best is not None and best.spearman is not None and best.spearman.value is not None
    assert best.spearman.value == max(p.spearman.value for p in found.points if p.spearman and p.spearman.value)


def test_links_are_those_of_reviews_that_address_any_claim() -> None:
    made = linked(study(30))
    material = gathered(made)
    assert {claim for own in material.links.values() for claim in own} == {"r"}
    found = fit_threshold(WORDS, material, FEW)
    alike = similarity(made)
    close = [alike[case, system] for case, system, _ in material.links]
    for point in found.points:
        assert point.sentence is not None and point.review == point.sentence, "each review is one sentence"
        above = sum(value > point.threshold for value in close)
        assert point.sentence.recall.value == pytest.approx(above / len(close))
        assert point.sentence.precision.value == (1.0 if above else None), "only linked reviews, with one claim each"
        assert point.sentence.f1.value == pytest.approx(2 * above / (above + len(close)))


def test_without_people_a_system_is_named_and_there_are_no_correlations() -> None:
    silent = replace(study(8), labels=())
    with pytest.raises(UserError, match=r"do not say which system is best.*--system: best, fair, good, weak"):
        gathered(silent)
    found = fit_threshold(WORDS, gathered(silent, "good"), FEW)
    assert found.best is None and found.here.sentence is None and found.threshold.n == 8
    with pytest.raises(UserError, match="no review is by 'nobody'"):
        gathered(silent, "nobody")
    assert "only 8 changes: on others the threshold may be far from it" in gathered(silent, "good").warnings
    with pytest.raises(UserError, match=r"no change has claims: the case has no claims and no diff"):
        gathered(
            replace(silent, cases=tuple(one.model_copy(update={"claims": ()}) for one in silent.cases)), "good", NO_DIFF
        )


def test_a_flood_of_sentences_is_left_out_as_in_the_metric() -> None:
    made = study(8)
    many = tuple(Claim(id=str(at), body="claim") for at in range(1_000))
    cases = (made.cases[0].model_copy(update={"claims": many}), *made.cases[1:])
    first = next(one for one in made.outcomes if one.system == "best")
    assert first.review is not None and first.case == cases[0].id
    comments = (Comment(id="c", body="Why? " * (MOST_PAIRS // 1_000 + 1)),)
    flood = first.model_copy(update={"review": first.review.model_copy(update={"comments": comments})})
    outcomes = tuple(flood if one is first else one for one in made.outcomes)
    found = gathered(replace(made, cases=cases, outcomes=outcomes), metric=NO_DIFF)
    assert {found.bench.keys[at][0] for at in found.rows} == {one.id for one in cases[1:] if one.claims}


def test_five_sigmas_of_random_pairs() -> None:
    texts = [
        f"the {word} of the {other}" for word in ("lock", "queue", "timer") for other in ("cache", "index", "loop")
    ]
    vectors = TextVectors(texts, "words")
    found = random_pairs(texts, vectors, seed=0, n=20_000)
    assert found is not None and (found.n, found.sentences) == (20_000, 9)
    every = [vectors.cosines([a], [b])[0, 0] for a in texts for b in texts if a != b]
    assert found.mean == pytest.approx(fmean(every), abs=0.01)
    assert found.deviation == pytest.approx(np.std(every), abs=0.01)
    assert found.threshold == pytest.approx(found.mean + 5 * found.deviation)
    assert random_pairs(texts[:2], vectors, seed=0) is None


def fitted(shared_data: Path, model: str) -> FittedThreshold:
    known = real_study(shared_data, "crscore_study")
    cases = list({case.id: case for case, _ in known.items}.values())
    metric = Crscore(model=model, soft=False)
    material = gather(cases, known.bench, known.labels, known.humans["rel"], metric=metric)
    assert material.system == "gpt3.5"
    return fit_threshold(metric, material, FEW)


@pytest.mark.drill
@pytest.mark.parametrize(
    ("model", "best", "there"), [("words", 0.213, 0.5548), ("chars", 0.15, 0.5548)]
)  # measured on the Python and Java part
def test_the_shipped_thresholds_are_those_of_the_study(
    shared_data: Path, model: str, best: float, there: float
) -> None:
    found = fitted(shared_data, model)
    assert found.threshold.n == 507 and SHIPPED[found.fingerprint] == found.here.threshold
    assert found.best is not None and found.best.threshold == best
    assert found.best.spearman is not None and found.best.spearman.n == 1764
    assert found.best.spearman.value == pytest.approx(there, abs=5e-4)
    assert found.here.review is not None and found.here.review.f1.n == 3452


@pytest.mark.drill
def test_minilm_has_about_the_shipped_threshold_on_a_part_of_the_study(shared_data: Path) -> None:
    known = real_study(shared_data, "crscore_study")
    metric = Crscore(model="all-MiniLM-L6-v2")
    items = [item for item in known.items if item[1].system == "gpt3.5"][::4]
    found = [one for one in metric.parts_many(items) if isinstance(one, Measured)]
    closest = [
        max(link.similarity for link in one.coverage.links if link.sentence == at)
        for one in found
        if one.coverage
        for at in range(len(one.coverage.sentences))
    ]
    assert len(found) == 50 and fmean(closest) == pytest.approx(SHIPPED[metric.fingerprint], abs=0.04)
