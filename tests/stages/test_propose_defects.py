"""A model's proposal is a case only where it fits the added lines, parses, changes what runs, and is found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reviewgauge
from history_builder import Told
from host_change import AFTER, BEFORE, host
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ARM, PAIR, Arm, Case, Origin, RequiredContext, Severity
from reviewgauge.core.results import Drop, Failed
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.propose_defects import ProposeDefects
from scripted_models import scripted

pytestmark = [pytest.mark.usefixtures("calls"), pytest.mark.processes]

GOOD = {
    "path": "shop/cart.py", "old": "    if len(items) < limit:",
    "new": "    if len(items) <= limit:",
    "description": "With `limit` items it says that one more fits.",
    "category": "defect", "severity": "High", "needs": "diff",
}  # fmt: skip
FOUND = {"problem": "At the limit it says yes.", "defect": "behaviour", "rating": "findable"}


def proposed(
    item: Candidate, context: BuildFolder, proposal: object, verdict: object = FOUND
) -> tuple[list[Candidate], list[str], list[Decision], list[str]]:
    """The cases, the reasons of drops, the decisions, and the questions."""
    with scripted([json.dumps({"defects": [proposal] if proposal else []}), json.dumps(verdict)]) as model:
        made = list(ProposeDefects(model.spec).each(item, context))
        asked = [messages[-1]["content"] for messages in model.asked]
    assert made[0] == item, "the host stays"
    cases = [one for one in made[1:] if isinstance(one, Candidate)]
    drops = [one.reason for one in made if isinstance(one, Drop)]
    return cases, drops, [one for one in made if isinstance(one, Decision)], asked


def test_a_proposal_that_holds_is_a_case(tmp_path: Path, context: BuildFolder) -> None:
    (made,), drops, decisions, asked = proposed(host(tmp_path / "shop"), context, GOOD)
    (one,) = made.case.references
    assert not drops and made.case.facts[ARM] == Arm.DEFECT and made.case.verdict is False
    assert (one.body, one.origin, one.category) == (GOOD["description"], Origin.INJECTED, "defect")
    assert (one.severity, one.needs) == (Severity.HIGH, RequiredContext.DIFF)
    assert one.span is not None and (one.span.start, one.span.end) == (7, 7)
    assert (one.extra["operator"], one.extra["made"]) == ("proposed", "proposed")
    assert one.resolution is not None and one.resolution.snippet == GOOD["old"]
    assert "    7 +     if len(items) < limit:" in asked[0] and "shop/cart.py, line 7" in asked[1]
    assert "    7 +     if len(items) <= limit:" in asked[1] and str(GOOD["description"]) not in asked[1]
    assert [one.decided.split("\n")[-1] for one in decisions] == [f"+{GOOD['new']}", "behaviour, findable"]


@pytest.mark.parametrize(("change", "reason"), [
    ({"path": "shop/other.py"}, "its path is not a file of the product that the change touches"),
    ({"path": "../cart.py"}, "its path is not a file of the product that the change touches"),
    ({"path": "tests/test_cart.py"}, "its path is not a file of the product that the change touches"),
    ({"old": "    if len(items) < limits:"}, "its lines do not occur in the file"),
    ({"old": "if len(items) < limit:"}, "its lines do not occur in the file"),
    ({"old": "    return items[0]", "new": "    return items[1]"}, "its lines are not all added by the change"),
    ({"old": "        return True", "new": "        return (True"}, "the file does not parse with it"),
    ({"old": "\n\n", "new": "x = 1"}, "it replaces no line"),
    ({"new": "\n".join(f"    x{at} = 1" for at in range(9))}, "it replaces or puts in more than 8 lines"),
    ({"new": GOOD["old"]}, "it changes nothing that runs"),
    ({"new": "    if len(items)  <  limit:  # less"}, "it changes nothing that runs"),
    ({"old": "    # never more than the limit", "new": "    # at most"}, "it changes nothing that runs"),
])  # fmt: skip
def test_what_does_not_fit_is_a_counted_drop(
    tmp_path: Path, context: BuildFolder, change: dict[str, str], reason: str
) -> None:
    after = {**AFTER, "tests/test_cart.py": "def test_cart():\n    assert True\n"}
    cases, drops, decisions, asked = proposed(host(tmp_path / "shop", after=after), context, GOOD | change)
    assert (cases, drops, len(decisions), len(asked)) == ([], [reason], 1, 1)


def test_lines_that_occur_twice_are_no_place(tmp_path: Path, context: BuildFolder) -> None:
    after = {"shop/cart.py": AFTER["shop/cart.py"] + "\n\n" + "def empty(items):\n    return None\n" * 2}
    proposal = GOOD | {"old": "    return None", "new": "    return items"}
    assert proposed(host(tmp_path / "shop", after=after), context, proposal)[1] == ["its lines occur more than once"]


@pytest.mark.parametrize(("old", "new", "place", "sound"), [
    ("    if len(items) < limit:\n        return True\n", "    if len(items) < limit:\n        return False\n", 8, 8),
    ("    if len(items) < limit:\n        return True", "    if len(items) > limit:\n        return True", 7, 7),
    ("    names = None\n    return names", "    return names", 9, 9),
    ("    names = None", "    items.clear()\n    names = None", 9, 9),
], ids=["same line above", "same line below", "taken out", "put in"])  # fmt: skip
def test_the_place_is_what_differs(
    tmp_path: Path, context: BuildFolder, old: str, new: str, place: int, sound: int
) -> None:
    (made,), *_ = proposed(host(tmp_path / "shop"), context, GOOD | {"old": old, "new": new})
    (one,) = made.case.references
    assert one.span is not None and (one.span.start, one.span.end) == (place, place)
    assert one.extra["sound"] == [sound, sound]


def test_line_ends_stay_as_they_are(tmp_path: Path, context: BuildFolder) -> None:
    before, after = ({path: text.replace("\n", "\r\n").encode() for path, text in of.items()} for of in (BEFORE, AFTER))
    item = host(tmp_path / "shop", before, after)
    (made,), drops, *_ = proposed(item, context, GOOD)
    patch = made.case.change.files[0].patch or ""
    assert not drops and "+    if len(items) <= limit:\r\n" in patch and patch.count("\r") == 10


@pytest.mark.parametrize(("verdict", "reason"), [
    ({"defect": "none"}, "the second question finds no defect of behaviour at its place"),
    ({"defect": "other"}, "the second question finds no defect of behaviour at its place"),
    ({"rating": "trivial"}, "the second question calls it trivial"),
    ({"rating": "hidden"}, "the second question calls it hidden"),
])  # fmt: skip
def test_the_second_question_decides(
    tmp_path: Path, context: BuildFolder, verdict: dict[str, str], reason: str
) -> None:
    cases, drops, decisions, _ = proposed(host(tmp_path / "shop"), context, GOOD, FOUND | verdict)
    assert (cases, drops) == ([], [reason]) and decisions[1].reason == FOUND["problem"]


def test_a_model_may_propose_nothing(tmp_path: Path, context: BuildFolder) -> None:
    cases, drops, decisions, asked = proposed(host(tmp_path / "shop"), context, None)
    assert (cases, drops) == ([], ["the model proposes no defect for it"])
    assert [one.decided for one in decisions] == ["no defect fits"] and len(asked) == 1


@pytest.mark.parametrize("answers", [
    ["I would turn the comparison."],
    [json.dumps({"defects": [GOOD, GOOD]})],
    [json.dumps({"defects": [GOOD | {"severity": "terrible"}]})],
    [json.dumps({"defects": [GOOD | {"description": "x" * 501}]})],
    [json.dumps({"defects": [{"path": "shop/cart.py"}]})],
    [json.dumps({"defects": [GOOD]}), "It is wrong."],
], ids=["prose", "two", "another word", "too long", "no lines", "second answer"])  # fmt: skip
def test_an_answer_that_cannot_be_read_is_a_failure(tmp_path: Path, context: BuildFolder, answers: list[str]) -> None:
    with scripted(answers) as model, pytest.raises(Failed):
        list(ProposeDefects(model.spec).each(host(tmp_path / "shop"), context))


def test_a_judge_of_its_own_answers_the_second_question(tmp_path: Path, context: BuildFolder) -> None:
    first, second = json.dumps({"defects": [GOOD]}), json.dumps(FOUND)
    with scripted([first]) as model, scripted([second]) as judge:
        stage = ProposeDefects(model.spec, judge=judge.spec)
        assert stage.models == (model.spec, judge.spec)
        made = [one for one in stage.each(host(tmp_path / "shop"), context) if isinstance(one, Candidate)]
        assert (len(made), len(model.asked), len(judge.asked)) == (2, 1, 1)


def test_without_a_model_nothing_is_proposed(tmp_path: Path, context: BuildFolder) -> None:
    item = host(tmp_path / "shop")
    assert list(ProposeDefects().each(item, context)) == [item] and ProposeDefects(judge="fake:example").models == ()
    with pytest.raises(UserError):
        ProposeDefects("no such model")
    with pytest.raises(UserError):
        ProposeDefects("fake:example", judge="no such model")


def test_the_recipe_tries_it_with_the_fake_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    told = Told(tmp_path / "shop")
    told.commit("begin", dict(BEFORE))
    told.commit("Say what fits", dict(AFTER))
    settings = {"model": "fake:example"}
    reviewgauge.build(told.folder, out=tmp_path / "bench", recipe="injected", settings=settings, audit=1)
    cases = [Case.model_validate_json(line) for line in (tmp_path / "bench/cases.jsonl").read_bytes().splitlines()]
    made = sorted(str(one.extra["made"]) for case in cases for one in case.references)
    assert made == ["planted", "proposed"] and len(cases) == 3, "both stand beside one twin"
    assert {case.facts[PAIR] for case in cases} == {cases[0].facts[PAIR]}
    names = [path.name.partition("-")[0] for path in sorted((tmp_path / "bench/audit").iterdir())]
    assert names == ["find_by_diff", "propose_defects"]
