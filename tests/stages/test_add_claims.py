"""The stage that adds claims to cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Claim
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.engine.build.folder import BuildFolder, Census
from reviewgauge.stages.add_claims import AddClaims
from scripted_models import scripted

pytestmark = pytest.mark.usefixtures("calls")

PATCH = "@@ -1,2 +1,2 @@\n-def total(a):\n+def total(a, tax=0):\n     return a\n"
CHANGE = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=PATCH),))
LISTS = '{"claims": ["`total` takes a tax."], "implications": ["Callers may pass a tax."]}'


def run(stage: AddClaims, context: BuildFolder, **case: object) -> list[Candidate | Decision | Drop]:
    given = Case.model_validate({"id": "c", "change": CHANGE} | case)
    return list(stage.each(Candidate(case=given), context))


def claims(stage: AddClaims, context: BuildFolder, **case: object) -> list[tuple[str, str, str]]:
    made = run(stage, context, **case)
    assert isinstance(made[-1], Candidate)
    return [(one.kind, one.source, one.body) for one in made[-1].case.claims]


def test_without_a_model_the_claims_are_by_line(context: BuildFolder) -> None:
    sentence = "The line changes from `def total(a):` to `def total(a, tax=0):`."
    assert claims(AddClaims(), context) == [("claim", "diff", sentence)]


def test_a_model_lists_claims_instead(context: BuildFolder) -> None:
    with scripted([LISTS]) as model:
        made = run(AddClaims(model=model.spec), context, facts={"language": "python"})
    *decided, kept = made
    said = [one.decided for one in decided if isinstance(one, Decision)]
    assert said == ["claim: `total` takes a tax.", "implication: Callers may pass a tax."]
    assert isinstance(kept, Candidate)
    assert [(one.id, one.kind, one.source) for one in kept.case.claims] == [
        ("1", "claim", model.spec),
        ("2", "implication", model.spec),
    ]
    asked = model.asked[0][-1]["content"]
    assert "a Python code change" in asked and "+def total(a, tax=0):" in asked and "<<<DATA" in asked


def test_an_unreadable_answer_is_asked_again_and_then_fails(context: BuildFolder) -> None:
    with scripted(["It adds a tax.", LISTS]) as model:
        assert len(claims(AddClaims(model=model.spec), context)) == 2
    with scripted(["It adds a tax."] * 3) as model, pytest.raises(Failed) as failed:
        run(AddClaims(model=model.spec), context)
    assert failed.value.kind is FailureKind.UNREADABLE


def test_claims_that_are_there_stay_and_a_change_without_a_diff_has_none(context: BuildFolder) -> None:
    own = Claim(id="x", body="It is slow.", source="person")
    assert claims(AddClaims(), context, claims=(own,)) == [("claim", "person", "It is slow.")]
    assert claims(AddClaims(model="fake:rules"), context, change=Change(repo="o/r")) == []


def test_a_model_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(UserError):
        AddClaims(model="nobody")


@pytest.mark.slow
def test_analysers_add_issues_where_the_code_is_at_hand(tmp_path: Path, context: BuildFolder) -> None:
    change = make_change(tmp_path / "code", {"a.py": "x = input()\n"}, {"a.py": "x = eval(input())\n"})
    found = claims(AddClaims(), context, change=change)
    assert [kind for kind, _, _ in found] == ["claim", "issue"]
    assert found[1][1].split("+")[-1] == "security" and found[1][2].startswith("Line 1: ")
    assert [kind for kind, _, _ in claims(AddClaims(tools=False), context, change=change)] == ["claim"]


def test_the_card_counts_claims_by_source() -> None:
    census = Census()
    both = Claim(id="2", body="b", source="ruff+security")
    census.add(Case(id="c", change=CHANGE, claims=(Claim(id="1", body="a", source="diff"), both)))
    census.add(Case(id="d", change=CHANGE))
    assert census.distributions()["claim source"] == {"diff": 1, "ruff": 1, "security": 1}
    assert census.spreads()["claims per change"].n == 1
