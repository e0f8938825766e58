"""How fast the viewer answers in a real browser, on 1,000 changes and 20 systems.

    python benchmarks/viewer.py [--changes 1000] [--systems 20] [--run FOLDER]

The changes are those of the sample, over and over; the reviews are its findings and its noise, at random. First view:
from the link of a service that just began to the whole page. Then clicks on links, each to a page that was not looked
at before, with a pointer that rests on the link for a moment, and at once: from the click in the old page until the new
one is shown and painted, as the browser's own clock has it. A page with one word, from a service that does nothing
else, is the floor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reviewgauge import score
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Outcome
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.app import Viewer, open_viewer
from reviewgauge.viewer.selection import Shelf

ROUNDS = 7
REST, PRESS = 0.5, 0.08  # seconds of the pointer on a link before it is pressed, and of the press
QUIET = 1.0  # seconds after a page came, in which a reader looks at it
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
const now = () => performance.timeOrigin + performance.now();
const painted = () => requestAnimationFrame(() => {
  const after = new MessageChannel();
  after.port1.onmessage = () => { window.took = now() - localStorage.clicked; };
  after.port2.postMessage(0);
});
addEventListener("click", () => { localStorage.clicked = now(); }, true);
if (document.prerendering) document.addEventListener("prerenderingchange", painted);
else addEventListener("load", painted);
"""


