"""Figures from papers and published files, each with its source. See also tests/datasets for the data's own counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scipy.stats import spearmanr

import reviewgauge
from judged_studies import graded, of_language, sample, study
from reviewgauge.analysis.raters import AgreementSettings as Agreement
from reviewgauge.analysis.raters import LabelFilter, agreement_report
from reviewgauge.analysis.stats.classification import MAJORITY, TREE, classifiers
from reviewgauge.analysis.stats.distributions import grade_rows, ks_table
from reviewgauge.analysis.validity.calibration import out_of_fold
from reviewgauge.analysis.validity.report import opposite_ends
from reviewgauge.analysis.validity.sample import RowSample, join, ranking, sweeps
from reviewgauge.analysis.validity.scored import baselines
from reviewgauge.core.protocols import Dataset, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.agreement import ClaimShares
from reviewgauge.core.reports.validity import GradeRow
from reviewgauge.core.specs import load
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.datasets.crscore_study import CrscoreStudy
from reviewgauge.datasets.files.cards import CRSCORE, published_figures
from reviewgauge.datasets.martian import Martian
from reviewgauge.models.embeddings.embedder import DEFAULT

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


@pytest.mark.drill
@pytest.mark.parametrize(("spec", "matched"), [
    ("hits(judge='exact')", 1505), ("hits(judge='lexical')", 1505), ("hits(location='only')", 1505),
    ("hits(judge='exact', policy='greedy', variant='aacr')", 196),
    ("hits(location='only', policy='greedy', variant='aacr_ids')", 1242),
    ("hits(judge='exact', policy='greedy', variant='aacr_evaluation')", 1505),
])  # fmt: skip
def test_aacr_gold_comments_given_back_as_predictions(shared_data: Path, spec: str, matched: int) -> None:
    """AACR-Bench's evaluator (official repository, commit 540dd9b) on its own positive_samples.json.

    196 as published, because its references have no id; 1,242 line matches once they have one. All 1,505 must match,
    and do since it was rewritten (`evaluation/judge.py`).
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
    from reviewgauge.datasets.martian import stored_counts

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


# --- GradedReviews: "Deep Assessment of Code Review Generation Approaches", arXiv:2501.05176

BLEU, ROUGE, MINILM = "bleu(variant='graded_reviews')", "rouge", "embedding"
ALL, BELOW_5 = 5164, 5125
TOOLS = ("Tufano's", "commentFinder", "Auger", "LLaMA-Reviewer")


def by_grade(rows: RowSample) -> list[GradeRow]:
    assert rows.grade is not None
    return list(grade_rows(rows.score, rows.grade, rows.cluster, rows.resampler))


def test_graded_reviews_counts(shared_data: Path) -> None:
    """GradedReviews, section 6.2 and Fig. 3. The paper counts 88 reviews of grade 4 or 5; its file holds 87."""
    counts = load(Dataset, f"graded_reviews(path={str(shared_data / 'graded-reviews')!r})").counts()
    assert counts["reviews"] == ALL
    assert [counts[f"grade {grade}"] for grade in range(1, 6)] == [4690, 323, 64, 48, 39]
    assert [counts[f"grade 1, {tool}"] for tool in TOOLS] == [1095, 1222, 1246, 1127]
    assert [counts.get(f"grade 5, {tool}", 0) for tool in TOOLS] == [29, 6, 0, 4]


