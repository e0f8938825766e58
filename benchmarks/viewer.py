"""How fast the viewer answers in a real browser, on 1,000 changes and 20 systems, beside the one-file report.

    python benchmarks/viewer.py [--changes 1000] [--systems 20] [--run FOLDER]

The changes are those of the sample, over and over; the reviews are its findings and its noise, at random. First view:
from the click on a run that was never read to the whole page; then each further page. The report holds fewer changes.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import threading
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from reviewgauge import report, score
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Outcome
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.app import Viewer, open_viewer
from reviewgauge.viewer.selection import Shelf

PAGES = (
    "changes.html",
    "changes.html?system=s3&state=missed",
    "change-7.html",
    "change-7-split.html",
    "against-1-2.html",
)


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


def main() -> None:
    """Print seconds, and each page's share of the time that the report takes to open."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--run", type=Path, help="a folder for the run, which is made once")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as running:
        folder = asked.run or Path(temporary) / "run"
        if not folder.exists():
            make_run(folder, asked.changes, asked.systems)
        began = time.perf_counter()
        report(folder, out=Path(temporary) / "report.html")
        print(f"report made          {time.perf_counter() - began:6.2f} s")
        service = open_viewer(Viewer([folder], Shelf(10_000, 0)))
        threading.Thread(target=service.run, daemon=True).start()
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()

        def opened(address: str) -> float:
            """Seconds until the whole page is there, past those that say that it is being read."""
            start = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("h1:not(:text('One moment'))", timeout=300_000)
            return time.perf_counter() - start

        peer = opened((Path(temporary) / "report.html").as_uri())
        print(f"report opened        {peer:6.2f} s")
        print(f"first view           {opened(service.link):6.2f} s")
        home = page.url.rpartition("/")[0]
        page.wait_for_load_state("networkidle")  # what the leader misses comes later
        for name in ("index.html", *PAGES):
            opened(f"{home}/{name}")
            best = min(opened(f"{home}/{name}") for _ in range(3))
            print(f"{name[:40]:40} {best:6.3f} s, {best / peer:.2f} of the report")


if __name__ == "__main__":
    main()
