"""A model acts on a review, and without one: what the empty review repairs too is not the review's merit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixed_shop import PYTEST, ROOTS, build_case
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import CommentState
from reviewgauge.metrics.useful_repairs import UsefulRepairs
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.fake import MODELS
from reviewgauge.models.request.messages import Repeat, Request
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = [pytest.mark.processes, pytest.mark.drill]

TRUE, FALSE = Comment(id="true", body="The first item is left out."), Comment(id="false", body="Rename amount.")
METRIC = UsefulRepairs(model="fake:mender", test=PYTEST, visible=ROOTS)


def answer(new: str = "", path: str = "shop/total.py", old: str = "    for item in items[1:]:") -> str:
    return json.dumps({"edits": [{"path": path, "old": old, "new": new}]} if new else {"edits": []})


def mender(always: bool) -> Callable[[Request, Repeat, int | None], str | None]:
    """A model that mends what a remark names, or whatever it is told (`always`), and breaks what is to be renamed."""

    def say(request: Request, repeat: Repeat, seed: int | None) -> str | None:
        asked = request.messages[-1].text
        if always or "first item" in asked:
            return answer("    for item in items:")
        return answer("    total = 0", old="    amount = 0") if "Rename" in asked else answer()

    return say


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return build_case(tmp_path_factory.mktemp("repairs"))


def measured(case: Case, *comments: Comment, metric: UsefulRepairs = METRIC) -> Measured:
    found = metric.parts(case, Review(case=case.id, system="s", comments=comments))
    assert isinstance(found, Measured), found
    return found


def measures(found: Measured) -> Mapping[str, float]:
    return {name: float(v[0]) for name, v in measures_of(METRIC, MatrixAggregate.of([found.parts])).items()}


def test_the_merit_of_a_review_is_what_the_empty_one_does_not_repair(
    case: Case, own_client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "mender", mender(always=False))
    found = measured(case, TRUE, FALSE)
    assert found.fake and found.matching is not None
    states = {one.comment: one.state for one in found.matching.comments}
    assert states == {"true": CommentState.MATCHED, "false": CommentState.FALSE}
    figures = measures(found)
    assert (figures["difference"], figures["repaired"], figures["empty"], figures["alone"]) == (1, 1, 0, 1)
    assert [vote.rater for vote in found.votes] == [
        f"fake:mender ({name})" for name in ("empty review", "all 2 comments", "true", "false")
    ]
    named = measures(
        measured(case, TRUE.model_copy(update={"id": "review"}), FALSE.model_copy(update={"id": "empty review"}))
    )
    assert named == figures, "names of comments are not those of arms"

    empty = measures(measured(case))
    assert (empty["difference"], empty["repaired"]) == (0, 0)

    monkeypatch.setitem(MODELS, "eager", mender(always=True))
    figures = measures(measured(case, FALSE, metric=replace(METRIC, model="fake:eager")))
    assert (figures["difference"], figures["repaired"], figures["empty"]) == (0, 1, 1)


def test_a_model_may_not_edit_what_judges_it(
    case: Case, own_client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = answer("def test_it():", path="tests/test_none.py", old="def test_none():")
    monkeypatch.setitem(MODELS, "mender", lambda request, repeat, seed: text)
    found = measured(case, TRUE)
    assert found.parts["applied"] == found.parts["alone"] == 0 and found.matching is not None
    assert found.matching.comments[0].reason == ("its repair was refused and not run: edits tests: tests/test_none.py")


def test_mcnemar_is_exact() -> None:
    parts = [{"findings": 12.0, "review_only": 8.0, "empty_only": 1.0}, {"findings": 3.0, "review_only": 1.0}]
    found = measures_of(METRIC, MatrixAggregate.of(parts))
    assert found["p"][0] == pytest.approx(2 * (1 + 10) / 2**10)
    assert found["difference"][0] == pytest.approx(8 / 15)
    assert np.isnan(measures_of(METRIC, MatrixAggregate.of([{"findings": 2.0}]))["p"][0])


def test_it_says_what_is_missing(case: Case, tmp_path: Path) -> None:
    review = Review(case=case.id, system="s")
    with pytest.raises(UserError, match="needs a chat model"):
        UsefulRepairs(test=PYTEST).parts(case, review)
    with pytest.raises(UserError, match="useful_repairs needs your test command"):
        UsefulRepairs(model="fake:example").parts(case, review)


def test_a_dry_run_asks_no_model_and_runs_no_test(case: Case, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how many calls and runs there would be."""
    monkeypatch.setitem(MODELS, "mender", mender(always=False))
    with ChatClient(ChatSettings(dry_run=True)):
        found = METRIC.parts(case, Review(case=case.id, system="s", comments=(TRUE, FALSE)))
    assert found == "a dry run tests nothing" and not list(own_cache.rglob("tests-*"))
    items = [(case, Review(case=case.id, system=name, comments=(TRUE, FALSE))) for name in "ab"]
    # untouched: three times two sets of tests; of each review four repairs, each with both sets
    assert METRIC.dry_run(items) == "at most 22 runs of tests; none was timed here yet"
    assert METRIC.dry_run([]) == "at most 0 runs of tests; none was timed here yet"
