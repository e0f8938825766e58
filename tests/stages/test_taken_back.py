"""Decisions that one stage makes alone are taken back by it where people found them wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from host_change import AFTER, host
from reviewed_pulls import candidate, reference
from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Origin, Resolution, groups_of
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.people import People
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.add_claims import AddClaims
from reviewgauge.stages.describe_defect import DescribeDefect
from reviewgauge.stages.find_by_diff import FOUND, FindByDiff
from reviewgauge.stages.injection.arms import Defect, with_defect
from reviewgauge.stages.merge_same import MergeSame
from reviewgauge.stages.propose_defects import ProposeDefects
from reviewgauge.stages.sampling.audit import decision_id
from scripted_models import Messages, scripted

pytestmark = pytest.mark.usefixtures("calls")


def judged(
    stage: Stage,
    item: Candidate,
    wrong: Callable[[Decision], bool],
    context: BuildContext | None = None,
    value: str = "no",
) -> tuple[Case, tuple[object, ...]]:
    """The case of a stage after one rater says `value` of what is `wrong`, and the row of the card."""
    outputs = list(stage.each(item, context or WithoutBuild()))
    asked = [one for one in outputs if isinstance(one, Decision) and one.kind and wrong(one)]
    assert asked
    subjects = [Subject(kind=SubjectKind.CHANGE, case=decision_id(one)) for one in asked]
    people = People([Label(subject=one, rater="ann", dimension="right", value=value) for one in subjects])
    (kept,) = [one for one in people.overrule(stage, item, outputs) if isinstance(one, Candidate)]
    section = people.section()
    assert section is not None and not section.warnings
    return kept.case, section.rows[0][1:]


def merging(same: set[frozenset[str]], wrong: Callable[[Decision], bool]) -> list[list[str]]:
    """The findings of three comments of which these pairs are the same to the model."""

    def say(messages: Messages) -> str:
        text = messages[-1]["content"]
        return "yes" if frozenset(name for name in "abc" if f"text {name}" in text) in same else "no"

    item = candidate(*(reference(name, f"text {name}") for name in "abc"))
    with scripted(say) as model:
        case, row = judged(MergeSame(model.spec, votes=1), item, wrong)
    assert row[0] == "same" and row[1] == row[3], "all that was judged is overruled"
    return [[case.references[at].id for at in members] for members in groups_of(case.references)]


ALL = {frozenset(pair) for pair in ("ab", "ac", "bc")}


def about(*names: str) -> Callable[[Decision], bool]:
    return lambda one: all(f": text {name}" in one.shown for name in names)


@pytest.mark.parametrize(
    ("same", "wrong", "findings"),
    [
        ({frozenset("ab")}, about("a", "b"), [["a"], ["b"], ["c"]]),
        (ALL, about("a", "b"), [["a", "c"], ["b"]]),  # though c is the same as either
        (ALL, about("c"), [["a", "b"], ["c"]]),
        ({frozenset("ab")}, about("b", "c"), [["a", "b", "c"]]),  # which the model called different
        ({frozenset("ab"), frozenset("bc")}, about("a", "b"), [["a"], ["b", "c"]]),
    ],
)
def test_a_pair_that_people_judge_otherwise_is_merged_as_they_say(
    same: set[frozenset[str]], wrong: Callable[[Decision], bool], findings: list[list[str]]
) -> None:
    assert merging(same, wrong) == findings


def test_the_offline_judge_is_overruled_too(context: BuildFolder) -> None:
    item = candidate(reference("a", "The cache leaks."), neutral=(reference("p", "The cache leaks."),))
    case, _ = judged(MergeSame("exact"), item, lambda one: True)
    assert [one.id for one in case.references] == ["a"] and [one.id for one in case.neutral] == ["p"]


def test_a_sentence_that_people_refuse_gives_way_to_the_template(context: BuildFolder) -> None:
    one = Comment(
        id="fix-1",
        body="Fix total.",
        origin=Origin.FIX,
        resolution=Resolution(commit="a" * 40, diff="@@ -1 +1 @@\n-    count(items[1:])\n+    count(items)\n"),
    )
    item = candidate(one, one.model_copy(update={"id": "fix-1-2", "same_as": "fix-1"}), reference("r", "Slow."))
    with scripted(lambda _: json.dumps({"sentence": "`items[1:]` skips the first."})) as model:
        stage = DescribeDefect(model=model.spec)
        assert (
            judged(stage, item, lambda one: True, context, "yes")[0].references[0].body
            == "`items[1:]` skips the first."
        )
        case, row = judged(stage, item, lambda one: True, context)
    assert row[0] == "words"
    told = "Fix total. `count(items[1:])` became `count(items)`."
    assert [one.body for one in case.references] == [told, told, "Slow."]
    assert {one.extra.get("described_by") for one in case.references[:2]} == {"template"}


def test_a_claim_that_people_refuse_is_out(context: BuildFolder) -> None:
    patch = "@@ -1,2 +1,2 @@\n-def total(a):\n+def total(a, tax=0):\n     return a\n"
    change = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=patch),))
    with scripted(
        [json.dumps({"claims": ["It takes a tax.", "It is faster."], "implications": ["Callers may pay."]})] * 2
    ) as model:
        stage = AddClaims(model=model.spec)
        item = Candidate(case=Case(id="c", change=change))
        case, row = judged(stage, item, lambda one: one.decided == "claim: It is faster.", context)
    assert row == ("claim", 1, 0, 1, 0)
    assert [one.body for one in case.claims] == ["It takes a tax.", "Callers may pay."]


def test_what_a_model_finds_by_the_diff_does_not_count_where_people_refuse_it(
    tmp_path: Path, context: BuildFolder
) -> None:
    sound = AFTER["shop/cart.py"]
    defect = Defect(
        path="shop/cart.py",
        sound=sound.encode(),
        defective=sound.replace("len(items) < limit", "len(items) <= limit").encode(),
        lines=(7, 7),
        sound_lines=(7, 7),
        body="It is wrong.",
        operator="toy",
        made="planted",
    )
    item = with_defect(host(tmp_path / "shop"), defect, "toy:0", 0)
    assert isinstance(item, Candidate)
    problems = [{"path": "shop/cart.py", "line": 7, "problem": "The name is odd."}]
    with scripted(lambda _: json.dumps({"problems": problems})) as model:
        stage = FindByDiff(model.spec, tools=("eslint",))
        kept, _ = judged(stage, item, lambda one: True, context, "yes")
        assert kept.references[0].extra[FOUND] == {"model": True}
        case, row = judged(stage, item, lambda one: one.kind is DecisionKind.FOUND, context)
    assert case.references[0].extra[FOUND] == {} and row[0] == "found"


@pytest.mark.parametrize(("value", "kept"), [("yes", 2), ("no", 1)])
def test_a_proposed_defect_that_people_refuse_is_out_and_its_host_stays(
    tmp_path: Path, context: BuildFolder, value: str, kept: int
) -> None:
    proposal = {
        "path": "shop/cart.py",
        "old": "    if len(items) < limit:",
        "new": "    if len(items) <= limit:",
        "description": "With `limit` items it says that one more fits.",
        "category": "defect",
        "severity": "high",
        "needs": "diff",
    }
    verdict = {"problem": "At the limit it says yes.", "defect": "behaviour", "rating": "findable"}
    item = host(tmp_path / "shop")
    with scripted([json.dumps({"defects": [proposal]}), json.dumps(verdict)]) as model:
        stage = ProposeDefects(model.spec)
        outputs = list(stage.each(item, context))
    (asked,) = [one for one in outputs if isinstance(one, Decision) and one.kind]
    subject = Subject(kind=SubjectKind.CHANGE, case=decision_id(asked))
    people = People([Label(subject=subject, rater="ann", dimension="right", value=value)])
    after = list(people.overrule(stage, item, outputs))
    cases = [one for one in after if isinstance(one, Candidate)]
    assert cases[0] == item and len(cases) == kept
    assert [one for one in after if isinstance(one, Decision)] == [one for one in outputs if isinstance(one, Decision)]
    reasons = [one.reason for one in after if isinstance(one, Drop)]
    assert reasons == ([] if kept == 2 else ["people found that it is not a defect"])
