"""A judge's walk in a real browser, by keys; screenshots where `$ANNOTATION_PICTURES` says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation_client import PASSWORD, served
from annotation_toys import small_project
from reviewgauge.annotation.store.accounts import Role, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import status


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "store.db", create=True) as found:
        yield found


def picture(page: Any, name: str) -> None:
    if folder := os.environ.get("ANNOTATION_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=name != "judge-split")


def join(page: Any, store: Database, origin: str, name: str) -> None:
    page.goto(f"{origin}/invitation/{invite(store, Role.RATER)}")
    picture(page, "invitation")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_selector("text=Your work")


def watched(page: Any) -> list[str]:
    """What the page complained of: script errors, and what the policy blocked."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def test_a_judge_works_by_keys_alone(browser: Any, store: Database) -> None:
    project = small_project(store, "quality", count=2)
    with served(store, project) as (origin, link):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        complaints = watched(page)
        join(page, store, origin, "Ann")
        picture(page, "home")
        page.click("text=Judge the next item")
        page.wait_for_selector(".question.now")
        for key in "yynn":  # two claims: necessary, addressed
            page.keyboard.press(key)
        for key in "235":  # relevance is not between the other two
            page.keyboard.press(key)
        picture(page, "judge")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Relevance is usually between", timeout=8000)
        picture(page, "judge-warned")
        page.keyboard.press("v")
        page.wait_for_selector("table.code.two")
        page.wait_for_selector(".question.now")
        assert page.locator("input[name='q:-1:rel'][value='5']").is_checked()  # the draft came along
        page.keyboard.press("w")
        picture(page, "judge-split")
        for key in "jjjjjj3":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Item 2", timeout=8000)
        assert status(store, project).batches[0].judgements == 1
        assert not page.locator("input:checked").count()  # the draft of the first item is gone
        owner = browser.new_page()
        complaints += watched(owner)
        owner.goto(link)
        owner.click("text=Project")
        owner.wait_for_selector("text=Agreement")
        picture(owner, "project")
        owner.goto(f"{origin}/login")
        picture(owner, "login")
        assert complaints == []
        page.close()
        owner.close()
