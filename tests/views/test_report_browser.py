"""The report in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from html_pages import CONTRAST, opened, settle
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.views.report.report import ReportData, render

PAYLOADS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "</style><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg onload=window.hacked=1>",
    '" onmouseover="window.hacked=1" autofocus onfocus="window.hacked=1" x="',
    "javascript:window.hacked=1",
    "{{7*7}}{% raw %}{{ self }}",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "--><script>window.hacked=1</script>",
    "]]><script>window.hacked=1</script>",
    "<details open ontoggle=window.hacked=1>",
    "<base href=//evil.example/><form action=//evil.example><input name=system value=x>",
    "\u202e\u2066<b>x</b>\x1b[31m",
    "<a href='javascript:window.hacked=1'>x</a>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
)


@pytest.fixture(scope="module")
def small_page(small: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("report") / "small.html"
    path.write_text("".join(render(small)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def big_page(make_report: Callable[..., ReportData], tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"reviewer number {n} {'x' * (n * 6)}" for n in range(12)]
    path: Path = tmp_path_factory.mktemp("report") / "big.html"
    path.write_text("".join(render(make_report(names, n=30, said=6))), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_scrolls_sideways_and_nothing_complains(browser: Any, big_page: Path, width: int, mode: str) -> None:
    with opened(browser, big_page, viewport={"width": width, "height": 800}, color_scheme=mode) as (page, noise):
        for script in (
            "() => 0",
            "() => document.querySelectorAll('details:not(.change)').forEach(d => d.open = true)",
            "() => Array.from(document.querySelectorAll('details.change')).slice(0, 3).forEach(d => d.open = true)",
        ):
            page.evaluate(script)
            found = page.evaluate("() => [document.scrollingElement.scrollWidth, innerWidth]")
            assert found[0] <= found[1]
        assert noise == []


def hostile(data: ReportData) -> ReportData:
    """The same report with a payload in every text, a different one in each."""
    state = {"at": 0}

    def poison(text: str) -> str:
        state["at"] += 1
        return PAYLOADS[state["at"] % len(PAYLOADS)]

    def ident(text: str) -> str:
        return "x " + text + " \"'><script>window.hacked=1</script>".replace("/", "⁄")

    keys = {"id", "case", "system", "comment", "reference", "group", "same_as", "nearest", "first", "second"}
    fixed = {"state", "side", "kind", "status", "severity", "needs", "anchoring", "task", "unit", "measure", "level",
             "metric", "headline", "benchmark", "policy"}  # fmt: skip

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v, "id" if key in ("members", "comments") and isinstance(v, str) else key) for v in value]
        if not isinstance(value, str) or key in fixed:
            return value
        if key in keys:
            return ident(value)
        if key in ("path", "old_path"):
            return "a\"'><script>window.hacked=1<⁄script>.py"
        if key == "repo":
            return 'r"><img src=x onerror=window.hacked=1>'
        if key == "patch":
            lines = value.split("\n")
            return "\n".join(
                line[:1] + poison(line) if line[:1] in " +-" else line + " " + poison(line) for line in lines[:-1]
            )
        return poison(value)

    def remake(record: Any) -> Any:
        return type(record).model_validate_json(json.dumps(walk(json.loads(record.model_dump_json()))))

    broken = Failure(kind=FailureKind.CRASH, message=PAYLOADS[0], raw=PAYLOADS[1])
    boards = [remake(b).model_copy(update={"pins": {PAYLOADS[3]: PAYLOADS[4]}}) for b in data.leaderboards]
    return replace(
        data,
        title=PAYLOADS[0],
        created=PAYLOADS[3],
        facts={PAYLOADS[1]: PAYLOADS[5]},
        leaderboards=boards,
        comparisons=[remake(t) for t in data.comparisons],
        cases=[remake(c) for c in data.cases],
        outcomes=[remake(o) for o in data.outcomes] + [Outcome(case="n", system="s", failure=broken)],
        scores=[remake(s) for s in data.scores]
        + [Score(case="n", system="s", metric="m", benchmark="b", failure=broken)],
    )


def test_payloads_in_every_field_run_nothing(browser: Any, small: ReportData, tmp_path: Path) -> None:
    data = hostile(small)
    assert any("<script>" in s.system for s in data.leaderboards[0].systems), "the names carry payloads"
    path = tmp_path / "hostile.html"
    path.write_text("".join(render(data)), encoding="utf-8")
    with opened(browser, path, viewport={"width": 390, "height": 800}) as (page, noise):
        page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
        page.evaluate(
            "() => document.querySelectorAll('*').forEach(e => ['mouseover', 'focus', 'toggle', 'load', 'error']"
            ".forEach(kind => e.dispatchEvent(new Event(kind))))"
        )
        assert page.evaluate("() => window.hacked") is None
        assert page.evaluate("() => document.querySelectorAll('script').length") == 1
        assert (
            page.evaluate("() => document.querySelectorAll('img, iframe, base, [onerror], [onload], [onfocus]').length")
            == 0
        )
        assert page.evaluate("() => Array.from(document.links).every(a => /^(https?|file):/.test(a.protocol))"), (
            "no link leads to a script"
        )
        found = page.evaluate("() => [document.scrollingElement.scrollWidth, innerWidth]")
        assert found[0] <= found[1]
        assert "{{7*7}}" in page.evaluate("() => document.body.textContent"), "templates stay text"
        assert noise == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_all_text_has_contrast_aa(browser: Any, small_page: Path, mode: str) -> None:
    with opened(browser, small_page, viewport={"width": 1280, "height": 900}, color_scheme=mode) as (page, _):
        page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.evaluate(CONTRAST) == []


def test_dark_follows_the_system_and_the_button_turns_it(browser: Any, small_page: Path) -> None:
    colours = (
        "() => [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('figure svg text')).fill]"
    )
    with opened(browser, small_page, color_scheme="light") as (page, noise):
        light = page.evaluate(colours)
        page.click("#theme")
        dark = page.evaluate(colours)
        assert all(a != b for a, b in zip(light, dark, strict=True)), "plots turn too"
        page.click("#theme")
        assert page.evaluate(colours) == light
        assert noise == []
    with opened(browser, small_page, color_scheme="dark") as (page, _):
        assert page.evaluate(colours) == dark


def test_filters_leave_what_they_say(browser: Any, small_page: Path, small: ReportData) -> None:
    with opened(browser, small_page) as (page, noise):
        visible = "() => Array.from(document.querySelectorAll('details.change')).filter(c => !c.hidden).map(c => c.id)"
        assert len(page.evaluate(visible)) == len(small.cases)
        page.select_option("#f-repo", "acme/portal")
        page.wait_for_function("() => document.getElementById('shown').textContent.startsWith('2 of')")
        assert len(page.evaluate(visible)) == sum(case.change.repo == "acme/portal" for case in small.cases)
        page.click("button[type=reset]")
        page.fill("#f-text", "pull-1004")
        page.wait_for_function("() => document.getElementById('shown').textContent.startsWith('1 of')")
        page.click("button[type=reset]")
        page.select_option("#f-state", "missed")
        page.click("#f-open")
        page.wait_for_function(
            "() => !document.querySelector('.change :not([data-s=missed])[data-s]').checkVisibility()"
        )
        shown = page.evaluate(
            "() => Array.from(document.querySelectorAll('.change [data-s]'))"
            ".filter(e => e.checkVisibility()).map(e => e.dataset.s)"
        )
        assert set(shown) == {"missed"}
        page.click("button[type=reset]")
        page.click("#f-none")
        assert page.evaluate("() => Array.from(document.querySelectorAll('.column')).every(c => c.hidden)")
        assert noise == []


def test_filters_count_what_they_leave(browser: Any, small_page: Path, small: ReportData) -> None:
    """The number of changes, of comments and misses, and the tallies of the changes are those of what can be seen."""
    seen = """() => {
      const all = (within) => Array.from(document.querySelectorAll('details.change:not([hidden]) ' + within));
      const items = all('[data-s]'), marks = all('[data-t]:not([hidden]) b');
      return [document.querySelectorAll('details.change:not([hidden])').length,
        items.filter(e => !e.hidden).length, marks.reduce((sum, e) => sum + Number(e.textContent), 0),
        document.getElementById('shown').textContent, items.filter(e => !e.hidden).map(e => e.textContent)];
    }"""
    with opened(browser, small_page) as (page, noise):

        def counted() -> tuple[int, int, list[str]]:
            settle(page)
            changes, items, tallied, words, texts = page.evaluate(seen)
            assert items == tallied
            assert words.startswith(f"{changes} of {len(small.cases)} changes, {items} of ")
            return changes, items, texts

        page.click("#f-open")
        _, everything, texts = counted()
        system = page.get_attribute("#filters input[name=system] >> nth=0", "value")
        page.uncheck(f"#filters input[value='{system}']")
        _, without, _ = counted()
        assert 0 < without < everything
        page.select_option("#f-state", "missed")
        changes, missed, texts = counted()
        assert 0 < missed < without and all("missed" in text.lower() for text in texts)
        page.click("button[type=reset]")
        page.click("#f-none")
        assert counted()[:2] == (0, 0)
        page.click("button[type=reset]")
        assert counted()[1] == everything
        said = next(o.review.comments[0].body for o in small.outcomes if o.review and o.review.comments)
        page.fill("#f-text", said)
        changes, items, texts = counted()
        assert changes >= 1 and items >= 1 and all(said.split()[0].lower() in text.lower() for text in texts)
        assert noise == []


def test_a_deep_link_opens_its_change(browser: Any, small_page: Path) -> None:
    with opened(browser, small_page) as (page, _):
        target = page.evaluate("() => document.querySelector('details.change .cid').hash")
        page.evaluate("(hash) => { location.hash = hash; }", target)
        page.wait_for_function("() => document.querySelector('details.change').open")
        assert page.locator(target).is_visible()


def test_it_can_be_read_without_scripts(browser: Any, small_page: Path, small: ReportData) -> None:
    with opened(browser, small_page, java_script_enabled=False) as (page, noise):
        assert not page.locator("#filters").is_visible()
        assert not page.locator("#theme").is_visible()
        page.locator("details.change > summary").nth(1).click()
        reference = next(r for r in small.cases[1].references)
        assert page.locator(".ref").filter(has_text=reference.body).first.is_visible()
        assert noise == []


def test_it_prints(browser: Any, small_page: Path) -> None:
    with opened(browser, small_page, color_scheme="dark") as (page, _):
        pdf = page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/") >= 2
        page.emulate_media(media="print")
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_it_can_be_used_with_the_keyboard_and_read_aloud(browser: Any, small_page: Path) -> None:
    with opened(browser, small_page) as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        assert page.evaluate("() => document.querySelectorAll('main, header, nav').length") == 3
        levels = page.evaluate("() => Array.from(document.querySelectorAll('h1,h2,h3,h4')).map(h => +h.tagName[1])")
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(levels)), "no level is skipped"
        unnamed = page.evaluate(
            "() => Array.from(document.querySelectorAll('svg, section, [role=region], form, nav'))"
            ".filter(e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')).length"
        )
        assert unnamed == 0