@pytest.mark.parametrize(("spec", "on_all", "below_5", "tolerance"), [
    (BLEU, 0.2236, None, 0.0005), (ROUGE, 0.2842, 0.2525, 0.0005),
    ("rouge(variant='rouge-score')", 0.2842, 0.2525, 0.0005),
    ("meteor", 0.2440, 0.2106, 0.002),
    ("meteor(variant='nltk')", 0.2418, 0.2082, 0.0005),
    ("meteor(wordnet='none')", 0.2516, 0.2184, 0.002),
    ("chrf", 0.2294, None, 0.003),
    ("chrf(word_order=2)", 0.2385, None, 0.003),
    ("exact_match", 0.2836, None, 0.003),
    ("edit", 0.1662, None, 0.003), ("tfidf", 0.336, None, 0.003),
    ("tfidf(idf='batch', sublinear=False)", 0.336, None, 0.0005),
    ("jaccard(nothing_left='zero')", 0.370, None, 0.003),
    ("jaccard", 0.375, None, 0.0005), (MINILM, 0.347, None, 0.003),
])  # fmt: skip
def test_graded_reviews_spearman(
    shared_data: Path, spec: str, on_all: float, below_5: float | None, tolerance: float
) -> None:
    """GradedReviews, Table 5 (BLEU .22, ROUGE .25, METEOR .21) and recomputations on its public file.

    The paper's ROUGE and METEOR are on the 5,125 rows below grade 5, its BLEU on all: so its p-values say. Its METEOR
    looked words up in WordNet (median .08 of grade 2); NLTK looks up their stems, which gives the variant's value.
    Jaccard's .370 was computed with a score of 0 for two identical comments of nothing but stop words; by default
    they score 1, which makes it .375. The metrics that the paper does not have were recomputed once, apart from here.
    """
    rows = graded(shared_data, spec)
    assert rows.n == ALL
    assert rows.spearman().value == pytest.approx(on_all, abs=tolerance)
    if below_5 is not None:
        part = rows.rows(rows.human < 5)
        assert part.n == BELOW_5
        assert part.spearman().value == pytest.approx(below_5, abs=tolerance)


@pytest.mark.parametrize(
    ("spec", "chosen", "published"),
    [(BLEU, "all", 1.69e-59), (ROUGE, "below 5", 1.89e-75), ("meteor", "below 5", 3.24e-52)],
)
def test_graded_reviews_p_values_tell_the_row_set(shared_data: Path, spec: str, chosen: str, published: float) -> None:
    """GradedReviews, Table 5: the p-values come out within a factor of 1.5 on these row sets, and on no other."""
    rows = graded(shared_data, spec)
    on = {"all": rows.spearman().p, "below 5": rows.rows(rows.human < 5).spearman().p}
    near = [name for name, p in on.items() if p is not None and published / 1.5 < p < published * 1.5]
    assert near == [chosen]


@pytest.mark.parametrize(("spec", "medians", "tolerance"), [
    (BLEU, [1.94, 5.12, 6.73, 9.29], 0.02),
    (ROUGE, [0.0556, 0.1290, 0.1890, 0.2000], 0.0005),
    ("meteor", [0.04, 0.08, 0.14, 0.15], 0.005),
])  # fmt: skip
def test_graded_reviews_medians(shared_data: Path, spec: str, medians: list[float], tolerance: float) -> None:
    """GradedReviews, section 6.3: medians by grade, 1 to 4. For BLEU it prints 6.95 and 8.62 where its file gives
    6.73 and 9.29; ROUGE .06/.13/.19/.20 and METEOR .04/.08/.14/.15 are as printed.
    """
    assert [row.median.value for row in by_grade(graded(shared_data, spec))[:4]] == pytest.approx(
        medians, abs=tolerance
    )


@pytest.mark.parametrize(("spec", "maxima", "tolerance"), [
    (BLEU, [70.71, 70.33, 48.11], 0.005),
    (ROUGE, [0.7143, 0.8421, 0.6667], 0.0005),
    ("meteor", [0.69, 0.85, 0.82], 0.005),
])  # fmt: skip
def test_graded_reviews_maxima(shared_data: Path, spec: str, maxima: list[float], tolerance: float) -> None:
    """GradedReviews, section 6.3: the highest scores of grades 1 to 3."""
    assert [row.maximum for row in by_grade(graded(shared_data, spec))[:3]] == pytest.approx(maxima, abs=tolerance)


def test_graded_reviews_distances_between_grades(shared_data: Path) -> None:
    """GradedReviews, Table 6 (BLEU): the public file gives each within .015 of the printed value."""
    rows = graded(shared_data, BLEU)
    cells = {f"{cell.first:g}{cell.second:g}": cell.statistic for cell in ks_table(rows.score, rows.human)}
    assert list(cells) == ["12", "13", "14", "15", "23", "24", "25", "34", "35", "45"]
    recomputed = [0.255, 0.346, 0.449, 1.0, 0.150, 0.309, 0.994, 0.214, 1.0, 0.974]
    assert list(cells.values()) == pytest.approx(recomputed, abs=0.002)
    assert list(cells.values()) == pytest.approx([0.26, 0.36, 0.44, 1, 0.16, 0.30, 0.99, 0.20, 1, 0.97], abs=0.015)


