"""What a pull request was called and said of itself when people looked at one of its states."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pull_toys import remark, thread
from recorded_forge import TOKEN, Forge, serve
from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import Event, PullRequest, Revision
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.collect_reviews import CollectReviews
from reviewgauge.stages.from_forge import FromForge
from reviewgauge.stages.pull_requests.candidates import NEVER, description_edited, title_at
from reviewgauge.stages.select_revision import SelectRevision

# The recorded pull request was called "Draft: apples" until 2 h. People speak from 5 h on; a second state comes at 30 h
MEANWHILE, LAST = "Add discounts for apples", "Close the file of apples, as Bob said"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "renamed") as forge:
        yield forge


def built(forge: Forge, folder: Path) -> tuple[Candidate, Candidate, list[Candidate]]:
    """The pull request at its end, at its most discussed state, and the states that bob and mel looked at."""
    place = BuildFolder(folder, "github:acme/shop")
    try:
        (last,) = (one for one in FromForge(api=forge.url).apply((), place) if isinstance(one, Candidate))
        (chosen,) = (one for one in SelectRevision().each(last, place) if isinstance(one, Candidate))
        looks = CollectReviews(reviews_by=("bob", "mel")).each(last, place)
        return last, chosen, [one for one in looks if isinstance(one, Candidate)]
    finally:
        place.close()


@pytest.mark.parametrize("token", [TOKEN, ""])
@pytest.mark.slow
def test_an_earlier_state_has_the_title_of_then(
    token: str, running: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    last, chosen, looks = built(running, tmp_path)
    assert last.case.change.title == LAST
    assert chosen.case.change.title == MEANWHILE, "neither what it was opened with, nor what the review led to"
    assert [one.case.change.title for one in looks] == [MEANWHILE, LAST]
    edited = [one.case.facts.get("description_edited") for one in (chosen, *looks)]
    assert edited == ([True, True, False] if token else [None, None, None]), "REST does not tell"


@pytest.mark.slow
def test_a_title_that_a_stage_made_stays(running: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    last, _, _ = built(running, tmp_path)
    place = BuildFolder(tmp_path / "other")
    try:
        (made,) = SelectRevision().each(last.with_change(title="In our words"), place)
    finally:
        place.close()
    assert isinstance(made, Candidate) and made.case.change.title == "In our words"


def at(hour: int) -> datetime:
    return datetime(2024, 5, 1, hour, tzinfo=UTC)


def a_pull(*renamed: tuple[datetime | None, str], edited: str | None = None) -> PullRequest:
    events = tuple(Event(kind="renamed", created=time, before=before) for time, before in renamed)
    said = remark("1").model_copy(update={"created": at(10)})
    extra = {} if edited is None else {"edited": edited}
    return PullRequest(
        repo="o/n", number=1, title="last", events=events, threads=(thread("t", said, commit="c1"),), extra=extra
    )


def test_of_several_titles_the_one_that_stood_when_people_began_to_speak() -> None:
    pull = a_pull((at(12), "second"), (at(9), "first"), (at(14), "third"), (None, "when?"))
    assert title_at(pull, Revision(head="c1", pushed=at(8))) == "second"
    assert title_at(pull, Revision(head="c2", pushed=at(13))) == "third", "nobody spoke: when it was there"
    assert title_at(pull, Revision(head="c2", pushed=at(15))) == "last"
    assert title_at(pull, Revision(head="c2")) == "last", "nobody knows when"
    assert title_at(a_pull(), Revision(head="c1")) == "last"


@pytest.mark.parametrize(
    ("edited", "said"),
    [(None, None), ("", None), (NEVER, False), ("2024-05-01T11:00:00Z", True), ("2024-05-01T09:00:00Z", False)],
)
def test_whether_a_description_was_edited_since(edited: str | None, said: bool | None) -> None:
    assert description_edited(a_pull(edited=edited), Revision(head="c1")) is said
