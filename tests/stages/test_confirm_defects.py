"""A model says whether a label holds; what it does not know stays only where the fix's message is sure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.records import Case, Change, Comment, Origin, Resolution, Tier
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.confirm_defects import ConfirmDefects
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.labels import MAY_BE
from scripted_models import scripted

pytestmark = pytest.mark.usefixtures("calls")

DIFF = "shop/total.py\n@@ -1,3 +1,3 @@\n def total(items):\n-    for item in items[1:]:\n+    for item in items:\n"


def label(name: str, **more: object) -> Comment:
    given = {"body": "Fix total forgetting one.", "origin": Origin.FIX, "tier": Tier.TRACED}
    return Comment.model_validate({"id": name, "resolution": Resolution(commit="a" * 40, diff=DIFF)} | given | more)


def decided(stage: ConfirmDefects, context: BuildFolder, *labels: Comment) -> tuple[list[str], list[str], list[str]]:
    """The labels that are left, the reasons of drops, and what the model decided."""
    item = Candidate(case=Case(id="acme/shop/1", change=Change(repo="acme/shop"), references=labels, verdict=False))
    made = list(stage.each(item, context))
    left = [one.id for each in made if isinstance(each, Candidate) for one in each.case.references]
    drops = [each.reason for each in made if isinstance(each, Drop)]
    return left, drops, [each.decided for each in made if isinstance(each, Decision)]


@pytest.mark.parametrize(
    ("answer", "sure", "perhaps"), [("yes", True, True), ("no", False, False), ("unclear", True, False)]
)
def test_a_label_stays_where_the_model_and_the_message_say_so(
    context: BuildFolder, answer: str, sure: bool, perhaps: bool
) -> None:
    with scripted([json.dumps({"reasoning": "It skips the first.", "brought": answer})]) as model:
        stage = ConfirmDefects(model.spec)
        left, drops, said = decided(stage, context, label("a"), label("a-2", same_as="a"))
        assert (left, said) == (["a", "a-2"] if sure else [], [answer])
        assert drops == ([] if sure else ["its fix mends nothing that it brought"])
        assert bool(decided(stage, context, label("b", extra={MAY_BE: True}))[0]) is perhaps
        assert decided(stage, context, label("r", origin=Origin.REVIEW)) == (["r"], [], []), "no fix speaks here"
    asked = model.asked[0][-1]["content"]
    assert "Fix total forgetting one." in asked and "-    for item in items[1:]:" in asked


def test_without_a_model_nothing_is_asked(context: BuildFolder) -> None:
    assert decided(ConfirmDefects(), context, label("a", extra={MAY_BE: True})) == (["a"], [], [])


def test_a_message_that_may_speak_of_a_fix_makes_a_label_only_when_asked_for(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add total", {"shop/total.py": "def total(items):\n    return sum(items[1:])\n"})
    told.commit("Handle wrong sums", {"shop/total.py": "def total(items):\n    return sum(items)\n"}, days=20)
    told.quiet(400)
    for perhaps in (False, True):
        place = BuildFolder(tmp_path / f"bench-{perhaps}", str(told.folder))
        try:
            made = list(FromGit(certainty=0, perhaps=perhaps).apply([], place))
            warned = [words for section in place.sections for words in section.warnings]
        finally:
            place.close()
        assert any(words.startswith("1 labels rest on messages that only may") for words in warned) is perhaps
        found = [one for each in made if isinstance(each, Candidate) for one in each.case.references]
        assert [(one.span is not None, one.extra.get(MAY_BE)) for one in found] == [(True, True)] * perhaps
        assert perhaps or f"shop/{change[:12]}" in {each.item for each in made if isinstance(each, Drop)}