def test_graded_reviews_had_one_other_grade_when_the_paper_was_written(shared_data: Path) -> None:
    """GradedReviews, sections 6.2, 6.3 and Table 6: one review, graded 3 in the published sheet, as a 4 gives all that
    is printed otherwise: 88 reviews of grade 4 or 5, the medians, the least score and every distance, rounded.
    """
    rows, keys = graded(shared_data, BLEU), study(shared_data, "graded_reviews").bench.keys
    place, human = keys.index(("981", "LLaMA-Reviewer", 1)), rows.human.copy()
    assert human[place] == 3
    human[place] = 4
    assert (human >= 4).sum() == 88
    regraded = by_grade(replace(rows, human=human, grade=human))
    assert [round(row.median.value or 0, 2) for row in regraded[:4]] == [1.94, 5.12, 6.95, 8.62]
    assert [f"{row.minimum:.2e}" for row in regraded[:3]] == ["2.65e-104", "8.23e-81", "2.95e-77"]
    found = [round(cell.statistic, 2) for cell in ks_table(rows.score, human)]
    assert found == [0.26, 0.36, 0.44, 1.0, 0.16, 0.3, 0.99, 0.2, 1.0, 0.97]


def test_graded_reviews_decision_tree(shared_data: Path) -> None:
    """GradedReviews, section 6.4: a tree on BLEU tells 62.5% of the grades. Always saying 1 tells 90.8%.

    By split seed it is .62 to .66; of 60 splits a few lie just outside.
    """
    rows = graded(shared_data, BLEU)
    assert rows.grade is not None
    (tree, majority), why_not = classifiers(rows.score, rows.grade)
    assert (tree.name, majority.name, why_not, tree.n_train + tree.n_test) == (TREE, MAJORITY, "", ALL)
    accuracy = tree.accuracy
    assert accuracy.value is not None and accuracy.low is not None and accuracy.high is not None
    assert 0.62 <= accuracy.value <= 0.66
    assert 0.61 <= accuracy.low < accuracy.high <= 0.67
    assert majority.accuracy.value == pytest.approx(0.908, abs=0.002)
    assert majority.balanced_accuracy.value == pytest.approx(0.2)


@pytest.mark.parametrize(("spec", "auc"), [(BLEU, 0.720), (ROUGE, 0.774), (MINILM, 0.845)])
def test_graded_reviews_auc(shared_data: Path, spec: str, auc: float) -> None:
    """The area under the ROC curve for grades above 1, recomputed from GradedReviews' public file."""
    first = sweeps(graded(shared_data, spec))[0]
    assert (first.cut, first.positives, first.n) == (2, 474, ALL)
    assert first.auc.value == pytest.approx(auc, abs=0.0005)


def test_graded_reviews_floors(shared_data: Path) -> None:
    """MiniLM on GradedReviews with equal scores under a floor: .4855 at .35, .4948 with floors learnt in ten folds.

    The paper's LLM graders reach .47 and .49 without any label. Folds here keep near-copies of a reference together
    too, and give .493 to .496 by the seed.
    """
    fixed = graded(shared_data, f"embedding(floor=0.35, floor_of={DEFAULT!r})")
    assert fixed.spearman().value == pytest.approx(0.4855, abs=0.003)
    without_grades = replace(graded(shared_data, MINILM), grade=None)  # which leaves out the slow ordinal model
    learnt = out_of_fold(without_grades).calibrated[0]
    assert (learnt.method, learnt.folds, bool(learnt.warning)) == ("floor", 10, True)
    assert learnt.spearman.value == pytest.approx(0.4948, abs=0.003)


# --- CRScore: Naik et al., "Grounding Automated Evaluation of Code Review Comments in Code Claims and Smells", 2025


def coefficient(shared_data: Path, dimension: str, name: str, chosen: LabelFilter) -> tuple[float, int]:
    """(the value to four digits, the items behind it) of an agreement coefficient on the study's labels."""
    own = study(shared_data, "crscore_study")
    settings = Agreement(nominal=("accuracy",), resamples=0)
    report = agreement_report(
        own.labels, source="crscore_study", scales=own.dataset.scales(), chosen=chosen, settings=settings
    )
    (found,) = (d for d in report.dimensions if d.dimension == dimension)
    (value,) = (c for c in found.coefficients if c.name == name)
    assert value.figure.value is not None
    return round(value.figure.value, 4), value.items


