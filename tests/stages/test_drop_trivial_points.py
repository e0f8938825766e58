"""Change-points of words and layout alone make no change."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, signature
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.engine.build.pipeline import WithoutBuild
from reviewgauge.stages.drop_trivial_points import DropTrivialPoints


def of(*types: str | None, verdict: bool | None = False) -> Candidate:
    points = tuple(Comment(id=f"p{n}", body="x", category=name) for n, name in enumerate(types))
    return Candidate(case=Case(id="c", change=Change(repo="a/b"), references=points, verdict=verdict))


def told(item: Candidate, stage: Stage | None = None) -> tuple[str, str] | None:
    (made,) = (stage or DropTrivialPoints()).each(item, WithoutBuild())
    if isinstance(made, Drop):
        return made.reason, made.detail
    assert made == item
    return None


def test_a_change_with_trivial_points_alone_is_dropped() -> None:
    assert told(of("E.1.1 Textual", "E.2 Visual Representation", "E.1.1")) == (
        "only trivial change-points",
        "E.1.1, E.2",
    )


@pytest.mark.parametrize("kept", ["E.1.2 Language Supported", "E.3.2 Solution Approach", "F.2 Logic", "E.1"])
def test_one_that_is_not_trivial_is_enough(kept: str) -> None:
    assert told(of("E.1.1 Textual", kept, "E.2")) is None
    assert told(of(None, kept)) is None


def test_clean_ones_pass_and_what_nobody_knows_is_dropped() -> None:
    assert told(of(verdict=True)) is None
    assert told(of(verdict=None)) == ("no change-point, and not known to be clean", "")
    assert told(of("E.2", None)) == ("a change-point without a type", "")
    assert told(of("typo")) == ("a change-point without a type", "")


def test_the_types_are_a_parameter() -> None:
    every = DropTrivialPoints(types=("E.1", "E.1.1", "E.1.2", "E.2", "E.3.1"))
    assert told(of("E.3.1 Organization"), every) == ("only trivial change-points", "E.3.1")
    assert load(Stage, signature(every)) == every
    for wrong in ((), ("E.9",), ("Textual",)):
        with pytest.raises(ValueError, match="drop_trivial_points needs types"):
            DropTrivialPoints(types=wrong)


def test_the_card_has_the_types_before_and_after_as_figure_3_does(tmp_path: Path) -> None:
    place = BuildFolder(tmp_path / "bench")
    items = [of("E.1.1", "E.2"), of("E.2"), of("F.2 Logic", "E.1.1"), of(verdict=True)]
    assert len(list(DropTrivialPoints().apply(items, place))) == 4
    (section,) = place.sections
    assert section.columns == ("type", "before", "share before", "after", "share after")
    assert section.rows == (
        ("E.1.1 Textual", 2, 0.4, 1, 0.5),
        ("E.2 Visual Representation", 2, 0.4, 0, 0.0),
        ("F.2 Logic", 1, 0.2, 1, 0.5),
        ("functional (F)", 1, 0.2, 1, 0.5),
    )
    place.close()
