"""The figures of docs/offline-judge.md, held on the public data where it is at hand."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from reviewbench.core.errors import BadInput, UserError
from reviewbench.judges._lexical_model import LexicalModel, load_weights
from reviewbench.judges._training import (
    Judged,
    Link,
    dice_tables,
    first_tables,
    fit_lexical,
    fit_pair,
    hits,
    known_pairs,
    reference_hits,
    reference_scores,
    second_tables,
)
from reviewbench.models.lexical import FEATURES, features, profile

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def items(shared_data: Path) -> list[Judged]:
    found: list[Judged] = benchmark("_judged").martian(shared_data / "martian")
    return found


@pytest.fixture(scope="module")
def links(shared_data: Path) -> list[Link]:
    found: list[Link] = benchmark("_judged").crscore_links(shared_data / "crscore")
    return found


def toy(credited: dict[str, str]) -> Judged:
    return Judged("j", "repo", "change", "tool", ("cache stale", "typo"), ("stale cache", "wrong name"), credited)


def test_only_the_credited_comment_of_a_hit_reference_is_known() -> None:
    assert known_pairs(toy({"stale cache": "cache stale"})) == [(0, 0, True), (0, 1, False), (1, 1, False)]
    assert toy({"stale cache": "cache stale"}).hits == [True, False]


def test_hits_are_one_to_one() -> None:
    item = replace(toy({}), comments=("one",))
    assert reference_hits([item], [[[0.9, 0.8]]], 0.5).tolist() == [True, False]
    assert reference_scores([item], [[[0.9, 0.8]]], 0.2).tolist() == [0.9, pytest.approx(0.6)]
    assert reference_hits([replace(item, comments=())], [[]], 0.5).tolist() == [False, False]


def test_what_is_read(items: list[Judged], links: list[Link]) -> None:
    assert len(items) == 1080  # 3 judges, 30 changes, 12 tools
    assert {item.repository for item in items} == {"cal.com", "grafana", "sentry"}  # forks count as their project
    assert (len(hits(items)), int(hits(items).sum())) == (3060, 370 + 374 + 368)
    assert len(links) == 7384
    assert 0.15 < np.mean([link.same for link in links]) < 0.25


def test_the_stored_weights_are_what_the_command_fits(items: list[Judged], links: list[Link]) -> None:
    fitted, stored = fit_lexical(items, links), load_weights()[0]
    for name in FEATURES:
        assert fitted.features[name].coefficient == pytest.approx(stored.features[name].coefficient, abs=0.02), name
    for name in ("platt", "rival", "second"):
        assert getattr(fitted, name) == pytest.approx(getattr(stored, name), abs=0.05), name
    assert fitted.threshold == pytest.approx(stored.threshold, abs=0.02)
    assert fitted.second_threshold == pytest.approx(stored.second_threshold, abs=0.02)
    assert fitted.dice.cut == stored.dice.cut


def test_the_figures_of_the_card(items: list[Judged], links: list[Link]) -> None:
    study = benchmark("offline_judge")
    first, second = study.lexical(items, links)
    dice = study.similarity(items, "dice", dice_tables)
    y = hits(items)
    found = {p.name: (study.kappa(p.decided, y), study.auc(p.scores, y)) for p in (first, second, dice)}
    assert found["lexical"] == (pytest.approx(0.826, abs=0.01), pytest.approx(0.974, abs=0.005))
    assert found["second stage"] == (pytest.approx(0.870, abs=0.01), pytest.approx(0.979, abs=0.005))
    assert found["dice"] == (pytest.approx(0.813, abs=0.01), pytest.approx(0.966, abs=0.005))
    sure = (first.scores <= 0.1) | (first.scores >= 0.9)
    assert sure.mean() > 0.7
    assert study.kappa(first.scores[sure] >= 0.9, y[sure]) > 0.95


def test_shuffled_verdicts_teach_nothing(items: list[Judged]) -> None:
    study, random = benchmark("offline_judge"), np.random.default_rng(5)
    mine = [item for item in items if item.judge == items[0].judge and item.comments]
    shuffled = []
    for item in mine:
        n = len(item.credited)
        chosen = [item.references[i] for i in random.permutation(len(item.references))[:n]]
        shuffled.append(replace(item, credited={r: str(random.choice(item.comments)) for r in chosen}))
    seen = [item for item in shuffled if item.repository != "sentry"]
    test = [item for item in mine if item.repository == "sentry"]
    model = fit_pair(seen, [])
    scores, same = [], []
    for item in test:
        for c, r, yes in known_pairs(item):
            scores.append(features(profile(item.comments[c]), profile(item.references[r])))
            same.append(yes)
    taught = study.auc(
        fit_pair([i for i in mine if i.repository != "sentry"], []).logits(np.array(scores)), np.array(same)
    )
    fooled = study.auc(model.logits(np.array(scores)), np.array([*random.permutation(same)], dtype=bool))
    assert taught > 0.95
    assert fooled == pytest.approx(0.5, abs=0.06)


def test_the_plugin_scores_as_the_study_does(items: list[Judged]) -> None:
    weights = load_weights()[0]
    model, some = LexicalModel(weights), items[:36]
    first = first_tables(model, some)
    second = second_tables(model, some, first)
    assert all(0 < p < 1 for table in (*first, *second) for row in table for p in row)
    assert [len(table) for table in first] == [len(item.comments) for item in some] == [len(table) for table in second]


def test_own_labels_are_read_and_bad_ones_named(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    good = (
        '{"judge": "ann", "repository": "shop", "change": "shop-1", "system": "bot", "comments": ["a", "b"], '
        '"references": ["c"], "credited": {"c": "a"}}\n'
    )
    file.write_text(good)
    (item,) = benchmark("_judged").own_pairs(file)
    assert known_pairs(item) == [(0, 0, True)]
    file.write_text(good + good.replace('["a", "b"]', '"a"'))
    with pytest.raises(BadInput, match="line 2, field comments"):
        benchmark("_judged").own_pairs(file)
    with pytest.raises(UserError, match="cannot read"):
        benchmark("_judged").own_pairs(tmp_path / "absent.jsonl")
