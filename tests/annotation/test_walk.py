"""The whole way through a real browser: a project, blind judgements, a discussion, an expert, labels.

Screenshots of each page go where `$ANNOTATION_PICTURES` says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotation_client import PASSWORD
from html_pages import arrive

TABLET = {"width": 820, "height": 1180}
LAPTOP = {"width": 1280, "height": 800}


def run(folder: Path, words: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "reviewgauge", *words.split()]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@contextmanager
def serving(folder: Path, database: str) -> Iterator[str]:
    """The link that `annotate serve` prints."""
    command = [sys.executable, "-m", "reviewgauge", "annotate", "serve", database]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("open ").strip()
        finally:
            process.terminate()


class People:
    """Everybody with a browser of their own."""

    def __init__(self, browser: Any, link: str) -> None:
        self.browser, self.link = browser, link
        self.complaints: list[str] = []
        self.pages: dict[str, Any] = {}
        self.owner = self._page("owner", LAPTOP)
        self.owner.goto(link)
        self.owner.click("nav >> text=Project")

    def _page(self, name: str, size: dict[str, int]) -> Any:
        page = self.browser.new_context(viewport=size, has_touch=size is TABLET).new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.pages[name] = page
        return page

    def join(self, name: str, role: str, size: dict[str, int] = LAPTOP) -> Any:
        """The page of somebody whom the owner invited."""
        self.owner.select_option("select[name=role]", role)
        with self.owner.expect_navigation():  # the page before shows a link, too
            self.owner.click("button:text-is('Invite')")
        link = self.owner.inner_text("code:has-text('/invitation/')").strip()
        page = self._page(name, size)
        page.goto(link)
        picture(page, "annotate-invitation")
        page.fill("input[name=name]", name)
        page.fill("input[name=password]", PASSWORD)
        page.click("main button")
        page.wait_for_selector("text=Your work")
        return page

    def close(self) -> None:
        for page in self.pages.values():
            page.context.close()


def picture(page: Any, name: str) -> None:
    if folder := os.environ.get("ANNOTATION_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def save(page: Any, *keys: str) -> None:
    """Answer by keys, save, and wait for what comes next."""
    before = page.url
    for key in (*keys, "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before and "saved=" in url)


def number(page: Any) -> int:
    """The number of the item on the page."""
    page.wait_for_selector(".question.now")
    return int(re.findall(r"Item (\d+)", page.inner_text(".eyebrow"))[0])


@pytest.mark.drill
def test_from_a_project_to_its_labels(browser: Any, tmp_path: Path) -> None:
    made = "annotate init judged.db sample --schema grade --limit 4 --batch 2 --raters 3"
    assert "4 items of 4 changes, for 3 raters each" in run(tmp_path, made)
    with serving(tmp_path, "judged.db") as link:
        people = People(browser, link)
        raters = {
            name: people.join(name, "rater", TABLET if name == "Cid" else LAPTOP) for name in ("Ann", "Bob", "Cid")
        }
        expert = people.join("Eve", "expert")
        for name, page in raters.items():
            judge(page, name)
        discuss(raters["Ann"])
        adjudicate(expert)
        people.owner.click("nav >> text=Project")
        people.owner.wait_for_selector("text=4 of 4 items are done")
        picture(people.owner, "annotate-project")
        people.owner.click("nav >> text=Agreement")
        people.owner.wait_for_selector("text=Krippendorff >> nth=0")
        picture(people.owner, "annotate-agreement")
        assert people.complaints == []
        people.close()
    assert "28 labels in judged.csv" in run(tmp_path, "annotate export judged.db -o judged.csv")
    assert "Krippendorff" in run(tmp_path, "agree judged.csv")
    told = run(tmp_path, "validate sample chrf --labels judged.csv --resamples 50 --no-report -o validity")
    assert "grade" in told


def judge(page: Any, name: str) -> None:
    """Judge two batches of two, blind; Bob differs in the first item of each.

    Cid is the last to finish a batch, gets the item that they differ in next, and proposes a label.
    """
    page.click("text=Judge the next item")
    for turn in range(6 if name == "Cid" else 4):
        arrive(page, "#begin, .question.now")
        if page.locator("#begin").count():
            picture(page, "annotate-begin")
            page.keyboard.press("b")
        item = number(page)
        if "discussion" in page.inner_text(".eyebrow"):
            assert page.inner_text(".votes .differs").split()[-3:] == ["4", "2", "4"]
            picture(page, "annotate-tablet-discussion")
            save(page, "4" if item == 1 else "3")
            continue
        text = page.content()
        assert "blind-reader" not in text
        assert not [other for other in ("Ann", "Bob", "Cid") if other != name and f">{other}<" in text]
        if turn == 0:
            page.keyboard.press(".")
            picture(page, "annotate-tablet" if name == "Cid" else "annotate-judge")
        page.keyboard.press("r")
        page.keyboard.type("It names the place, and " + ("not the cause." if name == "Bob" else "the cause."))
        page.keyboard.press("Escape")
        save(page, "2" if name == "Bob" and item % 2 == 1 else "4")
    page.wait_for_selector("text=Your work")
    picture(page, "annotate-home")


def discuss(page: Any) -> None:
    """Another rater confirms the one proposal, and objects to the other."""
    for answer in ("Confirm the consensus", "Object, with a reason"):
        page.click("nav >> text=Conflicts")
        picture(page, "annotate-conflicts")
        page.click("main table button")
        arrive(page, "text=Proposed consensus")
        before = page.url
        if answer.startswith("Object"):
            page.keyboard.press("o")
            page.keyboard.type("A cause that is not named helps nobody.")
            page.keyboard.press("Escape")
            picture(page, "annotate-discussion")
        page.keyboard.press("o" if answer.startswith("Object") else "c")
        page.wait_for_url(lambda url, before=before: url != before)


def adjudicate(expert: Any) -> None:
    """Decide what the raters could not, with their votes and reasons in view, and without their names."""
    expert.click("nav >> text=Conflicts")
    expert.click("button:has-text('Decide')")
    number(expert)
    seen = expert.inner_text("#panel")
    assert "Proposed consensus" in seen
    assert "A cause that is not named helps nobody." in seen
    assert not {"Ann", "Bob", "Cid"} & set(re.findall(r"\w+", expert.inner_text("body")))
    picture(expert, "annotate-expert")
    save(expert, "3")
