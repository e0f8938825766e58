"""Agreement while the work goes on, and that they tell nothing of batches that are not over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation_client import joined, served
from annotation_toys import add_rater, small_cases, small_reviews
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.live import BLIND, live_agreement
from reviewgauge.annotation.new_project import with_gold
from reviewgauge.annotation.schemas.schema import Answer, Gold, load_schema
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import NotYours
from reviewgauge.annotation.store.projects import Project, create_project
from reviewgauge.annotation.store.rater_session import RaterSession

RATERS = ("Ann", "Bob", "Cy")


def started(database: Database, count: int = 24, batch: int = 8) -> tuple[Project, dict[str, RaterSession]]:
    """A project whose items deserve grades that depend on their number, eight of them known; one trains."""
    schema = load_schema("grade").model_copy(update={"batch": batch})
    cases = small_cases(count)
    data = make_items(schema, cases, small_reviews(cases))
    known = {
        at: Gold(answers=(Answer(dimension="grade", value=grade(item.subject.case)),))
        for at, item in enumerate(data.items[:8])
    }
    project = create_project(database, "toy", schema, with_gold(data, known, training=1, limit=None), raters=3)
    return project, {name: RaterSession(database, project, add_rater(database, name)) for name in RATERS}


def grade(case: str) -> int:
    return int(case.partition("#")[2]) % 4 + 1


def judge(desk: RaterSession, most: int, *, lean: int = 0) -> None:
    """Judge rightly, but for a lean in two of three items; take part in no discussion."""
    done = 0
    while done < most and (slot := desk.next()) is not None:
        work = desk.work(slot)
        if work.round != "independent":
            desk.skip(slot, "no time")
            continue
        value = grade(work.item.subject.case) + (lean if done % 3 else 0)
        desk.submit(
            slot, f"judged-{desk.account.id}-{slot}", [Answer(dimension="grade", value=value)], seconds=20 + done
        )
        done += 1


def test_only_batches_that_are_over_are_told_of(database: Database) -> None:
    project, desks = started(database)
    owner = add_rater(database, "Olga", Role.OWNER)
    for name in RATERS[:2]:
        judge(desks[name], 12)
    assert live_agreement(database, project, owner).why == BLIND
    assert live_agreement(database, project, None).why == BLIND
    with pytest.raises(NotYours):
        live_agreement(database, project, desks["Ann"].account)
    judge(desks["Cy"], 9, lean=1)
    for reader in (owner, None):
        found = live_agreement(database, project, reader)
        assert found.report is not None
        assert {one.labels for one in found.raters} == {8}
        assert {(one.judgements, one.trained, one.trained_right) for one in found.work} == {(8, 1, 1)}


@pytest.mark.drill
def test_everything_is_reported(database: Database) -> None:
    project, desks = started(database)
    for name in RATERS:
        judge(desks[name], 100, lean=name == "Cy")
    found = live_agreement(database, project, None)
    assert found.report is not None
    assert [batch.batch for batch in found.report.dimensions[0].batches] == ["1", "2", "3"]
    assert found.languages.keys() == {"Go", "Python"}
    cy = found.raters[-1]
    assert (cy.rater, cy.on_gold.n, cy.labels) == ("Cy", 7, 23)
    assert found.advice[0].startswith("Cy agrees with the others in grade on 3")
    assert {one.rater for one in found.differences} == set(RATERS)
    assert all(one.seconds == pytest.approx(32, abs=1) for one in found.work)


@pytest.mark.drill
def test_the_page_of_agreement(browser: Any, tmp_path: Path) -> None:
    with Database.open(tmp_path / "s.db", create=True) as database:
        project, desks = started(database, 31, 10)
        for name in RATERS:
            judge(desks[name], 100, lean=name == "Cy")
        with served(database, project) as (origin, link):
            assert joined(database, origin, "Dan").send("/agreement").status == 404
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
            page.goto(link)
            page.click("nav >> text=Agreement")
            page.wait_for_selector("text=Who needs calibration")
            assert "Cy agrees with the others in grade on" in page.inner_text(".advice")
            assert page.locator("table:not(:has(tbody tr))").count() == 0  # no head without rows
            assert said == []
            page.close()
