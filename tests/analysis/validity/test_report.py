from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from judged_toys import Missed, Shared, Study, label, study
from reviewgauge.analysis.validity.human_values import HumanValues
from reviewgauge.analysis.validity.report import LESS_IS_BETTER, Evidence, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.scored import LENGTH, Scored, length_baseline
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.validity import MetricValidity, ValidityReport

SMALL = ValiditySettings(resamples=60, folds=4, slices=("system", "language"))


def report(
    made: Study, *metrics: Metric, settings: ValiditySettings = SMALL, people: tuple[str, ...] = ()
) -> ValidityReport:
    bench = made.bench(people)
    scored = [Scored.of(metric, made.scores(metric)) for metric in metrics]
    return validity(bench, made.humans(), [*scored, length_baseline(bench)], settings)


def validity(
    bench: ReviewTable, humans: Sequence[HumanValues], scored: Sequence[Scored], settings: ValiditySettings
) -> ValidityReport:
    return Evidence(bench, tuple(humans), tuple(scored), settings, dataset="toy", benchmark="b" * 64).report()


@pytest.fixture(scope="module")
def found() -> ValidityReport:
    return report(study(), Shared(), Missed())


def figures(record: object) -> Iterator[Value]:
    if isinstance(record, Value):
        yield record
    elif isinstance(record, tuple | list):
        for item in record:
            yield from figures(item)
    elif hasattr(record, "__dict__"):
        yield from figures(list(vars(record).values()))


@pytest.mark.slow
def test_everything_that_the_papers_show_is_there(found: ValidityReport) -> None:
    shared = found.metrics[0]
    assert (found.cases, found.reviews, found.resamples) == (60, 240, 60)
    assert [m.label for m in found.metrics][-1] == f"{LENGTH} (baseline)"
    assert [part.rows.name for part in shared.correlations] == ["all rows", "grade < 5"]
    assert shared.correlations[1].rows.left_out["not grade < 5"] == 240 - shared.correlations[1].rows.rows
    assert [row.grade for row in shared.grades] == [1, 2, 3, 4, 5]
    assert len(shared.ks) == 10
    assert [c.name for c in shared.classifiers] == ["decision tree", "majority class"]
    assert [sweep.cut for sweep in shared.sweeps] == [2, 3, 4, 5]
    assert [c.method for c in shared.calibrated] == ["floor", "ordinal"]
    assert shared.heat_map is not None and shared.ranking is not None
    assert [p.system for p in shared.ranking.systems] == ["best", "good", "fair", "weak"]
    assert shared.ranking.spearman.value == pytest.approx(1.0)
    assert {(s.fact, s.value) for s in shared.slices} == {
        *(("system", name) for name in ("weak", "fair", "good", "best")),
        *(("language", name) for name in ("java", "python")),
    }
    assert shared.over and shared.under and shared.traits


def test_every_figure_has_its_n_and_an_interval_or_a_reason(found: ValidityReport) -> None:
    every = list(figures(found))
    assert len(every) > 100
    for figure in every:
        assert figure.n
        assert (figure.value is None) == (figure.low is None) or figure.reason
        assert figure.value is not None or figure.reason
        assert all(math.isfinite(v) for v in (figure.value, figure.low, figure.high) if v is not None)
    json.loads(found.model_dump_json())


def test_the_correlation_is_scipys_on_the_rows(found: ValidityReport) -> None:
    made = study()
    scores = [score.parts["share"] for score in made.scores(Shared()) if score.parts]
    human = [float(one.value) for one in made.labels]
    expected = spearmanr(scores, human)
    figure = found.metrics[0].correlations[0].spearman
    assert figure.value == pytest.approx(expected.statistic)
    assert figure.p == pytest.approx(expected.pvalue)


def test_less_is_better_agrees_as_much_and_says_so(found: ValidityReport) -> None:
    more, less = found.metrics[:2]
    for one, other in zip(more.correlations, less.correlations, strict=True):
        assert one.rows == other.rows
        assert one.kendall.value == pytest.approx(other.kendall.value)
        assert one.pearson.low == pytest.approx(other.pearson.low)
    assert [c.spearman.value for c in more.calibrated] == pytest.approx([c.spearman.value for c in less.calibrated])
    assert more.ranking is not None and less.ranking is not None
    assert [p.metric_rank for p in more.ranking.systems] == [p.metric_rank for p in less.ranking.systems]
    assert more.over[0].case == less.over[0].case
    assert [s.auc.value for s in more.sweeps] == pytest.approx([s.auc.value for s in less.sweeps])
    assert LESS_IS_BETTER in less.warnings and LESS_IS_BETTER not in more.warnings
    assert less.grades[0].mean.value == pytest.approx(1 - more.grades[0].mean.value), "the scores as they are"  # type: ignore[operator]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report_and_another_seed_other_intervals() -> None:
    made = study(20)
    first, again = (report(made, Shared()) for _ in range(2))
    assert first == again
    other = report(made, Shared(), settings=ValiditySettings(resamples=60, folds=4, seed=1))
    before, after = (r.metrics[0].correlations[0].spearman for r in (first, other))
    assert before.value == after.value
    assert (before.low, before.high) != (after.low, after.high)


@pytest.mark.slow
def test_human_references_are_left_out_everywhere() -> None:
    found = report(study(), Shared(), people=("best",)).metrics[0]
    assert found.correlations[0].rows.left_out == {"written by people": 60}
    assert found.ranking is not None
    assert [p.system for p in found.ranking.systems] == ["good", "fair", "weak"]
    assert found.ranking.left_out == ("best",)
    (own,) = found.ranking.references
    assert (own.system, own.rank, own.among, own.n) == ("best", 1, 4, 60), "CRScore 5.3: it has a place among them"
    assert "best" not in {s.value for s in found.slices}


