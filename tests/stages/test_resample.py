"""Clean changes matched to changed ones: what is kept, how close it comes, and what the card says of it."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.building import Candidate
from reviewgauge.core.records import Case, Change, ChangedFile, Comment
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.resample import Resample
from reviewgauge.stages.sampling.balance import Unit, balance, match, scaled
from reviewgauge.stages.sampling.draws import change_facts
from sampled import Drawn, candidate, section

LINES = Resample(features=("changed_lines",))


def sizes(verdict: bool, *lines: int, language: str = "Go") -> list[Candidate]:
    word = "clean" if verdict else "bad"
    return [candidate(f"{word}{n}-{x}", verdict, changed_lines=x, language=language) for n, x in enumerate(lines)]


def test_the_clean_ones_that_come_closest_stay(context: BuildFolder) -> None:
    items = sizes(False, 100, 10) + sizes(True, 1, 9, 95, 4000)
    drawn = Drawn(LINES, items, context)
    assert drawn.ids == ["bad0-100", "bad1-10", "clean1-9", "clean2-95"]
    assert {drop.reason for drop in drawn.drops.values()} == {"no matched changed case"}


def test_what_nobody_knows_or_states_is_dropped(context: BuildFolder) -> None:
    items = [*sizes(False, 5), candidate("unknown", None, changed_lines=5), candidate("blank", True)]
    items += [candidate("said", None, said=2, changed_lines=7), candidate("wrong", True, changed_lines="many")]
    drawn = Drawn(LINES, items, context)
    assert drawn.ids == ["bad0-5", "said"]  # a case with references is changed, whatever its verdict
    assert {name: drop.reason for name, drop in drawn.drops.items()} == {
        "unknown": "not known whether it deserves comments",
        "blank": "does not state changed_lines",
        "wrong": "does not state changed_lines",
    }


@pytest.mark.parametrize(("ratio", "clean"), [(0.5, 10), (1.0, 20), (1.5, 30), (2.0, 40)])
def test_the_ratio_is_exact(context: BuildFolder, ratio: float, clean: int) -> None:
    items = sizes(False, *range(1, 21)) + sizes(True, *range(1, 101))
    drawn = Drawn(Resample(features=("changed_lines",), ratio=ratio), items, context)
    assert sum(name.startswith("clean") for name in drawn.ids) == clean
    assert sum(name.startswith("bad") for name in drawn.ids) == 20
    assert section(context.sections, "Balance").figures == {"changed": 20, "clean": clean, "unmatched": 0}


def test_too_few_clean_ones_are_said_on_the_card(context: BuildFolder) -> None:
    drawn = Drawn(LINES, sizes(False, 1, 2, 3) + sizes(True, 2), context)
    assert len(drawn.ids) == 4
    told = section(context.sections, "Balance")
    assert "2 fewer than the ratio 1 asks for" in told.text
    assert told.figures["unmatched"] == 2
    assert "The largest difference that is left is SMD 0.16 of changed_lines." in told.text


def test_pairs_leave_out_changed_cases_without_a_match(context: BuildFolder) -> None:
    stage = Resample(features=("changed_lines",), pairs=True, ratio=2)
    drawn = Drawn(stage, sizes(False, 10, 10, 10) + sizes(True, 9, 10, 11), context)
    assert len(drawn.ids) == 3  # one changed case with both of its matches
    assert (
        sorted(drop.reason for drop in drawn.drops.values())
        == ["no matched changed case"] + ["no matched clean case"] * 2
    )
    told = section(context.sections, "Balance")
    assert "2 changed cases are out, unmatched" in told.text
    assert told.figures == {"changed": 1, "clean": 2, "unmatched": 2}


def test_a_caliper_refuses_what_is_too_far(context: BuildFolder) -> None:
    items = sizes(False, 10, 5000) + sizes(True, 11, 1)
    stage = Resample(features=("changed_lines",), caliper=0.5)
    assert Drawn(stage, items, context).ids == ["bad0-10", "bad1-5000", "clean0-11"]
    assert Drawn(LINES, items, context).ids == ["bad0-10", "bad1-5000", "clean0-11", "clean1-1"]


def test_a_match_shares_the_facts_that_it_must(context: BuildFolder) -> None:
    items = (
        sizes(False, 10, language="Go")
        + sizes(True, 10, language="Rust")
        + [candidate("far", True, changed_lines=900, language="Go")]
    )
    drawn = Drawn(Resample(features=("changed_lines",), exact=("language",)), items, context)
    assert drawn.ids == ["bad0-10", "far"]


def test_the_card_shows_the_balance_before_and_after(context: BuildFolder) -> None:
    rng = np.random.default_rng(0)
    items = sizes(False, *(int(x) for x in rng.lognormal(4, 1, 150)))
    items += sizes(True, *(int(x) for x in rng.lognormal(3, 1.2, 900)))
    Drawn(LINES, items, context)
    before, after = section(context.sections, "Balance").rows
    assert before[:4] == ("changed_lines", "before", 150, 900)
    assert after[:4] == ("changed_lines", "after", 150, 150)
    assert float(before[6] or 0) > 0.5
    assert abs(float(after[6] or 0)) < 0.1


def test_who_stays_unlike_is_warned_of_with_what_helps(context: BuildFolder) -> None:
    items = sizes(False, *range(200, 240)) + sizes(True, *range(1, 61))
    Drawn(LINES, items, context)
    (warning,) = section(context.sections, "Balance").warnings
    assert "could not be made alike in changed_lines (AUC 1.00, mean 219.5 against 40.5)" in warning
    assert "caliper=0.25 and pairs=True" in warning
    items = sizes(False, *range(40, 90)) + sizes(True, *range(1, 100))
    Drawn(LINES, items, context)
    assert section(context.sections, "Balance").warnings == ()
    Drawn(LINES, sizes(False, 3, 4), context)
    assert section(context.sections, "Balance").warnings == (), "with nothing to compare there is nothing to tell"


def test_figures_of_the_balance_are_those_of_the_formulas() -> None:
    changed = [Unit(f"a{x}", x, (float(x),)) for x in (1, 3, 7)]
    clean = [Unit(f"b{x}", x, (float(x),)) for x in (0, 1, 1, 3)]
    (found,) = balance(["lines"], changed, clean)
    one, other = np.log1p([1, 3, 7]), np.log1p([0, 1, 1, 3])
    pooled = np.sqrt((np.var(one, ddof=1) + np.var(other, ddof=1)) / 2)
    assert found.smd == pytest.approx((one.mean() - other.mean()) / pooled)
    assert found.auc == pytest.approx(9.5 / 12)
    assert found.mean_changed == pytest.approx(11 / 3)
    assert found.mean_clean == 1.25


def test_a_number_that_never_varies_has_no_difference_or_none_to_tell() -> None:
    same = balance(["n"], [Unit("a", 0, (1.0,))] * 3, [Unit("b", 1, (1.0,))] * 3)[0]
    assert same.smd == 0.0
    apart = balance(["n"], [Unit("a", 0, (1.0,))] * 3, [Unit("b", 1, (2.0,))] * 3)[0]
    assert apart.smd is None
    nobody = balance(["n"], [Unit("a", 0, (1.0,))], [])[0]
    assert (nobody.mean_changed, nobody.mean_clean, nobody.auc) == (1.0, None, None)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=4),
    st.lists(st.integers(0, 50), min_size=1, max_size=5),
    st.booleans(),
)
def test_the_matching_is_one_to_one_and_the_optimal_one_is_optimal(
    left: list[int], right: list[int], optimal: bool
) -> None:
    wanted = [Unit(f"a{n}", n, (float(x),)) for n, x in enumerate(left)]
    pool = [Unit(f"b{n}", n, (float(x),)) for n, x in enumerate(right)]
    pairs = match(wanted, pool, 0.0, optimal)
    assert len(pairs) == min(len(left), len(right))
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    rows = scaled([*wanted, *pool])[:, 0]
    cost = sum(abs(rows[a] - rows[len(left) + b]) for a, b in pairs)
    few, many = sorted((len(left), len(right)))
    best = min(
        sum(
            abs(rows[i] - rows[len(left) + j])
            for i, j in (
                zip(range(few), chosen, strict=True) if len(left) == few else zip(chosen, range(few), strict=True)
            )
        )
        for chosen in itertools.permutations(range(many), few)
    )
    assert cost >= best - 1e-9
    if optimal:
        assert cost == pytest.approx(best)


def test_the_nearest_are_found_behind_many_that_are_taken() -> None:
    wanted = [Unit(f"a{n}", n, (5.0,)) for n in range(40)]
    pool = [Unit(f"b{n}", n, (5.0,)) for n in range(40)] + [Unit(f"c{n}", n, (500.0,)) for n in range(40)]
    assert {b for _, b in match(wanted, pool, 0.0, optimal=False)} == set(range(40))


def test_the_sample_hangs_on_the_seed_and_not_on_the_order() -> None:
    items = sizes(False, *[10] * 8) + sizes(True, *[10] * 30)
    first = set(Drawn(LINES, items, WithoutBuild()).ids)
    random.Random(2).shuffle(items)
    assert set(Drawn(LINES, items, WithoutBuild()).ids) == first
    assert set(Drawn(Resample(features=("changed_lines",), seed=1), items, WithoutBuild()).ids) != first


def test_thousands_are_matched_by_their_neighbours(context: BuildFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewgauge.stages.resample.CELLS", 100)
    Drawn(LINES, sizes(False, *range(1, 31)) + sizes(True, *range(1, 61)), context)
    assert "30 clean for 30 changed cases, by nearest matching" in section(context.sections, "Balance").text


@pytest.mark.parametrize("terms", [
    {"features": ()}, {"ratio": 0}, {"ratio": -1.0}, {"caliper": -0.1}, {"pairs": True, "ratio": 1.5},
    {"ratio": float("nan")},
])  # fmt: skip
def test_terms_that_make_no_sense_are_refused(terms: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="resample"):
        Resample(**terms)  # type: ignore[arg-type]


def test_lock_files_tests_and_documents_do_not_make_a_change_like_another(context: BuildFolder) -> None:
    def made(name: str, clean: bool, product: int, lock: int) -> Candidate:
        files = tuple(
            ChangedFile(path=path, patch=f"@@ -0,0 +1,{n} @@\n" + "".join(f"+a{k} = {k}\n" for k in range(n)))
            for path, n in (("src/a.py", product), ("uv.lock", lock), ("tests/test_a.py", lock))
        )
        change = Change(repo="o/r", files=files)
        references = () if clean else (Comment(id="r", body="wrong"),)
        facts = change_facts(change, None, 1)
        return Candidate(case=Case(id=name, change=change, references=references, verdict=clean, facts=facts))

    items = [made("flawed", False, 40, 5), made("same product", True, 38, 400), made("same lines", True, 5, 22)]
    assert set(Drawn(Resample(), items, context).ids) == {"flawed", "same product"}
    names = [row[0] for row in section(context.sections, "Balance").rows if row[1] == "after"]
    assert names == ["product_lines", "product_files", "product_functions", "commits"]
    assert "AUC that is left (0.5 tells nothing): product_lines" in section(context.sections, "Balance").text
