"""The curve against n: from one stored set of attempts, averaged over subsets, and what theory says."""

from __future__ import annotations

import json
import math
import re
from itertools import combinations
from pathlib import Path

import pytest

from fickle_changes import fickle_case
from reviewgauge.analysis.curve import CurveSettings, draw, ensemble_curve, sizes_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.reports.curve import Curve
from reviewgauge.core.results import Failure, FailureKind, Outcome
from reviewgauge.core.specs import load
from reviewgauge.engine.review import review
from reviewgauge.engine.run.executors import Serial
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.metrics.hits import Hits
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_models import Messages, scripted

pytestmark = pytest.mark.usefixtures("own_cache")

FICKLE = "prompt(model='fake:fickle-30', scope='change')"
HITS = Hits(location="gate")


def reviewed(folder: Path, cases: list[Case], attempts: int, *specs: str) -> RunFolder:
    run = RunFolder.create(folder, dataset="toys", dataset_path="", cases=cases)
    with ChatClient(ChatSettings()):
        for spec in specs:
            review(run, load(Reviewer, spec), executor=Serial(), attempts=attempts)
    return run


def figures(curve: Curve, measure: str) -> dict[tuple[str, int], float]:
    found: dict[tuple[str, int], float] = {}
    for point in curve.points:
        estimate = point.summary.estimate(measure)
        assert estimate is not None and estimate.value is not None
        found[point.by, point.n] = estimate.value
    return found


def majority_of(n: int, chance: float) -> float:
    return sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n // 2 + 1, n + 1))


def majority(messages: Messages) -> str:
    """One report of several reviews, as the model is asked for it: the places that more than half of them raise."""
    asked = "\n".join(message["content"] for message in messages)
    count = re.search(r"^(\d+) reviews were written\.", asked, re.MULTILINE)
    assert count is not None
    raised: dict[str, list[tuple[str, str]]] = {}
    for number, place, text in re.findall(
        r"^(\d+\.\d+)\n<<<DATA \w+>>>\n([^\n]*)\n\n(.*?)\n<<<END", asked, re.MULTILINE | re.DOTALL
    ):
        raised.setdefault(place, []).append((number, text))
    kept = [said for said in raised.values() if 2 * len({number.split(".")[0] for number, _ in said}) > int(count[1])]
    return json.dumps({"findings": [{"from": [number for number, _ in said], "text": said[0][1]} for said in kept]})


@pytest.mark.drill
def test_the_curve_is_the_binomial_one_for_votes_and_for_the_model(tmp_path: Path) -> None:
    cases = [fickle_case(number, 15) for number in range(8)]
    lines = sum(len(case.references) for case in cases)
    run = reviewed(tmp_path / "run", cases, 9, FICKLE)
    with run, scripted(majority) as model, ChatClient(ChatSettings()) as client:
        before = run.outcomes()
        settings = CurveSettings(HITS, model=model.spec, sizes=(3, 9), subsets=6, resamples=200)
        curve = ensemble_curve(run, settings, Serial())
        assert run.outcomes() == before
        asked = client.budget.totals.calls + client.reused.added
        assert asked == 8 * (6 + 1), "the model is asked once a subset, and no reviewer at all"
    recall, precision = figures(curve, "recall"), figures(curve, "precision")
    assert set(recall) == {("alone", 1), ("votes", 3), ("votes", 9), ("model", 3), ("model", 9)}
    for (by, n), value in recall.items():
        right, wrong = majority_of(n, 0.7), majority_of(n, 0.3)
        error = 3 * math.sqrt(right * (1 - right) / lines)  # were there one subset; the mean of several is closer
        assert abs(value - right) < error, (by, n)
        assert abs(precision[by, n] - right / (right + wrong)) < 0.06, (by, n)
    assert recall["alone", 1] < recall["votes", 3] < recall["votes", 9]
    assert all(point.summary.fake for point in curve.points)
    assert curve.comparisons is not None
    gain = curve.comparisons.comparisons[0]
    assert (gain.first, gain.second) == ("votes of 9", "one attempt")
    assert gain.difference is not None and gain.difference > 0.1


