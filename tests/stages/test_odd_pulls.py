"""What a forge or a dump says wrongly of one pull request costs that one, with its reason, and never the build."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorded_forge import Answer, Forge, Trouble, serve
from reviewgauge.core.building import Candidate
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.forge.pulls import read_pull
from reviewgauge.stages.from_forge import DUMP, FOLDER, UNREADABLE, FromForge
from reviewgauge.stages.pull_requests.candidates import NO_DIFF, final_candidate
from reviewgauge.stages.select_revision import SelectRevision

NAME = "acme/shop"
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 0.5, "", "\x00", "../../etc/passwd", "/abs", "a\nb", "\ud800", "x" * 5000, "HEAD",
    "--upload-pack=touch x", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "@@ -1,99999999999999 +1,5 @@\n+a", [], {}, [None], [[]],
)  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "odd") as forge:
        yield forge


def run(stage: FromForge, folder: Path) -> tuple[list[Candidate], list[Drop]]:
    where = BuildFolder(folder, f"github:{NAME}")
    try:
        made = list(stage.apply((), where))
    finally:
        where.close()
    return [m for m in made if isinstance(m, Candidate)], [m for m in made if isinstance(m, Drop)]


def dumped(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / FOLDER / DUMP) as file:
        return [json.loads(line) for line in file]


@pytest.mark.slow
def test_a_name_that_is_no_path_costs_its_pull_request(forge: Forge, tmp_path: Path) -> None:
    found, drops = run(FromForge(api=forge.url), tmp_path)
    assert [one.case.id for one in found] == [f"{NAME}/pull/1"]
    assert [(one.item, one.reason) for one in drops] == [(f"{NAME}/pull/2", NO_DIFF)]
    assert "has a file whose" in drops[0].detail


@pytest.mark.slow
def test_an_earlier_state_that_git_cannot_show_is_a_reason(forge: Forge, tmp_path: Path) -> None:
    found, _ = run(FromForge(api=forge.url), tmp_path)
    pull = found[0].pull
    assert pull is not None
    place = BuildFolder(tmp_path, f"github:{NAME}")
    try:
        odd = read_pull(_answered(forge), "x").model_copy(update={"git": pull.git})
        said = tuple(one.model_copy(update={"commit": odd.revisions[0].head}) for one in pull.threads)
        item = final_candidate(odd.model_copy(update={"threads": said}))
        (made,) = SelectRevision().each(item, place)
    finally:
        place.close()
    assert isinstance(made, Drop) and made.reason == NO_DIFF


def _answered(forge: Forge) -> dict[str, Any]:
    """The odd pull request as the forge tells of it."""
    answer, commits = forge.documents["pulls/2"], forge.documents["pulls/2/commits"]
    pull = {name: answer[name] for name in ("number", "head", "base", "merged", "created_at")}
    spoken = {
        "user": {"login": "bob"}, "commit_id": commits[0]["sha"], "submitted_at": "2024-01-02", "state": "APPROVED",
    }  # fmt: skip
    return {"repo": NAME, "pull": pull, "reviews": [spoken]}


def test_an_answer_that_no_record_can_hold_costs_its_pull_request(forge: Forge, tmp_path: Path) -> None:
    body = json.dumps([{"id": None, "node_id": "/etc/passwd", "body": "Hm.", "state": "COMMENTED"}]).encode()
    forge.troubles.append(Trouble(Answer(200, body), "/pulls/1/reviews"))
    found, drops = run(FromForge(api=forge.url, numbers=(1,)), tmp_path)
    assert not found
    assert [(one.item, one.reason) for one in drops] == [(f"{NAME}/pull/1", UNREADABLE)]
    assert "id" in drops[0].detail and "absolute path" in drops[0].detail


def test_one_bad_line_of_a_dump_costs_that_line(forge: Forge, tmp_path: Path) -> None:
    run(FromForge(api=forge.url, numbers=(1,)), tmp_path / "first")
    (good,) = dumped(tmp_path / "first")
    bad = {**good, "files": [{"filename": "x" * 5000, "status": "added", "patch": "@@ -0,0 +1 @@\n+a"}]}
    lost = {**good, "issues": [{"repo": "/abs", "issue": {"number": 3}}], "pull": {**good["pull"], "number": 3}}
    path = tmp_path / "dump.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (bad, good, lost)))
    found, drops = run(FromForge(archive=str(path)), tmp_path / "second")
    assert [one.case.id for one in found] == [f"{NAME}/pull/1", f"{NAME}/pull/3"], "an issue alone costs nothing"
    assert found[1].pull is not None and found[1].pull.extra["unreadable"] == 1
    assert [(one.item, one.reason) for one in drops] == [("dump.jsonl, line 1", UNREADABLE)]


@pytest.mark.slow
def test_whatever_stands_anywhere_in_a_dump_is_read_or_told(forge: Forge, tmp_path: Path) -> None:
    run(FromForge(api=forge.url, numbers=(1,)), tmp_path / "first")
    (good,) = dumped(tmp_path / "first")
    places: dict[tuple[str, ...], list[tuple[str | int, ...]]] = {}
    for path in _paths(good):
        places.setdefault(tuple("*" if isinstance(step, int) else step for step in path), []).append(path)
    tried = 0

    @given(st.lists(st.tuples(st.sampled_from([one[0] for one in places.values()]), st.sampled_from(JUNK)), max_size=4))
    def check(changes: list[tuple[tuple[str | int, ...], Any]]) -> None:
        nonlocal tried
        raw = copy.deepcopy(good)
        for path, junk in changes:
            _put(raw, path, junk)
        dump = tmp_path / "odd.jsonl"
        dump.write_text(json.dumps(raw) + "\n" + json.dumps(good) + "\n")
        own = raw["pull"].get("number") if isinstance(raw["pull"], dict) else None
        if own == 1 and own is not True and raw.get("repo") == NAME:
            found, drops = run(FromForge(archive=str(dump), states=("merged", "closed", "open")), tmp_path / "second")
            assert len(found) + len(drops) == 2, "each line is a candidate or a drop"
            for one in found:
                assert Case.model_validate_json(one.case.to_line()) == one.case
            tried += 1

    check()
    assert tried > settings().max_examples / 2


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield (*path, name)
        yield from _paths(item, (*path, name))


def _put(value: Any, path: tuple[str | int, ...], junk: Any) -> None:
    """Set what stands at `path`, where it is still there."""
    try:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = junk
    except (KeyError, IndexError, TypeError):
        return


@pytest.mark.slow
def test_a_history_that_graphql_does_not_tell_is_not_an_empty_one(forge: Forge, tmp_path: Path) -> None:
    """Without its events nobody knows of forced pushes: the pull request waits for a forge that tells them."""
    said = {"data": {"repository": {"pullRequest": None}}, "errors": [{"type": "NOT_FOUND", "message": "not now"}]}
    forge.troubles.append(Trouble(Answer(200, json.dumps(said).encode()), "/graphql"))
    found, drops = run(FromForge(api=forge.url, numbers=(1,)), tmp_path)
    assert not found
    assert [one.reason for one in drops] == ["the forge does not manage to answer: asked again next time"]
    found, drops = run(FromForge(api=forge.url, numbers=(1,)), tmp_path)
    assert len(found) == 1 and not drops, "what was missing is not kept"