@pytest.mark.parametrize(
    ("dimension", "published", "on_both_batches"),
    [("con", 0.8868, 0.8167), ("comp", 0.8505, 0.7859), ("rel", 0.8806, 0.8158)],
)
def test_crscore_alpha(shared_data: Path, dimension: str, published: float, on_both_batches: float) -> None:
    """CRScore, section 4.2: Krippendorff's ordinal alpha of two raters, on one batch of the reliability test.

    90 of the 100 rows that the paper names are rated by both. Both batches together are lower.
    """
    alpha = "Krippendorff's alpha (ordinal)"
    one, both = LabelFilter(batches=("800-899",)), LabelFilter(rounds=("agreement",))
    assert coefficient(shared_data, dimension, alpha, one) == (published, 90)
    assert coefficient(shared_data, dimension, alpha, both) == (on_both_batches, 190)


def test_crscore_kappa(shared_data: Path) -> None:
    """CRScore, section 4.1: Cohen's kappa .804 on 100 Python claims."""
    chosen = LabelFilter(batches=("395-494",))
    assert coefficient(shared_data, "accuracy", "Cohen's kappa", chosen) == (0.8043, 100)


@pytest.mark.drill
@pytest.mark.parametrize(
    ("language", "published"), [("Python", (83.65, 12.02, 4.33, 5.77)), ("Java", (79.09, 13.22, 7.69, 8.89))]
)
def test_crscore_claim_rates(shared_data: Path, language: str, published: tuple[float, ...]) -> None:
    """CRScore, Table 1: accuracy, error, unverifiable and missing rate of the generated claims; intervals are ours."""
    rows = claim_rows(shared_data, "accuracy")[language]
    assert (rows.claims, [one.value for one in rows.shares]) == (
        416,
        ["correct", "incorrect", "unverifiable", "missing"],
    )
    assert [round(100 * (one.share.value or 0), 2) for one in rows.shares] == list(published)
    assert all((one.share.low or 0) < (one.share.value or 0) < (one.share.high or 0) for one in rows.shares)
    counts = CrscoreStudy(path=str(shared_data / "crscore")).claim_counts(language.lower())
    assert [one.claims for one in rows.shares[:3]] == [counts[one.value] for one in rows.shares[:3]]


def test_crscore_kinds_of_errors(shared_data: Path) -> None:
    """CRScore, Table 12, of 46 wrong claims. The file has four knowledge errors, the paper three (6.52%): one claim has
    two kinds, and its percentages add up to 100.
    """
    rows = claim_rows(shared_data, "error")[""]
    assert rows.claims == 46
    found = {one.value: (one.claims, round(100 * (one.share.value or 0), 2)) for one in rows.shares}
    assert found == {
        "knowledge": (4, 8.7), "reasoning": (5, 10.87), "localization": (2, 4.35), "over-generalization": (9, 19.57),
        "comprehension": (27, 58.7),
    }  # fmt: skip


def claim_rows(shared_data: Path, dimension: str) -> dict[str, ClaimShares]:
    report = reviewgauge.agree("crscore_study", source=shared_data / "crscore", dimensions=[dimension], resamples=200)
    return {rows.language: rows for rows in report.claims}


@pytest.mark.parametrize(("spec", "language", "value", "published"), [
    ("chrf(word_order=2)", "python", 0.299, 0.1848),
    ("chrf(word_order=2)", "java", 0.355, 0.2208),
    ("chrf", "python", 0.295, 0.1746), ("chrf", "java", 0.349, 0.2077),
    ("rouge(stem=False)", "python", 0.198, 0.1201),
    ("rouge(stem=False)", "java", 0.167, 0.0724),
])  # fmt: skip
def test_crscore_lexical_rows_are_higher_than_published(
    shared_data: Path, spec: str, language: str, value: float, published: float
) -> None:
    """CRScore, Table 11 (Spearman with relevance). It cannot be reproduced: the predictions that it rests on are not
    public, and the texts that the raters saw give these values (882 reviews a language, `msg` left out).
    """
    rows = of_language(shared_data, spec, "rel", language)
    found = rows.spearman().value
    assert rows.n == 882
    assert found == pytest.approx(value, abs=0.001)
    assert found is not None and found > published + 0.05


