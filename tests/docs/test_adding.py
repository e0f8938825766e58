"""docs/extend.md is followed word for word, in a package outside the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reviewgauge
from documented import follow

PAGE = (Path(__file__).parents[2] / "docs" / "extend.md").read_text(encoding="utf-8")
PLUGINS = ["A metric", "A reviewer", "A stage", "A data set", "A format", "A judge", "An operator", "A context"]
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
WHOLE = re.compile(r"`(\w+/\w+\.py)` is a (?:whole|short) one")


@pytest.mark.parametrize("title", PLUGINS)
def test_the_section_works_word_for_word_or_names_a_file(
    title: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    named = WHOLE.search(SECTIONS[title])
    if named:
        assert (Path(reviewgauge.__file__).parent / named[1]).is_file()
    else:
        assert follow(SECTIONS[title], tmp_path, request) > 0


def test_every_kind_of_plug_in_has_a_section() -> None:
    assert list(SECTIONS) == PLUGINS
