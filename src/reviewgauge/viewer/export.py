"""The same pages as a folder of files that need no service, no network and no other file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviewgauge.core.files import write_named
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import PAIR
from reviewgauge.viewer.pages import Pages, Query, runs_page
from reviewgauge.viewer.runs import Found
from reviewgauge.viewer.selection import Shelf, card_with_answer


def export(runs: Sequence[Found], out: Path, shelf: Shelf, progress: Progress | None) -> int:
    """Write the pages below `out`; returns how many. Raises UserError."""
    cards = [card_with_answer(run, shelf.get) for run in runs]
    written = 0
    for card in cards:
        if card.state == "broken":
            continue
        made = Pages(shelf.get([card.run]), live=False)
        total = len(made.chosen.cases)
        for name, text in _pages(made):
            write_named(out / "r" / card.run.slug / name, [text.encode()])
            written += 1
            if progress is not None and name.startswith("change-"):
                progress(int(name.split("-")[1].partition(".")[0]), total, card.run.name)
    write_named(out / "index.html", [runs_page(cards, live=False).encode()])  # the last: what has it is whole
    return written + 1


def _pages(made: Pages) -> Iterator[tuple[str, str]]:
    """Every page of a run with its name."""
    yield "index.html", made.board()
    yield "slices.html", made.slices()
    yield "changes.html", made.changes(Query())
    for row in made.chosen.rows:
        for split in (False, True):
            yield f"change-{row.number}{'-split' * split}.html", made.change(row.number, split=split)
        for other, _ in made.siblings(made.chosen.cases[row.number - 1]) if PAIR in row.facts else ():
            yield f"beside-{row.number}-{other.number}.html", made.beside(row.number, other.number)
    if not made.chosen.metric:
        return
    systems = range(1, len(made.chosen.systems) + 1)
    for one, two in itertools.permutations(systems, 2):
        yield f"against-{one}-{two}.html", made.against(one, two)
