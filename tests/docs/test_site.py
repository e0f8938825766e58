"""`make docs` builds a site strictly, which works without a network, search included."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("material", reason="the documentation site needs the extra [docs]")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site. `strict` makes a dead link, a missing anchor or a page without a place in the menu an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text(encoding="utf-8")):
            if 'rel="canonical"' not in tag:
                assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), f"{page.name}: {tag}"


def test_its_search_works_from_a_folder_without_a_network(site: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        page.goto((site / "start" / "paper.html").as_uri())
        page.locator("[data-md-component=search-query]").focus()
        page.keyboard.type("sign flips")
        found = page.locator("a.md-search-result__link[href*='explanation/statistics.html']")
        found.first.wait_for(state="attached")
    finally:
        context.close()


def test_the_readme_is_its_first_page(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "measures automated code review" in text
    assert 'href="start/own-repository.html"' in text
    assert "CONTRIBUTING.md" not in text, "a link to a file that is not part of the site"
