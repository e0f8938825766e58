"""The three users walk the viewer on a history and on Martian's twelve tools: wide and narrow, light and dark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from documented import run
from html_pages import arrive
from viewed_runs import viewed

Walk = Callable[[Any], Iterator[str]]  # goes on in a page, and says where it is


@pytest.fixture(scope="module", params=["a history", "martian"])
def link(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The way into a viewer over a run and the same run under another name."""
    folder: Path = tmp_path_factory.mktemp("users")
    if request.param == "martian":
        data = request.getfixturevalue("shared_data") / "martian"
        for words in (f"review martian recorded --from {data} -o first", "score first"):
            done = run(f"reviewgauge {words}", folder)
            assert done.returncode == 0, done.stderr
    else:
        shutil.copytree(request.getfixturevalue("demo")[0] / "runs/demo/run", folder / "first")
    shutil.copytree(folder / "first", folder / "second")
    with viewed(folder) as (_, link):
        yield link


def buyer(page: Any) -> Iterator[str]:
    """Who leads and whether that is sure, what each misses, and what is wrong with the leader's comments."""
    with page.expect_response("**/misses"):
        page.click("tbody a >> text=first")
    arrive(page, ".answer strong")
    yield "the answer"
    leader = page.inner_text(".board tbody th bdi >> nth=0")
    assert leader in page.inner_text(".answer")
    page.click("text=What each system misses, by kind")
    arrive(page, "h1 >> text=Slices")
    assert page.locator("figure svg text", has_text=leader).count() or page.locator(".notice").count()
    yield "what each misses"
    page.go_back()
    arrive(page, ".board tbody a")
    page.click(".board tbody tr >> nth=0 >> td a >> nth=0")
    arrive(page, ".matrix tbody tr")
    assert page.input_value("select[name=system]") == leader
    page.select_option("select[name=state]", "false")
    page.wait_for_url("**state=false**")
    arrive(page, ".matrix tbody tr")
    yield "where it speaks in vain"
    page.click(".matrix tbody a >> nth=0")
    arrive(page, ".said[data-s=false]:visible")
    assert page.locator(".said[data-s=false] .reason").first.text_content().strip()
    yield "why"


def builder(page: Any) -> Iterator[str]:
    """Whether the new run is better than the old one, and where two systems differ."""
    for name in ("first", "second"):
        page.check(f"input[aria-label='choose {name}']")
    yield "two are chosen"
    page.click("#do-compare")
    arrive(page, ".answer")
    assert {"first:", "second:"} <= {
        name[: name.find(":") + 1] for name in page.locator(".board bdi").all_inner_texts()
    }
    yield "both runs"
    page.click("nav >> text=A against B")
    arrive(page, "#pair")
    last = page.locator("#second option").count()
    with page.expect_response(f"**/difference-1-{last}"):
        page.select_option("#second", index=last - 1)
    arrive(page, ".differs a")
    yield "A against B"
    page.click(".differs h2 a >> nth=0")
    arrive(page, "#walk >> text=1 of")
    yield "the first that differs"
    page.keyboard.press("n")
    arrive(page, "#walk >> text=2 of")
    page.keyboard.press("s")
    assert page.locator("[data-show]:checked").count() == 1
    yield "the second, one system alone"


def researcher(page: Any) -> Iterator[str]:
    """Every measure with what made it; an own word on a comment."""
    page.click("tbody a >> text=first")
    arrive(page, ".board")
    for words in ("All caveats", "Every measure, with intervals"):
        page.click(f"summary >> text={words}")
    assert "bootstrap resamples" in page.inner_text("main") and "seed 0" in page.inner_text("main")
    yield "every measure"
    page.click(".board thead button >> text=recall")
    ranked = page.locator(".board tbody tr:not(.section, .section ~ tr) td[data-label=recall] .num").all_inner_texts()
    figures = [float(one) for one in ranked]
    assert page.locator(".board th[aria-sort=descending]").inner_text().startswith("recall")
    assert len(figures) > 1 and figures == sorted(figures, reverse=True)
    yield "sorted by recall"
    page.click("nav >> text=Changes")
    arrive(page, ".matrix tbody a")
    page.select_option("select[name=state]", "false")
    page.wait_for_url("**state=false**")
    arrive(page, ".matrix tbody a")
    page.click(".matrix tbody a >> nth=0")
    arrive(page, "form.judge")
    with page.expect_navigation():
        page.click("form.judge >> nth=0 >> button >> nth=0")
    arrive(page, "strong >> text=a person")
    yield "a word on a comment"


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("user", [buyer, builder, researcher])
def test_a_user_gets_through_and_every_page_fits(browser: Any, link: str, user: Walk, width: int, mode: str) -> None:
    page, noise = (
        browser.new_context(color_scheme=mode, viewport={"width": width, "height": 900}).new_page(),
        list[str](),
    )
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(link)
    for place in user(page):
        assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth"), place
    assert noise == []
    page.context.close()
