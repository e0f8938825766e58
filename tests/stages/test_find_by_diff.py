"""What is found without the repository: by an analyser that is new on the lines, by a model that names the place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from host_change import AFTER, host
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.find_by_diff import FOUND, FindByDiff
from reviewgauge.stages.injection.arms import Defect, safe_twin, with_defect
from scripted_models import scripted

pytestmark = [pytest.mark.usefixtures("calls"), pytest.mark.processes]

SOUND = AFTER["shop/cart.py"]
SEEN = SOUND.replace("    names = None\n", "    names = undefined_name\n")  # what pyflakes sees
HIDDEN = SOUND.replace("len(items) < limit", "len(items) <= limit")


def defect(item: Candidate, code: str, line: int) -> Candidate:
    made = with_defect(
        item,
        Defect(
            path="shop/cart.py",
            sound=SOUND.encode(),
            defective=code.encode(),
            lines=(line, line),
            sound_lines=(line, line),
            body="It is wrong.",
            operator="toy",
            made="planted",
        ),
        "toy:0",
        0,
    )
    assert isinstance(made, Candidate)
    return made


def noted(stage: FindByDiff, context: BuildFolder, item: Candidate) -> tuple[object, list[Decision]]:
    """The note on the defect, and what the model decided."""
    made = list(stage.each(item, context))
    (kept,) = [one for one in made if isinstance(one, Candidate)]
    return kept.case.references[0].extra.get(FOUND), [one for one in made if isinstance(one, Decision)]


@pytest.mark.parametrize(("code", "line", "tools", "found"), [
    (SEEN, 9, ("ruff",), {"analysers": True}),
    (SEEN, 7, ("ruff",), {"analysers": False}),  # it is reported elsewhere
    (HIDDEN, 7, ("ruff",), {"analysers": False}),
    (SEEN, 9, ("eslint",), {}),  # which reads no Python
], ids=["seen", "elsewhere", "hidden", "not read"])  # fmt: skip
def test_an_analyser_finds_what_is_new_on_the_lines(
    tmp_path: Path, context: BuildFolder, code: str, line: int, tools: tuple[str, ...], found: object
) -> None:
    made = defect(host(tmp_path / "shop"), code, line)
    assert noted(FindByDiff(tools=tools), context, made) == (found, [])


def test_what_the_twin_has_too_is_not_found(tmp_path: Path, context: BuildFolder) -> None:
    after = {"shop/cart.py": SOUND.replace("    return names\n", "    return undefined_name\n")}
    item = host(tmp_path / "shop", after=after)
    code = after["shop/cart.py"].replace("return undefined_name", "return -undefined_name")
    assert noted(FindByDiff(), context, defect(item, code, 10))[0] == {"analysers": False}


@pytest.mark.parametrize(("problems", "found"), [
    ([{"path": "shop/cart.py", "line": 7, "problem": "The limit itself fits."}], True),
    ([{"path": "shop/cart.py", "line": 5.0, "problem": "x"}], True),
    ([{"path": "shop/cart.py", "line": 2, "problem": "x"}], False),
    ([{"path": "shop/other.py", "line": 7, "problem": "x"}], False),
    ([], False),
])  # fmt: skip
def test_a_model_finds_what_it_names_by_place(
    tmp_path: Path, context: BuildFolder, problems: list[object], found: bool
) -> None:
    made = defect(host(tmp_path / "shop"), HIDDEN, 7)
    with scripted([json.dumps({"problems": problems})]) as model:
        note, said = noted(FindByDiff(model.spec), context, made)
        asked = model.asked[0][-1]["content"]
    assert note == {"analysers": False, "model": found}
    assert "=== shop/cart.py" in asked and "    7 +     if len(items) <= limit:" in asked
    assert "It is wrong." not in asked and "def first(items):" in asked
    assert [one.decided.startswith("shop/") or one.decided == "nothing" for one in said] == [True]


@pytest.mark.parametrize("answer", [
    "Line 7 looks wrong.",
    '{"problems": [{"path": "shop/cart.py", "line": "7"}]}',
    json.dumps({"problems": [{"path": "shop/cart.py", "line": at, "problem": "x"} for at in range(1, 11)]}),
], ids=["prose", "no number", "every line"])  # fmt: skip
def test_an_answer_that_cannot_be_read_is_a_failure(tmp_path: Path, context: BuildFolder, answer: str) -> None:
    made = defect(host(tmp_path / "shop"), HIDDEN, 7)
    with scripted([answer]) as model, pytest.raises(Failed):
        list(FindByDiff(model.spec).each(made, context))


def test_only_defects_are_looked_for(tmp_path: Path, context: BuildFolder) -> None:
    item = host(tmp_path / "shop")
    safe = safe_twin(item, defect(item, HIDDEN, 7), HIDDEN.encode(), (7, 7), 0)
    for one in (item, safe):
        assert list(FindByDiff("fake:example").each(one, context)) == [one]


def test_tools_are_checked_first() -> None:
    with pytest.raises(UserError, match="is not an analyser"):
        FindByDiff(tools=("pylint",))
