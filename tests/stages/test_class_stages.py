"""Stages that state classes which judges and `classify` know: domain, category and context level."""

from __future__ import annotations

import pytest

from reviewed_pulls import FAKE, candidate, made, of_threads, reference, the_one, thread
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import RequiredContext
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import load
from reviewgauge.judges.classes.classes import QUESTIONS
from reviewgauge.models.request.messages import Call
from reviewgauge.stages.classify import CATEGORIES, CODES, Classify
from scripted_models import scripted

pytestmark = pytest.mark.usefixtures("calls")


@pytest.mark.parametrize("prompt", ["fenced", "published"])
def test_the_domain_is_a_fact_in_the_data_sets_words_and_by_its_code(prompt: str, calls: list[Call]) -> None:
    item = candidate(facts={"year": 2024}).with_change(title="Fix the crash", description="Bump nothing")
    (kept,), _, (decision,) = made(Classify(FAKE, "domain", prompt=prompt, votes=3), item)  # type: ignore[arg-type]
    assert kept.case.facts == {"year": 2024, "domain": "Bug Fix", "domain_code": "BF"}
    assert (decision.shown, decision.decided) == ("Fix the crash\n\nBump nothing", "Bug Fix")
    assert len(calls) == 3
    assert set(CODES) == set(QUESTIONS["domain"].options.values())


def test_a_change_without_words_is_not_guessed_at(calls: list[Call]) -> None:
    kept, (drop,), _ = made(Classify(FAKE, "domain"), candidate().with_change(title=" ", description=""))
    assert not kept
    assert drop.reason == "no title and no description to classify it by"
    assert not calls


def test_votes_that_decide_nothing_are_a_failure_and_no_domain() -> None:
    with scripted(["BF", "NFA", "DU"]) as model, pytest.raises(Failed, match="undecided"):
        made(Classify(model.spec, "domain", votes=3), candidate())
    with scripted(["It fixes a bug."]) as model, pytest.raises(Failed, match="no readable answer"):
        made(Classify(model.spec, "domain"), candidate())


def test_the_level_is_set_where_it_is_not_stated_and_can_be_told(calls: list[Call]) -> None:
    item = candidate(
        reference("a", "Every caller must pass it"),
        reference("b", "This is off by one"),
        reference("c", "Every caller", needs="file"),
        reference("d", "Every caller", None),
        neutral=(reference("e", "Look at the file"),),
    )
    (kept,), _, decisions = made(Classify(FAKE, "context"), item)
    assert [one.needs for one in kept.case.references] == [
        RequiredContext.REPO, RequiredContext.DIFF, RequiredContext.FILE, None,
    ]  # fmt: skip
    assert kept.case.neutral[0].needs is RequiredContext.FILE
    assert [one.decided for one in decisions] == ["repo", "diff", "file"]
    assert len(calls) == 3


def test_one_of_the_four_categories_is_set_where_none_of_them_is_stated(calls: list[Call]) -> None:
    item = candidate(
        reference("a", "This is open to SQL injection"),
        reference("b", "This loop is slow", category="other"),
        reference("c", "This is open to SQL injection", category="defect"),
        reference("d", "No hunk is at hand", None),
        neutral=(reference("e", "Please rename this"),),
    )
    (kept,), _, decisions = made(Classify(FAKE, "category"), item)
    assert [one.category for one in kept.case.references] == ["security", "performance", "defect", None]
    assert kept.case.neutral[0].category in CATEGORIES
    assert [one.decided for one in decisions][:2] == ["security", "performance"]
    assert len(calls) == 3


def test_the_thread_of_an_outdated_line_lends_its_hunk() -> None:
    outdated = thread("7", "Every caller breaks", line=20).model_copy(update={"hunk": "@@ -18,2 +18,3 @@\n a\n+b\n c"})
    assert the_one(Classify(FAKE, "context"), of_threads(outdated)).case.references[0].needs is RequiredContext.REPO


def test_unknown_models_and_votes_are_refused_at_once() -> None:
    for what in ("category", "domain", "context"):
        spec = f"classify(model={{!r}}, what={what!r})"
        fake, other = (load(Stage, spec.format(model)) for model in (FAKE, "openai:gpt-5"))
        assert fake.models == (FAKE,)
        assert fake.pins() == other.pins() != {}
        with pytest.raises(UserError, match="is not a model"):
            load(Stage, spec.format("gpt-5"))
        with pytest.raises(UserError, match="votes must be from 1 to 99, got 0"):
            load(Stage, f"classify(model={FAKE!r}, what={what!r}, votes=0)")
    assert Classify(FAKE, "domain").pins() != Classify(FAKE, "domain", prompt="published").pins()
    with pytest.raises(UserError, match="no paper prints a prompt"):
        Classify(FAKE, "context", prompt="published")