def test_constant_scores_are_undefined_in_words() -> None:
    made = study(20)
    bench = made.bench()
    flat = Scored("flat()", "flat", "mean", "share", dict.fromkeys(bench.keys, 0.5), {})
    found = validity(bench, made.humans(), [flat], SMALL).metrics[0]
    assert "all 80 scores are 0.5: the metric does not distinguish reviews" in found.warnings
    assert found.correlations[0].spearman.value is None
    assert "equal" in found.correlations[0].spearman.reason
    assert {sweep.auc.value for sweep in found.sweeps} == {0.5}
    assert found.over == found.under == ()
    assert found.ranking is not None and "the metric's means" in found.ranking.spearman.reason
    assert all(row.density == () for row in found.grades)


def test_a_rater_who_gave_one_value_always() -> None:
    made = study(20)
    flat = Study(made.cases, made.outcomes, tuple(label(outcome, 3) for outcome in made.outcomes))
    found = report(flat, Shared()).metrics[0]
    assert "human values are equal" in found.correlations[0].spearman.reason
    assert (found.classifiers, found.sweeps, found.calibrated, found.ks) == ((), (), (), ())
    assert any(text.startswith("no decision tree: all human values are equal") for text in found.warnings)
    assert any(text.startswith("no calibration: all human values are equal") for text in found.warnings)


def test_a_metric_that_applies_nowhere_has_no_figures_and_every_row_a_reason() -> None:
    made = study(5)
    bare = Study(tuple(c.model_copy(update={"references": ()}) for c in made.cases), made.outcomes, made.labels)
    found = report(bare, Shared()).metrics[0]
    rows = found.correlations[0].rows
    assert (rows.rows, rows.left_out) == (0, {"the metric does not apply: the case has no reference comment": 20})
    assert found.warnings == ("no review has both a score and a label",)
    assert found.correlations[0].spearman.value is None


def test_few_clusters_are_warned_of() -> None:
    assert any("only 5 clusters" in text for text in report(study(5), Shared()).metrics[0].warnings)


def test_a_scale_without_steps_has_correlations_and_no_grades() -> None:
    made = study(30)
    generator = np.random.default_rng(0)
    fine = tuple(label(o, float(generator.random())) for o in made.outcomes)
    bench = made.bench()
    humans = Study(made.cases, made.outcomes, fine).humans({"grade": Scale(low=0, high=1, step=0)})
    found: MetricValidity = validity(bench, humans, [Scored.of(Shared(), made.scores(Shared()))], SMALL).metrics[0]
    assert found.correlations[0].spearman.value is not None
    assert (found.grades, found.ks, found.classifiers, found.sweeps, found.heat_map) == ((), (), (), (), None)
    assert [c.method for c in found.calibrated] == ["floor"]
    assert any("more than 12 different human values" in text for text in found.warnings)
    assert len(humans[0].summary.distribution) == 10


@pytest.mark.slow
def test_labels_that_do_not_count_are_counted() -> None:
    made = study(20)
    again = Study(made.cases, made.outcomes, (*made.labels, *(label(o, 1, round="later") for o in made.outcomes)))
    found = report(again, Shared())
    assert found.warnings == ("grade: 80 labels of other rounds left out",)
    assert found.metrics[0].correlations == report(made, Shared()).metrics[0].correlations


def test_a_metric_in_grades_is_held_against_people_as_it_is() -> None:
    made = study(30)
    bench, humans = made.bench(), made.humans()
    generator = np.random.default_rng(3)
    values = {key: float(np.clip(humans[0].of[key] + generator.normal() / 2, 1, 5)) for key in bench.keys}
    grades, share = (Scored(unit, unit, "mean", unit, values, {}) for unit in ("grades", "share"))
    own, fitted = validity(bench, humans, [grades, share], SMALL).metrics
    assert own.heat_map is not None and fitted.heat_map is not None
    assert own.heat_map.predicted_by == "the score itself, rounded"
    right = np.mean([np.floor(values[key] + 0.5) == humans[0].of[key] for key in bench.keys])
    assert own.heat_map.exact.value == pytest.approx(right)
    assert fitted.heat_map.predicted_by.startswith("ordinal calibration")
    assert own.calibrated == fitted.calibrated


@pytest.mark.slow
def test_metrics_on_other_rows_than_the_others_are_marked() -> None:
    made = study(20)
    bench, full = made.bench(), Scored.of(Shared(), made.scores(Shared()))
    first, last = bench.keys[:8], bench.keys[-8:]
    fewer, others = (
        replace(full, metric=name, label=name, values={k: v for k, v in full.values.items() if k not in gone})
        for name, gone in (("fewer", first), ("others", last))
    )
    lacking = "measured on 72 of 80 judged rows, not on the rows of the others"
    found = validity(bench, made.humans(), [full, fewer, others], SMALL).metrics
    assert [lacking in one.warnings for one in found] == [False, True, True]
    found = validity(bench, made.humans(), [fewer, others], SMALL).metrics  # as many, but not the same
    assert all(lacking in one.warnings for one in found)
    same = validity(bench, made.humans(), [fewer, replace(fewer, metric="again", label="again")], SMALL).metrics
    assert not any("judged rows" in text for one in same for text in one.warnings)


def test_pins_and_fakes_are_carried() -> None:
    made = study(3)
    scores = [s.model_copy(update={"fake": True, "pins": {"weights": "abc"}}) for s in made.scores(Shared())]
    scored = Scored.of(Shared(), scores)
    assert scored.fake and scored.pins == {"weights": "abc"} and not scored.warnings
    scores[0] = scores[0].model_copy(update={"pins": {"weights": "def"}})
    assert Scored.of(Shared(), scores).warnings == ("its scores were made with different versions of its inputs",)
