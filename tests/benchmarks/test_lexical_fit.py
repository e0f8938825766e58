"""The figures of docs/explanation/offline-judge.md, held on the public data where it is at hand."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from offline.lexical_fit import (
    JudgedPair,
    Link,
    can_be_fitted,
    dice_tables,
    first_tables,
    fit_lexical,
    fit_pair,
    fit_stored,
    hits,
    known_pairs,
    reference_hits,
    reference_scores,
    second_tables,
    seen_without,
)

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Verdict
from reviewgauge.datasets.martian import Martian
from reviewgauge.judges.dice import Dice
from reviewgauge.judges.lexical import Lexical
from reviewgauge.judges.pairs.lexical_model import LexicalModel, LexicalWeights, StoredWeights, load_weights
from reviewgauge.models.text.lexical import FEATURES, dice, features, profile

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def items(shared_data: Path) -> list[JudgedPair]:
    found: list[JudgedPair] = benchmark("offline.verdicts").martian(shared_data / "martian")
    return found


@pytest.fixture(scope="module")
def links(shared_data: Path) -> list[Link]:
    found: list[Link] = benchmark("offline.verdicts").crscore_links(shared_data / "crscore")
    return found


def toy(credited: dict[str, str]) -> JudgedPair:
    return JudgedPair("j", "repo", "change", "tool", ("cache stale", "typo"), ("stale cache", "wrong name"), credited)


def test_only_the_credited_comment_of_a_hit_reference_is_known() -> None:
    assert known_pairs(toy({"stale cache": "cache stale"})) == [(0, 0, True), (0, 1, False), (1, 1, False)]
    assert toy({"stale cache": "cache stale"}).hits == [True, False]


def test_hits_are_one_to_one() -> None:
    item = replace(toy({}), comments=("one",))
    assert reference_hits([item], [[[0.9, 0.8]]], 0.5).tolist() == [True, False]
    assert reference_scores([item], [[[0.9, 0.8]]], 0.2).tolist() == [0.9, pytest.approx(0.6)]
    assert reference_hits([replace(item, comments=())], [[]], 0.5).tolist() == [False, False]


@pytest.mark.drill
def test_what_is_read(items: list[JudgedPair], links: list[Link]) -> None:
    assert len(items) == 1080  # 3 judges, 30 changes, 12 tools
    assert {item.repository for item in items} == {"calcom/cal.com", "grafana/grafana", "getsentry/sentry"}  # no forks
    assert (len(hits(items)), int(hits(items).sum())) == (3060, 370 + 374 + 368)
    assert len(links) == 7384
    assert 0.15 < np.mean([link.same for link in links]) < 0.25


@pytest.mark.drill
def test_the_stored_weights_are_what_the_command_fits(items: list[JudgedPair], links: list[Link]) -> None:
    stored = load_weights()[0]
    assert_alike(fit_lexical(items, links), stored)
    assert set(stored.held_out) == {item.repository for item in items}
    assert stored.fitted["references"] == len(hits(items))


def assert_alike(fitted: LexicalWeights, stored: LexicalWeights) -> None:
    for name in FEATURES:
        assert fitted.features[name].coefficient == pytest.approx(stored.features[name].coefficient, abs=0.02), name
    for name in ("platt", "rival", "second"):
        assert getattr(fitted, name) == pytest.approx(getattr(stored, name), abs=0.05), name
    assert fitted.threshold == pytest.approx(stored.threshold, abs=0.02)
    assert fitted.second_threshold == pytest.approx(stored.second_threshold, abs=0.02)
    assert fitted.dice.cut == stored.dice.cut


OUT = "getsentry/sentry"


@pytest.fixture(scope="module")
def blind(items: list[JudgedPair], links: list[Link]) -> LexicalWeights:
    """The whole judge, fitted as if `OUT` did not exist."""
    return fit_lexical([item for item in items if item.repository != OUT], links)


@pytest.mark.drill
def test_the_held_out_weights_are_fitted_without_the_repository(items: list[JudgedPair], blind: LexicalWeights) -> None:
    seen = seen_without(items, OUT)
    assert {item.repository for item in seen} == {"calcom/cal.com", "grafana/grafana"}
    held_out = load_weights()[0].held_out[OUT]
    assert held_out.fitted["repositories"] == "calcom/cal.com, grafana/grafana"
    assert held_out.fitted["hits"] == int(hits(seen).sum())
    assert_alike(blind, held_out)


def verdicts(judge: Lexical | Dice, said: dict[str, list[tuple[Case, Review]]]) -> list[Verdict]:
    """Of both stages, review by review."""
    found: list[Verdict | None] = []
    for reviews in said.values():
        case = reviews[0][0]
        tables = {r.system: judge.judge(case, r.comments, case.references, r) for _, r in reviews}
        refined = judge.refine(case, tables, {r.system: r for _, r in reviews})
        found += [verdict for stage in (tables, refined) for s in tables for row in stage[s] for verdict in row]
    assert all(found)
    return [verdict for verdict in found if verdict]


@pytest.mark.drill
def test_verdicts_on_martian_are_those_of_weights_that_have_not_seen_the_repository(
    shared_data: Path, tmp_path: Path, blind: LexicalWeights
) -> None:
    data = Martian(path=str(shared_data / "martian"))
    cases = {case.id: case for case in data.cases() if case.change.repo == OUT}
    said: dict[str, list[tuple[Case, Review]]] = {}
    for review in data.recorded()[0]:
        if review.case in cases:
            said.setdefault(review.case, []).append((cases[review.case], review))
    assert len(said) == 10
    without, everything = tmp_path / "without.json", tmp_path / "everything.json"
    without.write_text(blind.model_dump_json())
    everything.write_text(load_weights()[0].model_copy(update={"held_out": {}}).model_dump_json())
    shown = verdicts(Lexical(), said)
    expected = verdicts(Lexical(weights=str(without)), said)
    assert [v.probability for v in shown] == pytest.approx([v.probability for v in expected], abs=0.002)
    assert sum(v.same != w.same for v, w in zip(shown, expected, strict=True)) <= 1  # one may lie on the threshold
    in_sample = verdicts(Lexical(weights=str(everything)), said)
    assert sum(v.same != w.same for v, w in zip(shown, in_sample, strict=True)) > 8
    texts = [
        (c.body, r.body) for own in said.values() for case, rv in own for c in rv.comments for r in case.references
    ]
    simple = [v for own in said.values() for case, review in own for v in verdicts(Dice(), {"": [(case, review)]})]
    assert len(simple) == 2 * len(texts)  # no second stage: the same again
    assert sum(v.same is True for v in simple) == 2 * sum(dice(*pair) >= blind.dice.cut for pair in texts)


def own(repository: str, n: int) -> JudgedPair:
    """A review with one hit and one miss."""
    said, missed = f"the cache entry {n} is stale after delete", "nothing closes the socket"
    known = f"cache entry {n} stale when deleted"
    return JudgedPair(
        "j", repository, f"{repository}-{n}", "bot", (said, "typo in a name"), (known, missed), {known: said}
    )


def test_one_repository_cannot_be_held_out_and_is_named(tmp_path: Path) -> None:
    stored, left = fit_stored([own("Acme/Shop", n) for n in range(6)])
    assert (dict(stored.held_out), left) == ({}, ["acme/shop"])
    items = [own(name, n) for name in ("Acme/Shop", "https://github.com/acme/shop.git", "b/blog") for n in range(6)]
    stored, left = fit_stored(items)
    assert (set(stored.held_out), left) == ({"acme/shop", "b/blog"}, [])
    assert stored.held_out["acme/shop"].fitted["reviews"] == 6
    assert stored.held_out["b/blog"].fitted["reviews"] == 12
    file = tmp_path / "own.json"
    file.write_text(stored.model_dump_json(indent=1))
    assert load_weights(str(file))[0] == stored == StoredWeights.model_validate_json(file.read_bytes())


def test_what_a_fit_needs() -> None:
    assert can_be_fitted([own("a/b", 0), own("a/b", 1)])
    assert not can_be_fitted([])
    assert not can_be_fitted([own("a/b", 0)])
    assert not can_be_fitted([replace(own("a/b", n), credited={}) for n in range(3)])


@pytest.mark.drill
def test_the_figures_of_the_card(items: list[JudgedPair], links: list[Link]) -> None:
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


def test_shuffled_verdicts_teach_nothing(items: list[JudgedPair]) -> None:
    study, random = benchmark("offline_judge"), np.random.default_rng(5)
    mine = [item for item in items if item.judge == items[0].judge and item.comments]
    shuffled = []
    for item in mine:
        n = len(item.credited)
        chosen = [item.references[i] for i in random.permutation(len(item.references))[:n]]
        shuffled.append(replace(item, credited={r: str(random.choice(item.comments)) for r in chosen}))
    seen = [item for item in shuffled if item.repository != "getsentry/sentry"]
    test = [item for item in mine if item.repository == "getsentry/sentry"]
    model = fit_pair(seen, [])
    scores, same = [], []
    for item in test:
        for c, r, yes in known_pairs(item):
            scores.append(features(profile(item.comments[c]), profile(item.references[r])))
            same.append(yes)
    taught = study.auc(
        fit_pair([i for i in mine if i.repository != "getsentry/sentry"], []).logits(np.array(scores)), np.array(same)
    )
    fooled = study.auc(model.logits(np.array(scores)), np.array([*random.permutation(same)], dtype=bool))
    assert taught > 0.95
    assert fooled == pytest.approx(0.5, abs=0.06)


def test_the_plugin_scores_as_the_study_does(items: list[JudgedPair]) -> None:
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
    (item,) = benchmark("offline.verdicts").own_pairs(file)
    assert known_pairs(item) == [(0, 0, True)]
    file.write_text(good + good.replace('["a", "b"]', '"a"'))
    with pytest.raises(BadInput, match="line 2, field comments"):
        benchmark("offline.verdicts").own_pairs(file)
    with pytest.raises(UserError, match="cannot read"):
        benchmark("offline.verdicts").own_pairs(tmp_path / "absent.jsonl")
