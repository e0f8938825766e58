"""A build's dump on another machine: the same cases without git, and to the byte with the mirror of the build."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorded_forge import TOKEN, Forge, serve
from reviewgauge.api.build import build
from reviewgauge.core.reports.build_card import BuildCard

NAME = "acme/shop"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "pushed_over") as forge:
        yield forge


@pytest.fixture
def forge(running: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    return running


def card_of(out: Path, *, by: tuple[str, ...] = (), **settings: str) -> BuildCard:
    made = build(f"github:{NAME}", out=out, reviews_by=by, settings=settings).card
    assert made is not None
    return made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def plain(case: dict[str, Any]) -> dict[str, Any]:
    """A case without what only commits tell: the mirror, and which lines changed later."""
    del case["change"]["git"]
    for one in case.get("references", []):
        one["extra"].pop("adoption", None)
        one.pop("resolution", None)
    return case


@pytest.mark.parametrize("by", [(), ("bob", "mel")])
@pytest.mark.slow
def test_a_dump_has_every_state_that_people_spoke_about(by: tuple[str, ...], forge: Forge, tmp_path: Path) -> None:
    first = card_of(tmp_path / "a", by=by, api=forge.url)
    asked = len(forge.asked)
    dump = str(tmp_path / "a" / "forge" / "pulls.jsonl.gz")
    second = card_of(tmp_path / "b", by=by, archive=dump)
    assert len(forge.asked) == asked, "nobody was asked"
    assert first.cases == second.cases == (6 if by else 3)
    whole, dumped = lines(tmp_path / "a" / "cases.jsonl"), lines(tmp_path / "b" / "cases.jsonl")
    assert all("git" not in one["change"] for one in dumped)
    for one in dumped:
        one["change"]["git"] = None
    assert [plain(one) for one in dumped] == [plain(one) for one in whole]
    assert {one["change"]["title"] for one in whole} == {"Before"}
    if by:
        told = [
            [
                (one["case"], one["system"], len(one.get("comments", [])))
                for one in lines(tmp_path / x / "reviews.jsonl")
            ]
            for x in "ab"
        ]
        assert told[0] == told[1]


@pytest.mark.slow
def test_with_the_mirror_of_the_build_it_is_the_same_benchmark(forge: Forge, tmp_path: Path) -> None:
    """Also what was pushed over and what was never merged: no branch or tag holds that."""
    first = card_of(tmp_path / "a", api=forge.url)
    clone = str(tmp_path / "a" / "repos" / "acme+shop.git")
    second = card_of(tmp_path / "b", archive=str(tmp_path / "a" / "forge"), clone=clone)
    assert second.benchmark == first.benchmark


@pytest.mark.slow
def test_the_last_state_needs_no_commits(forge: Forge, tmp_path: Path) -> None:
    """A dump that somebody else made tells of the last state alone: what was said on that makes cases."""
    card_of(tmp_path / "a", api=forge.url)
    card_of(tmp_path / "b", archive=str(tmp_path / "a" / "forge"))
    raw = tmp_path / "raw.jsonl"
    with gzip.open(tmp_path / "a" / "forge" / "pulls.jsonl.gz") as stream:
        known = [json.loads(line) for line in stream]
    for one in known:
        del one["states"]
        for said in one["comments"] if one["pull"]["number"] == 1 else ():
            said["original_commit_id"] = one["pull"]["head"]["sha"]
    raw.write_text("".join(json.dumps(one) + "\n" for one in known))
    card = card_of(tmp_path / "c", archive=str(raw))
    assert card.cases == 1
    (row,) = [row for row in card.funnel if row.stage == "select_revision"]
    assert row.reasons == {"its commits are not at hand": 2}


@pytest.mark.slow
def test_the_repository_that_is_named_narrows_a_dump(forge: Forge, tmp_path: Path) -> None:
    card_of(tmp_path / "a", api=forge.url)
    dump = str(tmp_path / "a" / "forge")
    made = build("github:acme/other,acme/SHOP", out=tmp_path / "b", settings={"archive": dump}).card
    assert made is not None and made.cases == 3
    other = build("github:acme/other", out=tmp_path / "c", settings={"archive": dump}).card
    assert other is not None and other.cases == 0
