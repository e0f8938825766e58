"""docs/reference/model-metrics.md: the answers that it names are read, or not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewgauge.models.answers.readers import Unreadable, whole_number

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "model-metrics.md").read_text(encoding="utf-8")


def test_the_answers_that_it_names_are_read_or_not() -> None:
    part = PAGE.split("## What counts as a grade\n")[1].split("\n## ")[0]
    readable, unreadable = part.split("are read")
    for answer in re.findall("`([^`]+)`", readable):
        assert whole_number(answer, 1, 5) == 4
    refused = [answer for answer in re.findall("`([^`]+)`", unreadable) if "<think>" not in answer]
    assert len(refused) == 4
    for answer in refused:
        with pytest.raises(Unreadable):
            whole_number(answer, 1, 5)
