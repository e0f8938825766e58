"""The tutorials and guides are true: their commands run in order, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import CONSOLE, follow

DOCS = Path(__file__).parents[2] / "docs"
QUICK = ("start/gate-in-ci",)  # the others run programs on every change of a history, or read whole data sets
PAGES = [
    pytest.param(page, id=name, marks=() if name in QUICK else pytest.mark.drill)
    for page in sorted((*DOCS.glob("start/*.md"), *DOCS.glob("guides/*.md")))
    for name in [f"{page.parent.name}/{page.stem}"]
]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_page_print_what_it_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    assert CONSOLE.search(text), "the page shows no command"
    follow(text, tmp_path, request)
