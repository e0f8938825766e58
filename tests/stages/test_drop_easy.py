"""An operator of which everything is found leaves, with its harmless edits; the card shows who found what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from reviewgauge.core.building import Candidate
from reviewgauge.core.records import ARM, Arm, Case, Change, Comment
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.drop_easy import DropEasy
from reviewgauge.stages.find_by_diff import FOUND

LOOKED, BOTH = {"analysers": True}, {"analysers": False, "model": True}


def defects(operator: str, *found: Mapping[str, bool]) -> Iterator[Candidate]:
    for at, note in enumerate(found):
        extra = {"operator": operator, "made": "planted", FOUND: dict(note)}
        comment = Comment(id=f"{operator}-{at}", body="It is wrong.", extra=extra)
        case = Case(id=f"shop/{operator}{at}", change=Change(repo="acme/shop"), references=(comment,), verdict=False)
        yield Candidate(case=case).with_facts({ARM: Arm.DEFECT.value})


def safe(operator: str) -> Candidate:
    comment = Comment(id=f"{operator}-0", body="It is wrong.")
    case = Case(id=f"shop/{operator}-safe", change=Change(repo="acme/shop"), rejected=(comment,))
    return Candidate(case=case).with_facts({ARM: Arm.SAFE.value})


@pytest.mark.parametrize(("found", "is_easy"), [
    ([LOOKED] * 5, True), ([LOOKED, BOTH] * 3, True),
    ([LOOKED] * 4, False),  # too few to tell
    ([*[LOOKED] * 9, {"analysers": False, "model": False}], False),
    ([{}] * 6, False),  # nobody looked
])  # fmt: skip
def test_an_operator_of_which_everything_is_found_leaves(
    context: BuildFolder, found: list[dict[str, bool]], is_easy: bool
) -> None:
    host = Candidate(case=Case(id="shop/host", change=Change(repo="acme/shop")))
    items = [host, *defects("plain", *found), safe("plain"), *defects("other", {"analysers": False})]
    made = list(DropEasy().apply(items, context))
    left = [one.id for one in made if isinstance(one, Candidate)]
    drops = [one for one in made if isinstance(one, Drop)]
    assert left == (["shop/host", "shop/other0"] if is_easy else [one.id for one in items])
    assert len(drops) == (len(found) + 1 if is_easy else 0)
    assert all(FOUND not in c.extra for one in made if isinstance(one, Candidate) for c in one.case.references)
    assert [one.id for one in DropEasy(easy=True).apply(items, context) if isinstance(one, Candidate)] == [
        one.id for one in items
    ]


def test_the_card_says_who_found_what(context: BuildFolder) -> None:
    items = [*defects("plain", *[LOOKED] * 5), *defects("deep", BOTH, LOOKED, {"analysers": False, "model": False})]
    for stage, fate in ((DropEasy(), "left out"), (DropEasy(easy=True), "kept")):
        list(stage.apply(items, context))
        assert context.sections[-1].rows == (
            ("deep", 3, "1 of 3", "1 of 2", ""),
            ("plain", 5, "5 of 5", None, f"easy: {fate}"),
        )