def test_crscore_systems_stand_in_the_order_of_people(shared_data: Path) -> None:
    """CRScore, Table 15: the best and the worst systems by people's `rel`."""
    rows, own = sample(shared_data, "crscore_study", "chrf", "rel"), study(shared_data, "crscore_study")
    found = ranking(rows, [own.bench.keys[at][1] for at in rows.place], own.humans["rel"].scale)
    assert found is not None
    systems = [point.system for point in found.systems]
    assert systems[:2] == ["gpt3.5", "llama3"] and systems[-2:] == ["lstm", "knn"]


@pytest.mark.parametrize(("baseline", "con", "comp", "rel"), [
    ("review length", 0.234, 0.420, 0.367),
    ("number of sentences", 0.250, 0.417, 0.368),
    ("number of words", 0.230, 0.416, 0.364),
    ("words of the diff", 0.382, 0.487, 0.449),
])  # fmt: skip
def test_crscore_baselines(shared_data: Path, baseline: str, con: float, comp: float, rel: float) -> None:
    """Spearman of trivial properties of a review with people (docs/reference/crscore.md): what a metric must beat."""
    own = study(shared_data, "crscore_study")
    (found,) = (one for one in baselines(own.bench) if one.metric == baseline)
    for dimension, expected in (("con", con), ("comp", comp), ("rel", rel)):
        rows = join(own.bench, own.humans[dimension], found.values)
        assert rows.n == 1764
        assert spearmanr(rows.score, rows.human).statistic == pytest.approx(expected, abs=0.001)


def test_crscore_failures(shared_data: Path) -> None:
    """CRScore, appendix E.1: 98 reviews overestimated (3.74%), 16 underestimated (.61%), Spearman without them .643.

    Section 5.4: 45% of the overestimated ones have inline code, 28% of all. Here, on Python and Java alone.
    """
    rows = sample(shared_data, "crscore_study", "crscore", "rel")
    ends, traits = opposite_ends(study(shared_data, "crscore_study").bench, rows)
    assert ends is not None
    assert (ends.lowest, ends.highest, ends.n_over, ends.n_under, ends.over.n) == (1, 5, 63, 0, 1764)
    assert ends.spearman.value == pytest.approx(0.705, abs=0.001)
    shared = {one.trait: one for one in traits}
    assert shared["inline code"].all == pytest.approx(0.256, abs=0.001)
    assert shared["inline code"].over == pytest.approx(0.508, abs=0.001)


def test_the_published_figures_are_typed_right() -> None:
    """Those that other tests and pages state too, and the means of people, which come out of the ratings."""
    known = {(one.metric, one.dimension, one.name, one.rows): one.value for one in published_figures("crscore_study")}
    best = CRSCORE
    assert known[best, "rel", "spearman", ""] == 0.5431 and known[best, "rel", "kendall", ""] == 0.4567
    assert known["GPT-4o as a judge", "rel", "spearman", ""] == 0.605
    assert known["chrF++", "rel", "spearman", "language=java"] == 0.2208
    assert known[best, "rel", "spearman", "systems"] == 0.95
    assert known["people", "comp", "mean", "system=gpt3.5"] == 0.4132
    assert published_figures("sample") == ()


@pytest.mark.drill
@pytest.mark.parametrize(("spec", "value"), [
    ("crscore", 0.622),
    ("crscore(variant='closest')", 0.606),
    ("crscore(model='chars', variant='closest')", 0.594),
    ("crscore(model='all-MiniLM-L6-v2', variant='closest')", 0.564),
])  # fmt: skip
def test_crscore_without_a_threshold(shared_data: Path, spec: str, value: float) -> None:
    """Spearman with relevance on Python and Java (docs/reference/crscore.md); the paper: .5431 on three languages."""
    rows = sample(shared_data, "crscore_study", spec, "rel")
    assert rows.n == 1764
    assert rows.spearman().value == pytest.approx(value, abs=0.001)
