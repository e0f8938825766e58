"""The tutorials and guides are true: their commands run in order, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import CONSOLE, follow

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for folder in ("start", "guides") for page in sorted((DOCS / folder).glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_commands_of_the_page_print_what_it_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    assert CONSOLE.search(text), "the page shows no command"
    follow(text, tmp_path, request)
