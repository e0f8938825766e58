"""The tutorials and guides are true: their commands run in order, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import CONSOLE, follow

DOCS = Path(__file__).parents[2] / "docs"
START, GUIDES = (
    [pytest.param(page, id=f"{folder}/{page.stem}", marks=marks) for page in sorted((DOCS / folder).glob("*.md"))]
    for folder, marks in (("start", [pytest.mark.pages]), ("guides", [pytest.mark.drill]))  # the guides take minutes
)


@pytest.mark.parametrize("page", [*START, *GUIDES])
def test_the_commands_of_the_page_print_what_it_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    assert CONSOLE.search(text), "the page shows no command"
    follow(text, tmp_path, request)
