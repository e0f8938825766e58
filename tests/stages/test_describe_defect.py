"""What was wrong, told from the message and the diff of a fix: by a template, or by a model that may not invent."""

from __future__ import annotations

import json

import pytest

from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.records import Case, Change, Comment, Origin, Resolution, Tier
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.describe_defect import DescribeDefect
from scripted_models import scripted

pytestmark = pytest.mark.usefixtures("calls")

MESSAGE = "Fix total forgetting the first item.\n\nIt began to count at one."
DIFF = "shop/total.py\n@@ -1,3 +1,3 @@\n def total(items):\n-    for item in items[1:]:\n+    for item in items:\n"
TEMPLATE = (
    "Fix total forgetting the first item. It began to count at one. "
    "`for item in items[1:]:` became `for item in items:`."
)
GOOD = "When `items` holds anything, `items[1:]` skips its first element, so the total is too small."


def reference(**more: object) -> Comment:
    given: dict[str, object] = {
        "id": "fix-1", "body": MESSAGE, "origin": Origin.FIX, "tier": Tier.TRACED,
        "resolution": Resolution(commit="a" * 40, diff=DIFF),
    }  # fmt: skip
    return Comment.model_validate(given | more)


def told(stage: DescribeDefect, context: BuildFolder, *references: Comment) -> tuple[list[Comment], list[str]]:
    """The references after the stage, and what was decided."""
    item = Candidate(case=Case(id="acme/shop/1", change=Change(repo="acme/shop"), references=references))
    made = list(stage.each(item, context))
    (kept,) = [one for one in made if isinstance(one, Candidate)]
    return list(kept.case.references), [one.decided for one in made if isinstance(one, Decision)]


def test_the_template_quotes_and_adds_nothing(context: BuildFolder) -> None:
    (one,), decided = told(DescribeDefect(), context, reference())
    assert one.body == TEMPLATE and not decided
    assert one.resolution is not None and one.resolution.explanation == MESSAGE and one.resolution.diff == DIFF
    assert one.extra["described_by"] == "template" and one.origin is Origin.FIX and one.tier is Tier.TRACED


@pytest.mark.parametrize(("diff", "end"), [
    (None, ""),
    ("@@ -1 +0,0 @@\n-    x = 1\n", " `x = 1` was taken out."),
    ("@@ -0,0 +1 @@\n+    check(x)\n", " `check(x)` was added."),
    ("@@ -1,2 +1 @@\n-    }\n-    # why\n+}\n", ""),
    # what stands in its place is no other form of it
    ("@@ -1,2 +1,2 @@\n-_lockers = {}\n+    return Locker.from_row(row)\n x\n", " `_lockers = {}` was taken out."),
    # what is only indented anew was not replaced
    ("@@ -1 +1,2 @@\n-total += 1\n+if open:\n+    total += 1\n", " `if open:` was added."),
    # of several, the pair that is most alike, in one hunk
    ("a.py\n@@ -1,3 +1,3 @@\n-import os\n-if open:\n-    total += 1\n+if closed:\n+    total += 2\n x\n",
        " `total += 1` became `total += 2`."),
])  # fmt: skip
def test_the_template_names_a_pair_of_lines_only_where_there_is_no_doubt(
    context: BuildFolder, diff: str | None, end: str
) -> None:
    one = reference(body="Fix total.", resolution=Resolution(commit="a", diff=diff))
    assert told(DescribeDefect(), context, one)[0][0].body == f"Fix total.{end}"


def test_the_template_leaves_out_what_gives_no_reason(context: BuildFolder) -> None:
    lines = ("Revert 'Compress answers'", "", "This reverts commit (a commit).", "", "Old ones", "fail. Many do.")
    body = "\n".join(lines)
    (one,), _ = told(DescribeDefect(), context, reference(body=body, resolution=None))
    assert one.body == "Revert 'Compress answers'. Old ones fail."
    assert one.resolution is not None and one.resolution.explanation == body


def test_what_is_no_message_of_a_fix_stays(context: BuildFolder) -> None:
    others = [reference(id="r", origin=Origin.REVIEW), reference(id="g", origin=None)]
    assert told(DescribeDefect(), context, *others)[0] == others
    once, _ = told(DescribeDefect(), context, reference())
    assert told(DescribeDefect(), context, *once)[0] == once, "a second time changes nothing"


def test_places_of_one_fix_are_told_together_and_stay_in_order(context: BuildFolder) -> None:
    second = reference(id="fix-1-2", same_as="fix-1")
    kept, _ = told(DescribeDefect(), context, reference(), reference(id="r", origin=Origin.REVIEW), second)
    assert [one.id for one in kept] == ["fix-1", "r", "fix-1-2"] and kept[0].body == kept[2].body == TEMPLATE


def test_a_model_tells_trigger_and_consequence(context: BuildFolder) -> None:
    with scripted([json.dumps({"sentence": GOOD})]) as model:
        stage = DescribeDefect(model=model.spec)
        (one,), decided = told(stage, context, reference())
    assert (
        one.body == GOOD and decided == [GOOD] and str(one.extra["described_by"]).startswith("describe_defect(model=")
    )
    asked = model.asked[0][-1]["content"]
    assert "It began to count at one." in asked and "for item in items[1:]:" in asked


@pytest.mark.parametrize("sentence", [
    None,
    "When `cart` is empty, `items[1:]` fails.",  # no cart in what was given
    "With more than 20 items the total is too small.",
    "In total_price the first item is lost.",
    "The fix makes the total count all items.",
    "x" * 600, "",
])  # fmt: skip
def test_what_a_model_cannot_know_is_not_taken(context: BuildFolder, sentence: str | None) -> None:
    with scripted([json.dumps({"sentence": sentence})]) as model:
        (one,), decided = told(DescribeDefect(model=model.spec), context, reference())
    assert one.body == TEMPLATE and one.extra["described_by"] == "template" and decided == ["(the template)"]