def test_one_attempt_is_the_mean_of_all_and_the_subsets_are_those_of_the_seed(tmp_path: Path) -> None:
    cases = [fickle_case(number, 4) for number in range(3)]
    with reviewed(tmp_path / "run", cases, 4, FICKLE) as run:
        first = ensemble_curve(run, CurveSettings(HITS, subsets=3, resamples=50), Serial())
        again = ensemble_curve(run, CurveSettings(HITS, subsets=3, resamples=50), Serial())
        other = ensemble_curve(run, CurveSettings(HITS, subsets=3, resamples=50, seed=1), Serial())
        whole = ensemble_curve(run, CurveSettings(HITS, subsets=99, resamples=50), Serial())
        said = [len(o.review.comments) for o in run.outcomes() if o.review is not None]
    alone = figures(first, "comments_per_change")["alone", 1]
    assert alone == pytest.approx(sum(said) / len(said))
    assert first == again
    assert figures(first, "recall") != figures(other, "recall")
    assert [point.subsets for point in whole.points] == [4, 6, 4, 1]


def test_attempts_that_failed_or_are_missing_count_as_unanswered(tmp_path: Path) -> None:
    cases = [fickle_case(number, 4) for number in range(2)]
    with reviewed(tmp_path / "run", cases, 2, FICKLE) as run:
        system = run.outcomes()[0].system
        broken = Failure(kind=FailureKind.REFUSAL, message="no")
        for attempt in (3, 4, 5):
            run.append_outcome(Outcome(case="c0", system=system, attempt=attempt, failure=broken))
        curve = ensemble_curve(run, CurveSettings(HITS, sizes=(4, 5), resamples=50), Serial())
    by_size = {point.n: point.summary for point in curve.points}
    assert by_size[5].scored == 0, "two of five answered"
    assert (by_size[5].failed, by_size[5].failures) == (2, {"refusal": 1, "crash": 1})
    assert by_size[4].scored == 2, "in some subsets two of four answered"


def test_several_systems_are_mixed(tmp_path: Path) -> None:
    cases = [fickle_case(1, 4)]
    with reviewed(tmp_path / "run", cases, 1, FICKLE, "prompt(model='fake:rules', scope='change')", "silent") as run:
        systems = tuple(dict.fromkeys(outcome.system for outcome in run.outcomes()))
        curve = ensemble_curve(run, CurveSettings(HITS, systems, least=2, resamples=50), Serial())
    assert (curve.stored, curve.systems) == (3, systems)
    assert [(point.by, point.n) for point in curve.points] == [("alone", 1), ("votes", 2), ("votes", 3)]


@pytest.mark.parametrize(("changed", "said"), [
    ({"systems": ("nobody",)}, "the run holds no system 'nobody'"),
    ({"sizes": (4,)}, "4 attempts cannot be drawn: the run holds 3"),
    ({"subsets": 0}, "subsets must be positive"),
    ({"least": 9}, "least must be from 0 to the 3 attempts"),
    ({"metric": Hits(second_stage=True)}, "looks at all systems together"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(changed: dict[str, object], said: str, tmp_path: Path) -> None:
    settings = CurveSettings(**{"metric": HITS, "resamples": 50, **changed})  # type: ignore[arg-type]
    with reviewed(tmp_path / "run", [fickle_case(1, 2)], 3, FICKLE) as run, pytest.raises(UserError, match=said):
        ensemble_curve(run, settings, Serial())


@pytest.mark.parametrize(("attempts", "specs", "said"), [
    (1, (FICKLE,), r"no system made more than one attempt .*--attempts 10"),
    (2, (FICKLE, "silent"), r"several systems made more than one attempt"),
])  # fmt: skip
def test_whose_attempts_is_to_be_known(attempts: int, specs: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with reviewed(tmp_path / "run", [fickle_case(1, 2)], attempts, *specs) as run, pytest.raises(UserError, match=said):
        ensemble_curve(run, CurveSettings(HITS), Serial())


def test_subsets_are_different_and_all_of_them_where_they_are_few() -> None:
    assert draw(5, 3, 10, 0) == list(combinations(range(5), 3))
    drawn = draw(20, 10, 30, 0)
    assert len(set(drawn)) == 30
    assert {len(set(subset)) for subset in drawn} == {10}
    assert sizes_of(7, CurveSettings(HITS)) == [1, 2, 3, 5, 7]
    assert sizes_of(7, CurveSettings(HITS, sizes=(4,))) == [1, 4]
