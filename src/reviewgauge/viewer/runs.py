"""The runs below some folders: found by their manifests, newest first, with what can be said without measuring."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import LABELS, LOCK, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.journal import writer_of
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.manifest import MANIFEST, read_manifest
from reviewgauge.engine.run.scored_run import recorded_label
from reviewgauge.models.cache.stores import CALLS

DEEPEST = 6  # folders below a given one
MOST_RUNS = 2_000
State = Literal["running", "broken", "not scored", "done"]


@dataclass(frozen=True)
class Found:
    """A run: its part of an address, its folder, and its name for people."""

    slug: str
    path: Path
    name: str


@dataclass(frozen=True)
class RunCard:
    """One row of the list of runs. `problem` is why a run is broken.

    `dollars`: what its reviews and scores are worth, with answers that came from the cache; `paid` by the run itself.
    `fake`: some of it is the invented price of a fake model.
    """

    run: Found
    state: State
    changed: datetime
    dataset: str = ""
    benchmark: str = ""
    cases: int = 0
    systems: Sequence[str] = ()
    metrics: Sequence[str] = ()
    reviews: int = 0
    dollars: float | None = None
    paid: float | None = None
    fake: bool = False
    problem: str = ""
    headline: str = ""


def find_runs(given: Sequence[str | Path]) -> dict[str, Found]:
    """Every run at or below these folders, by its part of an address. Raises UserError for a path that is no folder."""
    found: dict[str, Found] = {}
    for root in map(Path, given):
        if not root.is_dir():
            raise UserError(f"{root} is not a folder", remedy="name a run, or a folder that runs lie below")
        for path in _manifests(root):
            name = path.relative_to(root).as_posix() if path != root else path.resolve().name
            digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:6]
            slug = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')[-40:] or 'run'}-{digest}"
            found.setdefault(slug, Found(slug, path, name))
            if len(found) >= MOST_RUNS:
                return found
    return found


def _manifests(root: Path) -> Iterator[Path]:
    """The run folders; nothing is looked for inside of one, in hidden folders, or behind links."""
    depth = len(root.parts)
    for folder, below, files in os.walk(root):
        here = Path(folder)
        if MANIFEST in files:
            below.clear()
            yield here
        elif len(here.parts) - depth >= DEEPEST:
            below.clear()
        else:
            below[:] = sorted(name for name in below if not name.startswith((".", "__")) and name != "node_modules")


def stamp_of(path: Path) -> tuple[tuple[int, int], ...]:
    """What changes when anything of a run does: size and time of its files."""
    stamp = []
    for name in (MANIFEST, REVIEWS, SCORES, LABELS, LOCK):
        try:
            known = (path / name).stat()
            stamp.append((known.st_size, known.st_mtime_ns))
        except OSError:
            stamp.append((0, 0))
    return tuple(stamp)


def glance(run: Found) -> RunCard:
    """What the manifest alone says of a run."""
    changed = datetime.fromtimestamp(max(at for _, at in stamp_of(run.path)) / 1e9, UTC)
    try:
        manifest = read_manifest(run.path)
    except UserError as error:
        return RunCard(run, "broken", changed, problem=str(error))
    state: State = "running" if writer_of(run.path / LOCK) else "done" if (run.path / SCORES).exists() else "not scored"
    dataset, cases, systems = manifest.dataset, manifest.cases, tuple(manifest.systems)
    return RunCard(run, state, changed, dataset, manifest.benchmark, cases, systems)


def card_of(run: Found) -> RunCard:
    """What a run holds; a broken one says why."""
    card = glance(run)
    if card.state == "broken":
        return card
    try:
        with RunFolder.open(run.path) as folder:
            reviews, metrics = len(folder.outcomes()), folder.scored_metrics()
            worth, paid, fake = kept(costs, folder)
    except UserError as error:
        return replace(card, state="broken", problem=str(error))
    state: State = card.state if card.state == "running" else "done" if metrics else "not scored"
    short = tuple(map(recorded_label, metrics))
    return replace(card, state=state, metrics=short, reviews=reviews, dollars=worth, paid=paid, fake=fake)


def costs(folder: RunFolder) -> tuple[float | None, float | None, bool]:
    """Dollars that a run is worth and that its own calls cost, None where not known; whether a fake model took part."""
    reviews = [one.review for one in folder.outcomes() if one.review is not None]
    usages = (*(one.usage for one in reviews), *(score.usage for score in folder.scores()))
    known = [one.dollars for one in usages if one.dollars is not None]
    fake = any(one.fake and one.usage.dollars for one in reviews)
    return sum(known) if known else None, folder.spent() if (folder.path / CALLS).exists() else None, fake
