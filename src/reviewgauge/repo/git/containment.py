"""Checks that a repository named by data stays within the allowed folders: a benchmark from others may name any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from reviewgauge.repo.git.repository import Repository

_MOST = 1_000  # links and borrowed folders that are looked at; more is not a repository of anybody's


def find_escape(git: Path, folders: Sequence[Path]) -> Path | None:
    """The first path outside of `folders` that git would read for the repository at `git`; None where there is none.

    Follows links, the `gitdir:` and `commondir` of linked work trees, and alternates, which lend objects. What does not
    exist is allowed.
    """
    if not git.exists():
        return None
    roots = [folder.resolve() for folder in folders]
    for number, place in enumerate(_paths_read(git)):
        found = place.resolve()
        if number > _MOST or not any(found.is_relative_to(root) for root in roots):
            return found
    return None


def _paths_read(git: Path) -> Iterator[Path]:
    """Every path that git reads of the repository, each before it is opened."""
    yield git
    if not git.is_dir():
        return
    yield git / ".git"
    folder = Repository(git).git_dir
    yield folder
    yield folder / "commondir"
    if common := _lines(folder / "commondir"):
        folder = folder / common[0]
        yield folder
    objects, seen = [folder / "objects"], set[Path]()
    while objects:
        place = objects.pop()
        yield place
        if (same := place.resolve()) in seen:
            continue
        seen.add(same)
        yield place / "pack"
        yield place / "info"
        yield from _links(place)
        yield from _links(place / "pack")
        objects += [place / line for line in _lines(place / "info" / "alternates") if not line.startswith("#")]


def _links(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (entry for entry in folder.iterdir() if entry.is_symlink())


def _lines(file: Path) -> list[str]:
    if not file.is_file():
        return []
    return [line for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
