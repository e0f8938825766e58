"""Every published value in a shipped study stands in the text of its paper, where the papers are at hand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

PAPERS = {
    "aacr_bench": "aacr-bench", "context_crbench": "contextcrbench", "crscore": "crscore",
    "graded_reviews": "graded-reviews", "swr_bench": "swr-bench",
}  # fmt: skip


def published(found: Any) -> Iterator[tuple[str, float]]:
    """(where, value) of every published value in a study, those of its variants too."""
    if isinstance(found, dict):
        for name, own in found.get("published", {}).get("values", {}).items():
            yield from ((f"{found.get('name')}: {name}: {column}", value) for column, value in own.items())
        for key, one in found.items():
            if key != "published":
                yield from published(one)
    elif isinstance(found, list):
        for one in found:
            yield from published(one)


def numbers(text: str) -> set[float]:
    """The numbers of a text without their signs, and its percentages as shares too.

    Where a page was read, two numbers may have run together (21.6520.66), and an arrow may be a 1 (13.48%).
    """
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    found = set(map(float, re.findall(r"\d*\.?\d+(?:e-?\d+)?", plain)))
    found |= {round(float(one) / 100, 6) for one in re.findall(r"(\d+\.\d+)%", plain)}
    found |= {float(one) for pair in re.findall(r"(\d+\.\d\d)(\d\d?\.\d+)", plain) for one in pair}
    return found | {float(one) for one in re.findall(r"\d(\d+\.\d+)\\?%", plain)}


@pytest.mark.parametrize("study", PAPERS)
def test_every_published_value_stands_in_its_paper(study: str, shared_data: Path) -> None:
    paper = shared_data.parent / "papers" / f"{PAPERS[study]}.txt"
    if not paper.is_file():
        pytest.skip("the papers are not part of the project")
    known = numbers(paper.read_text(encoding="utf-8"))
    text = (resources.files("reviewgauge") / "studies" / f"{study}.toml").read_text(encoding="utf-8")
    values = list(published(tomllib.loads(text)))
    assert len(values) > 60
    missing = [where for where, value in values if abs(value) not in known]
    assert not missing