class Chromium:
    """A browser whose tab is watched, not its pages: with a debugger on them Chromium makes none ahead of a click."""

    def __init__(self, profile: str) -> None:
        ours, theirs = os.pipe(), os.pipe()
        flags = f"--headless=new --no-sandbox --remote-debugging-pipe --window-size=1400,900 --user-data-dir={profile}"
        joined = f"exec chromium {flags} about:blank 3<&{ours[0]} 4>&{theirs[1]} 2>/dev/null"
        self.process = subprocess.Popen(["bash", "-c", joined], pass_fds=(ours[0], theirs[1]))
        self.to, self.of = ours[1], theirs[0]
        self.read, self.number, self.pages = b"", 0, list[str]()
        while not (tabs := self.ask("Target.getTargets", filter=[{"type": "tab"}])["targetInfos"]):
            time.sleep(0.1)
        tab = self.ask("Target.attachToTarget", targetId=tabs[0]["targetId"], flatten=True)["sessionId"]
        self.ask("Target.setAutoAttach", tab, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def say(self, method: str, session: str = "", **parameters: Any) -> int:
        """Send what needs no answer."""
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(said).encode() + b"\0")
        return self.number

    def ask(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Send, and wait for the answer: empty after a second, as a page that was left gives none."""
        number, answer = self.say(method, session, **parameters), dict[str, Any]()
        while answer.get("id") != number:
            while b"\0" not in self.read:
                if not select.select([self.of], [], [], 1)[0]:
                    return {}
                self.read += os.read(self.of, 1 << 16)
            line, _, self.read = self.read.partition(b"\0")
            answer = json.loads(line)
            self.follow(answer.get("method"), answer.get("params", {}))
        return dict(answer.get("result", {}))

    def follow(self, method: str | None, told: dict[str, Any]) -> None:
        """Time every page that begins, also one that is not shown yet."""
        if method == "Target.attachedToTarget" and told["targetInfo"]["type"] == "page":
            self.pages.append(page := told["sessionId"])
            self.say("Page.enable", page)
            self.say("Page.addScriptToEvaluateOnNewDocument", page, source=TIMED)
            self.say("Runtime.runIfWaitingForDebugger", page)
        elif method == "Target.detachedFromTarget" and told["sessionId"] in self.pages:
            self.pages.remove(told["sessionId"])

    def shown(self, script: str) -> tuple[Any, str]:
        """What a script gives on the page that is shown, and that page."""
        self.ask("Target.getTargets")
        for page in reversed(self.pages):
            asked = self.ask(
                "Runtime.evaluate", page, expression=f"document.prerendering || [{script}]", returnByValue=True
            )
            if isinstance(found := asked.get("result", {}).get("value"), list):
                return found[0], page
        return None, ""

    def wait(self, script: str, seconds: float = 60) -> Any:
        """Until a script gives something."""
        end = time.monotonic() + seconds
        while not (found := self.shown(script)[0]):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.01)
        return found

    def open(self, address: str) -> None:
        """Go to an address, and wait until its page is there."""
        self.say("Page.navigate", self.shown("1")[1], url=address)
        self.wait(
            f"document.readyState === 'complete' && window.took !== undefined && location.href.startsWith({address!r})"
        )

    def click(self, link: str, rest: float) -> tuple[float, int]:
        """Milliseconds from a click until the next page is painted, and its bytes; seconds of rest before it."""
        place = f"document.querySelector({link!r})"
        self.shown(f"{place}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        time.sleep(0.3)
        (x, y), page = self.shown(f"(({{left, top}}) => [left + 5, top + 5])({place}.getClientRects()[0])")
        old, _ = self.shown("performance.timeOrigin")
        self.ask("Input.dispatchMouseEvent", page, type="mouseMoved", x=x, y=y)
        end = time.monotonic() + rest
        while time.monotonic() < end:
            self.ask("Target.getTargets")  # a page that begins waits to be timed
            time.sleep(0.01)
        for kind, held in (("mousePressed", PRESS), ("mouseReleased", 0)):
            self.ask("Input.dispatchMouseEvent", page, type=kind, x=x, y=y, button="left", clickCount=1)
            time.sleep(held)
        took = self.wait(f"performance.timeOrigin !== {old} && window.took")
        return took, self.shown("performance.getEntriesByType('navigation')[0].encodedBodySize")[0]


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


def measured(browser: Chromium, start: str, link: str, rest: float, first: int) -> tuple[float, float]:
    """Median milliseconds of several clicks, and the median bytes of the pages that they lead to."""
    rounds = []
    for n in range(first, first + ROUNDS):
        browser.open(start.format(n=n))
        time.sleep(QUIET)
        rounds.append(browser.click(link.format(n=n), rest))
    took, size = map(statistics.median, zip(*rounds, strict=True))
    return took, size


def main() -> None:
    """Print seconds of the first view, and milliseconds of each click, beyond those of a blank page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--run", type=Path, help="a folder for the run, which is made once")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary, ExitStack() as ending:
        folder = asked.run or Path(temporary) / "run"
        if not folder.exists():
            make_run(folder, asked.changes, asked.systems)
        browser = Chromium(f"{temporary}/profile")
        ending.callback(browser.process.kill)
        with ThreadingHTTPServer(("127.0.0.1", 0), Blank) as blank:
            threading.Thread(target=blank.serve_forever, daemon=True).start()
            floor, _ = measured(browser, f"http://127.0.0.1:{blank.server_port}/", "a", 0, 0)
            blank.shutdown()
        service = open_viewer(Viewer([folder], Shelf(10_000, 0)))
        threading.Thread(target=service.run, daemon=True).start()
        start = time.perf_counter()
        browser.say("Page.navigate", browser.shown("1")[1], url=service.link)
        there = "!/One moment|^blank/.test(document.querySelector('h1')?.textContent ?? 'blank') && location.href"
        home = browser.wait(there, 300).rpartition("/")[0]  # past the page that says that the run is being read
        print(f"first view       {time.perf_counter() - start:6.2f} s")
        time.sleep(5)  # what the leader misses comes later
        print(f"load average     {os.getloadavg()[0]:6.2f}")
        print(f"{'milliseconds until':30} {'rested':>6} {'at once':>8} {'KB':>4}")
        print(f"{'a blank page':30} {'':6} {floor:8.0f}")
        for name, (page, link) in CLICKS.items():
            rested, size = measured(browser, f"{home}/{page}", link, REST, 2)
            at_once, _ = measured(browser, f"{home}/{page}", link, 0, ROUNDS + 2)
            print(f"{name:30} {rested:6.0f} {at_once:8.0f} {size / 1000:4.0f}", flush=True)


if __name__ == "__main__":
    main()
