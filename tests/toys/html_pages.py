"""What the tests of HTML pages share: a parser of the standard library, and a page in a real browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

VOID = {"meta", "input", "br", "col", "link", "img"}


class Page(HTMLParser):
    """What a page holds: ids, links, text by nothing but the standard library."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if found.get("href"):
            self.links.append(found["href"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page of the file, and everything that it complained about or asked for."""
    noise: list[str] = []
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("console", lambda message: noise.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: noise.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: noise.append(f"request: {request.url}") if "file:" not in request.url else None)
    page.goto(path.as_uri())
    try:
        yield page, noise
    finally:
        context.close()


def arrive(page: Any, sight: str) -> None:
    """Wait for the next page, known by what it shows, until its keys work: it is seen before its scripts have run."""
    page.wait_for_selector(sight)
    page.wait_for_load_state()


def settle(page: Any) -> None:
    """Wait until the page has done what it put off by less than 200 ms: its timers run in the order of their ends."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")


CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const linear = (v) => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = rgb(getComputedStyle(e).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim());
    const skipped = ['SCRIPT', 'STYLE', 'OPTION', 'title', 'desc'].includes(e.tagName);
    if (!own || skipped || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    if (e.tagName === 'text' && style.stroke !== 'none') continue;
    const pair = [light(rgb(e.tagName === 'text' ? style.fill : style.color)), light(behind(e))];
    const ratio = (Math.max(...pair) + .05) / (Math.min(...pair) + .05);
    if (ratio < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return bad;
}"""
