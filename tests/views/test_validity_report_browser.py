"""The validity report in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import validity_toys as toys
from html_pages import CONTRAST, opened

Pages = Callable[[str], Path]
OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => d.open = true)"


@pytest.mark.drill
@pytest.mark.parametrize("name", ["plain", "awkward", "hostile"])
@pytest.mark.parametrize(("width", "mode"), [(390, "dark"), (1280, "light")])
def test_nothing_scrolls_sideways_and_nothing_complains(
    browser: Any, validity_pages: Pages, name: str, width: int, mode: str
) -> None:
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": mode}
    with opened(browser, validity_pages(name), **options) as (page, noise):
        for script in ("() => 0", OPEN_ALL):
            page.evaluate(script)
            found = page.evaluate("() => [document.scrollingElement.scrollWidth, innerWidth]")
            assert found[0] <= found[1]
        assert noise == []


def test_payloads_in_every_text_run_nothing(browser: Any, validity_pages: Pages) -> None:
    with opened(browser, validity_pages("hostile"), viewport={"width": 390, "height": 800}) as (page, noise):
        page.evaluate(OPEN_ALL)
        page.evaluate(
            "() => document.querySelectorAll('*').forEach(e => ['mouseover', 'focus', 'toggle', 'load', 'error']"
            ".forEach(kind => e.dispatchEvent(new Event(kind))))"
        )
        assert page.evaluate("() => window.hacked") is None
        assert page.evaluate("() => document.querySelectorAll('script').length") == 1
        assert page.evaluate("() => document.querySelectorAll('img, iframe, base, [onerror], [onload]').length") == 0
        text = page.evaluate("() => document.body.textContent")
        assert "{{7*7}}" in text, "templates stay text"
        assert toys.PAYLOADS[0] in text
        assert noise == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_all_text_has_contrast_aa(browser: Any, validity_pages: Pages, mode: str) -> None:
    options = {"viewport": {"width": 1280, "height": 900}, "color_scheme": mode}
    with opened(browser, validity_pages("plain"), **options) as (page, _):
        page.evaluate(OPEN_ALL)
        page.evaluate("() => document.querySelectorAll('.inside').forEach(e => e.style.contentVisibility = 'visible')")
        assert page.evaluate(CONTRAST) == []


def test_names_in_figures_do_not_leave_the_figure(browser: Any, validity_pages: Pages) -> None:
    with opened(browser, validity_pages("awkward"), viewport={"width": 1280, "height": 900}) as (page, _):
        page.evaluate(OPEN_ALL)
        outside = page.evaluate(
            """() => Array.from(document.querySelectorAll('figure svg text')).filter(t => {
              const [a, b] = [t.getBoundingClientRect(), t.closest('svg').getBoundingClientRect()];
              return a.width && (a.left < b.left - 12 || a.right > b.right + 12);
            }).map(t => t.textContent)"""
        )
        assert outside == []


def test_it_can_be_read_aloud(browser: Any, validity_pages: Pages) -> None:
    with opened(browser, validity_pages("plain")) as (page, _):
        levels = page.evaluate("() => Array.from(document.querySelectorAll('h1,h2,h3,h4')).map(h => +h.tagName[1])")
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(levels)), "no level is skipped"
        unnamed = page.evaluate(
            "() => Array.from(document.querySelectorAll('svg, section, [role=region], nav'))"
            ".filter(e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')).length"
        )
        assert unnamed == 0
