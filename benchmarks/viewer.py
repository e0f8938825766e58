"""How fast the viewer answers in a real browser, on 1,000 changes and 20 systems.

    python benchmarks/viewer.py [--changes 1000] [--systems 20] [--run FOLDER]

The changes are those of the sample, over and over; the reviews are its findings and its noise, at random. First view:
from the link of a service that just began to the whole page. Then clicks on links, each to a page that was not looked
at before, with a pointer that rests on the link for a moment, and at once: from the click in the old page until the new
one is loaded and painted, as the browser's own clock has it. A page with one word, from a service that does nothing
else, is the floor.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from reviewgauge import score
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Outcome
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.app import Viewer, open_viewer
from reviewgauge.viewer.selection import Shelf

ROUNDS = 7
REST = 300  # milliseconds of the pointer on a link before it is pressed
CLICKS = {  # what is reached: from where, and by which link, of which `{n}` is another one each time
    "board": ("changes.html", ".strip nav a[href='index.html']"),
    "changes": ("index.html", ".strip nav a[href='changes.html']"),
    "changes of one system": ("index.html", ".board tbody tr:nth-of-type({n}) th a"),
    "what one system missed": ("index.html", ".board tbody tr:nth-of-type({n}) td:nth-of-type(3) a"),
    "next page of the changes": ("changes.html?page={n}", "a[rel=next]"),
    "a change": ("changes.html", ".list tbody tr:nth-of-type({n}) th a"),
    "side by side": ("change-{n}.html", "#split"),
    "the next change": ("change-1{n}.html", "a[rel=next]"),
    "A against B": ("change-{n}.html", ".strip nav a[href^=against]"),
}
BLANK = b"<!doctype html><html lang=en><title>blank</title><h1>blank</h1><a href=blank.html>again</a>"
TIMED = """
addEventListener("click", () => sessionStorage.setItem("clicked", performance.timeOrigin + performance.now()), true);
addEventListener("load", () => requestAnimationFrame(() => {
  const painted = new MessageChannel();
  const now = () => performance.timeOrigin + performance.now();
  painted.port1.onmessage = () => { window.took = now() - sessionStorage.clicked; };
  painted.port2.postMessage(0);
}));
"""


class Blank(BaseHTTPRequestHandler):
    """Answers everything with one word."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(BLANK)))
        self.end_headers()
        self.wfile.write(BLANK)

    def log_message(self, *words: object) -> None:
        """Nothing."""


def make_run(folder: Path, changes: int, systems: int) -> None:
    """A scored run: every system says some of the findings of a change, and some of another's."""
    dice, known = random.Random(0), list(Sample().cases())
    cases = [known[at % len(known)].model_copy(update={"id": f"case-{at}"}) for at in range(changes)]
    with RunFolder.create(folder, dataset="many", dataset_path="", cases=cases) as run:
        names = [f"s{at}" for at in range(1, systems + 1)]
        run.add_systems({name: {} for name in names}, "replay(path='none')")
        for case in cases:
            for skill, name in enumerate(names, 1):
                comments = tuple(said(case, dice.choice(known), skill / systems, dice))
                review = Review(case=case.id, system=name, comments=comments)
                run.append_outcome(Outcome(case=case.id, system=name, review=review), sync=False)
    score(folder, "hits")


def said(case: Case, other: Case, skill: float, dice: random.Random) -> list[Comment]:
    """Comments of one review."""
    right = [one for one in case.references if dice.random() < skill]
    wrong = [one for one in other.references[:2] if dice.random() > skill]
    return [one.model_copy(update={"id": f"c{at}", "same_as": None}) for at, one in enumerate((*right, *wrong))]


def clicked(page: Page, address: str, link: str, rest: int) -> tuple[float, float]:
    """Milliseconds from a click on a link of one page until the next one is painted, and that one's bytes."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.hover(link)
    page.wait_for_timeout(rest)
    old = page.evaluate("performance.timeOrigin")
    page.click(link)
    page.wait_for_function("old => performance.timeOrigin !== old && window.took", arg=old, polling=10)
    took = page.wait_for_function("() => window.took", polling=10).json_value()
    return took, page.evaluate("() => performance.getEntriesByType('navigation')[0].encodedBodySize")


def measured(page: Page, address: str, link: str, rest: int, first: int = 2) -> tuple[float, float]:
    """Medians over several clicks."""
    rounds = [clicked(page, address.format(n=n), link.format(n=n), rest) for n in range(first, first + ROUNDS)]
    return tuple(map(statistics.median, zip(*rounds, strict=True)))


def main() -> None:
    """Print seconds of the first view, and milliseconds of each click, beyond those of a blank page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--run", type=Path, help="a folder for the run, which is made once")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as running:
        folder = asked.run or Path(temporary) / "run"
        if not folder.exists():
            make_run(folder, asked.changes, asked.systems)
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.add_init_script(TIMED)

        def opened(address: str) -> float:
            """Seconds until the whole page is there, past those that say that it is being read."""
            start = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("h1:not(:text('One moment'))", timeout=300_000)
            return time.perf_counter() - start

        with ThreadingHTTPServer(("127.0.0.1", 0), Blank) as blank:
            threading.Thread(target=blank.serve_forever, daemon=True).start()
            floor, _ = measured(page, f"http://127.0.0.1:{blank.server_port}/", "a", 0)
            blank.shutdown()
        service = open_viewer(Viewer([folder], Shelf(10_000, 0)))
        threading.Thread(target=service.run, daemon=True).start()
        print(f"first view       {opened(service.link):6.2f} s")
        home = page.url.rpartition("/")[0]
        page.wait_for_load_state("networkidle")  # what the leader misses comes later
        print(f"load average     {os.getloadavg()[0]:6.2f}")
        print(f"{'click to, beyond a blank page':30} {'rested':>6} {'at once':>8} {'KB':>4}")
        print(f"{'a blank page (the floor)':30} {floor:6.0f} {floor:8.0f}")
        for name, (start, link) in CLICKS.items():
            rested, size = measured(page, f"{home}/{start}", link, REST)
            at_once, _ = measured(page, f"{home}/{start}", link, 0, first=ROUNDS + 2)
            print(f"{name:30} {rested - floor:6.0f} {at_once - floor:8.0f} {size / 1000:4.0f}")


if __name__ == "__main__":
    main()
