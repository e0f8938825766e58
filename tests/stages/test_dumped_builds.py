"""A build's dump on another machine: the final states without git, and to the byte with the mirror of the build."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorded_forge import Forge, serve
from reviewgauge.api.build import build
from reviewgauge.core.reports.build_card import BuildCard

NAME = "acme/shop"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "pushed_over") as forge:
        yield forge


def card_of(out: Path, **settings: str) -> BuildCard:
    made = build(f"github:{NAME}", out=out, settings=settings).card
    assert made is not None
    return made


@pytest.mark.slow
def test_with_the_mirror_of_the_build_it_is_the_same_benchmark(forge: Forge, tmp_path: Path) -> None:
    """Also what was pushed over and what was never merged: no branch or tag holds that."""
    first = card_of(tmp_path / "a", api=forge.url)
    clone = str(tmp_path / "a" / "repos" / "acme+shop.git")
    second = card_of(tmp_path / "b", archive=str(tmp_path / "a" / "forge"), clone=clone)
    assert second.benchmark == first.benchmark


@pytest.mark.slow
def test_the_last_state_needs_no_commits(forge: Forge, tmp_path: Path) -> None:
    """A dump tells of the last state alone: what was said on that makes cases, and of others the reason is counted."""
    card_of(tmp_path / "a", api=forge.url)
    raw = tmp_path / "raw.jsonl"
    with gzip.open(tmp_path / "a" / "forge" / "pulls.jsonl.gz") as stream:
        known = [json.loads(line) for line in stream]
    for said in next(one["comments"] for one in known if one["pull"]["number"] == 1):
        said["original_commit_id"] = next(one["pull"]["head"]["sha"] for one in known if one["pull"]["number"] == 1)
    raw.write_text("".join(json.dumps(one) + "\n" for one in known))
    asked = len(forge.asked)
    card = card_of(tmp_path / "c", archive=str(raw))
    assert card.cases == 1 and len(forge.asked) == asked, "nobody was asked"
    (row,) = [row for row in card.funnel if row.stage == "select_revision"]
    assert row.reasons == {"its commits are not at hand": 2}


@pytest.mark.slow
def test_the_repository_that_is_named_narrows_a_dump(forge: Forge, tmp_path: Path) -> None:
    card_of(tmp_path / "a", api=forge.url)
    dump, clone = str(tmp_path / "a" / "forge"), str(tmp_path / "a" / "repos" / "acme+shop.git")
    made = build("github:acme/other,acme/SHOP", out=tmp_path / "b", settings={"archive": dump, "clone": clone}).card
    assert made is not None and made.cases == 3
    other = build("github:acme/other", out=tmp_path / "c", settings={"archive": dump}).card
    assert other is not None and other.cases == 0
