"""`reviewgauge view`: a local page over runs, or the same as a folder of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.viewer.app import Viewer, open_viewer
from reviewgauge.viewer.export import export
from reviewgauge.viewer.runs import find_runs
from reviewgauge.viewer.selection import Shelf


class ViewResult(Record):
    """The folder that was written."""

    schema_version: int = 1
    path: str
    pages: int
    runs: int


def view(
    *runs: str | Path,
    out: str | Path,
    resamples: int = 10_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> ViewResult:
    """Write the pages of every run at or below these folders into the new folder `out`. Raises UserError."""
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there already", remedy="name a new folder")
    found = list(find_runs(runs or ["."]).values())
    if not found:
        raise UserError("found no runs here", remedy="reviewgauge review DATASET REVIEWER -o runs/first")
    pages = export(found, folder, Shelf(resamples, seed), progress)
    return ViewResult(path=str(folder), pages=pages, runs=len(found))


def serve(
    runs: Sequence[str | Path], say: Callable[[str], None], *, port: int = 0, resamples: int = 10_000, seed: int = 0
) -> None:
    """Serve the pages of every run at or below these folders until Ctrl-C; `say` is told the link. Raises UserError."""
    find_runs(runs or ["."])
    service = open_viewer(Viewer(runs or ["."], Shelf(resamples, seed)), port=port)
    say(service.link)
    service.run()
